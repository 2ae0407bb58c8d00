/* What did not change between two sides, and so tells the state in which each was measured (docs/method/verdict.md). */
#ifndef GAPLINE_SAME_CONTROLS_H
#define GAPLINE_SAME_CONTROLS_H

#include "result/pair_result.h"
#include "result/side_result.h"
#include "verdict/exchange.h"

/* Of the comparison its kernels' times. */
struct controls controls_find(const struct side side[2], const struct comparison *comparison);

#endif
