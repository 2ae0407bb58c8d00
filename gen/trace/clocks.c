#include "trace/clocks.h"

#include "base/list.h"
#include "base/parallel.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/classify.h"
#include "trace/clock_transfers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FEWEST = 8,   /* collectives that show whether they are any */
	FARTHEST = 32 /* collectives by which recording may have begun elsewhere */
};
static const double TOGETHER = 0.5;   /* of how far apart hosts come, how far apart they leave */
static const double AT_RANDOM = 0.9;  /* the quantile that is compared: some collectives begin when one before ends */
static const double ALIKE = 2;        /* how much better another match has to be */
static const double GIVES_WAY = 20e3; /* ns: bounds that have to give way by more are of no clock */

/* A kernel of a collective. Its times are those of the part's map. */
struct kernel {
	int64_t comm;                        /* 0: not known */
	uint32_t name, stream, host, device; /* device: counted over all files */
	int64_t launched, start, end;
};

/* What the ranks of one host did in the k-th collective. */
struct meeting {
	int64_t entered, left;
};

/* The collectives of one name (of one stream), as seen from one host; n is 0 where its ranks disagree. */
struct seen {
	struct meeting *list;
	size_t n;
};

/* The kernels of a key that are of one host. */
struct span {
	uint32_t host;
	size_t first, n;
};

/* Kernels in an order, and where what is of one key and one host lies in it. */
struct ordered {
	struct kernel *list;
	struct span *spans; /* by key and host */
	size_t n_spans, room;
	size_t *keys; /* by key: its first span; one more: the end */
	size_t n_keys, key_room;
};

struct aligning {
	struct merge_part *parts;
	size_t n_parts;
	uint32_t *host_of; /* by part */
	struct arena scratch;
	struct kernel *kernels;
	size_t n, room;
	struct ordered by_key;    /* by key, host and device, and … */
	struct ordered by_stream; /* … the same by stream too: neither order hangs on the hosts' clocks */
	struct clock_transfers transfers;
};

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* `streams`: what is not of a known communicator is of its stream. */
static int compare_keys(const struct kernel *x, const struct kernel *y, bool streams)
{
	int order = compare(x->comm, y->comm);
	order = order ? order : compare(x->name, y->name);
	return order || !streams || x->comm ? order : compare(x->stream, y->stream);
}

static int compare_kernels(const void *a, const void *b, void *streams)
{
	const struct kernel *x = a, *y = b;
	int order = compare_keys(x, y, *(const bool *)streams);
	order = order ? order : compare(x->host, y->host);
	order = order ? order : compare(x->device, y->device);
	order = order ? order : compare(x->launched, y->launched);
	order = order ? order : compare(x->start, y->start);
	return order ? order : compare(x->end, y->end);
}

/* ---- what is there ---- */

static int64_t launched(const struct trace *t, size_t i)
{
	return t->ops.launch[i] == TRACE_NONE ? t->ops.start[i] : t->calls.start[t->ops.launch[i]];
}

static void find_hosts(struct aligning *c, struct arena *arena, struct host_clocks *out)
{
	size_t room = 0;
	uint32_t n = 0;
	c->host_of = ARENA_NEW(&c->scratch, c->n_parts, uint32_t);
	for (size_t i = 0; i < c->n_parts; i++) {
		uint64_t host = c->parts[i].trace->source.host;
		uint32_t h = 0;
		while (host && h < n && out->list[h].host != host)
			h++;
		if (host && h == n) {
			LIST_GROW(arena, out->list, n, room);
			out->list[n] = (struct trace_clock){.host = host, .known = n == 0};
			n++;
		}
		c->host_of[i] = h;
	}
	for (size_t i = 0; i < c->n_parts && n; i++)
		out->list[c->host_of[i]].files++;
	out->n = n > 1 ? n : 0;
}

