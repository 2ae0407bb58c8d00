/* What every gap of a device is charged to (docs/method/analysis.md, Causes). */
#ifndef GAPLINE_ANALYSE_RUN_GAPS_H
#define GAPLINE_ANALYSE_RUN_GAPS_H

#include "analyse/run/run.h"

/* Finds the limit and charges every gap in the window to causes. */
void device_charge(struct run *run, struct device_run *device);

/* Calls `visit` for the pieces of a gap, in order, covering it exactly; returns what opened it. The time in which other
 * processes ran is left in them when `sharing` is NULL. */
enum opened gap_walk(struct run *run, const struct device_run *device, const struct gap *gap,
                     const struct sharing *sharing, void (*visit)(void *context, const struct doing *piece),
                     void *context);

#endif
