#include "analyse/judge/compare_parts.h"
#include "analyse/run/marks_names.h"

#include <math.h>

static const double MOST = 0.9;    /* of a side's GPU work */
static const double HOLDS = 0.7;   /* of it, and a range may be what a step is: as of those that are */
static const double BEYOND = 1.01; /* times a step's period: so long are ranges of one thread open in it, at most */

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

/* Whether most of a side's GPU work is launched in ranges of that name, of which a step has one or more and is in none:
 * they are open longer than its own, on one thread. */
static bool holds_steps(const struct guard *c, int s, const struct range_result *r)
{
	const struct side *side = &c->side[s];
	double own = 0;
	for (uint32_t i = 0; i < side->n_ranges && side->steps.origin == STEPS_BY_RANGE; i++)
		own += side->ranges[i].name == side->steps.name ? side->ranges[i].host : 0;
	return r->gpu >= HOLDS * side->busy * side->n_devices && r->instances + c->slack >= 1 && r->host > own &&
	       r->host <= BEYOND * side->budget.period;
}

/* Whether so many to a step is another unit than on the other side: by more than chance, or what all of them take says
 * the opposite of what steps do. */
static bool is_other_number(const struct guard *c, const double n[2])
{
	const double steps = log(c->a->steps.mean / c->b->steps.mean), all = steps + log(n[1] / n[0]);
	return guard_counts_differ(c, n[0], n[1]) || (guard_distance(n[0], n[1]) > c->slack && steps * all < 0);
}

void guard_ranges_of_steps(struct guard *c)
{
	for (uint32_t i = 0; i < c->a->n_ranges && c->a->steps.found; i++)
		for (uint32_t k = 0; k < c->b->n_ranges; k++) {
			const struct range_result *r[2] = {&c->a->ranges[i], &c->b->ranges[k]};
			const double n[2] = {r[0]->instances, r[1]->instances};
			if (r[0]->name != r[1]->name || r[0]->domain != r[1]->domain ||
			    marks_name_class(names_text(c->names, r[0]->name), names_text(c->names, r[0]->domain)) ==
			            MARK_NEVER ||
			    !holds_steps(c, 0, r[0]) || !holds_steps(c, 1, r[1]) || !is_other_number(c, n))
				continue;
			guard_is_other_unit(c, FACT_NEW(c->arena, steps_in_more_ranges, n[1] > n[0],
			                                .range = r[0]->name, .baseline = n[0], .fixed = n[1]));
		}
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
