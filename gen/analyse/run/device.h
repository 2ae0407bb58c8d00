/* One device of a run: busy parts, phase costs, gaps. */
#ifndef GAPLINE_ANALYSE_RUN_DEVICE_H
#define GAPLINE_ANALYSE_RUN_DEVICE_H

#include "analyse/run/run.h"

/* One pass over a device's ops: busy parts, phase costs, overview, gaps. Allocates everything in `out`. */
void device_sweep(struct run *run, uint32_t device, struct device_run *out);

#endif
