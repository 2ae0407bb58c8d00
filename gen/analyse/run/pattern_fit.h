/* How well cuts explain a sequence: what a cycle usually holds, and how much of the sequence is that. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_FIT_H
#define GAPLINE_ANALYSE_RUN_PATTERN_FIT_H

#include "analyse/run/pattern.h"

/* Counts of the tokens of one cycle; `seen` lists those that are there. */
struct pattern_counts {
	uint32_t *of, *seen;
	uint32_t n;
};

void pattern_counts_init(struct pattern_counts *counts, uint32_t n_tokens, struct arena *arena);

static inline void pattern_counts_clear(struct pattern_counts *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->of[c->seen[i]] = 0;
	c->n = 0;
}

static inline void pattern_counts_add(struct pattern_counts *c, uint32_t token)
{
	if (!c->of[token]++)
		c->seen[c->n++] = token;
}

/* Those of the ops [from, to). */
void pattern_counts_take(struct pattern_counts *counts, const struct pattern_sequence *s, size_t from, size_t to);

/* By token: how many most of the cycles hold that hold any, by a majority vote; how many cycles these are; and how many
 * more of them agree with that than not. */
struct pattern_votes {
	uint32_t *usual, *there, *more;
};

/* Cycle k is the ops [cut[k], cut[k + 1]). In `arena`. */
struct pattern_votes pattern_votes_of(const struct pattern_sequence *s, const size_t *cut, uint32_t n,
                                      struct arena *arena);

enum pattern_grade {
	GRADE_NONE,  /* no cycle of this loop: too much of what is usual is not there */
	GRADE_CYCLE, /* what is usual is there, and more besides */
	GRADE_ALIKE, /* and that is three quarters of what it holds */
	GRADE_EXACT  /* just that */
};

/* Cycle k is the ops [cut[k], cut[k + 1]). */
struct pattern_fit {
	uint32_t n;       /* cycles */
	size_t *cut;      /* n + 1 */
	uint8_t *grade;   /* by cycle */
	uint8_t *more;    /* by cycle: holds more than twice what is usual: something else lies behind it */
	uint32_t *usual;  /* by token: how often a cycle holds it */
	uint32_t ops;     /* the sum of `usual` */
	uint32_t n_usual; /* tokens of which it is not 0 */
	uint32_t model;   /* a cycle that is usual in every token, or UINT32_MAX */
	uint32_t *off;    /* by cycle: ops that it holds beyond what is usual, and lacks */
	uint64_t *sum;    /* by cycle: the sum of its tokens' hashes */
};

/* How much of the cycles [from, to) is usual. */
struct pattern_share {
	double ops, time; /* explained */
	uint32_t alike;   /* cycles */
	size_t n_ops;     /* all in the stretch */
	double all_time;
};

/* Looks at `n` cuts (at least 2) that begin at the ops `cut`, which has room for one more: the last cycle ends where a
 * usual one would. Everything is in `arena`. */
void pattern_fit_init(struct pattern_fit *fit, const struct pattern_sequence *sequence, size_t *cut, uint32_t n,
                      struct arena *arena);

/* The cuts, and more of them where a cycle holds what several do: an op at which one begins was lost. At most `room`.
 * Returns how many. */
uint32_t pattern_fit_split(const struct pattern_fit *fit, const struct pattern_sequence *sequence, size_t *out,
                           uint32_t room);

/* How often something that is nearly a cycle (three quarters of what is usual) lies behind one of the cycles [from, to)
 * that hold more than twice what is usual. */
uint32_t pattern_fit_behind(const struct pattern_fit *fit, const struct pattern_sequence *sequence, uint32_t from,
                            uint32_t to);

/* Whether a graph is captured in cycle `k`, or right behind it. */
bool pattern_fit_captures(const struct pattern_fit *fit, const struct pattern_sequence *sequence, uint32_t k);

/* Share of the cycles [from, to) with which the host had to do. */
double pattern_fit_host(const struct pattern_fit *fit, const struct pattern_sequence *sequence, uint32_t from,
                        uint32_t to);

/* Of the cycles [from, to), or of the `runs` of them: those that are none, or have something else behind them, part
 * runs. */
struct pattern_share pattern_fit_share(const struct pattern_fit *fit, const struct pattern_sequence *sequence,
                                       uint32_t from, uint32_t to, bool runs, struct arena *arena);

/* Whether one of the ops of a usual cycle is one of `flags`. */
bool pattern_fit_has(const struct pattern_fit *fit, const struct pattern_sequence *sequence, uint8_t flags);

#endif
