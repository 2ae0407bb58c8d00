#include "analyse/run/waiting.h"

#include "analyse/run/bubbles.h"
#include "analyse/run/rank_steps.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/numbers.h"
#include "base/search.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

struct view {
	const struct run *run;
	struct arena scratch, ops; /* ops: of all kernels, until what ranks waited in them is noted */
	struct comm_ops all;
	const struct collective_op **of_device;
	struct comm_beside beside;  /* of the device at hand … */
	int64_t *before;            /* … and for how long it computed before each stretch of computing */
	struct bubble_list bubbles; /* of the device at hand */
	size_t n_of_device, past;   /* its ops, and how many of these nobody waits in any more */
	struct buf waits;           /* of all devices, packed, until kernels are forgotten … */
	size_t n_waits;             /* … of the device at hand … */
	int64_t waited_until;       /* … and when the last of them ended */
	int64_t *since, *met;       /* by op of the device at hand, and by row */
	bool *seen;                 /* by row: the device at hand has such kernels */
	int64_t *step_end;          /* of the device at hand: by step */
	double *waited;             /* by measured step: exposed waiting, ns */
};

/* How far two ranks' times may be apart although they are the same, ns; negative: so far that they say nothing. Files
 * of one run whose hosts are not known count as of one host. */
static int64_t find_tolerance(const struct run *run)
{
	enum { ONE_HOST = 2000 /* ns: GPUs of one host, by their profilers */ };
	static const double NEAR = 100e3; /* ns: farther apart, kernels' lengths tell more than their starts */
	const struct trace *t = run->trace;
	uint64_t first = 0;
	bool several = false;
	double within = 0;
	for (uint32_t d = 0; d < run->n_devices; d++) {
		uint64_t host = t->processes[t->devices[run->devices[d].device].process].host;
		several = several || (host && first && host != first);
		first = first ? first : host;
	}
	for (uint32_t c = 0; c < t->n_clocks; c++) {
		within = fmax(within, t->clocks[c].known ? t->clocks[c].within : INFINITY);
	}
	return !several ? ONE_HOST : t->n_clocks && within <= NEAR ? ONE_HOST + llround(2 * within) : -1;
}

/* What the device at hand waits in: of several kernels in which it does, the one that waits longest. An index into
 * `of_device`; n_of_device: it is not known. */
static size_t find_kernel(struct view *v, const struct stretch *wait, bool bubble)
{
	size_t longest = v->n_of_device;
	while (v->past < v->n_of_device && v->of_device[v->past]->arrived <= wait->start)
		v->past++;
	for (size_t i = v->past; i < v->n_of_device && v->of_device[i]->start <= wait->start; i++) {
		const struct collective_op *op = v->of_device[i];
		bool waits = op->matched && op->point == bubble && op->arrived >= wait->end;
		if (waits && op->partner != UINT32_MAX &&
		    (longest == v->n_of_device || op->arrived > v->of_device[longest]->arrived))
			longest = i;
	}
	return longest;
}

static void note_wait(struct view *v, const struct stretch *wait, bool bubble)
{
	size_t i = find_kernel(v, wait, bubble);
	if (i == v->n_of_device)
		return;
	const struct collective_op *op = v->of_device[i];
	number_put_signed(&v->waits, wait->start - v->waited_until);
	number_put_signed(&v->waits, wait->end - wait->start);
	number_put_signed(&v->waits, wait->start - op->start);
	number_put_signed(&v->waits, op->start - v->since[i]);
	number_put_signed(&v->waits, op->arrived - wait->end);
	number_put(&v->waits, (uint64_t)op->partner << 1 | bubble);
	v->waited_until = wait->end;
	v->n_waits++;
}

/* What was noted, as lists of all ranks that have `n` each. */
static void take_waits(struct view *v, struct rank_waits *of_rank, size_t n_ranks)
{
	struct taken bytes = number_open(v->waits.data, v->waits.n);
	size_t n = 0;
	for (size_t r = 0; r < n_ranks; r++)
		n += of_rank[r].n;
	struct rank_wait *next = ARENA_TAKE(&v->scratch, n, struct rank_wait);
	for (size_t r = 0; r < n_ranks; r++) {
		int64_t until = 0;
		of_rank[r].list = next;
		for (size_t i = 0; i < of_rank[r].n; i++, next++) {
			next->start = until + number_take_signed(&bytes);
			until = next->end = next->start + number_take_signed(&bytes);
			next->came = next->start - number_take_signed(&bytes);
			next->since = next->came - number_take_signed(&bytes);
			next->last = next->end + number_take_signed(&bytes);
			const uint64_t whom = number_take(&bytes);
			next->whom = (uint32_t)(whom >> 1);
			next->bubble = whom & 1;
		}
	}
}

