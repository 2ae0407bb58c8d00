/* Steps that all runs of a comparison have: what one of them chooses for itself, the others may not. */
#ifndef GAPLINE_ANALYSE_RUN_AGREE_H
#define GAPLINE_ANALYSE_RUN_AGREE_H

#include "analyse/run/pattern_steps.h"

/* After run_find_steps of all runs: a range that is the step of one run is that of every other one that found none for
 * itself, if only its share of the GPU time is too small there; then names (run_name_steps) and patterns
 * (pattern_agree). `step` and `loop` are --step and --loop, or NULL. Lives in `arena` and those of the runs. -1 as
 * pattern_agree. */
int steps_agree(const struct pattern_side *sides, int n_sides, const char *step, const char *loop, struct arena *arena,
                struct err *err);

/* After run_find_phases of all runs, without --step: every run chooses the range with the longest total for its step.
 * Where they choose differently (an epoch here, a step there), one that is a step in all of them is taken, if there is
 * one. -1 as run_prepare. */
int steps_agree_on_name(const struct pattern_side *sides, int n_sides, int warmup, struct arena *arena,
                        struct err *err);

#endif
