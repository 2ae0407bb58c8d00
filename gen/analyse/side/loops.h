/* What repeats in a side: its loops. */
#ifndef GAPLINE_ANALYSE_SIDE_LOOPS_H
#define GAPLINE_ANALYSE_SIDE_LOOPS_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct side_loops {
	struct loop_result *list; /* by share */
	uint32_t n;               /* 0 where a range is the step */
};

/* The loops of the median run; `steps` are the side's. */
struct side_loops loops_build(const struct run *run, const struct side_steps *steps, struct arena *arena);

#endif
