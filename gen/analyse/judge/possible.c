#include "analyse/judge/doubts.h"

#include "analyse/judge/evidence.h"
#include "base/list.h"
#include "base/sort.h"
#include "trace/comm.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 64 };                 /* GPU operations that begin in one nanosecond, at most, and are looked at */
static const int64_t TICK = 1000;      /* ns, of a clock of microseconds: what is no longer may follow within one */
static const double USED_LEAST = 0.01; /* of the window */
static const double USED_ALIKE = 0.1;  /* of what others use */

/* ---- holes ---- */

static const struct fact *find_holes(const struct run_table *run, struct arena *arena)
{
	const struct run_holes *h = &run->holes;
	const char *file = run->file, *why = run->source.incomplete;
	if ((double)h->lost > EVIDENCE_LOST * (double)h->launches)
		return FACT_NEW(arena, kernels_lost, FACT_NO_SIDE, .lost = (int64_t)h->lost,
		                .launches = (int64_t)h->launches, .file = file, .told = *why,
		                .why = *why ? arena_copy(arena, why, strlen(why)) : NULL);
	if (h->jumps && h->to == h->from)
		return FACT_NEW(arena, steps_lost, FACT_NO_SIDE, .file = file, .stretches = (int64_t)h->jumps);
	return h->jumps ? FACT_NEW(arena, step_numbers_jump, FACT_NO_SIDE, .file = file, .jumps = (int64_t)h->jumps,
	                           .from = h->from, .to = h->to)
	                : NULL;
}

/* ---- repeats that are ranks ---- */

struct meeting {
	int64_t start, end;
};

SORT_ORDER(by_start, struct meeting, ASCENDING(x->start, y->start))

/* When the communication kernels of a run ran, on the wall clock. */
static struct meeting *find_meetings(const struct trace *t, size_t *n, struct arena *arena)
{
	struct meeting *list = NULL;
	size_t room = 0;
	for (uint32_t piece = 0; piece < comm_kernels_pieces(t) && t->source.started != TRACE_NO_TIME; piece++) {
		ARENA_LOCAL(kernels);
		size_t more;
		const struct comm_kernel *k = comm_kernels_of(t, piece, &kernels, &more);
		for (size_t i = 0; i < more; i++) {
			LIST_ADD(arena, list, *n, room,
			         (struct meeting){t->source.started + k[i].start, t->source.started + k[i].end});
		}
	}
	SORT(list, *n, by_start);
	return list;
}

static bool they_meet(const struct trace *a, const struct trace *b)
{
	ARENA_LOCAL(work);
	size_t n = 0, m = 0, met = 0, k = 0;
	const struct meeting *x = find_meetings(a, &n, &work), *y = find_meetings(b, &m, &work);
	for (size_t i = 0; i < n; i++) {
		while (k < m && y[k].end <= x[i].start)
			k++;
		met += k < m && y[k].start < x[i].end;
	}
	return n > 0 && (double)met >= EVIDENCE_MEETING * (double)n;
}

/* A thread is in one call at a time, or in a call of that call: ns for which it was in two all the same. The clock was
 * set back, or the rows are of two threads. Of one process: rows of several may not be held (trace/again.h). */
static int64_t in_two_calls(const struct trace *t)
{
	const struct trace_calls *c = &t->calls;
	int64_t sum = 0;
	if (t->n_processes != 1 || !c->n)
		return 0;
	const int64_t *start = c->start, *ends = c->end;
	int64_t end = ends[0];
	for (size_t i = 1, outer = 0, n = c->n; i < n; i++) {
		if (start[i] < end && c->thread[i] == c->thread[outer]) {
			if (ends[i] <= end)
				continue;
			sum += end - start[i];
		}
		end = ends[outer = i];
	}
	return sum;
}

/* How long after all that the host did GPU work begins that it had launched, while nothing ran: longer than all before
 * it took. Of one process, as above. What a queue from before the recording delays comes before most of the work. */
static int64_t far_behind(const struct trace *t)
{
	if (t->n_processes != 1 || !t->calls.n)
		return 0;
	int64_t first = t->calls.start[0], last = t->calls.end[t->calls.n - 1], behind = INT64_MAX;
	for (size_t i = 0; i < t->calls.n && last + (last - first) <= t->last_time; i++) {
		first = t->calls.start[i] < first ? t->calls.start[i] : first;
		last = t->calls.end[i] > last ? t->calls.end[i] : last;
	}
	for (size_t i = 0; i < t->ranges.n; i++)
		last = t->ranges.end[i] > last ? t->ranges.end[i] : last;
	const int64_t far = last + (last - first);
	size_t late = 0;
	for (size_t i = 0; i < t->ops.n && far <= t->last_time; i++)
		if (t->ops.start[i] < far) {
			last = t->ops.end[i] > last ? t->ops.end[i] : last;
		} else if (t->ops.launch[i] != TRACE_NONE) {
			behind = t->ops.start[i] < behind ? t->ops.start[i] : behind;
			late++;
		}
	return late && late < t->ops.n - late && behind - last > last - first ? behind - last : 0;
}

/* Whether two rows are of one operation: a stream has none twice at a time, under one name and of one launch. */
static bool is_again(const struct trace *t, size_t i, size_t k)
{
	const struct trace_ops *o = &t->ops;
	const uint32_t a = o->launch[i], b = o->launch[k];
	return o->end[i] == o->end[k] && o->device[i] == o->device[k] && o->stream[i] == o->stream[k] &&
	       o->kind[i] == o->kind[k] && o->name[i] == o->name[k] &&
	       (a == b || (a != TRACE_NONE && b != TRACE_NONE && t->calls.start[a] == t->calls.start[b]));
}

