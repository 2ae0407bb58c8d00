/* Whether both programs computed the same: numbers that they printed, in order, in all runs. Evidence of the same-work
 * guard (compare.h) that no profile holds, and the strongest there is. */
#ifndef GAPLINE_ANALYSE_JUDGE_SAME_RESULT_H
#define GAPLINE_ANALYSE_JUDGE_SAME_RESULT_H

#include "analyse/pair_result.h"
#include "trace/printed.h"

/* `printed`: NULL, or without a pattern: nothing was asked. Texts live in `arena`. */
struct same_result same_result_judge(const struct printed *printed, struct arena *arena);

#endif
