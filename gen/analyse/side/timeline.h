/* Representative steps of a run. */
#ifndef GAPLINE_ANALYSE_SIDE_TIMELINE_H
#define GAPLINE_ANALYSE_SIDE_TIMELINE_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

/* A few representative steps of a run, to the nanosecond; of many devices those of the slowest, the median and the
 * fastest of its ranks first. */
struct timeline timeline_build(struct run *run, const struct ranks_result *ranks, struct arena *arena);

#endif
