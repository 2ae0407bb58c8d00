/* Where a side's steps come from, in words: what was found, how much of the GPU's work it is, what lies before it. All
 * results are arena texts in plain UTF-8. */
#ifndef GAPLINE_RENDER_EVIDENCE_H
#define GAPLINE_RENDER_EVIDENCE_H

#include "analyse/analysis.h"

/* "steps found from the repeating sequence of 547 GPU operations, 60 times, 97 % of the GPU's work"; for steps that are
 * ranges "97 % of the GPU's work". */
const char *evidence_of(const struct side *side, struct arena *arena);

/* "gemm + softmax: 200 × 4.11 ms, 61 % of the GPU's work, judged". */
const char *evidence_loop(const struct analysis *analysis, const struct loop_result *loop, struct arena *arena);

/* All loops of a side in one line. */
const char *evidence_loops(const struct analysis *analysis, const struct side *side, struct arena *arena);

/* "3.29 s before the first step: host code 1.2 s, module load 0.9 s, …": the three largest causes. */
const char *evidence_startup(const struct side *side, struct arena *arena);

#endif
