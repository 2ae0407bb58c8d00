/* Pairs of sides for the tests of the verdict: built run by run, then judged. */
#ifndef GAPLINE_TESTS_VERDICT_PAIR_H
#define GAPLINE_TESTS_VERDICT_PAIR_H

#include "gate/gate.h"
#include "result/pair_result.h"
#include "said.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 512, RUNS = 5 };

static struct arena arena;

static inline int tear_down(void **unused)
{
	(void)unused;
	arena_release(&arena);
	return 0;
}

static inline struct series measure(const int64_t *period, size_t n, int warmup)
{
	struct series s;
	series_of_run(&(struct verdict_run){.period = period, .n = n}, warmup, &arena, &s);
	return s;
}

static inline void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.17g is not %.17g", value, expected);
}

struct pair {
	int64_t period[2][RUNS][MAX];
	struct verdict_run run[2][RUNS];
	struct verdict_side side[2];
	int warmup;
	struct verdict_conditions conditions;
	struct gates_asked asked;
	enum same_work work;
	bool other_conditions;
	struct verdict v;
	struct gates gates;
};

static inline struct pair *pair_new(void)
{
	struct pair *p = ARENA_NEW(&arena, 1, struct pair);
	for (int s = 0; s < 2; s++)
		p->side[s] = (struct verdict_side){p->run[s], 0, true, 0};
	p->warmup = p->asked.max_regression = -1;
	return p;
}

/* Adds a run of n equal periods to side s, to be changed through the pointer returned. */
static inline int64_t *add_run(struct pair *p, int s, size_t n, int64_t period)
{
	size_t r = p->side[s].n_runs++;
	for (size_t i = 0; i < n; i++)
		p->period[s][r][i] = period;
	p->run[s][r] = (struct verdict_run){.period = p->period[s][r], .n = n};
	return p->period[s][r];
}

/* Three runs a side of n equal steps each. */
static inline struct pair *three_runs(size_t n, double speedup)
{
	struct pair *p = pair_new();
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++)
			add_run(p, s, n, (int64_t)(1e12 * (s ? 1 : speedup)));
	return p;
}

static inline const struct verdict *judge(struct pair *p)
{
	p->v = verdict_judge(p->side, p->warmup, &p->conditions, &arena);
	const struct comparison c = {.same_work = p->work, .other_conditions = p->other_conditions};
	p->gates = gates_judge(&p->v, &c, &p->asked, &arena);
	/* whatever the result: sentences, at least one, and more wherever nothing was decided */
	assert_true(p->v.reasons.n > 0);
	for (size_t i = 0; i < p->v.reasons.n; i++) {
		const char *text = said(p->v.reasons.list[i], NULL);
		assert_true(isupper((unsigned char)text[0]) || isdigit((unsigned char)text[0]));
		assert_int_equal(text[strlen(text) - 1], '.');
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, "inf"));
	}
	return &p->v;
}

static inline enum gate_result gate_of(struct pair *p)
{
	judge(p);
	return p->gates.result;
}

static inline bool says(const struct verdict *v, const char *words)
{
	return said_in(&v->reasons, NULL, words) != NULL;
}

static inline void swap_sides(struct pair *p)
{
	struct verdict_side first = p->side[0];
	p->side[0] = p->side[1];
	p->side[1] = first;
}

static uint64_t seed;

static inline double uniform(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* n periods around `base`: `wild` × uniform in ±1, each keeping `phi` of the one before, and now and then a spike. */
static inline void add_noisy_run(struct pair *p, int s, size_t n, double base, double wild, double phi)
{
	int64_t *period = add_run(p, s, n, 1);
	double x = 0;
	for (size_t i = 0; i < n; i++) {
		x = phi * x + wild * (2 * uniform() - 1);
		period[i] = (int64_t)(base * exp(x) * (uniform() < 0.03 ? 1.4 : 1));
	}
}

/* The same without spikes. */
static inline void add_even_run(struct pair *p, int s, size_t n, double base, double wild, double phi)
{
	int64_t *period = add_run(p, s, n, 1);
	double x = 0;
	for (size_t i = 0; i < n; i++) {
		x = phi * x + wild * (2 * uniform() - 1);
		period[i] = (int64_t)(base * exp(x));
	}
}

#endif
