/* Which steps the runs of a comparison have: each chooses for itself, then all agree. */
#ifndef GAPLINE_ANALYSE_RUN_CHOOSE_STEPS_H
#define GAPLINE_ANALYSE_RUN_CHOOSE_STEPS_H

#include "analyse/run/run.h"

/* Steps from what repeats, for profiles in which no NVTX range is a step. */

/* Makes the cycles of loop `index` of run->loops the steps of the run. A device
 * that has less than nine of ten of the cycles that the one with most has is no rank of it: its ops belong to no step.
 */
void pattern_steps(struct run *run, uint32_t index);

/* Takes `together` cycles of loop `index` as one. What is left at the end of a process is in no loop then. */
void run_loop_group(const struct trace *trace, struct run_loops *loops, uint32_t index, uint32_t together);

/* The step of each of the `n_ops` ops of a part of the run, in `arena`; TRACE_NONE: none. */
uint32_t *pattern_op_steps(const struct run_loops *loops, uint32_t part, size_t n_ops, struct arena *arena);

/* Runs that are repeats of one side. */
struct pattern_side {
	struct run *runs;
	size_t n;
};

/* Lets all runs have steps of the same loop: the one with the most time of the first side's first run, or the one that
 * `wanted` (--loop NAME: its name or a part of it; may be NULL) names there, and of every other run the loop that is
 * most like it by its kernels, or is there as often: then it gets the same name. Where a cycle of one run is so many of
 * another (micro-batches here, steps there), that many are one; where it is no whole number of them, none has steps.
 * Steps from ranges in some runs and from a pattern in others are not the same thing: then all are taken from the
 * pattern, and where that cannot be, none.
 *
 * Runs whose steps have less and less to do are marked (run.shrinks), and, unless a loop is asked for by its name, runs
 * of the second side that repeat something else (run.stranger).
 *
 * After run_name_steps of all runs. -1 when `wanted` names no loop: `err` lists those that there are. */
int pattern_agree(const struct pattern_side *sides, int n_sides, const char *wanted, struct err *err);

/* The steps of a run: each of its parts (parts.h) says what they may be, and the run takes what is step of all of them
 * together. */

/* After run_begin. -1 when --step names nothing that is there; --step none asks for no steps. */
int run_find_steps(struct run *run, const char *step, struct err *err);

/* Before run_name_steps: what repeats in the run; and the range that is the step of another run for its steps, false
 * where it has none that is. */
void run_find_loops(struct run *run, struct run_loops *out);
bool run_take_range(struct run *run, const struct steps *like);

/* Steps that all runs of a comparison have: what one of them chooses for itself, the others may not. */

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