static void find_kernels(struct aligning *c)
{
	uint32_t device = 0;
	for (size_t p = 0; p < c->n_parts; p++) {
		const struct trace *t = c->parts[p].trace;
		const struct time_map *map = &c->parts[p].map;
		uint8_t *known = ARENA_NEW(&c->scratch, t->names->n, uint8_t); /* by name: 1 synchronising, 2 not */
		struct comm_calls calls;
		comm_calls_find(t, &c->scratch, &calls);
		for (size_t i = 0; i < t->ops.n; i++) {
			if (t->ops.kind[i] != OP_COMM || t->ops.end[i] == t->ops.start[i])
				continue;
			const struct comm_op *of = comm_calls_of(&calls, (uint32_t)i);
			uint32_t call = of ? calls.calls[of->first] : 0;
			uint32_t name = of ? t->comm_calls.name[call] : t->ops.name[i];
			int64_t start = time_map_of(map, t->ops.start[i]), end = time_map_of(map, t->ops.end[i]);
			if (of)
				clock_transfers_add(&c->transfers, t, &calls, of, c->host_of[p], launched(t, i), start,
				                    end, &c->scratch);
			if (!known[name])
				known[name] = classify_synchronising(names_text(t->names, name)) ? 1 : 2;
			if (known[name] != 1)
				continue;
			LIST_GROW(&c->scratch, c->kernels, c->n, c->room);
			c->kernels[c->n++] = (struct kernel){.comm = of ? t->comm_calls.comm[call] : 0,
			                                     .name = name,
			                                     .stream = t->ops.stream[i],
			                                     .host = c->host_of[p],
			                                     .device = device + t->ops.device[i],
			                                     .launched = launched(t, i),
			                                     .start = start,
			                                     .end = end};
		}
		device += t->n_devices;
	}
}

static void put_in_order(struct aligning *c, bool streams, struct ordered *o)
{
	struct arena *arena = &c->scratch;
	o->list = ARENA_NEW(arena, c->n, struct kernel);
	if (c->n) {
		memcpy(o->list, c->kernels, c->n * sizeof *o->list);
		qsort_r(o->list, c->n, sizeof *o->list, compare_kernels, &streams);
	}
	for (size_t i = 0; i < c->n; i++) {
		bool other_key = !i || compare_keys(&o->list[i - 1], &o->list[i], streams) != 0;
		if (other_key || o->list[i - 1].host != o->list[i].host) {
			LIST_GROW(arena, o->spans, o->n_spans, o->room);
			o->spans[o->n_spans++] = (struct span){.host = o->list[i].host, .first = i};
		}
		o->spans[o->n_spans - 1].n++;
		if (other_key) {
			LIST_GROW(arena, o->keys, o->n_keys, o->key_room);
			o->keys[o->n_keys++] = o->n_spans - 1;
		}
	}
	LIST_GROW(arena, o->keys, o->n_keys, o->key_room);
	o->keys[o->n_keys] = o->n_spans;
}

/* NULL: the host has no kernel of the key. */
static const struct span *span_of(const struct ordered *o, size_t key, uint32_t host)
{
	size_t i = o->keys[key], end = o->keys[key + 1];
	SEARCH(i, end, o->spans[i].host < host);
	return i < o->keys[key + 1] && o->spans[i].host == host ? &o->spans[i] : NULL;
}

/* ---- one key ---- */

/* What one host's ranks did: all have to have as many kernels. */
static struct seen look(const struct kernel *kernels, size_t n, struct arena *scratch)
{
	size_t each = 0, begin = 0;
	for (size_t i = 1; i <= n; i++) {
		if (i < n && kernels[i].device == kernels[begin].device)
			continue;
		if (each && i - begin != each)
			return (struct seen){0};
		each = i - begin;
		begin = i;
	}
	struct seen seen = {ARENA_NEW(scratch, each, struct meeting), each};
	for (size_t k = 0; k < each; k++) {
		seen.list[k] = (struct meeting){INT64_MIN, INT64_MAX};
		for (size_t i = k; i < n; i += each) {
			struct meeting *m = &seen.list[k];
			m->entered = kernels[i].start > m->entered ? kernels[i].start : m->entered;
			m->left = kernels[i].end < m->left ? kernels[i].end : m->left;
		}
		if (seen.list[k].left < seen.list[k].entered) /* several communicators */
			return (struct seen){0};
	}
	return seen;
}

