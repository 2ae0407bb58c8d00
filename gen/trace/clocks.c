#include "trace/files.h"

#include "base/list.h"
#include "base/parallel.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/classify.h"

#include <math.h>
#include <string.h>

static const double GIVES_WAY = 20e3; /* ns: bounds that have to give way by more are of no clock */

/* A kernel of a collective. Its times are those of the part's map. */
struct kernel {
	int64_t comm;                        /* 0: not known */
	uint32_t name, stream, host, device; /* device: counted over all files */
	int64_t launched, start, end;
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

/* `streams`: what is not of a known communicator is of its stream. */
static int compare_keys(const struct kernel *x, const struct kernel *y, bool streams)
{
	int order = ASCENDING(x->comm, y->comm) ?: ASCENDING(x->name, y->name);
	return order || !streams || x->comm ? order : ASCENDING(x->stream, y->stream);
}

SORT_ORDER_BY(compare_kernels, struct kernel, streams,
           compare_keys(x, y, *(const bool *)streams) ?: ASCENDING(x->host, y->host)
                   ?: ASCENDING(x->device, y->device) ?: ASCENDING(x->launched, y->launched)
                   ?: ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end))

/* ---- what is there ---- */

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

/* Of one file, whose first device is the run's `first`. `known`: by name, 1 synchronising, 2 not, 0 not asked. */
static void add_kernels(struct aligning *c, size_t part, uint32_t first, uint8_t *known)
{
	const struct trace *t = c->parts[part].trace;
	const struct time_map *map = &c->parts[part].map;
	ARENA_LOCAL(scratch);
	struct comm_calls calls;
	size_t n;
	struct comm_kernel *list = comm_kernels_of(t, 0, &scratch, &n);
	comm_calls_find(t, &scratch, &calls);
	for (size_t i = 0; i < n; i++) {
		struct comm_kernel *k = &list[i];
		if (k->end == k->start)
			continue;
		k->start = time_map_of(map, k->start);
		k->end = time_map_of(map, k->end);
		const struct comm_op *of = comm_calls_of(&calls, k->op);
		uint32_t call = of ? calls.calls[of->first] : 0, name = of ? t->comm_calls.name[call] : k->name;
		if (of)
			clock_transfers_add(&c->transfers, t, &calls, of, c->host_of[part], k, &c->scratch);
		if (!known[name])
			known[name] = classify_synchronising(names_text(t->names, name)) ? 1 : 2;
		if (known[name] != 1)
			continue;
		LIST_ADD(&c->scratch, c->kernels, c->n, c->room,
		         (struct kernel){.comm = of ? t->comm_calls.comm[call] : 0,
		                         .name = name,
		                         .stream = k->stream,
		                         .host = c->host_of[part],
		                         .device = first + k->device,
		                         .launched = k->launched,
		                         .start = k->start,
		                         .end = k->end});
	}
}

static void find_kernels(struct aligning *c)
{
	uint32_t device = 0;
	uint8_t *known = ARENA_NEW(&c->scratch, c->parts[0].trace->names->n, uint8_t);
	for (size_t p = 0; p < c->n_parts; p++)
		c->room += comm_kernels_count(c->parts[p].trace);
	c->kernels = ARENA_TAKE(&c->scratch, c->room, struct kernel);
	for (size_t p = 0; p < c->n_parts; p++) {
		add_kernels(c, p, device, known);
		device += c->parts[p].trace->n_devices;
	}
}

/* Whether the order by key is the one by stream too, as where what is alike has one stream: both are one list then. */
static bool streams_in_order(const struct aligning *c)
{
	bool streams = true;
	size_t i = 1;
	while (i < c->n && compare_kernels(&c->kernels[i - 1], &c->kernels[i], &streams) <= 0)
		i++;
	return i >= c->n;
}

