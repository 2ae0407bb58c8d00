/* Where a side's steps come from, in words: what was found, how much of the GPU's work it is, what lies before it. All
 * results are arena texts in plain UTF-8. */
#ifndef GAPLINE_RENDER_EVIDENCE_H
#define GAPLINE_RENDER_EVIDENCE_H

#include "analyse/analysis.h"

/* "steps found from the repeating sequence of 547 GPU operations, 60 times, 97 % of the GPU's work", and where that is
 * so "; 24 shorter repetitions were taken as one step"; for steps that are ranges "97 % of the GPU's work". */
const char *evidence_of(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* Whether its steps are those that gapline told by the optimizers'. */
bool evidence_by_optimizer(const struct analysis *analysis, const struct side *side);

/* "step_#: 24 steps, 3 left out as warm-up, 21 measured; 98.1 % of the GPU's work", of all runs of a side. */
const char *evidence_steps(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* "gemm + softmax: 200 × 4.11 ms, 61 % of the GPU's work, judged". */
const char *evidence_loop(const struct analysis *analysis, const struct loop_result *loop, struct arena *arena);

/* All loops of a side in one line. */
const char *evidence_loops(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* The start-up with the three parts that are longest: "3.29 -> 3.27 s: before CUDA 2.10 -> 2.08 s, module load, JIT
 * 0.40
 * -> 0.41 s, …"; NULL where no side knows it. */
const char *evidence_startup(const struct analysis *analysis, struct arena *arena);

#endif