/* How far two hosts' coming (or leaving) varies from one collective to the next. No drift of clocks shows in that. */
static double vary(const struct meeting *a, const struct meeting *b, size_t n, bool leaving, double *sorted)
{
	for (size_t k = 0; k + 1 < n; k++) {
		int64_t x = leaving ? a[k].left - b[k].left : a[k].entered - b[k].entered;
		int64_t y = leaving ? a[k + 1].left - b[k + 1].left : a[k + 1].entered - b[k + 1].entered;
		sorted[k] = fabs((double)y - (double)x);
	}
	return sort_select(sorted, n - 1, (size_t)(AT_RANDOM * (double)(n - 2)));
}

/* Which of b's collectives is a's first, or the other way round: `shift` is added to b's. `certain`: they are of one
 * communicator. False: they are of several, or it cannot be told. */
static bool fit(const struct seen *a, const struct seen *b, bool certain, struct arena *scratch, int *shift)
{
	size_t shorter = a->n < b->n ? a->n : b->n;
	if (shorter < FEWEST)
		return false;
	int far = shorter / 4 < FARTHEST ? (int)(shorter / 4) : FARTHEST, best = 0;
	double *room = ARENA_NEW(scratch, a->n + b->n, double), least = INFINITY, second = INFINITY, plain = INFINITY;
	for (int s = -far; s <= far; s++) {
		size_t from = s < 0 ? (size_t)-s : 0, to = s > 0 ? (size_t)s : 0;
		size_t n = a->n - from < b->n - to ? a->n - from : b->n - to;
		double leave = vary(a->list + from, b->list + to, n, true, room);
		plain = s == 0 ? leave : plain;
		if (leave < least) {
			second = least;
			least = leave;
			best = s;
		} else if (leave < second) {
			second = leave;
		}
	}
	/* As recorded, unless another match is clearly better; and that one clearly the best. */
	if (a->n == b->n && plain <= ALIKE * least)
		best = 0;
	else if (second < ALIKE * least)
		return false;
	size_t from = best < 0 ? (size_t)-best : 0, to = best > 0 ? (size_t)best : 0;
	size_t n = a->n - from < b->n - to ? a->n - from : b->n - to;
	*shift = best;
	return certain || vary(a->list + from, b->list + to, n, true, room) <=
	                          TOGETHER * vary(a->list + from, b->list + to, n, false, room);
}

/* ---- two hosts ---- */

struct pairs {
	struct clock_collective *list;
	size_t n, room;
};

static void add_pairs(struct pairs *pairs, const struct seen *a, const struct seen *b, int shift, struct arena *scratch)
{
	size_t k = shift < 0 ? (size_t)-shift : 0, j = shift > 0 ? (size_t)shift : 0;
	for (; k < a->n && j < b->n; k++, j++) {
		LIST_GROW(scratch, pairs->list, pairs->n, pairs->room);
		pairs->list[pairs->n++] = (struct clock_collective){.entered = {a->list[k].entered, b->list[j].entered},
		                                                    .left = {a->list[k].left, b->list[j].left}};
	}
}

/* Host b's clock beside host a's. */
static bool find_offset(struct aligning *c, uint32_t a, uint32_t b, struct clock_offset *out)
{
	struct pairs pairs = {0};
	struct arena scratch = {0};
	for (int by_stream = 0; by_stream < 2 && !pairs.n; by_stream++) {
		const struct ordered *o = by_stream ? &c->by_stream : &c->by_key;
		for (size_t key = 0; key < o->n_keys; key++) {
			const struct span *of_a = span_of(o, key, a), *of_b = span_of(o, key, b);
			if (!of_a || !of_b)
				continue;
			struct seen x = look(o->list + of_a->first, of_a->n, &scratch);
			struct seen y = look(o->list + of_b->first, of_b->n, &scratch);
			int shift;
			if (x.n && y.n && fit(&x, &y, o->list[of_a->first].comm != 0, &scratch, &shift))
				add_pairs(&pairs, &x, &y, shift, &scratch);
		}
	}
	struct clock_collective *more;
	size_t n = clock_transfers_pair(&c->transfers, a, b, &scratch, &more);
	for (size_t i = 0; i < n; i++) {
		LIST_GROW(&scratch, pairs.list, pairs.n, pairs.room);
		pairs.list[pairs.n++] = more[i];
	}
	bool found = pairs.n && clock_offset_find(pairs.list, pairs.n, out) && out->loosened <= GIVES_WAY;
	arena_release(&scratch);
	return found;
}

