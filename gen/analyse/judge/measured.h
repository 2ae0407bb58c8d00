/* What of two sides' steps is measured: warm-ups are cut off, extreme steps set aside. */
#ifndef GAPLINE_ANALYSE_JUDGE_MEASURED_H
#define GAPLINE_ANALYSE_JUDGE_MEASURED_H

#include "analyse/judge/verdict.h"

/* Fills the series of all runs. `warmup`: as of series_cut. */
void measured_sides(const struct verdict_side side[2], int warmup, struct arena *arena, struct series *series[2]);

/* The same of a side of short captures, with what was set aside before. */
void measured_short(const struct verdict_side *side, struct arena *arena, struct series *series);

/* Where the warm-up that was found on one side is longer, and the other side's steps up to there are slow, too: so many
 * leading steps, as of --warmup, to be left out of all runs; 0: that is not so, or a run would lose more than half. */
size_t measured_common_warmup(const struct verdict_side side[2], const struct series *const series[2]);

/* What one side's warm-up leaves out may be no warm-up: many steps that get no faster as they go, and of the other side
 * less than half as many are left out. The leading steps, as of --warmup, to be left out of all runs, then: the other
 * side's; 0: that is not so. */
size_t measured_flat_warmup(const struct verdict_side side[2], const struct series *const series[2]);

#endif
