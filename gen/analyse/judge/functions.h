/* Samples -> the functions that a GPU waited for, both sides beside each other. */
#ifndef GAPLINE_ANALYSE_JUDGE_FUNCTIONS_H
#define GAPLINE_ANALYSE_JUDGE_FUNCTIONS_H

#include "analyse/functions_result.h"
#include "analyse/pair_result.h"
#include "analyse/side/side.h"

/* `renames`: NULL where there is one side. */
struct functions functions_build(const struct side *side, const struct side_facts *facts, uint32_t n_sides,
                                 const struct renames *renames, const struct names *names, struct arena *arena);

/* The findings; those about the host's time say which functions it is in, as far as samples say it: for each cause in a
 * phase the first of them. */
struct findings functions_tell(const struct functions *functions, const struct side *side,
                               const struct renames *renames, const struct findings *findings,
                               const struct names *names, struct arena *arena);

#endif