static bool was_there(const struct trace *t, size_t i)
{
	for (size_t k = i; k-- > 0 && i - k <= AT_ONCE && t->ops.start[k] == t->ops.start[i];)
		if (is_again(t, i, k))
			return true;
	return false;
}

/* How many rows of GPU work, in order of their start, are there again. Of one process, as above. */
static size_t count_again(const struct trace *t)
{
	const struct trace_ops *o = &t->ops;
	size_t n = 0;
	for (size_t i = 1; t->n_processes == 1 && i < o->n; i++)
		n += o->start[i - 1] == o->start[i] && o->end[i] - o->start[i] > TICK && was_there(t, i);
	return n;
}

const struct fact *possible_rows(const struct run *runs, const char *const *files, size_t n, struct arena *arena)
{
	for (size_t r = 0; r < n; r++) {
		double two = (double)in_two_calls(runs[r].trace),
		       window = (double)(runs[r].window_end - runs[r].window_start);
		if (two > EVIDENCE_LOST * window)
			return FACT_NEW(arena, calls_cross, FACT_NO_SIDE, .file = files[r], .time = two);
		const size_t again = count_again(runs[r].trace), rows = runs[r].trace->ops.n;
		if ((double)again > EVIDENCE_LOST * (double)rows)
			return FACT_NEW(arena, rows_again, FACT_NO_SIDE, .file = files[r], .again = (int64_t)again,
			                .rows = (int64_t)rows);
		int64_t behind = far_behind(runs[r].trace);
		if (behind)
			return FACT_NEW(arena, row_far_behind, FACT_NO_SIDE, .file = files[r], .time = (double)behind);
	}
	for (size_t r = 1; r < n; r++)
		for (size_t q = 0; q < r; q++)
			if (they_meet(runs[q].trace, runs[r].trace))
				return FACT_NEW(arena, ranks_as_repeats, FACT_NO_SIDE, .one = files[q],
				                .other = files[r]);
	return NULL;
}

/* ---- another process on the GPU ---- */

/* How much of the time other processes use the GPU, and how much of a step; of all runs. */
static double used_by_others(const struct side_facts *facts, double *of_step)
{
	double used = 0, time = 0, steps = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		used += (double)run->tenants;
		time += (double)(run->window_end - run->window_start);
		steps += run->n_steps;
	}
	*of_step = used / steps;
	return used / time;
}

/* The most processes with work, each GPU's counted, of a run. */
static uint32_t most_devices(const struct side_facts *facts)
{
	uint32_t most = 0;
	for (size_t r = 0; r < facts->n_runs; r++)
		most = facts->runs[r].n_devices > most ? facts->runs[r].n_devices : most;
	return most;
}

/* What does as much per step is part of the program, and what does as much all the time slows both sides alike. Where
 * both sides have as many processes, and one has steps in all of them, the other's are the program's, too. */
static const struct fact *others_differ(const struct side_facts facts[2], struct arena *arena)
{
	double step[2], used[2] = {used_by_others(&facts[0], &step[0]), used_by_others(&facts[1], &step[1])};
	const double more = fabs(used[0] - used[1]), most = fmax(used[0], used[1]);
	if (more <= fmax(USED_LEAST, USED_ALIKE * most) ||
	    fabs(step[0] - step[1]) <= USED_ALIKE * fmax(step[0], step[1]) ||
	    (more == most && most_devices(&facts[0]) == most_devices(&facts[1])))
		return NULL;
	return FACT_NEW(arena, tenant_on_one_side, used[1] > used[0], .baseline = used[0], .fixed = used[1]);
}

/* ---- steps that hold several, or nothing ---- */

static const struct run_table *several_of(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (facts->runs[r].holes.several)
			return &facts->runs[r];
	return NULL;
}

/* A program that does so now and then does it on both sides. */
static const struct fact *several_on_one_side(const struct side_facts facts[2], struct arena *arena)
{
	const struct run_table *run[2] = {several_of(&facts[0]), several_of(&facts[1])};
	if (!run[0] == !run[1])
		return NULL;
	int s = run[1] != NULL;
	const struct run_holes *h = &run[s]->holes;
	if (!h->times)
		return FACT_NEW(arena, steps_emptied, s, .file = run[s]->file, .steps = (int64_t)h->several,
		                .step = h->step);
	return FACT_NEW(arena, step_holds_others, s, .file = run[s]->file, .steps = (int64_t)h->several,
	                .step = h->step, .times = h->times);
}

const struct fact *possible_recording(const struct side_facts *facts, int n_sides, struct arena *arena)
{
	const struct fact *why = NULL;
	for (int s = 0; s < n_sides; s++) {
		for (size_t r = 0; r < facts[s].n_runs && !why; r++)
			why = find_holes(&facts[s].runs[r], arena);
		if (!why)
			why = facts[s].ranks_apart;
	}
	if (!why && n_sides > 1)
		why = several_on_one_side(facts, arena);
	return why || n_sides < 2 ? why : others_differ(facts, arena);
}

/* ---- timed runs ---- */

const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena)
{
	for (int s = 0; s < 2; s++) {
		double step = 0, recording = EVIDENCE_PER_NODE * side[s].recording.graph_nodes +
		                             EVIDENCE_PER_LAUNCH * side[s].counts.launches;
		double least = EVIDENCE_FASTER_ALONE * (side[s].busy - recording);
		for (size_t r = 0; r < timed[s].n_runs; r++) {
			if (!timed[s].runs[r].steps)
				return NULL;
			step += timed[s].runs[r].step / (double)timed[s].n_runs;
		}
		if (timed[s].n_runs && side[s].steps.found && step < least)
			return FACT_NEW(arena, timed_too_short, s, .step = step, .busy = side[s].busy);
	}
	return NULL;
}
