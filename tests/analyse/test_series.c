/* One run: location, variance, drift, and what the pace of its host explains. */
#include "verdict/stats.h"
#include "verdict_pair.h"

/* The mean is what a stopwatch says; the typical step is the trimmed mean of the logs. */
static void means(void **unused)
{
	(void)unused;
	/* m = 10: one value a tail is dropped */
	int64_t period[10] = {1000, 1000, 7, 1000, 1000, 1000, 9000, 1000, 1000, 1000};
	struct series s = measure(period, 10, 1);
	near(s.mean, 17007 / 10.0, 1e-12);
	near(s.counted, s.mean, 0);
	near(s.typical, log(1000), 1e-14);
	near(s.typical_variance, 0, 0);
	assert_true(s.variance > s.core);
	assert_int_equal(s.m, 10);
	/* m = 9: nothing is dropped; T = (ln 7 + 7 ln 1000 + ln 9000) / 9 */
	s = measure(period, 9, 1);
	near(s.typical, (log(7) + 7 * log(1000) + log(9000)) / 9, 1e-13);
	assert_true(s.typical_variance > 0);
}

/* From 10 times the median on, one or two of a run count as the mean of the others; three are the program's. */
static void steps_set_aside(void **unused)
{
	(void)unused;
	int64_t period[12] = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 12, 99};
	assert_int_equal(measure(period, 12, 0).aside, 0);
	period[11] = 100;
	struct series s = measure(period, 12, 0);
	assert_int_equal(s.aside, 1);
	near(s.aside_longest, 100, 0);
	near(s.mean, 112 / 11.0, 1e-12);
	near(s.counted, 212 / 12.0, 1e-12);
	assert_int_equal(s.slow.n, 1); /* the 12 */
	period[3] = 1000;
	s = measure(period, 12, 0);
	assert_int_equal(s.aside, 2);
	near(s.mean, 102 / 10.0, 1e-12);
	near(s.counted, 1202 / 12.0, 1e-12);
	period[5] = 100;
	s = measure(period, 12, 0);
	assert_int_equal(s.aside, 0);
	near(s.mean, 1292 / 12.0, 1e-12);
}

/* Eight steps, the later four longer by d. Deviations ∓d/2:
 *   r_1 = (6 − 1)/8, r_2 = (4 − 2)/8, K = 8/3 = 2 lags: τ = 1 + 2 (5/8 + 2/8) = 2.75
 *   B = min(⌊8/(6 · 2.75)⌋, ⌊0.4 · 8^⅔⌋) = 0, at least 4
 *   Λ_j = √(2/8) (−d/2) 2 Σ_{i=1..4} cos(πj(i − ½)/8), the sum being sin(πj/2)/(2 sin(πj/16)); 0 for even j
 *   Λ_1² = d²/(16 sin²(π/16)), Λ_3² = d²/(16 sin²(3π/16)), Ω = (Λ_1² + Λ_3²)/4, V = Ω/(8 μ²) */
static void variance_by_hand(void **unused)
{
	(void)unused;
	int64_t period[8] = {1000000, 1000000, 1000000, 1000000, 1015000, 1015000, 1015000, 1015000};
	struct series s = measure(period, 8, 0);
	double d = 15000 / 1007500.0, one = sin(acos(-1) / 16), three = sin(3 * acos(-1) / 16);
	near(s.tau, 2.75, 1e-12);
	assert_int_equal(s.dof, 4);
	near(s.mean, 1007500, 1e-6);
	near(s.variance, d * d / 64 * (1 / (one * one) + 1 / (three * three)) / 8, 1e-15);
	near(s.core, s.variance, 0);
	near(s.drift, 0, 0); /* 1.5 % apart is within the margin, although nothing varies within the halves */
	for (int i = 4; i < 8; i++)
		period[i] = 1030000;
	s = measure(period, 8, 0);
	near(s.drift, 0.03 / 1.015, 1e-12);
	/* seven steps are too few to ask */
	period[3] = 1030000;
	s = measure(period, 7, 0);
	near(s.drift, 0, 0);
}

/* Eight steps, ∓δ around either half's mean. With all three cosines of four values Ω is their squares over 3
 * (Parseval), so each half's mean has the variance 4δ²/3/4 = δ²/3, and t = apart / (δ √(2/3)). At 10 % apart t is 5.04
 * for δ = 0.1/4.1152 = 0.0243. */
