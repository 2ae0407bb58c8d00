/* The hardware counters of a side's GPUs (docs/method/analysis.md, Hardware counters). */
#ifndef GAPLINE_ANALYSE_SIDE_METRICS_H
#define GAPLINE_ANALYSE_SIDE_METRICS_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

/* The counters of a device of the side over all of its runs, whose `device_at` are filled; phases come from `arena`.
 * Without samples in the measured windows `samples` is 0. */
struct metrics metrics_of_device(const struct run *runs, size_t n, uint32_t device, struct arena *arena);

/* Their lanes between two times of one run, of its device `device`, into `out`. */
void metrics_lanes(const struct run *run, int64_t start, int64_t end, uint32_t device, struct arena *arena,
                   struct device_lanes *out);

#endif
