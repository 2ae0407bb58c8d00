/* What a cycle usually holds, and what each differs from that by. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_FIT_H
#define GAPLINE_ANALYSE_RUN_PATTERN_FIT_H

#include "analyse/run/pattern.h"

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

#endif
