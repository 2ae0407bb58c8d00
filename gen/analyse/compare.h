/* What two sides have in common and what not: the same-work guard, the waterfall (DESIGN 4 and 5). */
#ifndef GAPLINE_ANALYSE_COMPARE_H
#define GAPLINE_ANALYSE_COMPARE_H

#include "analyse/side.h"

/* Fills differences, notes and `comparable` of `out`, whose sides are built. When the sides cannot be judged against
 * each other at all (another collector, another graph tracing mode, steps on one side only), returns the reason, else
 * NULL. */
const char *compare_work(const struct side_facts facts[2], struct arena *arena, struct analysis *out);

/* The parts from the baseline's step to the fixed one's (waterfall.c). */
void waterfall_build(struct arena *arena, struct analysis *out);

#endif
