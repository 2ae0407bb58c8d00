/* Which loops of two runs are the same one. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_MATCH_H
#define GAPLINE_ANALYSE_RUN_PATTERN_MATCH_H

#include "analyse/run/run.h"

#define PATTERN_ALIKE 0.5 /* loops of which less is alike, and that are not as often, are not the same */

/* The loop of `mine` that is loop `like` of `likes`; UINT32_MAX: none is. All loops are matched together, one to one,
 * by their kernels and by how often they are there: of a few that share kernels one may by chance be as often as
 * another.
 */
uint32_t pattern_match(const struct run_loops *mine, const struct run_loops *likes, uint32_t like);

/* Whether a cycle of one is a cycle of the other. It is not where it holds so many times the kernels, unless it is
 * there as often. (A fix may well put 300 kernels into one: then the steps are as many as before.) */
bool pattern_same_unit(const struct run_loop *a, const struct run_loop *b);

/* How many cycles of `shorter` are one of `longer`: a whole number of times the kernels, as many times less often.
 * 0: they are not. */
uint32_t pattern_cycles_together(const struct run_loop *shorter, const struct run_loop *longer);

#endif