/* When the ranks of each of the device's kernels had met before, in a kernel of the same communicator and operation. */
static void find_since(struct view *v)
{
	for (size_t i = 0; i < v->all.n_rows; i++)
		v->met[i] = v->run->window_start;
	for (size_t i = 0; i < v->n_of_device; i++) {
		const struct collective_op *op = v->of_device[i];
		int64_t *met = &v->met[op->key];
		v->since[i] = *met < op->start ? *met : op->start;
		if (op->matched && op->arrived > *met)
			*met = op->arrived;
	}
}

static void add_wait(void *context, const struct stretch *wait, bool bubble)
{
	struct view *v = context;
	const struct run *run = v->run;
	uint32_t k = run->warmup; /* the first step that ends after the wait begins */
	if (bubble)
		bubbles_add(&v->bubbles, wait);
	note_wait(v, wait, bubble);
	if (!run->steps.found)
		return;
	SEARCH(k, run->steps.n, v->step_end[k] <= wait->start);
	for (int64_t at = wait->start; k < run->steps.n && at < wait->end; k++) {
		int64_t end = v->step_end[k] < wait->end ? v->step_end[k] : wait->end;
		v->waited[k - run->warmup] += (double)(end - at);
		at = end;
	}
}

/* What the device does beside communication: `of` it. */
static void look_at_device(struct view *v, const struct comm_beside *of, struct arena *scratch)
{
	int64_t before = 0;
	v->beside = *of;
	v->before = ARENA_NEW(scratch, of->compute.n, int64_t);
	for (size_t i = 0; i < of->compute.n; i++) {
		v->before[i] = before;
		before += of->compute.list[i].end - of->compute.list[i].start;
	}
}

/* For how long the device computed beside communication before `time`. */
static int64_t computed(const struct view *v, int64_t time)
{
	size_t next = 0;
	SEARCH(next, v->beside.compute.n, v->beside.compute.list[next].start < time);
	if (!next)
		return 0;
	const struct stretch *last = &v->beside.compute.list[next - 1];
	return v->before[next - 1] + (time < last->end ? time : last->end) - last->start;
}

/* What the device's kernels add to the rows that they are of. */
static void add_to_rows(struct view *v, const struct collective_op *const *ops, size_t n)
{
	const struct run *run = v->run;
	memset(v->seen, 0, v->all.n_rows);
	for (size_t i = 0; i < n; i++) {
		const struct collective_op *op = ops[i];
		struct comm_row *row = &v->all.rows[op->key];
		if (op->start < run->window_start || op->start >= run->window_end)
			continue;
		double hidden = (double)(computed(v, op->end) - computed(v, op->start));
		row->kernels++;
		row->devices += !v->seen[op->key];
		v->seen[op->key] = true;
		row->hidden += hidden;
		row->exposed += (double)(op->end - op->start) - hidden;
		if (!op->matched)
			continue;
		row->matched++;
		row->waiting += (double)(op->arrived - op->start);
		row->moving += (double)(op->end - op->arrived);
		if (op->point && op->bytes > 0) {
			row->bytes += (double)op->bytes;
			row->span += (double)(op->end - op->arrived);
			row->known++;
		}
	}
}

