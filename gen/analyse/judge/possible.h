/* Recordings that cannot be true (docs/method/verdict.md, "Recordings that cannot be true"): their side is doubtful,
 * whatever its numbers say. */
#ifndef GAPLINE_ANALYSE_JUDGE_POSSIBLE_H
#define GAPLINE_ANALYSE_JUDGE_POSSIBLE_H

#include "analyse/judge/stopwatch.h"
#include "analyse/run/run.h"

/* Why a run of either side cannot be whole, or its runs not be independent: launches whose kernels
 * are not there, numbered steps that jump, repeats whose collectives meet, another process's work on the GPU of one
 * side only. `n[1]` may be 0: a side that stands alone. NULL: nothing contradicts. In `arena`. */
const struct fact *possible_recording(const struct run *const runs[2], const char *const *const files[2],
                                      const size_t n[2], struct arena *arena);

/* The fact that a side's timed runs are shorter than what its GPU was busy in the same steps; else NULL. */
const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena);

#endif
