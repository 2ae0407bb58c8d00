/* Tuples of tokens that recur at even distances: where cycles of a sequence may begin. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_TUPLES_H
#define GAPLINE_ANALYSE_RUN_PATTERN_TUPLES_H

#include "analyse/run/pattern.h"

/* The tuples of `width` tokens that follow each other in a lane. Places are those of the sequence with its lanes set
 * one behind the other. */
struct pattern_tuples {
	const struct pattern_sequence *sequence;
	uint32_t *row;  /* by place: the op; NULL when there is one lane: the place itself */
	uint32_t *id;   /* by place: its tuple, UINT32_MAX where the lane ends before the tuple does */
	uint32_t n_ids; /* tuples that differ */
	uint32_t width;
};

/* A tuple that may stand once in every cycle. */
struct pattern_candidate {
	uint32_t id, n;     /* the tuple; how often it is there */
	size_t first, last; /* op where it begins first and last */
};

/* Tuples of one token. Everything is in `arena`. */
void pattern_tuples_init(struct pattern_tuples *t, const struct pattern_sequence *sequence, struct arena *arena);

/* Doubles the width. False when hardly any tuple of that width recurs, so that wider ones would not either. */
bool pattern_tuples_widen(struct pattern_tuples *t);

/* Candidates that are there `least` times or more, at distances of which most are about as the one before or as
 * the last other one; of those
 * that say the same (as many, in the same stretch) one. The most frequent first; at most `room` of them. Returns how
 * many. */
uint32_t pattern_candidates(const struct pattern_tuples *t, uint32_t least, struct pattern_candidate *out,
                            uint32_t room, struct arena *scratch);

/* The ops at which the tuple of a candidate begins, in order of the sequence: candidate.n of them. */
void pattern_occurrences(const struct pattern_tuples *t, uint32_t id, size_t *out);

#endif
