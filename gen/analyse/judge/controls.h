/* What did not change between the sides, and so tells the state in which each was measured (docs/verdict.md, "One and
 * two runs per side"). */
#ifndef GAPLINE_ANALYSE_JUDGE_CONTROLS_H
#define GAPLINE_ANALYSE_JUDGE_CONTROLS_H

#include "analyse/judge/exchange.h"
#include "analyse/pair_result.h"
#include "analyse/side_result.h"

/* Of the comparison its kernels' times. */
struct controls controls_find(const struct side side[2], const struct comparison *comparison);

/* What they show. */
const struct fact *controls_say(const struct controls *controls, struct arena *arena);

#endif
