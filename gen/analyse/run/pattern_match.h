/* Which loops of two runs are the same one. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_MATCH_H
#define GAPLINE_ANALYSE_RUN_PATTERN_MATCH_H

#include "analyse/run/run.h"

#define PATTERN_ALIKE 0.5 /* loops of which less is alike, and that are not as often, are not the same */

/* GPU time of a loop without communication, ns. */
double run_loop_work(const struct run_loop *loop);

/* How much alike two loops are by what they are made of, 0 to 1: the part of their GPU time, on average, that kernels
 * of the same name take, without communication where both do anything else. The names are those of one table. */
double run_loop_alike(const struct run_loop *a, const struct run_loop *b);

/* Whether a cycle of one loop may be one of the other, with the fix or without it. A fix may rename, fuse and speed up
 * kernels, so neither names nor times say it, but what a cycle holds does: families of kernels (op_words.h) that are
 * there as often in a cycle of both are a third of the kernels' time of each, without communication, or one holds so
 * many times the kernels of the other. Where nothing can be said of kernels, for CUDA graphs or a compiler's fused
 * kernels are half of one side's time, or there are none, the loops are there as often. Where both sides hide them so,
 * or kernels may be written anew, their cycles hold as many operations, too. `names`: those of the makeup.
 */
bool pattern_alike(const struct run_loop *a, const struct run_loop *b, const struct names *names);

/* Whether loops that are alike are at least half of what repeats in each of two runs, searches of autotuners left out,
 * with loop `a` of one and loop `b` of the other among them, and no cycle of these two is divided in two loops there.
 */
bool pattern_repeats_alike(const struct run_loops *mine, uint32_t a, const struct run_loops *other, uint32_t b,
                           const struct names *names);

/* The loop of `mine` that is loop `like` of `likes`; UINT32_MAX: none is. All loops are matched together, one to one,
 * by their kernels and by how often they are there: of a few that share kernels one may by chance be as often as
 * another.
 */
uint32_t pattern_match(const struct run_loops *mine, const struct run_loops *likes, uint32_t like);

/* Of the loops of two runs that are matched, the two that are most of the GPU time of both: `most`, one of each run.
 * False: none are, and `most` is left as it was. */
bool pattern_match_most(const struct run_loops *a, const struct run_loops *b, uint32_t most[2]);

/* Whether a cycle of one is a cycle of the other. It is not where it holds so many times the kernels, or so many times
 * the copies to the device and back as it is there less often, or is an outer loop's, unless it is there as often. (A
 * fix may well put 300 kernels into one: then the steps are as many as before.) `names`: those of the makeup. */
bool pattern_same_unit(const struct run_loop *a, const struct run_loop *b, const struct names *names);

/* Whether one in so many cycles of one holds something else, as often as the other is there, which is not the same: the
 * other's cycle is an outer loop's. */
bool pattern_is_outer(const struct run_loop *a, const struct run_loop *b);

/* How many cycles of `shorter` are one of `longer`: a whole number of times the kernels, or copies, as many times less
 * often, or what pattern_is_outer says. 0: they are not. */
uint32_t pattern_cycles_together(const struct run_loop *shorter, const struct run_loop *longer,
                                 const struct names *names);

#endif
