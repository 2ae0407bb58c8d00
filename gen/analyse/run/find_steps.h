/* The steps of a run: each of its parts (parts.h) says what they may be, and the run takes what is step of all of them
 * together. */
#ifndef GAPLINE_ANALYSE_RUN_FIND_STEPS_H
#define GAPLINE_ANALYSE_RUN_FIND_STEPS_H

#include "analyse/run/run.h"

/* After run_begin. -1 when --step names nothing that is there; --step none asks for no steps. */
int run_find_steps(struct run *run, const char *step, struct err *err);

/* Before run_name_steps: what repeats in the run; and the range that is the step of another run for its steps, false
 * where it has none that is. */
void run_find_loops(struct run *run, struct run_loops *out);
bool run_take_range(struct run *run, const struct steps *like);

#endif
