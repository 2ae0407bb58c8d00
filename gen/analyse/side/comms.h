/* What ranks say to each other: one row for each operation of each communicator. */
#ifndef GAPLINE_ANALYSE_SIDE_COMMS_H
#define GAPLINE_ANALYSE_SIDE_COMMS_H

#include "analyse/run/waiting.h"
#include "analyse/side_result.h"

/* Fills `comms` of `out`. */
void comms_build(const struct run *run, const struct waiting *waiting, struct arena *arena, struct ranks_result *out);

#endif
