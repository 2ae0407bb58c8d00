/* What the ranks of a side wait for each other, for whom, and why that one is late. */
#ifndef GAPLINE_ANALYSE_SIDE_RANKS_H
#define GAPLINE_ANALYSE_SIDE_RANKS_H

#include "analyse/run/waiting.h"
#include "analyse/side/budgets.h"

/* What the side's ranks wait for each other, and for whom; `waiting`: of each run; `side` holds its devices. */
struct ranks_result ranks_build(const struct run *runs, size_t n, const struct waiting *waiting, uint32_t median_run,
                                const struct side_budgets *side, struct arena *arena);

#endif
