/* How often kernels run, by the step or by the item. Pure; part of work.h, and of nobody else. */
#ifndef GAPLINE_ANALYSE_JUDGE_WORK_COUNTS_H
#define GAPLINE_ANALYSE_JUDGE_WORK_COUNTS_H

#include "analyse/judge/work.h"

struct work_row;

/* A step that works on more items launches most kernels as often all the same. Whether it does, `all` says, and `row`
 * is that kernel, in a phase or in all: it gets the counts of as many items. */
bool work_count_by_step(const struct work_scale *scale, const struct work_row *all, struct work_row *row);

/* Whether a count a step is a whole number, one at least, but for the edges of the window. */
bool work_is_whole(const struct work_scale *scale, double count);

#endif
