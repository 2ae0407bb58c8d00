/* Cycles of a sequence: where they may begin, what they hold, whether they make a loop, and which loop says most. */
#ifndef GAPLINE_STEPS_PATTERN_CYCLES_H
#define GAPLINE_STEPS_PATTERN_CYCLES_H

#include "steps/pattern.h"

/* Tuples of tokens that recur at even distances: where cycles of a sequence may begin. */

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

/* What a cycle usually holds, and what each differs from that by. */

/* Of a cycle: by token how many, and their GPU time; which there are. */
struct pattern_counts {
	uint32_t *of, *seen, n;
	double *time;
};

void pattern_counts_init(struct pattern_counts *counts, const struct pattern_sequence *s, struct arena *arena);

static inline void pattern_counts_clear(struct pattern_counts *c)
{
	while (c->n)
		c->of[c->seen[--c->n]] = 0;
}

static inline uint32_t pattern_counts_add(struct pattern_counts *c, uint32_t token)
{
	if (!c->of[token])
		c->seen[c->n++] = token;
	return ++c->of[token];
}

enum pattern_grade {
	GRADE_NONE,  /* no cycle of this loop: too much of what is usual is not there */
	GRADE_CYCLE, /* what is usual is there, and more besides */
	GRADE_ALIKE, /* and that is three quarters of what it holds */
	GRADE_EXACT  /* just that */
};

struct pattern_cycle {
	double time, off_time; /* of the GPU; of what is beyond the usual */
	uint32_t off, lack;    /* ops beyond what is usual, and lacking; of these, lacking */
	uint8_t grade;
	bool more;          /* holds more than twice what is usual: something else lies behind it */
	uint64_t sum;       /* of its tokens' hashes */
	float pause;        /* the longest one */
	uint64_t structure; /* of its copies in, copies out, waits, and optimizers' kernels */
};

/* Cycle k is the ops [cut[k], cut[k + 1]). */
struct pattern_fit {
	uint32_t n;  /* cycles */
	size_t *cut; /* n + 1 */
	struct pattern_cycle *cycle;
	uint32_t *usual;    /* by token: how often a cycle holds it; where names vary: whether nearly all hold it */
	uint32_t *constant; /* where names vary: how often nearly all hold it */
	uint32_t ops;       /* of a usual cycle */
	uint32_t n_usual;   /* tokens of which it is not 0 */
	uint32_t model;     /* a cycle that is the usual one, or UINT32_MAX: names vary */
};

/* Looks at the cycles that begin at the `n` ops `cut`, which has room for one more. The usual cycle is one that is
 * there most often; of cycles that are `varied` what nearly all hold. False: there is none. Everything is in `arena`.
 */
bool pattern_fit_init(struct pattern_fit *fit, const struct pattern_sequence *s, size_t *cut, uint32_t n, bool varied,
                      struct arena *arena);

/* What cycles of varied names differ by, which takes as long as all the rest: until then they have a grade alone. */
void pattern_fit_weigh(struct pattern_fit *fit, const struct pattern_sequence *s);

/* The cuts, and more of them where a cycle holds what several do: an op at which one begins was lost. At most `room`.
 * Returns how many. */
uint32_t pattern_fit_split(const struct pattern_fit *fit, const struct pattern_sequence *s, size_t *out, uint32_t room);

/* How many of the ops [from, to) are usual ones. */
uint32_t pattern_fit_common(const struct pattern_fit *fit, const struct pattern_sequence *s, size_t from, size_t to,
                            struct pattern_counts *counts);

/* Whether a graph is captured in cycle `k`, or right behind it. */
bool pattern_fit_captures(const struct pattern_fit *fit, const struct pattern_sequence *s, uint32_t k);

/* How much of what follows is told by the few ops before it. Chance would tell the commonest name each time: 0. */
double pattern_fit_order(const struct pattern_fit *fit, const struct pattern_sequence *s);

/* Cuts that somebody proposes: whether they make a loop, and which of the cycles are of it. */

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

/* Which of two cuts of a sequence says better what a step is. */

/* What cycles are. Layers and micro-batches: an input, or an optimizer's kernel, comes with some of them only. Layers,
 * or iterations of which some are logged: the host has to do with some of them only, or other kernels follow on some,
 * and what that is does not look like a log: it is the input of the next step; kernels without the host having to do
 * with them; a wait; or as much as a good part of a cycle (of an embedding, a head and what picks the next token there
 * is always more than of a loss that is printed now and then). Steps. */
enum pattern_level { LEVEL_PARTS, LEVEL_OPEN, LEVEL_STEP };

struct pattern_score {
	/* ops that the cycles explain; of those whose names vary, what the names do not say counts less: it takes more
	 * to describe it */
	double weight;
	enum pattern_level level;
	bool told;  /* each has an input, or an optimizer */
	bool asked; /* the host has to do with each */
	bool varied;
	uint32_t cycles, ops;
	uint32_t least; /* cycles of which the parts of steps are told */
	/* of parts: how many steps they make at most, and how many of them are between two ends of a step */
	uint32_t steps, fewest, most;
};

struct pattern_score pattern_score_of(const struct pattern_sequence *s, const struct pattern_found *found);

/* Whether `a` is better than `b`. Steps are better than what may be their parts; else what explains more, and of those
 * that explain as much what has the shorter cycle. */
bool pattern_score_is_better(const struct pattern_score *a, const struct pattern_score *b);

#endif
