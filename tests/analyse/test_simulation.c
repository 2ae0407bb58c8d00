/* How often is the verdict wrong? Thousands of simulated pairs whose truth is known, of the shapes that real step times
 * have. The table that this prints is the one in docs/method/verdict.md. Fixed seed, own generator: the same numbers
 * everywhere. */
#include "random.h"
#include "verdict/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Sanitizers make each pair many times slower and look for other mistakes: there, few pairs and no bounds. */
#if defined(__SANITIZE_ADDRESS__)
enum { PAIRS = 10, BOUNDED = 0 };
#else
enum { PAIRS = 1000, BOUNDED = 1 };
#endif
enum { MAX_STEPS = 160, MAX_RUNS = 5 };

static uint64_t state;

static double uniform(void)
{
	return random_uniform(&state);
}

static double normal(void)
{
	return random_normal(&state);
}

enum shape {
	FLAT,
	EVERY,    /* every `every`-th step `factor` times as long */
	CYCLE,    /* 8, 8, 8, 20 over 11 */
	TURNS,    /* .2 and 1.8 in turn */
	SPREAD,   /* lognormal, sd 40 %, mean 1 */
	TAIL,     /* sentences: short, middling and long ones, each lognormal with sd 30 %, mean 1 */
	CLOCKS,   /* two states 8 % apart, changing every `every` steps on average */
	ACCIDENT, /* one step of 20 to 100 times */
	SPIKES,   /* a share `factor` of the steps takes 2 to 5 times as long */
	LEVEL,    /* the first 45 % of the steps 1.3 times as long */
	START     /* up to half as long again at the start, decaying over 7 steps, gone at 20 */
};

struct simulated {
	enum shape shape;
	int every;
	double factor;
};

/* What must hold, in percent, but for what chance and the way in which the shapes are drawn leave open: SLACK. */
struct bounds {
	double covered; /* at least: intervals that hold the truth */
	double wrong;   /* at most: false directions, at the worst of all effects */
	double missed;  /* at most: false `unchanged` at effects beyond 2 %, at the worst */
	double gate; /* at most: the interval at or above exactly the truth, so that a gate that asks for it passes */
	double same; /* at least: `unchanged` where nothing is added */
	double found[3]; /* at least: the right direction at 1.05, 1.2 and 2.3 on top of what the shapes make */
};

struct model {
	const char *name;
	size_t steps, runs;   /* N steps give N − 1 periods; runs a side */
	double phi, sd;       /* AR(1) of the logs of all steps */
	double run_sd, drift; /* between runs; a run over the one before it, the baseline's runs first */
	double truth;         /* the speedup that the shapes make */
	struct simulated side[2];
	struct bounds bounds;
};

#define SHAPE(kind)                                                                                                    \
	{                                                                                                              \
		kind, 0, 0                                                                                             \
	}

