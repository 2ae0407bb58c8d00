/* Recordings that cannot be true (docs/method/verdict.md, "Recordings that cannot be true"): their side is doubtful,
 * whatever its numbers say. */
#ifndef GAPLINE_ANALYSE_JUDGE_POSSIBLE_H
#define GAPLINE_ANALYSE_JUDGE_POSSIBLE_H

#include "analyse/side/side.h"

/* Why a run of either side cannot be whole, or its runs not be independent: launches whose kernels
 * are not there, numbered steps that jump, repeats whose collectives meet, another process's work on the GPU of one
 * side only. NULL: nothing contradicts. In `arena`. */
const struct fact *possible_recording(const struct side_facts *facts, int n_sides, struct arena *arena);

/* Of the runs of one side, whose rows are there: the fact that a thread of one was in two calls at once, or that two of
 * them are ranks of one run; else NULL. */
const struct fact *possible_rows(const struct run *runs, const char *const *files, size_t n, struct arena *arena);

/* The fact that a side's timed runs are shorter than what its GPU was busy in the same steps; else NULL. */
const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena);

#endif
