/* Loops of which the steps are the same work under other names: lengths in buckets, heuristics of libraries, more or
 * fewer micro-batches, layers or tokens; another kernel of the library's in the same place. Pure, as pattern.h is.
 *
 * A token is *constant* that nearly all cycles hold as often. A token is *steady* that nearly all cycles hold, some
 * more often: layers, micro-batches, tokens of an answer. What stands behind the same two steady ops in nearly all
 * cycles, about as many each time, stands in for what others have there. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H
#define GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H

#include "analyse/run/pattern_cuts.h"

/* Whether the cycles that begin with `token`, which is there `n` times, are the same work but for what stands in for
 * others. `alone`: nothing else
 * repeats, so that less has to be alike, and a few kinds of cycles may come in any order, whose names need have nothing
 * in common. `out`: its `usual` is what is steady, its `off` ops that are not explained. Everything is in `arena`. */
bool pattern_varied_try(const struct pattern_sequence *s, uint32_t token, size_t n, bool alone, struct arena *arena,
                        struct pattern_found *out);

#endif