static const struct model MODELS[] = {
	{"every 12th 2.26x, fixed side only",
         60,
         1,
         .3,
         .01,
         0,
         0,
         12 / 13.26,
         {SHAPE(FLAT), {EVERY, 12, 2.26}},
         {96.8, 0, 0, .7, 0, {91, 96, 100}}},
	{"8, 8, 8, 20 to 10, 10, 10, 10",
         60,
         1,
         .3,
         .01,
         0,
         0,
         1.1,
         {SHAPE(CYCLE), SHAPE(FLAT)},
         {97.5, 0, 0, 1.8, 0, {100, 100, 100}}},
	{"11 to 8, 8, 8, 20",
         60,
         3,
         .3,
         .007,
         .001,
         0,
         1,
         {SHAPE(FLAT), SHAPE(CYCLE)},
         {99.5, 0, 0, 0, 100, {100, 100, 100}}},
	{"2 to .2, 1.8 in turn",
         60,
         1,
         .3,
         .01,
         0,
         0,
         2,
         {SHAPE(FLAT), SHAPE(TURNS)},
         {97.5, 0, 0, 1, 0, {100, 100, 100}}},
	{"spread 5 % to 40 %, equal means",
         60,
         1,
         0,
         .05,
         0,
         0,
         1,
         {SHAPE(FLAT), SHAPE(SPREAD)},
         {94.9, 1.3, 0, 2.8, 0, {5, 60, 100}}},
	{"every 20th 3x, fixed side only",
         60,
         1,
         .3,
         .01,
         0,
         0,
         20 / 22.0,
         {SHAPE(FLAT), {EVERY, 20, 3}},
         {96.8, 0, 0, 1.1, 0, {90, 96, 100}}},
	{"every 20th 1.65x, fixed side only",
         60,
         1,
         .3,
         .01,
         0,
         0,
         20 / 20.65,
         {SHAPE(FLAT), {EVERY, 20, 1.65}},
         {96.3, 0, .2, 1.5, 0, {0, 100, 100}}},
	{"every 12th 2.26x, both",
         60,
         1,
         .3,
         .01,
         0,
         0,
         1,
         {{EVERY, 12, 2.26}, {EVERY, 12, 2.26}},
         {94.6, 0, 0, 2.2, 85, {89, 100, 100}}},
	{"every 20th 6x, both",
         60,
         1,
         .3,
         .01,
         0,
         0,
         1,
         {{EVERY, 20, 6}, {EVERY, 20, 6}},
         {95.4, 0, 0, 2.3, 91, {88, 100, 100}}},
	{"AAABBB, 0.8 % a run",
         60,
         3,
         .3,
         .01,
         .001,
         .008,
         1,
         {SHAPE(FLAT), SHAPE(FLAT)},
         {100, 0, 0, 0, 0, {0, 100, 100}}},
	{"AAAAABBBBB, 0.3 % a run",
         60,
         5,
         .3,
         .01,
         .001,
         .003,
         1,
         {SHAPE(FLAT), SHAPE(FLAT)},
         {100, 0, 0, 0, 0, {0, 100, 100}}},
	{"two clocks, 25 steps",
         60,
         1,
         0,
         .01,
         0,
         0,
         1,
         {{CLOCKS, 25, 0}, {CLOCKS, 25, 0}},
         {91.6, 3.8, .1, 4.2, 2, {7, 50, 100}}},
	{"two clocks, 40 steps",
         40,
         1,
         0,
         .01,
         0,
         0,
         1,
         {{CLOCKS, 40, 0}, {CLOCKS, 40, 0}},
         {81.9, 14.2, .1, 8.9, 10, {19, 57, 100}}},
	{"one step of 20-100x, fixed side",
         60,
         1,
         .3,
         .02,
         0,
         0,
         1,
         {SHAPE(FLAT), SHAPE(ACCIDENT)},
         {97.3, 0, 0, .1, 2, {2, 2, 64}}},
	{"one step of 20-100x, baseline",
         60,
         1,
         .3,
         .02,
         0,
         0,
         1,
         {SHAPE(ACCIDENT), SHAPE(FLAT)},
         {97.1, 0, 0, 2.8, 2, {90, 100, 100}}},
	{"2 % of the steps 2-5x, both",
         60,
         1,
         .3,
         .02,
         0,
         0,
         1,
         {{SPIKES, 0, .02}, {SPIKES, 0, .02}},
         {98.6, .5, 0, .6, 9, {10, 48, 100}}},
	{"2 % of the steps 2-5x, both",
         150,
         1,
         .3,
         .02,
         0,
         0,
         1,
         {{SPIKES, 0, .02}, {SPIKES, 0, .02}},
         {98.1, .2, .1, 1.2, 1, {6, 89, 100}}},
	{"3 % of the steps 2-5x, fixed side only",
         60,
         1,
         .3,
         .02,
         0,
         0,
         1 / 1.075,
         {SHAPE(FLAT), {SPIKES, 0, .03}},
         {81.4, 16.4, 15.5, 18.1, 0, {0, 24, 100}}},
	{"phi .3", 20, 1, .3, .03, 0, 0, 1, {SHAPE(FLAT), SHAPE(FLAT)}, {99.7, 0, 0, .2, 0, {0, 96, 100}}},
	{"phi .3", 100, 1, .3, .03, 0, 0, 1, {SHAPE(FLAT), SHAPE(FLAT)}, {94.6, 0, .1, 2.5, 77, {86, 100, 100}}},
	{"phi .3", 60, 3, .3, .03, .002, 0, 1, {SHAPE(FLAT), SHAPE(FLAT)}, {98.8, .1, 0, .5, 70, {100, 100, 100}}},
	{"phi .6", 60, 1, .6, .03, 0, 0, 1, {SHAPE(FLAT), SHAPE(FLAT)}, {94.8, 0, .3, 2.3, 7, {26, 100, 100}}},
	{"phi .9", 60, 1, .9, .03, 0, 0, 1, {SHAPE(FLAT), SHAPE(FLAT)}, {97, .1, .1, 1.5, 0, {1, 78, 100}}},
	{"runs 2 % apart",
         60,
         3,
         .3,
         .03,
         .02,
         0,
         1,
         {SHAPE(FLAT), SHAPE(FLAT)},
         {96.8, 1.5, 0, 1.8, 0, {41, 100, 100}}},
	{"first 45 % of the steps 1.3x, both",
         60,
         1,
         .3,
         .01,
         0,
         0,
         1,
         {SHAPE(LEVEL), SHAPE(LEVEL)},
         {94.6, 0, 0, 2.8, 99, {99, 100, 100}}},
	{"slow start, decay over 7 steps, both",
         60,
         1,
         .3,
         .02,
         0,
         0,
         1,
         {SHAPE(START), SHAPE(START)},
         {93.3, 0, .1, 2.9, 55, {66, 99, 100}}},
	{"lengths of sentences, both",
         60,
         1,
         0,
         .05,
         0,
         0,
         1,
         {SHAPE(TAIL), SHAPE(TAIL)},
         {94.9, 1, 0, 2.5, 0, {0, 0, 60}}},
};
enum { N_MODELS = sizeof MODELS / sizeof *MODELS };