/* ---- all hosts ---- */

/* Puts the times of host b on the clock that host a's are on. */
static void take_offset(struct aligning *c, uint32_t b, const struct clock_offset *o)
{
	for (size_t p = 0; p < c->n_parts; p++)
		if (c->host_of[p] == b) {
			struct time_map *map = &c->parts[p].map; /* has no drift yet */
			map->drift = o->drift;
			map->at = o->at - map->offset;
			map->offset += llround(o->offset);
		}
	for (int by_stream = 0; by_stream < 2; by_stream++) {
		struct ordered *order = by_stream ? &c->by_stream : &c->by_key;
		for (size_t key = 0; key < order->n_keys; key++) {
			const struct span *of = span_of(order, key, b);
			for (size_t i = of ? of->first : 0; of && i < of->first + of->n; i++) {
				order->list[i].start += clock_offset_at(o, order->list[i].start);
				order->list[i].end += clock_offset_at(o, order->list[i].end);
			}
		}
	}
	for (size_t i = 0; i < c->transfers.n; i++)
		if (c->transfers.list[i].host == b) {
			c->transfers.list[i].start += clock_offset_at(o, c->transfers.list[i].start);
			c->transfers.list[i].end += clock_offset_at(o, c->transfers.list[i].end);
		}
}

/* Hosts whose clocks are not known yet, beside one whose clock is. */
struct beside {
	struct aligning *c;
	uint32_t through;
	uint32_t *host;
	size_t n;
	struct clock_offset *offset;
	bool *found;
};

static void find_beside(void *context, size_t i)
{
	struct beside *b = context;
	b->found[i] = find_offset(b->c, b->through, b->host[i], &b->offset[i]);
}

/* No host's offset hangs on another's, but that transfers are put in order for each. */
static void find_all(struct beside *b)
{
	if (!b->c->transfers.n)
		parallel_each(b->n, find_beside, b);
	for (size_t i = 0; i < b->n && b->c->transfers.n; i++)
		find_beside(b, i);
}

static void align_through(struct beside *b, struct host_clocks *out)
{
	b->n = 0;
	for (uint32_t h = 0; h < out->n; h++)
		if (!out->list[h].known)
			b->host[b->n++] = h;
	find_all(b);
	for (size_t i = 0; i < b->n; i++) {
		struct trace_clock *clock = &out->list[b->host[i]];
		const struct clock_offset *o = &b->offset[i];
		if (!b->found[i])
			continue;
		take_offset(b->c, b->host[i], o);
		clock->known = true;
		clock->offset = o->offset;
		clock->drift = o->drift;
		clock->within = out->list[b->through].within + o->within;
		clock->collectives = o->n;
	}
}

void clocks_align(struct merge_part *parts, size_t n, struct arena *arena, struct host_clocks *out)
{
	struct aligning c = {.parts = parts, .n_parts = n};
	*out = (struct host_clocks){0};
	find_hosts(&c, arena, out);
	if (out->n) {
		find_kernels(&c);
		put_in_order(&c, false, &c.by_key);
		put_in_order(&c, true, &c.by_stream);
	}
	struct beside beside = {.c = &c,
	                        .host = ARENA_NEW(&c.scratch, out->n, uint32_t),
	                        .offset = ARENA_NEW(&c.scratch, out->n, struct clock_offset),
	                        .found = ARENA_NEW(&c.scratch, out->n, bool)};
	/* Those that meet the first host's ranks first: what is found through others adds up. */
	bool *tried = ARENA_NEW(&c.scratch, out->n, bool);
	for (uint32_t a = 0; a < out->n && (c.n || c.transfers.n); a++) {
		uint32_t through = TRACE_NONE;
		for (uint32_t h = 0; h < out->n; h++)
			if (out->list[h].known && !tried[h] &&
			    (through == TRACE_NONE || out->list[h].within < out->list[through].within))
				through = h;
		if (through == TRACE_NONE)
			break;
		tried[through] = true;
		beside.through = through;
		align_through(&beside, out);
	}
	arena_release(&c.scratch);
}