static void drift_by_hand(void **unused)
{
	(void)unused;
	for (int drifts = 0; drifts < 2; drifts++) {
		double delta = drifts ? 0.0240 : 0.0246;
		int64_t period[8];
		for (int i = 0; i < 8; i++)
			period[i] = (int64_t)(1e12 * ((i < 4 ? 1 : 1.1) + (i % 2 ? delta : -delta)));
		near(measure(period, 8, 0).drift, drifts ? 0.1 / 1.05 : 0, 1e-10);
	}
}

/* Over longer halves four cosines see what is slow: the same step is lost in waves, and plain beside a quick jitter. */
static void drift_among_waves(void **unused)
{
	(void)unused;
	static const int TURNS[] = {3, 9, 14, 18, 23, 30, 34, 40};
	int64_t period[40];
	for (int i = 0, up = 0, turn = 0; i < 40; i++) {
		if (i == TURNS[turn]) {
			turn++;
			up = !up;
		}
		period[i] = (int64_t)(1e6 * (i < 20 ? 1 : 1.04) * (up ? 1.2 : 0.8));
	}
	assert_int_equal(measure(period, 40, 0).pattern, 0);
	near(measure(period, 40, 0).drift, 0, 0);
	for (int i = 0; i < 40; i++)
		period[i] = (int64_t)(1e6 * (i < 20 ? 1 : 1.04) * (i % 2 ? 1.002 : 0.998));
	near(measure(period, 40, 0).drift, 0.04 / 1.02, 1e-6);
}

/* τ takes no more than m/3 lags. Half a cosine wave stays correlated a little longer than that. */
static void correlation_up_to_a_third(void **unused)
{
	(void)unused;
	enum { M = 9 * 11 };
	int64_t period[M];
	double w[M], mean = 0, square = 0, r[M / 2] = {0}, tau = 1;
	for (int i = 0; i < M; i++)
		period[i] = (int64_t)(1e15 * (1 + 0.05 * cos(acos(-1) * (i + 0.5) / M)));
	for (int i = 0; i < M; i++) { /* the nine values at either end are winsorised to the tenth */
		w[i] = (double)period[i < 9 ? 9 : i > M - 10 ? M - 10 : i];
		mean += w[i] / M;
	}
	for (int i = 0; i < M; i++)
		square += (w[i] - mean) * (w[i] - mean);
	for (int k = 1; k < M / 2; k++)
		for (int i = 0; i + k < M; i++)
			r[k] += (w[i] - mean) * (w[i + k] - mean) / square;
	for (int k = 1; k <= M / 3; k++)
		tau += 2 * r[k];
	assert_true(r[M / 3 + 1] > 1e-4);
	near(measure(period, M, 0).tau, tau, 1e-9);
}

/* B = min(⌊m/6τ⌋, ⌊0.4 m^⅔⌋), at least 4, at most m − 1. */
static void number_of_cosines(void **unused)
{
	(void)unused;
	int64_t period[500];
	for (int i = 0; i < 500; i++)
		period[i] = 1000000 + (i % 2 ? 500 : -500); /* r_1 < 0: τ = 1 */
	static const struct {
		size_t m;
		int dof;
	} CASES[] = {
		{2, 1},    /* at most m − 1 */
		{4, 3},    /* the same */
		{5, 4},    /* at least 4 */
		{32, 4},   /* ⌊32/6⌋ = 5, 0.4 · 32^⅔ = 4.03 */
		{64, 6},   /* ⌊64/6⌋ = 10, 0.4 · 16 = 6.4 */
		{125, 10}, /* 20, 0.4 · 25 = 10 */
		{343, 19}, /* 57, 0.4 · 49 = 19.6 */
	};
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct series s = measure(period, CASES[i].m, 0);
		near(s.tau, 1, 0);
		assert_int_equal(s.dof, CASES[i].dof);
	}
	/* where steps hang together the other term is the smaller one: blocks of 10 equal steps, m/6τ below 0.4 m^⅔ */
	seed = 4;
	for (int i = 0; i < 500; i++)
		period[i] = i % 10 ? period[i - 1] : 1000000 + (uniform() < 0.5 ? 500 : -500);
	struct series s = measure(period, 500, 0);
	assert_int_equal(s.pattern, 0);
	assert_true(s.tau > 3);
	assert_int_equal(s.dof, (int)(500 / (6 * s.tau)));
}