/* Percent points: shares are of PAIRS pairs (a share of 3 % is sure to ± 1.6 with 1000), and for power, which depends
 * on how exactly the noise is drawn, more. */
static const struct bounds SLACK = {2.5, 1.6, 1.6, 1.8, 12, {12, 12, 6}};

static double shape_of(const struct simulated *side, size_t i, size_t n, size_t phase, bool *slow, double start)
{
	switch (side->shape) {
	case FLAT:
	case ACCIDENT: /* at `phase`, for one run */
		return side->shape == ACCIDENT && i == phase ? start : 1;
	case EVERY:
		return (i + phase) % (size_t)side->every == 0 ? side->factor : 1;
	case CYCLE:
		return (i + phase) % 4 == 3 ? 20 / 11.0 : 8 / 11.0;
	case TURNS:
		return (i + phase) % 2 ? 1.8 : 0.2;
	case SPREAD:
		return exp(0.4 * normal() - 0.08);
	case TAIL: {
		double u = uniform(), length = u < .6 ? .3 : u < .9 ? 1 : 4;
		return length / (.6 * .3 + .3 * 1 + .1 * 4) * exp(0.3 * normal() - 0.045);
	}
	case CLOCKS:
		if (uniform() < 1.0 / side->every)
			*slow = !*slow;
		return *slow ? 1.08 : 1;
	case SPIKES:
		return uniform() < side->factor ? 2 + 3 * uniform() : 1;
	case LEVEL:
		return (double)i < 0.45 * (double)(n + 1) ? 1.3 : 1;
	case START:
		return i < 20 ? 1 + start * exp(-(double)i / 7) : 1;
	}
	return 1;
}

/* One run's periods. CYCLE against 10 has the baseline's mean 11 for 10 of the fixed side. */
/* `first`: where in its rhythm the program begins, which it does in every run alike. */
static void simulate(const struct model *m, const struct simulated *side, double base, size_t n, size_t first,
                     int64_t *period)
{
	double ar = m->sd * normal(), start = 0.5 * uniform();
	bool slow = uniform() < 0.5;
	size_t phase = side->shape == ACCIDENT ? 1 + (size_t)(uniform() * (double)(n - 1)) : first;
	if (side->shape == ACCIDENT)
		start = 20 + 80 * uniform();
	for (size_t i = 0; i < n; i++) {
		double noise = side->shape == SPREAD || side->shape == TAIL ? 0 : ar - m->sd * m->sd / 2;
		period[i] = (int64_t)(base * shape_of(side, i, n, phase, &slow, start) * exp(noise));
		ar = m->phi * ar + m->sd * sqrt(1 - m->phi * m->phi) * normal();
	}
}

/* The speedup of the shapes alone is in their means, but for two, whose shapes have the mean 1. */
static double mean_ratio(const struct model *m)
{
	bool in_the_base = m->side[0].shape == CYCLE || m->side[1].shape == TURNS;
	return in_the_base ? m->truth : 1;
}