/* Device `d` of the run, once it is known when it computes. */
static void divide(struct view *v, uint32_t d, struct arena *arena, struct device_waiting *out)
{
	const struct run *run = v->run;
	size_t n = 0;
	for (size_t i = v->all.first_of[d]; i < v->all.first_of[d + 1]; i++)
		v->of_device[n++] = &v->all.ops[i];
	add_to_rows(v, v->of_device, n);
	v->n_of_device = n;
	v->past = 0;
	find_since(v);
	if (run->steps.found) {
		rank_steps_kept(run, &run->devices[d], v->step_end, NULL);
		memset(v->waited, 0, run->n_steps * sizeof *v->waited);
	}
	v->bubbles =
		(struct bubble_list){.ops = v->of_device, .n_ops = n, .running = v->bubbles.running, .arena = arena};
	out->parts = collectives_divide(v->of_device, n, &v->beside.compute, &v->beside.copies, run->window_start,
	                                run->window_end, add_wait, v);
	out->bubbles = v->bubbles.bubble;
	out->n_bubbles = v->bubbles.n;
	out->own = (double)(run->window_end - run->window_start - out->parts.waiting - out->parts.bubble);
	if (!run->steps.found)
		return;
	out->step = ARENA_NEW(arena, run->n_steps, double);
	out->own = 0;
	for (uint32_t i = 0; i < run->n_steps; i++) {
		uint32_t k = run->warmup + i;
		out->step[i] = (double)(v->step_end[k] - v->step_end[k - 1]) - v->waited[i];
		out->own += out->step[i] / run->n_steps;
	}
}

/* Who came last, in the window's collectives. */
static void find_last(struct view *v, struct arena *arena, struct waiting *out)
{
	const struct run *run = v->run;
	for (size_t i = 0; i < v->all.collectives.n; i++) {
		const struct collective *c = &v->all.collectives.list[i];
		struct comm_row *row = &v->all.rows[c->key];
		if (c->entered < run->window_start || c->entered >= run->window_end)
			continue;
		out->n_collectives++;
		out->device[c->last].last++;
		if (!row->last)
			row->last = ARENA_NEW(arena, run->n_devices, uint32_t);
		row->last[c->last]++;
		row->collectives++;
		row->took_part = c->n_ranks > row->took_part ? c->n_ranks : row->took_part;
		if (c->bytes > 0 && c->moved > 0) {
			row->bytes += (double)c->bytes;
			row->span += (double)c->moved;
			row->known++;
		}
	}
}

/* For whom each device waits most in sends and receives. */
static void find_partners(struct view *v, struct waiting *out)
{
	const struct run *run = v->run;
	int64_t *for_whom = ARENA_NEW(&v->scratch, run->n_devices, int64_t);
	for (uint32_t d = 0; d < run->n_devices; d++) {
		struct device_waiting *w = &out->device[d];
		memset(for_whom, 0, run->n_devices * sizeof *for_whom);
		w->partner = TRACE_NONE;
		for (size_t i = v->all.first_of[d]; i < v->all.first_of[d + 1]; i++) {
			const struct collective_op *op = &v->all.ops[i];
			if (!op->point || op->partner == UINT32_MAX || op->start < run->window_start ||
			    op->start >= run->window_end)
				continue;
			for_whom[op->partner] += op->arrived - op->start;
			if (w->partner == TRACE_NONE || for_whom[op->partner] > for_whom[w->partner])
				w->partner = op->partner;
		}
	}
}

void waiting_find(const struct run *run, struct arena *arena, struct waiting *out)
{
	struct view v = {.run = run};
	size_t most = 0;
	*out = (struct waiting){.device = ARENA_NEW(arena, run->n_devices, struct device_waiting),
	                        .tolerance = find_tolerance(run)};
	comm_ops_match(run, out->tolerance, arena, &v.ops, &v.all);
	find_last(&v, arena, out);
	find_partners(&v, out);
	for (uint32_t d = 0; d < run->n_devices; d++)
		most = v.all.first_of[d + 1] - v.all.first_of[d] > most ? v.all.first_of[d + 1] - v.all.first_of[d]
		                                                        : most;
	v.of_device = ARENA_NEW(&v.scratch, most, const struct collective_op *);
	v.bubbles.running = ARENA_NEW(&v.scratch, most, const struct collective_op *);
	v.since = ARENA_NEW(&v.scratch, most, int64_t);
	v.met = ARENA_NEW(&v.scratch, v.all.n_rows, int64_t);
	v.seen = ARENA_NEW(&v.scratch, v.all.n_rows, bool);
	v.waited = ARENA_NEW(&v.scratch, run->n_steps, double);
	v.step_end = ARENA_NEW(&v.scratch, run->steps.n, int64_t);
	struct rank_waits *waits = ARENA_NEW(&v.scratch, run->n_devices, struct rank_waits);
	for (uint32_t d = 0; d < run->n_devices; d++) {
		ARENA_LOCAL(scratch);
		v.n_waits = 0;
		v.waited_until = 0;
		look_at_device(&v, &run->devices[d].beside, &scratch);
		divide(&v, d, arena, &out->device[d]);
		waits[d].n = v.n_waits;
	}
	arena_release(&v.ops);
	take_waits(&v, waits, run->n_devices);
	buf_release(&v.waits);
	double *waited_for = ARENA_NEW(&v.scratch, run->n_devices, double);
	blame_find(waits, run->n_devices, out->tolerance >= 0, waited_for);
	for (uint32_t d = 0; d < run->n_devices; d++)
		out->device[d].waited_for = waited_for[d];
	out->rows = v.all.rows;
	out->n_rows = v.all.n_rows;
	arena_release(&v.scratch);
}

