/* Ranks that were started again: a process of the job after another one, on the same GPU. */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_RESTART_H
#define GAPLINE_ANALYSE_RUN_STEPS_RESTART_H

#include "analyse/run/steps_lanes.h"

/* Processes whose instances lie one after the other, on one GPU or of one rank number, are starts of one rank, no ranks
 * of one step. Of the first starts of all ranks, the second ones and so on, those count that have the most instances;
 * of equally many the later ones. Instances of others get `other_start`, their lanes are taken from `build`, and
 * out->restart says what was left out. False, and nothing changed: no rank was started again. */
bool steps_leave_restarts(struct steps_build *build);

#endif
