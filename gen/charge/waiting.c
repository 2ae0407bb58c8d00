#include "charge/comm.h"

#include "base/list.h"
#include "base/search.h"
#include "charge/rank_steps.h"

#include <math.h>
#include <string.h>

struct view {
	const struct run *run;
	struct arena scratch;
	struct comm_ops all;
	struct blame blame;
	const struct collective_op **of_device;
	struct comm_beside beside;  /* of the device at hand … */
	int64_t *before;            /* … and for how long it computed before each stretch of computing */
	struct bubble_list bubbles; /* of the device at hand */
	size_t n_of_device, past;   /* its ops, and how many of these nobody waits in any more */
	struct rank_wait *waits;    /* likewise */
	size_t n_waits, waits_room;
	int64_t *since, *met; /* by op of the device at hand, and by row */
	bool *seen;           /* by row: the device at hand has such kernels */
	int64_t *step_end;    /* of the device at hand: by step */
	double *waited;       /* by measured step: exposed waiting, ns */
	int64_t *for_whom;    /* by device, 0 but while one is looked at */
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
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		uint64_t host = t->processes[t->devices[run->charge->devices[d].device].process].host;
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
	LIST_ADD(&v->scratch, v->waits, v->n_waits, v->waits_room,
	         (struct rank_wait){.start = wait->start,
	                            .end = wait->end,
	                            .since = v->since[i],
	                            .came = op->start,
	                            .last = op->arrived,
	                            .whom = op->partner,
	                            .bubble = bubble});
}

/* When the ranks of each of the device's kernels had met before, in a kernel of the same communicator and operation. */
static void find_since(struct view *v)
{
	for (size_t i = 0; i < v->all.n_rows; i++)
		v->met[i] = v->run->window.start;
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
	uint32_t k = run->window.warmup; /* the first step that ends after the wait begins */
	if (bubble)
		bubbles_add(&v->bubbles, wait);
	note_wait(v, wait, bubble);
	if (!run->steps.found)
		return;
	SEARCH(k, run->steps.n, v->step_end[k] <= wait->start);
	for (int64_t at = wait->start; k < run->steps.n && at < wait->end; k++) {
		int64_t end = v->step_end[k] < wait->end ? v->step_end[k] : wait->end;
		v->waited[k - run->window.warmup] += (double)(end - at);
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
		if (op->start < run->window.start || op->start >= run->window.end)
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

/* For whom the device at hand waits most in sends and receives; TRACE_NONE: for none. */
static uint32_t find_partner(struct view *v)
{
	const struct run *run = v->run;
	uint32_t most = TRACE_NONE;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < v->n_of_device; i++) {
			const struct collective_op *op = v->of_device[i];
			if (!op->point || op->partner == UINT32_MAX || op->start < run->window.start ||
			    op->start >= run->window.end)
				continue;
			v->for_whom[op->partner] = pass ? 0 : v->for_whom[op->partner] + op->arrived - op->start;
			if (!pass && (most == TRACE_NONE || v->for_whom[op->partner] > v->for_whom[most]))
				most = op->partner;
		}
	return most;
}

/* The kernels of device `d`, in `arena`, with what they add to the rows. */
static void take_ops(struct view *v, uint32_t d, struct arena *arena)
{
	size_t n;
	const struct collective_op *ops = comm_ops_of(&v->all, d, &n);
	v->of_device = ARENA_TAKE(arena, n, const struct collective_op *);
	for (size_t i = 0; i < n; i++)
		v->of_device[i] = &ops[i];
	v->n_of_device = n;
	v->past = 0;
	v->since = ARENA_TAKE(arena, n, int64_t);
	v->n_waits = 0;
	v->bubbles = (struct bubble_list){
		.ops = v->of_device, .n_ops = n, .running = ARENA_TAKE(arena, n, const struct collective_op *)};
	add_to_rows(v, v->of_device, n);
	find_since(v);
}

/* Device `d` of the run, once it is known when it computes. */
static void divide(struct view *v, uint32_t d, struct arena *arena, struct device_waiting *out)
{
	const struct run *run = v->run;
	v->bubbles.arena = arena;
	if (run->steps.found) {
		rank_steps_kept(run, &run->charge->devices[d], v->step_end, NULL);
		memset(v->waited, 0, run->window.n_steps * sizeof *v->waited);
	}
	out->parts = collectives_divide(v->of_device, v->n_of_device, &v->beside.compute, &v->beside.copies,
	                                run->window.start, run->window.end, add_wait, v);
	out->partner = find_partner(v);
	out->bubbles = v->bubbles.bubble;
	out->n_bubbles = v->bubbles.n;
	out->own = (double)(run->window.end - run->window.start - out->parts.waiting - out->parts.bubble);
	if (!run->steps.found)
		return;
	out->step = ARENA_NEW(arena, run->window.n_steps, double);
	out->own = 0;
	for (uint32_t i = 0; i < run->window.n_steps; i++) {
		uint32_t k = run->window.warmup + i;
		out->step[i] = (double)(v->step_end[k] - v->step_end[k - 1]) - v->waited[i];
		out->own += out->step[i] / run->window.n_steps;
	}
}

/* Who came last, in the window's collectives. */
static void find_last(struct view *v, struct arena *arena, struct waiting *out)
{
	const struct run *run = v->run;
	for (size_t i = 0; i < v->all.collectives.n; i++) {
		const struct collective *c = &v->all.collectives.list[i];
		struct comm_row *row = &v->all.rows[c->key];
		if (!c->matched || c->entered < run->window.start || c->entered >= run->window.end)
			continue;
		out->n_collectives++;
		out->device[c->last].last++;
		if (!row->last)
			row->last = ARENA_NEW(arena, run->charge->n_devices, uint32_t);
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

void waiting_find(const struct run *run, struct arena *arena, struct waiting *out)
{
	struct view v = {.run = run};
	*out = (struct waiting){.device = ARENA_NEW(arena, run->charge->n_devices, struct device_waiting),
	                        .tolerance = find_tolerance(run)};
	comm_ops_match(run, out->tolerance, arena, &v.all);
	v.met = ARENA_NEW(&v.scratch, v.all.n_rows, int64_t);
	v.seen = ARENA_NEW(&v.scratch, v.all.n_rows, bool);
	v.waited = ARENA_NEW(&v.scratch, run->window.n_steps, double);
	v.step_end = ARENA_NEW(&v.scratch, run->steps.n, int64_t);
	v.for_whom = ARENA_NEW(&v.scratch, run->charge->n_devices, int64_t);
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		ARENA_LOCAL(scratch);
		look_at_device(&v, &run->charge->devices[d].beside, &scratch);
		take_ops(&v, d, &scratch);
		divide(&v, d, arena, &out->device[d]);
		blame_add(&v.blame, v.waits, v.n_waits);
	}
	find_last(&v, arena, out);
	comm_ops_release(&v.all);
	double *waited_for = ARENA_NEW(&v.scratch, run->charge->n_devices, double);
	blame_find(&v.blame, out->tolerance >= 0, waited_for);
	for (uint32_t d = 0; d < run->charge->n_devices; d++)
		out->device[d].waited_for = waited_for[d];
	out->rows = v.all.rows;
	out->n_rows = v.all.n_rows;
	arena_release(&v.scratch);
}
