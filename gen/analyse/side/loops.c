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
		/* what is judged has the first run's name; who had that one here takes the other */
		uint32_t name = judged                      ? steps->name
		                : loop->name == steps->name ? run->loops.list[run->loop].name
		                                            : loop->name;
		out.list[l] = (struct loop_result){.name = name,
		                                   .steps = loop->n,
		                                   .differ = loop->differ,
		                                   .ops = loop->ops,
		                                   .period = loop_period(run, l),
		                                   .share = loop->share,
		                                   .tried = run->loops.tried,
		                                   .fewest = loop->fewest,
		                                   .most = loop->most,
		                                   .explained = loop->explained,
		                                   .same = loop->same,
		                                   .judged = judged};
	}
	return out;
}
