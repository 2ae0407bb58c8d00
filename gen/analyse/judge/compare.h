/* The same-work guard: whether two sides did the same, and under the same conditions (docs/method/analysis.md, Same
 * work). */
#ifndef GAPLINE_ANALYSE_JUDGE_COMPARE_H
#define GAPLINE_ANALYSE_JUDGE_COMPARE_H

#include "analyse/pair_result.h"
#include "analyse/side/side.h"
#include "trace/printed.h"

/* Compares two built sides. `rest`: rows that make no sense were left out, or a recording cannot be true, so what one
 * side has and the other has not may be missing in the profile only: the work is not compared; nor is it of two ranks
 * of one run (`ranks`). `printed`: what the programs printed, or NULL. Sentences live in `arena`. */
struct comparison compare_work(const struct side side[2], const struct side_facts facts[2], bool rest, bool ranks,
                               const struct printed *printed, const struct names *names, struct arena *arena);

#endif
