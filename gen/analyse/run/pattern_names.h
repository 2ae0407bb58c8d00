/* What loops are called. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_NAMES_H
#define GAPLINE_ANALYSE_RUN_PATTERN_NAMES_H

#include "analyse/run/pattern_run.h"

/* Gives each of the loops of a run a title of its own: its two kernels that weigh most, "gemm + softmax"; where several
 * would be called the same, also the heaviest one that the others do not have, "gemm + softmax + dropout"; and where
 * that does not help either, all but the one that begins first get a number, "gemm + softmax #2". */
void pattern_names_give(const struct trace *trace, struct run_loop *loops, uint32_t n, struct arena *arena);

/* Gives the loops their names, which all runs share: for one run at a time. */
void run_loops_name(struct run_loops *loops, const struct trace *trace);

#endif
