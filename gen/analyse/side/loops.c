#include "analyse/side/loops.h"

#include <math.h>
#include <stdlib.h>

/* Ends of a loop's cycles, as of steps: the running maximum of their ops' ends; of the k-th cycles of all processes
 * together. Returns how many have ops. */
static uint32_t loop_ends(const struct run *run, uint32_t index, int64_t *end)
{
	const struct trace *t = run->trace;
	const struct run_loops *loops = &run->loops;
	uint32_t n = 0;
	for (uint32_t k = 0; k < loops->list[index].n; k++)
		end[k] = INT64_MIN;
	for (size_t i = 0; i < t->ops.n; i++)
		if (loops->loop[i] == index + 1 && t->ops.end[i] > end[loops->cycle[i]])
			end[loops->cycle[i]] = t->ops.end[i];
	for (uint32_t k = 0; k < loops->list[index].n; k++)
		if (end[k] != INT64_MIN && (!n || end[k] > end[n - 1]))
			end[n++] = end[k];
	return n;
}

/* Time of a step of a loop by the rule for steps: from the end of its warm-up to its end, divided by the steps. */
static double loop_period(const struct run *run, uint32_t index)
{
	if (run->steps.found && run->steps.origin == STEPS_BY_PATTERN && index == run->loop)
		return (double)(run->window_end - run->window_start) / run->n_steps;
	struct arena scratch = {0};
	struct series series;
	int64_t *end = ARENA_NEW(&scratch, run->loops.list[index].n, int64_t);
	uint32_t n = loop_ends(run, index, end);
	double period = 0;
	if (n >= 2) {
		int64_t *periods = ARENA_NEW(&scratch, n, int64_t);
		for (uint32_t k = 1; k < n; k++)
			periods[k - 1] = end[k] - end[k - 1];
		struct verdict_run list = {.period = periods, .n = n - 1};
		series_cut(&list, -1, &series);
		period = (double)(end[n - 1] - end[series.cut]) / (double)(n - 1 - series.cut);
	}
	arena_release(&scratch);
	return period;
}

struct side_loops loops_build(const struct run *run, const struct side_steps *steps, struct arena *arena)
{
	struct side_loops out = {0};
	if (!steps->found || run->steps.origin != STEPS_BY_PATTERN)
		return out;
	out.n = run->loops.n;
	out.list = ARENA_NEW(arena, out.n, struct loop_result);
	for (uint32_t l = 0; l < out.n; l++) {
		const struct run_loop *loop = &run->loops.list[l];
		bool judged = l == run->loop;
		out.list[l] = (struct loop_result){.name = judged ? steps->name : loop->name,
		                                   .steps = loop->n,
		                                   .differ = loop->differ,
		                                   .ops = loop->ops,
		                                   .period = loop_period(run, l),
		                                   .share = loop->share,
		                                   .explained = loop->explained,
		                                   .judged = judged};
	}
	return out;
}

/* ---- start-up ---- */

/* What a thread did in a run's start-up, and the longest stretch in which it made no CUDA call. */
struct begin {
	double cause[CAUSE_COUNT], longest;
	int64_t from, until; /* of the stretch without calls that is gone through */
};

static void add_stretch(void *context, const struct doing *stretch)
{
	struct begin *begin = context;
	begin->cause[stretch->cause] += (double)(stretch->end - stretch->start);
	if (stretch->cause != CAUSE_HOST_CODE && stretch->cause != CAUSE_HOST_BLOCKED &&
	    stretch->cause != CAUSE_OFF_CPU && stretch->cause != CAUSE_HANDOVER)
		return;
	if (stretch->start != begin->until)
		begin->from = stretch->start;
	begin->until = stretch->end;
	begin->longest = fmax(begin->longest, (double)(begin->until - begin->from));
}

/* The thread whose steps begin first; without steps the one that launches the first op; TRACE_NONE: not known. */
static uint32_t first_thread(const struct run *run)
{
	const struct step_thread *first = NULL;
	for (uint32_t i = 0; i < run->steps.n_threads; i++)
		if (!first || run->steps.threads[i].start[0] < first->start[0])
			first = &run->steps.threads[i];
	if (first)
		return first->thread;
	const struct trace *t = run->trace;
	size_t op = 0;
	for (size_t i = 1; i < t->ops.n; i++)
		op = t->ops.start[i] < t->ops.start[op] ? i : op;
	return t->ops.n && t->ops.launch[op] != TRACE_NONE ? t->calls.thread[t->ops.launch[op]] : TRACE_NONE;
}

struct startup startup_build(struct run *runs, size_t n)
{
	struct startup out = {0};
	for (size_t r = 0; r < n; r++) {
		struct begin begin = {.from = INT64_MIN, .until = INT64_MIN};
		uint32_t thread = first_thread(&runs[r]);
		if (runs[r].startup <= 0 || thread == TRACE_NONE)
			continue;
		activity_walk(&runs[r].activity, thread, runs[r].startup_end - runs[r].startup, runs[r].startup_end,
		              add_stretch, &begin);
		out.ns += (double)runs[r].startup / (double)n;
		out.pause += begin.longest / (double)n;
		for (int c = 0; c < CAUSE_COUNT; c++)
			out.cause[c] += begin.cause[c] / (double)n;
	}
	return out;
}
