/* Cuts that somebody proposes: whether they make a loop, and which of the cycles are of it. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_CUTS_H
#define GAPLINE_ANALYSE_RUN_PATTERN_CUTS_H

#include "analyse/run/pattern_fit.h"

/* A loop of the sequence: of the cycles [from, to) of `fit` those that are any, or the runs of them. */
struct pattern_found {
	struct pattern_fit fit;
	uint32_t from, to, cycles;
	double ops, time;      /* share of them that is explained */
	size_t n_ops;          /* of the cycles */
	uint32_t fewest, most; /* shorter cycles that a cycle was made of; 0: of none */
	bool bursts;
	size_t written; /* ops between bursts, where all that lies there is written out */
	double same;    /* where names vary: the share of ops that nearly all hold as often; else 0 */
};

/* Whether names may differ from one cycle to the next; or that, and the cycles may be of a few kinds that have no name
 * in common. */
enum pattern_names { NAMES_SAME, NAMES_VARY, NAMES_OF_KINDS };

/* Whether cycles that begin at the `n` ops `cut`, which has room for one more, make a loop. Cuts inside a launch are
 * moved to its first op, so `cut` is written to. Everything is in `arena`. */
bool pattern_cuts_try(const struct pattern_sequence *s, size_t *cut, uint32_t n, enum pattern_names varied,
                      struct arena *arena, struct pattern_found *out);

/* The same of cycles that begin with `token`, which is there `n` times. */
bool pattern_cuts_at(const struct pattern_sequence *s, uint32_t token, size_t n, enum pattern_names names,
                     struct arena *arena, struct pattern_found *out);

#endif
