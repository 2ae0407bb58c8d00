/* Phases of runs that nobody marked: what a thread launches next (docs/method/analysis.md, Phase). */
#ifndef GAPLINE_CHARGE_WORK_PHASES_H
#define GAPLINE_CHARGE_WORK_PHASES_H

#include "charge/charge.h"

/* Whether ranges say little of the run's phases: less than half of the GPU time was launched in any. After
 * run_find_phases, of runs whose steps are no ranges. */
bool work_phases_wanted(const struct run *run);

/* The two steps of making them, after run_find_phases and before devices are charged. Naming adds to the names that all
 * runs share; applying may be done for several runs at a time. From then on an op's phase is its kind (its kernel's
 * family, its direction where it is a copy), and an instant of a launching thread is of the phase of what the thread
 * launches next. */
void work_phases_name(struct run *run);
void work_phases_apply(struct run *run);

/* What work_phases_apply leaves to do with each part (parts_open): its tracks, the phases of its ops. */
void work_phases_of_part(struct run *part);

#endif
