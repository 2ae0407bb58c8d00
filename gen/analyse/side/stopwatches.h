/* The timed runs of a side: which of them measure what the side is measured by. */
#ifndef GAPLINE_ANALYSE_SIDE_STOPWATCHES_H
#define GAPLINE_ANALYSE_SIDE_STOPWATCHES_H

#include "analyse/judge/stopwatch.h"
#include "analyse/side/run_table.h"

/* Those that can be used, of all runs of a side: they have to measure its steps, or, where it has none (`steps` is
 * false), the whole process. */
struct stopwatch_side stopwatches_of(const struct run *runs, size_t n, bool steps, struct arena *arena);

/* Time per step, ns, of the recorded runs over as many steps at their ends as `timed` timed, none of them set aside:
 * the mean over both. 0: nothing was timed. */
double stopwatches_recorded(const struct run_table *runs, size_t n, const struct stopwatch_side *timed);

#endif
