/* What a side's program did before its first step. */
#ifndef GAPLINE_ANALYSE_SIDE_STARTUP_H
#define GAPLINE_ANALYSE_SIDE_STARTUP_H

#include "analyse/run/run.h"

/* The start-up of `n` runs (run.startup), by what the thread of their first steps did meanwhile. */
struct startup startup_build(struct run *runs, size_t n);

#endif
