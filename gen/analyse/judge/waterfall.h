/* The way from the baseline's step to the fixed one's, part by part, exact (docs/analysis.md, Diagnosis). */
#ifndef GAPLINE_ANALYSE_JUDGE_WATERFALL_H
#define GAPLINE_ANALYSE_JUDGE_WATERFALL_H

#include "analyse/pair_result.h"
#include "analyse/side_result.h"

/* Of two sides that both have steps, or both have none, with their headlines. */
struct waterfall waterfall_build(const struct side side[2], const struct renames *renames,
                                 const struct verdict *verdict, const struct names *names, struct arena *arena);

#endif
