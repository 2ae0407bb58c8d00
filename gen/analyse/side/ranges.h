/* NVTX ranges of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_RANGES_H
#define GAPLINE_ANALYSE_SIDE_RANGES_H

#include "analyse/run/run.h"

/* The side's NVTX ranges. */
void ranges_build(const struct run *runs, size_t n, struct arena *arena, struct side *side);

#endif
