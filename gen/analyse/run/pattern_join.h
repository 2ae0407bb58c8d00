/* The loops of a run, from what each of its processes says for itself. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_JOIN_H
#define GAPLINE_ANALYSE_RUN_PATTERN_JOIN_H

#include "analyse/run/pattern_run.h"

struct run_part;

/* Puts together what looks say of the `n` parts of a run: the same loop of another process is a rank's. Nothing is
 * found where nothing repeats, and where what repeats is less than half of the GPU time, that of an autotuner's search
 * left out. `out` refers to nothing of the looks. */
void pattern_run_join(const struct trace *trace, const struct run_part *parts, const struct pattern_look *looks,
                      size_t n, struct arena *arena, struct run_loops *out);

/* Takes `together` cycles of loop `index` as one. What is left at the end of a process is in no loop then. */
void run_loop_group(const struct trace *trace, struct run_loops *loops, uint32_t index, uint32_t together);

/* Gives the loops their names, which all runs share: for one run at a time. */
void run_loops_name(struct run_loops *loops, const struct trace *trace);

/* GPU time of a loop without communication, ns. */
double run_loop_work(const struct run_loop *loop);

/* How much alike two loops are by what they are made of, 0 to 1: the part of their GPU time, on average, that kernels
 * of the same name take, without communication where both do anything else. The names are those of one table. */
double run_loop_alike(const struct run_loop *a, const struct run_loop *b);

#endif
