/* The way from the baseline's step to the fixed one's, part by part, exact (docs/method/analysis.md, Diagnosis). */
#ifndef GAPLINE_FIND_WATERFALL_H
#define GAPLINE_FIND_WATERFALL_H

#include "result/pair_result.h"
#include "side/side.h"

/* Of two sides that both have steps, or both have none, with their headlines, by the step, or by the item where those
 * are told. `facts` have the runs' step tables, from
 * which the intervals of the first BOUND_ROWS parts are made; NULL: there are none, and no intervals. */
struct waterfall waterfall_build(const struct side side[2], const struct side_facts *facts,
                                 const struct renames *renames, const struct verdict *verdict,
                                 const struct names *names, struct arena *arena);

/* How many kernels run at once, on average over the time in which any does; those that communicate are no part of it.
 */
double waterfall_at_once(const struct side *side);

#endif
