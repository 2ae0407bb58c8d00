/* Phases of runs that nobody marked: what a thread launches next (docs/analysis.md, Phase). */
#ifndef GAPLINE_ANALYSE_RUN_WORK_PHASES_H
#define GAPLINE_ANALYSE_RUN_WORK_PHASES_H

#include "analyse/run/run.h"

/* Whether ranges say little of the run's phases: less than half of the GPU time was launched in any. After
 * run_find_phases, of runs whose steps are no ranges. */
bool work_phases_wanted(const struct run *run);

/* The two steps of making them, after run_find_phases and before run_devices. Naming adds to the names that all runs
 * share; applying may be done for several runs at a time. From then on an op's phase is its kind (its kernel's family,
 * its direction where it is a copy), and an instant of a launching thread is of the phase of what the thread launches
 * next. */
void work_phases_name(struct run *run);
void work_phases_apply(struct run *run);

#endif
