/* Phases that have another name on the other side: a range that only one side has, in the same place of the step, as
 * often a step, between the same neighbours as one that only the other side has. */
#ifndef GAPLINE_SAME_RENAMES_H
#define GAPLINE_SAME_RENAMES_H

#include "result/pair_result.h"
#include "result/side_result.h"

/* Both sides are built, their timelines too. */
void renames_find(const struct side side[2], struct arena *arena, struct renames *out);

/* The names of the phases that only side `s` has, under no other name either, in `arena`; without those that are there
 * no more than `more` times per step. */
uint32_t *renames_only(const struct side side[2], const struct renames *renames, int s, double more,
                       struct arena *arena, uint32_t *n);

#endif
