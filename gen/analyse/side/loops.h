/* What repeats in a side, and what lies before it: its loops and its start-up. */
#ifndef GAPLINE_ANALYSE_SIDE_LOOPS_H
#define GAPLINE_ANALYSE_SIDE_LOOPS_H

#include "analyse/run/run.h"

/* The loops of the median run, and what lies before the first step. */
void loops_build(const struct run *runs, struct arena *arena, struct side *side);
struct startup startup_build(struct run *runs, size_t n);

#endif
