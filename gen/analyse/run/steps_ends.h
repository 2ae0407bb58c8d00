/* Where steps begin and end, and which instances the end of the capture cuts. */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_ENDS_H
#define GAPLINE_ANALYSE_RUN_STEPS_ENDS_H

#include "analyse/run/steps_lanes.h"

/* Marks instances as `cut` and counts them in `out`: the last ones of a thread, where they were open when the capture
 * ended, or launched what never ran, while nothing of the kind is true of the first half, or of all that ran. */
void steps_find_cut(struct steps_build *build);

enum { STEPS_FEW = 8 }; /* marked steps: where there are no more, the first one counts */

/* When the first step begins: where its range does, or where what was launched before that has ended; on the first rank
 * to begin. INT64_MAX without marks.
 */
int64_t steps_find_begin(const struct steps_build *build);

/* `own` holds the end of each step's own ops, INT64_MIN where it has none; it becomes the end of the step: the latest
 * so far, for a step without ops the next one's. Returns how many steps there are: up to the last with ops, or, where
 * ops outlive later steps, up to the last but one end. */
uint32_t steps_extend_ends(int64_t *own, uint32_t n);

/* Steps with one end divide the time since the end before into equal parts; those with the first end become one, if
 * nothing says when it began (`opened`: end[0] does already). Returns how many less they are. */
uint32_t steps_divide_ends(struct steps *steps, const int64_t *end, uint32_t n);

/* How long each step takes from its own start: a request waits for others, which share the time between ends. After
 * the steps have their ends; steps of several ranks have none. */
void steps_measure_requests(struct steps_build *build);

/* A loop that other loops part into stretches is measured in all of them, if one is long enough: what runs in between
 * is no step's time. Nor is the first step of each but the first, which has no end before it: `begins` receives when
 * the stretch begins that step k is the first measured one of, else INT64_MIN. Returns how many of the `n` steps are
 * left. */
uint32_t steps_part_stretches(struct steps_build *b, uint32_t n, int64_t *begins);

/* What lies before the steps that `begins` names: `before` steps have become one with the first. */
void steps_find_pauses(struct steps *s, const int64_t *begins, uint32_t before, struct arena *arena);

/* Fills the steps of the threads' instances, once these have theirs. */
void steps_fill_threads(struct steps_build *build);

/* Fills steps.grid, once instances have their steps. */
void steps_find_grids(struct steps_build *build);

#endif
