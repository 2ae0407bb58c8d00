/* Whether a step of one side holds several of the other's. */
#ifndef GAPLINE_ANALYSE_JUDGE_WORK_MULTIPLE_H
#define GAPLINE_ANALYSE_JUDGE_WORK_MULTIPLE_H

#include "analyse/judge/work_alike.h"

#define WORK_SELDOM 0.5     /* times a step: what comes no more often is of a loop around it, … */
#define WORK_SAME_LOOP 0.05 /* … of which a step is the same part where counts are so near */

/* Of the kernels of all phases, n of them. The ratio is that of the kernel that runs longest; what an optimizer runs
 * once behind several micro-batches, as long on both sides, says nothing of it. */
struct work_multiple work_find_multiple(const struct work_scale *scale, const struct work_row *all, size_t n);

/* The same of steps that run as often and are larger: a third and more of the kernels' time has so many times the
 * blocks, a step is given so many times the input, and a run has so many times fewer steps. `runs` are blocks of a
 * step. */
struct work_multiple work_find_larger(const struct work_scale *scale, const struct work_row *all, size_t n);

/* struct work_kernels. `all`: as above. */
struct work_multiple work_find_seldom(const struct work_row *all, size_t n);

/* The same: what runs as often in all on both sides, which repeat so many times each (`repeats`), and not per
 * repetition, the longest of it, where that is a third and more of the kernels' time. A repetition then ends at
 * something else: steps from one neighbour list to the next, say, which one side makes half as often. */
struct work_multiple work_find_recut(const double repeats[2], const struct work_row *all, size_t n);

/* Half as many launches of twice as many blocks leave nothing out. */
bool work_has_as_many_blocks(const struct work_row *row);

/* How many times less often side `less` runs what has as many blocks on both sides in fewer launches, where that is a
 * third and more of the time of all that runs so many times less often: then it works on larger parts of the same
 * batch, and a kernel whose launches have few blocks however much they do (a loss, a sum) leaves nothing out, either.
 * 0: it does not. */
double work_find_merged(const struct work_scale *scale, const struct work_row *all, size_t n, int less);

#endif