static void judge_pair(const struct model *m, double effect, struct arena *arena, struct verdict *v)
{
	static int64_t period[2][MAX_RUNS][MAX_STEPS];
	struct verdict_run run[2][MAX_RUNS];
	struct verdict_side side[2];
	static const struct verdict_conditions none = {0};
	size_t n = m->steps - 1, blocks[2] = {0, m->runs};
	for (int s = 0; s < 2; s++) {
		size_t first = (size_t)(uniform() * 1e6);
		for (size_t r = 0; r < m->runs; r++) {
			/* in turns ABBAAB…, or one side after the other where there is a drift */
			size_t order = m->drift > 0 ? blocks[s] + r : 2 * r + ((r % 2) ^ (size_t)s);
			double base = 1e8 * exp(m->run_sd * normal()) * (1 + m->drift * (double)order);
			simulate(m, &m->side[s], s ? base : base * effect * mean_ratio(m), n, first, period[s][r]);
			run[s][r] = (struct verdict_run){.period = period[s][r], .n = n, .start = (int64_t)order + 1};
		}
		side[s] = (struct verdict_side){run[s], m->runs, true, 0};
	}
	*v = verdict_judge(side, -1, &none, arena);
}

struct tally {
	double intervals, covered, half;
	double wrong, missed, gate, same, found[3]; /* percent, the worst over the effects; of `gate`, of all pairs */
};

static void tally_effect(const struct model *m, double effect, struct tally *t)
{
	double truth = log(m->truth * effect), wrong = 0, missed = 0, gate = 0, same = 0, right = 0;
	for (int pair = 0; pair < PAIRS; pair++) {
		struct arena arena = {0};
		struct verdict v;
		judge_pair(m, effect, &arena, &v);
		bool direction = v.result == VERDICT_FASTER || v.result == VERDICT_SLOWER;
		bool agrees = direction && (v.result == VERDICT_FASTER ? truth > 1e-9 : truth < -1e-9);
		t->intervals += v.has_interval;
		t->covered += v.has_interval && log(v.lo) <= truth && truth <= log(v.hi);
		t->half += v.half_width;
		wrong += direction && !agrees;
		right += agrees;
		missed += v.result == VERDICT_UNCHANGED && fabs(truth) > log(1.02);
		same += v.result == VERDICT_UNCHANGED;
		gate += v.judged && log(v.lo) >= truth;
		arena_release(&arena);
	}
	const double percent = 100.0 / PAIRS;
	static const double FOUND[3] = {1.05, 1.2, 2.3};
	t->wrong = fmax(t->wrong, percent * wrong);
	t->missed = fmax(t->missed, percent * missed);
	t->gate += percent * gate / 7;
	if (effect == 1)
		t->same = percent * same;
	for (int k = 0; k < 3; k++)
		if (effect == FOUND[k])
			t->found[k] = percent * right;
}

static int broken;

static void check(const char *what, double share, double least, double most)
{
	if (share >= least && share <= most)
		return;
	printf("^ %s: %.1f %% is not between %.1f and %.1f %%\n", what, share, least, most);
	broken += BOUNDED;
}

static void check_model(const struct model *m, const struct tally *t)
{
	const struct bounds *b = &m->bounds;
	double covered = 100 * t->covered / t->intervals;
	printf("| %s | %zu | %zu | %.1f | %.2f | %.1f | %.1f | %.1f | %.0f | %.0f / %.0f / %.0f |\n", m->name, m->steps,
	       m->runs, covered, 100 * t->half / t->intervals, t->wrong, t->missed, t->gate, t->same, t->found[0],
	       t->found[1], t->found[2]);
	check("covered", covered, fmin(b->covered - SLACK.covered, 96), 100);
	check("wrong direction", t->wrong, 0, b->wrong + SLACK.wrong);
	check("false unchanged", t->missed, 0, b->missed + SLACK.missed);
	check("gate", t->gate, 0, b->gate + SLACK.gate);
	check("unchanged", t->same, b->same - SLACK.same, 100);
	for (int k = 0; k < 3; k++)
		check("found", t->found[k], b->found[k] - SLACK.found[k], 100);
	fflush(stdout);
}

static void every_model(void **unused)
{
	static const double EFFECTS[] = {1, 1.01, 1.03, 1.05, 1.1, 1.2, 2.3};
	(void)unused;
	printf("\n| steps | N | runs a side | held | half-width | wrong | false unchanged | gate | unchanged at 1 | "
	       "found at "
	       "1.05 / 1.2 / 2.3 |\n|---|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < N_MODELS; i++) {
		struct tally t = {0};
		state = 20261122 + 1000003 * i;
		for (size_t k = 0; k < sizeof EFFECTS / sizeof *EFFECTS; k++)
			tally_effect(&MODELS[i], EFFECTS[k], &t);
		check_model(&MODELS[i], &t);
	}
	assert_int_equal(broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_model)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
