/* Loops of which the steps are the same work under other names: lengths in buckets, heuristics of libraries, more or
 * fewer micro-batches, layers or tokens. Looked for where no sequence of names repeats. Pure, as pattern.h is. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H
#define GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H

#include "analyse/run/pattern_cuts.h"
#include "analyse/run/pattern_places.h"

/* Whether the cycles that begin with `token` are the same work but for what stands in for others (pattern_places.h).
 * `alone`: nothing else repeats, so that less has to be alike, and a few kinds of cycles may come in any order, whose
 * names need have nothing in common. Everything is in `arena`. */
bool pattern_varied_try(const struct pattern_sequence *s, uint32_t token, bool alone, struct arena *arena,
                        struct pattern_found *out);

/* A loop of which some kernels are other ones from some step on: a decode beside a cache that grows, say, for which the
 * library takes another attention from some length on. Told by names, each stretch would be a loop. The cycles of loop
 * `found` together with those of the stretches before and behind it, where these are the same work under other names:
 * nearly all ops have the same name, others stand in their places; the host has as many copies, waits and optimizers to
 * do with in each; the kernels that all have are at least half of the GPU's time; a cycle takes about as much of it on
 * either side of a change; and nothing else lies at a change, neither ops nor a pause before what has the same name.
 * Names change from stretch to stretch, not at every step. False: there is no such stretch. Everything is in `arena`.
 */
bool pattern_stretches_find(const struct pattern_sequence *s, const struct pattern_found *found, struct arena *arena,
                            struct pattern_places *out);

/* Such cycles as those of a loop. */
void pattern_varied_cycles(const struct pattern_places *places, uint32_t n_tokens, struct arena *arena,
                           struct pattern_found *out);

#endif