/* Later ones first: whom a rank waited for before it was late, it waited for earlier. */
static int compare_waits(const void *a, const void *b)
{
	const struct rank_wait *x = *(struct rank_wait *const *)a, *y = *(struct rank_wait *const *)b;
	return DESCENDING(x->last, y->last) ?: DESCENDING(x->start, y->start) ?: ASCENDING(x->rank, y->rank);
}

/* The part of a wait that lies in [from, to). */
static int64_t part_of(const struct rank_wait *w, int64_t from, int64_t to)
{
	int64_t start = w->start > from ? w->start : from, end = w->end < to ? w->end : to;
	return end > start ? end - start : 0;
}

static size_t first_after(const struct rank_waits *waits, int64_t from)
{
	size_t i = 0;
	SEARCH(i, waits->n, waits->list[i].end <= from);
	return i;
}

/* How long a rank waited in [from, to). */
static int64_t waited(const struct rank_waits *waits, int64_t from, int64_t to)
{
	int64_t sum = 0;
	for (size_t i = first_after(waits, from); i < waits->n && waits->list[i].start < to; i++)
		sum += part_of(&waits->list[i], from, to);
	return sum;
}

/* Which part of a wait is for the work of the one that is waited for, 0 to 1. */
static double own_part(const struct rank_wait *w, const struct rank_waits *of_rank, int64_t whom_waited)
{
	int64_t mine = w->came - w->since - waited(&of_rank[w->rank], w->since, w->came);
	double more = (double)(w->last - w->since - whom_waited - mine), all = (double)(w->last - w->came);
	return more >= all ? 1 : more <= 0 ? 0 : more / all;
}

static void pass_on(struct rank_wait *w, struct rank_waits *of_rank, double *ns)
{
	struct rank_waits *theirs = &of_rank[w->whom];
	int64_t all = w->weight > 0 ? waited(theirs, w->since, w->last) : 0;
	double own = all ? own_part(w, of_rank, all) : 1, rest = (1 - own) * w->weight;
	ns[w->whom] += own * w->weight;
	w->passed_on = true;
	for (size_t i = first_after(theirs, w->since); rest > 0 && i < theirs->n && theirs->list[i].start < w->last;
	     i++) {
		struct rank_wait *before = &theirs->list[i];
		double share = rest * (double)part_of(before, w->since, w->last) / (double)all;
		/* clocks that are not quite one may have ranks wait in a ring */
		*(before->passed_on ? &ns[before->whom] : &before->weight) += share;
	}
}

void blame_find(struct rank_waits *of_rank, uint32_t n_ranks, bool follow, double *ns)
{
	ARENA_LOCAL(scratch);
	size_t n = 0;
	for (uint32_t r = 0; r < n_ranks; r++)
		n += of_rank[r].n;
	struct rank_wait **all = ARENA_TAKE(&scratch, n, struct rank_wait *);
	n = 0;
	for (uint32_t r = 0; r < n_ranks; r++)
		for (size_t i = 0; i < of_rank[r].n; i++) {
			struct rank_wait *w = &of_rank[r].list[i];
			w->weight = w->bubble ? 0 : (double)(w->end - w->start);
			w->passed_on = false;
			w->rank = r;
			all[n++] = w;
			if (!follow)
				ns[w->whom] += w->weight;
		}
	if (n && follow)
		SORT(all, n, compare_waits);
	for (size_t i = 0; i < n && follow; i++)
		pass_on(all[i], of_rank, ns);
}