static void put_in_order(struct aligning *c, bool streams, struct kernel *list, struct ordered *o)
{
	struct arena *arena = &c->scratch;
	o->list = list;
	SORT_BY(list, c->n, compare_kernels, &streams);
	for (size_t i = 0; i < c->n; i++) {
		bool other_key = !i || compare_keys(&o->list[i - 1], &o->list[i], streams) != 0;
		if (other_key || o->list[i - 1].host != o->list[i].host) {
			LIST_ADD(arena, o->spans, o->n_spans, o->room,
			         (struct span){.host = o->list[i].host, .first = i});
		}
		o->spans[o->n_spans - 1].n++;
		if (other_key) {
			LIST_ADD(arena, o->keys, o->n_keys, o->key_room, o->n_spans - 1);
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

/* The kernels of one device. */
struct turn {
	const struct kernel *list;
	size_t n;
	int64_t at; /* its first kernel is that one's `at`-th of the device with the most of them */
};

/* For how long in all the kernels of one device overlap those of another that are `shift` later in its order; −1 where
 * two do not: they are no collectives. */
static int64_t overlap(const struct turn *of, const struct turn *with, int64_t shift)
{
	int64_t sum = 0;
	for (size_t k = shift < 0 ? (size_t)-shift : 0; k < of->n && (int64_t)k + shift < (int64_t)with->n; k++) {
		const struct kernel *x = &of->list[k], *y = &with->list[(int64_t)k + shift];
		int64_t ns = (x->end < y->end ? x->end : y->end) - (x->start > y->start ? x->start : y->start);
		if (ns < 0)
			return -1;
		sum += ns;
	}
	return sum;
}

/* Ranks of one host, whose clock they share, overlap in what is one collective. Where recording did not begin at the
 * same one everywhere, the first one that was recorded of a device meets one of the other's. */
static bool find_turn(struct turn *of, const struct turn *with)
{
	int64_t longest = -1;
	for (int side = 0; side < 2; side++) {
		const struct turn *later = side ? with : of, *earlier = side ? of : with;
		const struct kernel *first = &later->list[0];
		for (size_t k = 0; k < earlier->n; k++) {
			if (earlier->list[k].end < first->start || earlier->list[k].start > first->end)
				continue;
			int64_t shift = side ? -(int64_t)k : (int64_t)k, ns = overlap(of, with, shift);
			if (ns > longest) {
				longest = ns;
				of->at = shift;
			}
		}
	}
	return longest >= 0;
}

/* When each collective was entered and left, from the k-th kernels of all devices. n is 0 where they cannot be one. */
static struct clock_seen meet(const struct turn *turns, size_t n_turns, int64_t from, int64_t to, struct arena *scratch)
{
	struct clock_seen seen = {ARENA_NEW(scratch, to > from ? (size_t)(to - from) : 0, struct meeting), 0};
	for (int64_t k = from; k < to; k++) {
		struct meeting m = {INT64_MIN, INT64_MAX};
		for (size_t i = 0; i < n_turns; i++) {
			const struct kernel *x = &turns[i].list[k - turns[i].at];
			m.entered = x->start > m.entered ? x->start : m.entered;
			m.left = x->end < m.left ? x->end : m.left;
		}
		if (m.left < m.entered) /* several communicators */
			return (struct clock_seen){0};
		seen.list[seen.n++] = m;
	}
	return seen;
}

/* What one host's ranks did: the k-th of all of them where they have as many, else those that overlap. */
static struct clock_seen look(const struct kernel *kernels, size_t n, struct arena *scratch)
{
	struct turn *turns = ARENA_NEW(scratch, n, struct turn);
	size_t n_turns = 0, most = 0;
	bool alike = true;
	for (size_t i = 0; i < n; i++) {
		if (!i || kernels[i].device != kernels[i - 1].device)
			turns[n_turns++] = (struct turn){.list = &kernels[i]};
		turns[n_turns - 1].n++;
	}
	for (size_t i = 0; i < n_turns; i++) {
		alike = alike && turns[i].n == turns[0].n;
		most = turns[i].n > turns[most].n ? i : most;
	}
	struct clock_seen seen = alike ? meet(turns, n_turns, 0, (int64_t)turns[0].n, scratch) : (struct clock_seen){0};
	if (seen.n)
		return seen;
	int64_t from = 0, to = (int64_t)turns[most].n;
	for (size_t i = 0; i < n_turns; i++) {
		if (i != most && !find_turn(&turns[i], &turns[most]))
			return (struct clock_seen){0};
		int64_t end = turns[i].at + (int64_t)turns[i].n;
		from = turns[i].at > from ? turns[i].at : from;
		to = end < to ? end : to;
	}
	return meet(turns, n_turns, from, to, scratch);
}

/* ---- two hosts ---- */

struct pairs {
	struct clock_collective *list;
	size_t n, room;
};

static void add_pairs(struct pairs *pairs, const struct clock_seen *a, const struct clock_seen *b, int64_t shift,
                      struct arena *scratch)
{
	size_t k = shift < 0 ? (size_t)-shift : 0, j = shift > 0 ? (size_t)shift : 0;
	for (; k < a->n && j < b->n; k++, j++) {
		LIST_ADD(scratch, pairs->list, pairs->n, pairs->room,
		         (struct clock_collective){.entered = {a->list[k].entered, b->list[j].entered},
		                                   .left = {a->list[k].left, b->list[j].left}});
	}
}

/* Host b's clock beside host a's. */
static bool find_offset(struct aligning *c, uint32_t a, uint32_t b, struct clock_offset *out)
{
	struct pairs pairs = {0};
	ARENA_LOCAL(scratch);
	for (int by_stream = 0; by_stream < 2 && !pairs.n; by_stream++) {
		const struct ordered *o = by_stream ? &c->by_stream : &c->by_key;
		for (size_t key = 0; key < o->n_keys; key++) {
			const struct span *of_a = span_of(o, key, a), *of_b = span_of(o, key, b);
			if (!of_a || !of_b)
				continue;
			struct clock_seen x = look(o->list + of_a->first, of_a->n, &scratch);
			struct clock_seen y = look(o->list + of_b->first, of_b->n, &scratch);
			int64_t shift;
			if (x.n && y.n && clock_shift_find(&x, &y, o->list[of_a->first].comm != 0, &scratch, &shift))
				add_pairs(&pairs, &x, &y, shift, &scratch);
		}
	}
	struct clock_collective *more;
	size_t n = clock_transfers_pair(&c->transfers, a, b, &scratch, &more);
	for (size_t i = 0; i < n; i++) {
		LIST_ADD(&scratch, pairs.list, pairs.n, pairs.room, more[i]);
	}
	return pairs.n && clock_offset_find(pairs.list, pairs.n, out) && out->loosened <= GIVES_WAY;
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
	for (int by_stream = 0; by_stream < (c->by_stream.list == c->by_key.list ? 1 : 2); by_stream++) {
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
		put_in_order(&c, false, c.kernels, &c.by_key);
		put_in_order(&c, true,
		             streams_in_order(&c) ? c.kernels
		                                  : arena_keep(&c.scratch, c.kernels, c.n, sizeof *c.kernels),
		             &c.by_stream);
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
