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

#endif
