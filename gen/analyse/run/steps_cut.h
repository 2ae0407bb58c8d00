/* Which instances the end of the capture cuts. */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_CUT_H
#define GAPLINE_ANALYSE_RUN_STEPS_CUT_H

#include "analyse/run/steps_lanes.h"

/* Marks instances as `cut` and counts them in `out`: the last ones of a thread, where they were open when the capture
 * ended, or launched what never ran, while nothing of the kind is true of the first half. */
void steps_find_cut(struct steps_build *build);

#endif
