#include "side/side_parts.h"

#include "base/sort.h"
#include "verdict/series.h"

#include <math.h>

/* Ends of a loop's cycles, as of steps: the running maximum of their ops' ends; of the k-th cycles of all processes
 * together. Returns how many have ops. */
static uint32_t loop_ends(const struct run *run, uint32_t index, int64_t *end)
{
	const struct run_loops *loops = &run->loops;
	uint32_t n = 0;
	for (uint32_t k = 0; k < loops->list[index].n; k++)
		end[k] = INT64_MIN;
	for (uint32_t i = 0; i < loops->n_cycles; i++) {
		const struct run_cycle *c = &loops->cycles[i];
		if (c->loop == index + 1 && c->ops.end > end[c->cycle])
			end[c->cycle] = c->ops.end;
	}
	for (uint32_t k = 0; k < loops->list[index].n; k++)
		if (end[k] != INT64_MIN && (!n || end[k] > end[n - 1]))
			end[n++] = end[k];
	return n;
}

/* Ends of the other loops' cycles, sorted. Returns how many. */
static uint32_t other_ends(const struct run *run, uint32_t index, int64_t *end)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < run->loops.n_cycles; i++)
		if (run->loops.cycles[i].loop != index + 1)
			end[n++] = run->loops.cycles[i].ops.end;
	sort_times(end, n);
	return n;
}

/* Mean of the periods from `first` on during which no cycle of another loop ended; of all where that are most of them:
 * the loops run side by side. */
static double mean_period(const struct run *run, uint32_t index, const int64_t *end, uint32_t first, uint32_t n,
                          struct arena *arena)
{
	int64_t *other = ARENA_NEW(arena, run->loops.n_cycles, int64_t);
	uint32_t n_other = other_ends(run, index, other), at = 0, counted = 0;
	double sum = 0;
	for (uint32_t k = first + 1; k < n; k++) {
		while (at < n_other && other[at] <= end[k - 1])
			at++;
		if (at < n_other && other[at] < end[k])
			continue;
		sum += (double)(end[k] - end[k - 1]);
		counted++;
	}
	if (counted * (uint64_t)2 < n - 1 - first)
		return (double)(end[n - 1] - end[first]) / (n - 1 - first);
	return sum / counted;
}

/* Time of a step of a loop by the rule for steps: from the end of its warm-up to its end, divided by the steps. Of a
 * loop that is not judged without the time of others that come in between, as training does between validations. */
static double loop_period(const struct run *run, uint32_t index)
{
	if (run->steps.found && run->steps.origin == STEPS_BY_PATTERN && index == run->agreed.loop)
		return (double)run->window.ns / run->window.n_steps;
	ARENA_LOCAL(scratch);
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
		period = mean_period(run, index, end, series.cut, n, &scratch);
	}
	return period;
}

void loops_build(const struct run *run, struct arena *arena, struct side *side)
{
	const struct side_steps *steps = &side->steps;
	if (!steps->found || run->steps.origin != STEPS_BY_PATTERN)
		return;
	side->n_loops = run->loops.n;
	side->loops = ARENA_NEW(arena, side->n_loops, struct loop_result);
	for (uint32_t l = 0; l < side->n_loops; l++) {
		const struct run_loop *loop = &run->loops.list[l];
		bool judged = l == run->agreed.loop;
		/* what is judged has the first run's name; who had that one here takes the other */
		uint32_t name = judged                      ? steps->name
		                : loop->name == steps->name ? run->loops.list[run->agreed.loop].name
		                                            : loop->name;
		side->loops[l] = (struct loop_result){.name = name,
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
}
