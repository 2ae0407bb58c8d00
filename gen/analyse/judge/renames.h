/* Phases that have another name on the other side: a range that only one side has, in the same place of the step, as
 * often a step, between the same neighbours as one that only the other side has. */
#ifndef GAPLINE_ANALYSE_JUDGE_RENAMES_H
#define GAPLINE_ANALYSE_JUDGE_RENAMES_H

#include "analyse/pair_result.h"
#include "analyse/side_result.h"

/* Both sides are built, their timelines too. */
void renames_find(const struct side side[2], struct arena *arena, struct renames *out);

/* What the fixed side calls a phase of the baseline, and the other way round; the same name where it was not renamed.
 */
uint32_t renames_fixed(const struct renames *renames, uint32_t baseline);
uint32_t renames_baseline(const struct renames *renames, uint32_t fixed);

/* The names of the phases that only side `s` has, under no other name either, in `arena`; without those that are there
 * no more than `more` times per step. */
uint32_t *renames_only(const struct side side[2], const struct renames *renames, int s, double more,
                       struct arena *arena, uint32_t *n);

#endif
