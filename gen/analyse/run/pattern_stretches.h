/* A loop of which some kernels are other ones from some step on: a decode beside a cache that grows, say, for which the
 * library takes another attention from some length on. Told by names, each stretch would be a loop. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_STRETCHES_H
#define GAPLINE_ANALYSE_RUN_PATTERN_STRETCHES_H

#include "analyse/run/pattern_cuts.h"

/* The cycles of loop `found`, not in bursts and with a model, together with those of the stretches before and behind
 * it, where these are the same work under other names: nearly all ops have the same name, others stand in their places;
 * the host has as many copies, waits and optimizers to do with in each; the kernels that all have are at least half of
 * the GPU's time; a cycle takes about as much of it on either side of a change; and nothing else lies at a change,
 * neither ops nor a pause before what has the same name.
 * False: there is no such stretch. Everything is in `arena`. */
bool pattern_stretches_find(const struct pattern_sequence *s, const struct pattern_found *found, struct arena *arena,
                            struct pattern_found *out);

#endif
