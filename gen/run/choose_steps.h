/* Which steps the runs of a comparison have: each chooses for itself, then all agree. */
#ifndef GAPLINE_RUN_CHOOSE_STEPS_H
#define GAPLINE_RUN_CHOOSE_STEPS_H

#include "run/run.h"

/* Steps from what repeats, for profiles in which no NVTX range is a step. */

/* Makes the cycles of loop `index` of run->loops the steps of the run. A device
 * that has less than nine of ten of the cycles that the one with most has is no rank of it: its ops belong to no step.
 */
void pattern_steps(struct run *run, uint32_t index);

/* Takes `together` cycles of loop `index` as one. What is left at the end of a process is in no loop then. */
void run_loop_group(const struct trace *trace, struct run_loops *loops, uint32_t index, uint32_t together);

/* The step of each of the `n_ops` ops of a part of the run, in `arena`; TRACE_NONE: none. */
uint32_t *pattern_op_steps(const struct run_loops *loops, uint32_t part, size_t n_ops, struct arena *arena);

/* The loops of a run, from what each of its processes says for itself. */

struct run_part;

/* Puts together what looks say of the `n` parts of a run: the same loop of another process is a rank's. Nothing is
 * found where nothing repeats, and where what repeats is less than half of the GPU time, that of an autotuner's search
 * left out. `out` refers to nothing of the looks. */
void pattern_run_join(const struct trace *trace, const struct run_part *parts, const struct pattern_look *looks,
                      size_t n, struct arena *arena, struct run_loops *out);

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
 * Runs whose steps have less and less to do are marked (run_agreed.shrinks), and, unless a loop is asked for by its
 * name, runs of the second side that repeat something else (run_agreed.stranger).
 *
 * After run_name_steps of all runs. -1 when `wanted` names no loop: `err` lists those that there are. */
int pattern_agree(const struct pattern_side *sides, int n_sides, const char *wanted, struct err *err);

/* The steps of a run: each of its parts (parts.h) says what they may be, and the run takes what is step of all of them
 * together. */

/* After run_begin. -1 when --step names nothing that is there; --step none asks for no steps. */
int run_find_steps(struct run *run, const char *step, struct err *err);

/* A run of a trace with its steps, named: run_open, run_begin, run_find_steps and run_name_steps. */
int run_choose(struct run *run, const struct trace *trace, const char *step, struct arena *arena, struct err *err);

/* Before run_name_steps: what repeats in the run; and the range that is the step of another run for its steps, false
 * where it has none that is. */
void run_find_loops(struct run *run, struct run_loops *out);
bool run_take_range(struct run *run, const struct steps *like);

/* Steps that all runs of a comparison have: what one of them chooses for itself, the others may not. */

/* After run_find_steps of all runs: a range that is the step of one run is that of every other one that found none for
 * itself, if only its share of the GPU time is too small there; then names (run_name_steps) and patterns
 * (pattern_agree). Where runs chose different ranges for their steps after all (an epoch here, a step there), one that
 * is a step in all of them is taken, if there is one. `kept`: what is step of a side whose rows are gone, a range,
 * which stays what it was, or NULL. `step` and `loop` are --step and --loop, or NULL. Lives in `arena` and those of the
 * runs. -1 as pattern_agree and run_choose. */
int steps_agree(const struct pattern_side *sides, int n_sides, const struct steps *kept, const char *step,
                const char *loop, struct arena *arena, struct err *err);

/* Which loops of two runs are the same one. */

#define PATTERN_ALIKE 0.5 /* loops of which less is alike, and that are not as often, are not the same */

/* GPU time of a loop without communication, ns. */
double run_loop_work(const struct run_loop *loop);

/* How much alike two loops are by what they are made of, 0 to 1: the part of their GPU time, on average, that kernels
 * of the same name take, without communication where both do anything else. The names are those of one table. */
double run_loop_alike(const struct run_loop *a, const struct run_loop *b);

/* Whether a cycle of one loop may be one of the other, with the fix or without it. A fix may rename, fuse and speed up
 * kernels, so neither names nor times say it, but what a cycle holds does: families of kernels (op_words.c) that are
 * there as often in a cycle of both are a third of the kernels' time of each, without communication, or one holds so
 * many times the kernels of the other. Where nothing can be said of kernels, for CUDA graphs or a compiler's fused
 * kernels are half of one side's time, or there are none, the loops are there as often. Where both sides hide them so,
 * or kernels may be written anew, their cycles hold as many operations, too. `names`: those of the makeup.
 */
bool pattern_alike(const struct run_loop *a, const struct run_loop *b, const struct names *names);

/* Whether loops that are alike are at least half of what repeats in each of two runs, searches of autotuners left out,
 * with loop `a` of one and loop `b` of the other among them, and no cycle of these two is divided in two loops there.
 */
bool pattern_repeats_alike(const struct run_loops *mine, uint32_t a, const struct run_loops *other, uint32_t b,
                           const struct names *names);

/* The loop of `mine` that is loop `like` of `likes`; UINT32_MAX: none is. All loops are matched together, one to one,
 * by their kernels and by how often they are there: of a few that share kernels one may by chance be as often as
 * another.
 */
uint32_t pattern_match(const struct run_loops *mine, const struct run_loops *likes, uint32_t like);

/* Of the loops of two runs that are matched, the two that are most of the GPU time of both: `most`, one of each run.
 * False: none are, and `most` is left as it was. */
bool pattern_match_most(const struct run_loops *a, const struct run_loops *b, uint32_t most[2]);

/* Whether a cycle of one is a cycle of the other. It is not where it holds so many times the kernels, or so many times
 * the copies to the device and back as it is there less often, or is an outer loop's, unless it is there as often. (A
 * fix may well put 300 kernels into one: then the steps are as many as before.) `names`: those of the makeup. */
bool pattern_same_unit(const struct run_loop *a, const struct run_loop *b, const struct names *names);

/* Whether one in so many cycles of one holds something else, as often as the other is there, which is not the same: the
 * other's cycle is an outer loop's. */
bool pattern_is_outer(const struct run_loop *a, const struct run_loop *b);

/* How many cycles of `shorter` are one of `longer`: a whole number of times the kernels, or copies, as many times less
 * often, or what pattern_is_outer says. 0: they are not. */
uint32_t pattern_cycles_together(const struct run_loop *shorter, const struct run_loop *longer,
                                 const struct names *names);

#endif
