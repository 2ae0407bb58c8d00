/* Cycles that are the same work, of which not every kernel has the same name each time: another length, another kernel
 * of the library's in the same place. Pure, as pattern.h is.
 *
 * A token is *constant* that nearly all cycles hold as often. A token is *steady*
 * that nearly all cycles hold, some more often: layers, micro-batches, tokens of an answer. What stands behind the same
 * two steady ops in nearly all cycles, about as many each time, stands in for what others have there. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_PLACES_H
#define GAPLINE_ANALYSE_RUN_PATTERN_PLACES_H

#include "analyse/run/pattern.h"

/* What cycles between the occurrences of a token hold. */
struct pattern_places {
	uint32_t token;    /* they begin with it */
	uint32_t n;        /* cycles */
	size_t *cut;       /* n + 1 */
	uint8_t *steady;   /* by token: nearly all cycles hold it */
	uint8_t *constant; /* by token: that many in each cycle; 0: not constant, or more than fit */
	uint32_t *others;  /* by cycle: ops that are not explained */
	uint32_t ops;      /* in a cycle, the median */
	/* of the ops and the GPU time: constant, steady or standing in for others; of the ops: constant; constant or
	 * steady; */
	double explained_ops, explained_time, constant_ops, held_ops;
	double host;    /* share of the cycles with which the host has to do */
	double kinds;   /* share of the cycles of which at least three hold the same, if they are about as long */
	double longest; /* share of the GPU time that the quarter of them which takes longest has */
	bool explained; /* nearly all of them are, and those of names that come and go are in some order */
	bool cyclic;    /* cycles of two kinds take turns, or of three */
};

/* Looks at the cycles that begin with `token`. False: there are fewer than RULE_CYCLES_VARIED. Everything is in
 * `arena`. */
bool pattern_places_find(const struct pattern_sequence *s, uint32_t token, struct arena *arena,
                         struct pattern_places *out);

#endif
