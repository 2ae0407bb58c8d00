/* What the ranks of a side wait for each other, for whom, and why that one is late. */
#ifndef GAPLINE_ANALYSE_SIDE_RANKS_H
#define GAPLINE_ANALYSE_SIDE_RANKS_H

#include "analyse/side/side.h"

/* What the side's ranks wait for each other, and for whom. The side's devices are there already. */
struct ranks_result ranks_build(const struct run *runs, size_t n, const struct side *side,
                                const struct side_facts *facts, struct arena *arena);

#endif
