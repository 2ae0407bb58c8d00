#include "analyse/side/loops.h"

#include "analyse/side/side.h"

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

void loops_build(const struct run *runs, struct arena *arena, struct side *side)
{
	const struct run *run = &runs[side->median_run];
	if (!side->steps.found || run->steps.origin != STEPS_BY_PATTERN)
		return;
	side->n_loops = run->loops.n;
	side->loops = ARENA_NEW(arena, side->n_loops, struct loop_result);
	for (uint32_t l = 0; l < side->n_loops; l++) {
		const struct run_loop *loop = &run->loops.list[l];
		bool judged = l == run->loop;
		side->loops[l] = (struct loop_result){.name = judged ? side->steps.name : loop->name,
		                                      .steps = loop->n,
		                                      .differ = loop->differ,
		                                      .ops = loop->ops,
		                                      .period = loop_period(run, l),
		                                      .share = loop->share,
		                                      .explained = loop->explained,
		                                      .judged = judged};
	}
}

/* ---- start-up ---- */

static void add_stretch(void *context, const struct doing *stretch)
{
	double *cause = context;
	cause[stretch->cause] += (double)(stretch->end - stretch->start);
}

struct startup startup_build(struct run *runs, size_t n, bool steps)
{
	struct startup out = {0};
	double all[CAUSE_COUNT] = {0};
	for (size_t r = 0; r < n; r++)
		out.ns += (double)runs[r].startup / (double)n;
	for (size_t r = 0; r < n && steps; r++) {
		/* of the thread whose steps begin first */
		const struct step_thread *first = &runs[r].steps.threads[0];
		for (uint32_t i = 1; i < runs[r].steps.n_threads; i++)
			if (runs[r].steps.threads[i].start[0] < first->start[0])
				first = &runs[r].steps.threads[i];
		int64_t end = run_startup_end(&runs[r]);
		if (runs[r].startup > 0)
			activity_walk(&runs[r].activity, first->thread, end - runs[r].startup, end, add_stretch, all);
	}
	for (int c = 0; c < CAUSE_COUNT; c++)
		out.cause[c] = all[c] / (double)n;
	return out;
}