static void single_step(void **unused)
{
	(void)unused;
	int64_t period[1] = {1234567};
	struct series s = measure(period, 1, -1);
	near(s.mean, 1234567, 0);
	near(s.typical, log(1234567), 1e-15);
	assert_int_equal(s.m, 1);
	assert_int_equal(s.cut, 0);
	assert_int_equal(s.dof, 0);
	near(s.variance, 0, 0);
}

/* ---- the pace of the host ---- */

/* Sixty steps of 1 ms, each as much longer as its launches: nothing is left of what they vary by, and the mean, the
 * typical step and the level stay what they are. Where a step is longer by twice that, half is left: no host makes a
 * step longer than by its pace. Nothing is explained by a pace that goes the other way, nor in fewer than 20 steps. */
static void the_pace_of_launches_is_no_spread(void **unused)
{
	(void)unused;
	static const struct {
		int times; /* of the pace, what a step is longer by */
		size_t n;
		double left; /* of the standard error */
	} CASES[] = {{1, 60, 0}, {2, 60, .5}, {-1, 60, 1}, {1, 19, 1}};
	int64_t p[60], pace[60];
	for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
		struct series without, with;
		for (int i = 0; i < 60; i++) {
			pace[i] = (i * i * 7 % 61 - 30) * 3; /* a tenth at most */
			p[i] = 1000000 + 1000 * CASES[c].times * pace[i];
		}
		struct verdict_run run = {.period = p, .n = CASES[c].n};
		series_of_run(&run, 1, &arena, &without);
		run.pace = pace;
		series_of_run(&run, 1, &arena, &with);
		assert_true(without.variance > 0);
		near(with.mean, without.mean, 0);
		near(with.typical_variance, without.typical_variance, 0);
		near(with.level + with.drift, without.level + without.drift, 0);
		if (CASES[c].left == 1)
			near(with.variance, without.variance, 0);
		else
			near(sqrt(with.variance / without.variance), CASES[c].left, .03);
	}
}

/* Where steps come back in a rhythm the cosines stay below its frequency: 2 ⌊(m + 2)/p⌋ − 2. */
static void cosines_below_the_rhythm(void **unused)
{
	(void)unused;
	int64_t period[343];
	for (int i = 0; i < 343; i++)
		period[i] = i % 31 == 7 ? 3000000 : 1000000 + (i * i) % 7;
	struct series s = measure(period, 343, 0);
	assert_int_equal(s.pattern, 31);
	assert_int_equal(s.dof, 19); /* 2 · 11 − 2 = 20 is no limit */
	for (int i = 0; i < 343; i++)
		period[i] = i % 62 == 7 ? 3000000 : 1000000 + (i * i) % 7;
	s = measure(period, 343, 0);
	assert_int_equal(s.pattern, 62);
	assert_int_equal(s.dof, 8); /* 2 · 5 − 2 */
	assert_true(s.more == 0);
}

/* 59 steps of 10 and one of 70: excess 60 in a mean of 11. One more would add (60/(60 · 11))². */
static void one_more_slow_step(void **unused)
{
	(void)unused;
	int64_t period[60];
	for (int i = 0; i < 60; i++)
		period[i] = i == 20 ? 70 : 10;
	struct series s = measure(period, 60, 0);
	near(s.more, pow(60.0 / (60 * 11), 2), 1e-15);
	series_measure(&(struct verdict_run){.period = period, .n = 60}, false, true, &arena, &s);
	near(s.more, 0, 0); /* in a short capture the doubling covers it */
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(means),
		TEST(steps_set_aside),
		TEST(variance_by_hand),
		TEST(drift_by_hand),
		TEST(drift_among_waves),
		TEST(correlation_up_to_a_third),
		TEST(number_of_cosines),
		TEST(single_step),
		TEST(the_pace_of_launches_is_no_spread),
		TEST(cosines_below_the_rhythm),
		TEST(one_more_slow_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
