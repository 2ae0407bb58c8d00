#include "analyse/judge/same_work.h"

#include <math.h>

static const double MOST = 0.9; /* of a side's GPU work */

uint32_t guard_iterations(const struct side *side)
{
	for (uint32_t l = 0; l < side->n_loops; l++)
		if (side->loops[l].judged)
			return side->loops[l].steps;
	return 0;
}

/* ns that all loops of a side take; of which GPU work they hold `share`. */
static double time_loops(const struct side *side, double *share)
{
	double time = 0;
	*share = 0;
	for (uint32_t l = 0; l < side->n_loops; l++) {
		time += side->loops[l].steps * side->loops[l].period;
		*share += side->loops[l].share;
	}
	return time;
}

/* Where the loop that is compared is a part of each side's work, and all of its loops together are nearly all of it. */
static const struct fact *compare_loops(const struct guard *c)
{
	double held[2];
	const double whole = time_loops(c->a, &held[0]) / time_loops(c->b, &held[1]);
	if (c->a->n_loops < 2 || c->b->n_loops < 2 || fmin(held[0], held[1]) < MOST ||
	    fmin(c->a->steps.coverage, c->b->steps.coverage) >= MOST)
		return NULL;
	return FACT_NEW(c->arena, loops_together, FACT_NO_SIDE, .baseline = c->a->steps.coverage,
	                .fixed = c->b->steps.coverage, .whole = whole);
}

void guard_loops(struct guard *c)
{
	uint32_t a = guard_iterations(c->a), b = guard_iterations(c->b);
	if ((c->out.mismatch && !c->other_loops) || !a || !b)
		return;
	c->out.loops = (a > b ? a - b : b - a) <= 2
	                       ? compare_loops(c)
	                       : FACT_NEW(c->arena, iterations_differ, FACT_NO_SIDE, .baseline = a, .fixed = b,
	                                  .compared = !c->other_loops,
	                                  .whole = a * c->a->budget.period / (b * c->b->budget.period));
	guard_find(c, false, c->out.loops);
}
