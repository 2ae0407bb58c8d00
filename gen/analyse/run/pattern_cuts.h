/* Cuts that somebody proposes: whether they make a loop, and which part of them does. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_CUTS_H
#define GAPLINE_ANALYSE_RUN_PATTERN_CUTS_H

#include "analyse/run/pattern_fit.h"

/* A loop of the sequence, or none: n is 0. Its cycles are those of `fit` in [from, to) that are any, or, where
 * `bursts`, of the runs in it. */
struct pattern_found {
	struct pattern_fit fit;
	uint32_t from, to, cycles;
	struct pattern_share share;
	uint32_t fewest, most; /* shorter cycles that a cycle was made of; 0: of none */
	bool bursts;
	size_t written; /* ops between bursts, where all that lies there is written out */
	/* where names vary from cycle to cycle (pattern_varied.h): the share of its ops that nearly all cycles hold as
	 * often under the same names, and these names; else 0 and NULL */
	double same;
	const uint32_t *constant;
};

/* Whether cycles that begin at the `n` ops `cut`, which has room for one more, make a loop; `out` is the part of them
 * that does. Cuts inside a launch are moved to its first op, so `cut` is written to. Everything is in `arena`. */
bool pattern_cuts_try(const struct pattern_sequence *s, size_t *cut, uint32_t n, struct arena *arena,
                      struct pattern_found *out);

#endif
