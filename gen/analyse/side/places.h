/* The same device in all runs of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_PLACES_H
#define GAPLINE_ANALYSE_SIDE_PLACES_H

#include "analyse/run/run.h"

/* Which device of a run is which of every other run: the same rank (or, where ranks are not known, the process in the
 * same place among those with devices), the same place among that rank's processes, the same ordinal. Fills `place` and
 * `device_at` of the runs; returns how many devices the side has. In the order of the first run, and behind those what
 * later runs have more. */
uint32_t places_find(struct run *runs, size_t n);

#endif
