/* Loops of which the steps are the same work under other names: lengths in buckets, heuristics of libraries, more or
 * fewer micro-batches, layers or tokens. Looked for where no sequence of names repeats. Pure, as pattern.h is. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H
#define GAPLINE_ANALYSE_RUN_PATTERN_VARIED_H

#include "analyse/run/pattern_cuts.h"
#include "analyse/run/pattern_places.h"

/* The cycles of the shortest kind that is told from layers: every one begins with the same token, holds the same ones
 * but for what stands in for others (pattern_places.h), and what the host has to do with comes in nearly all of them,
 * or in none. `alone`: nothing else repeats, so that less has to be alike, and a few kinds of cycles may come in any
 * order, whose names need have nothing in common. False: nothing is. Everything is in `arena`. */
bool pattern_varied_find(const struct pattern_sequence *s, bool alone, struct arena *arena, struct pattern_places *out);

/* The same as cycles of a loop. */
void pattern_varied_cycles(const struct pattern_places *places, struct arena *arena, struct pattern_found *out);

#endif
