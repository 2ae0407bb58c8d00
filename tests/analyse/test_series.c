/* One run: location, variance, drift, and the warm-up that is cut. */
#include "verdict_pair.h"

static struct series measure(const int64_t *period, size_t n, int warmup)
{
	struct series s;
	verdict_series(&(struct verdict_run){period, n}, warmup, &s);
	return s;
}

static void location_is_trimmed(void **unused)
{
	(void)unused;
	/* m = 10: one value a tail is dropped, and winsorised nothing varies */
	int64_t period[10] = {1000, 1000, 7, 1000, 1000, 1000, 900000, 1000, 1000, 1000};
	struct series s = measure(period, 10, 1);
	near(s.location, log(1000), 1e-14);
	near(s.variance, 0, 0);
	near(s.tau, 1, 0);
	assert_int_equal(s.m, 10);
	/* m = 9: nothing is dropped; T = (ln 7 + 7 ln 1000 + ln 900000) / 9 */
	s = measure(period, 9, 1);
	near(s.location, (log(7) + 7 * log(1000) + log(900000)) / 9, 1e-13);
	assert_true(s.variance > 0);
}

/* Eight steps, the later four longer by d (logs). Deviations ∓d/2:
 *   r_1 = (6 − 1)/8, r_2 = (4 − 2)/8, K = 8/3 = 2 lags: τ = 1 + 2 (5/8 + 2/8) = 2.75
 *   B = min(⌊8/(6 · 2.75)⌋, ⌊0.4 · 8^⅔⌋) = 0, at least 4
 *   Λ_j = √(2/8) (−d/2) 2 Σ_{i=1..4} cos(πj(i − ½)/8), the sum being sin(πj/2)/(2 sin(πj/16)); 0 for even j
 *   Λ_1² = d²/(16 sin²(π/16)), Λ_3² = d²/(16 sin²(3π/16)), Ω = (Λ_1² + Λ_3²)/4, V = Ω/(8 · 0.64) */
static void variance_by_hand(void **unused)
{
	(void)unused;
	int64_t period[8] = {1000000, 1000000, 1000000, 1000000, 1015000, 1015000, 1015000, 1015000};
	struct series s = measure(period, 8, 0);
	double d = log(1.015), one = sin(acos(-1) / 16), three = sin(3 * acos(-1) / 16);
	near(s.tau, 2.75, 1e-12);
	assert_int_equal(s.dof, 4);
	near(s.location, log(1000000) + d / 2, 1e-13);
	near(s.variance, d * d / 64 * (1 / (one * one) + 1 / (three * three)) / 5.12, 1e-15);
	assert_false(s.drift); /* 1.5 % apart is within the margin, although nothing varies within the halves */
	near(s.drift_size, 0, 0);
	for (int i = 4; i < 8; i++)
		period[i] = 1030000;
	s = measure(period, 8, 0);
	assert_true(s.drift);
	near(s.drift_size, log(1.03), 1e-13);
	/* seven steps are too few to ask */
	period[3] = 1030000;
	s = measure(period, 7, 0);
	assert_false(s.drift);
}

/* Eight steps, ∓δ (logs) around either half's mean. With all three cosines of four values Ω is their squares over 3
 * (Parseval), so each half's mean has the variance 4δ²/3/4 = δ²/3, and t = apart / (δ √(2/3)). At 10 % apart t is 5.04
 * for δ = 0.0953/4.115 = 0.02316. */
static void drift_by_hand(void **unused)
{
	(void)unused;
	for (int drifts = 0; drifts < 2; drifts++) {
		double delta = drifts ? 0.0228 : 0.0235;
		int64_t period[8];
		for (int i = 0; i < 8; i++)
			period[i] = (int64_t)(1e12 * (i < 4 ? 1 : 1.1) * exp(i % 2 ? delta : -delta));
		struct series s = measure(period, 8, 0);
		assert_int_equal(s.drift, drifts);
		near(s.drift_size, drifts ? log(1.1) : 0, 1e-10);
	}
}

/* Over longer halves four cosines see what is slow: the same step is lost in waves, and plain beside a quick jitter. */
static void drift_among_waves(void **unused)
{
	(void)unused;
	int64_t period[40];
	for (int i = 0; i < 40; i++)
		period[i] = (int64_t)(1e6 * (i < 20 ? 1 : 1.04) * (i / 5 % 2 ? 1.2 : 0.8));
	assert_false(measure(period, 40, 0).drift);
	for (int i = 0; i < 40; i++)
		period[i] = (int64_t)(1e6 * (i < 20 ? 1 : 1.04) * (i % 2 ? 1.002 : 0.998));
	struct series s = measure(period, 40, 0);
	assert_true(s.drift);
	near(s.drift_size, log(1.04), 1e-6);
}

/* τ takes no more than m/3 lags. Half a cosine wave stays correlated a little longer than that. */
static void correlation_up_to_a_third(void **unused)
{
	(void)unused;
	enum { M = 9 * 11 };
	int64_t period[M];
	double w[M], mean = 0, square = 0, r[M / 2] = {0}, tau = 1;
	for (int i = 0; i < M; i++)
		period[i] = (int64_t)(1e15 * exp(0.1 * cos(acos(-1) * (i + 0.5) / M)));
	for (int i = 0; i < M; i++) { /* the nine values at either end are winsorised to the tenth */
		w[i] = log((double)period[i < 9 ? 9 : i > M - 10 ? M - 10 : i]);
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
	for (int i = 0; i < 500; i++)
		period[i] = 1000000 + (i / 10 % 2 ? 500 : -500);
	struct series s = measure(period, 500, 0);
	assert_true(s.tau > 3);
	assert_int_equal(s.dof, (int)(500 / (6 * s.tau)));
}

static void single_step(void **unused)
{
	(void)unused;
	int64_t period[1] = {1234567};
	struct series s = measure(period, 1, -1);
	near(s.location, log(1234567), 1e-15);
	assert_int_equal(s.m, 1);
	assert_int_equal(s.cut, 0);
	assert_int_equal(s.dof, 0);
	near(s.variance, 0, 0);
}

/* ---- warm-up ---- */

static void warmup_by_hand(void **unused)
{
	(void)unused;
	int64_t period[6] = {10, 20, 30, 40, 50, 60};
	static const struct {
		int warmup;
		size_t cut;
	} CASES[] = {{0, 0}, {1, 0}, {2, 1}, {4, 3}, {6, 5}, {7, 5}, {1000000, 5}};
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct series s = measure(period, 6, CASES[i].warmup);
		assert_int_equal(s.cut, CASES[i].cut);
		assert_int_equal(s.m, 6 - CASES[i].cut);
	}
	near(measure(period, 6, 7).location, log(60), 1e-15);
}

static size_t cut_of(const int64_t *period, size_t n)
{
	return measure(period, n, -1).cut;
}

static void warmup_found(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = 1000000;
	assert_int_equal(cut_of(p, 40), 0);
	/* three slow steps in front */
	p[0] = 1500000, p[1] = 1300000, p[2] = 1200000;
	assert_int_equal(cut_of(p, 40), 3);
	assert_int_equal(cut_of(p, 8), 3);
	/* at least five steps are left: of 7 at most 2 may go, and with the third still in, these two are cut */
	assert_int_equal(cut_of(p, 7), 2);
	assert_int_equal(cut_of(p, 5), 0);
	/* the first step alone is warm-up however isolated it is … */
	p[1] = p[2] = 1000000;
	assert_int_equal(cut_of(p, 40), 1);
	/* … and the second alone is a spike, which is clipped and cuts nothing */
	p[0] = 1000000, p[1] = 1500000;
	assert_int_equal(cut_of(p, 40), 0);
	/* two together are no isolated spike */
	p[2] = 1500000;
	assert_int_equal(cut_of(p, 40), 3);
	/* a series that ends with a spike: the last element has one neighbour */
	p[1] = p[2] = 1000000, p[39] = 1500000;
	assert_int_equal(cut_of(p, 40), 0);
	/* faster at first: nothing to cut, the statistics must bear it */
	p[39] = 1000000, p[0] = p[1] = 700000;
	assert_int_equal(cut_of(p, 40), 0);
}

/* Spikes inflate the variance of every remainder alike and so hide a warm-up; clipped, they do not. The warm-up has a
 * quick step before it, so that only MSER can find it. */
static void spikes_hide_no_warmup(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1070000 : 1000000;
	assert_int_equal(cut_of(p, 40), 4);
	p[39] = 9000000; /* the last element has one neighbour */
	assert_int_equal(cut_of(p, 40), 4);
	p[20] = 9000000;
	assert_int_equal(cut_of(p, 40), 4);
	p[21] = 9000000; /* two in a row are not clipped */
	assert_int_equal(cut_of(p, 40), 0);
	/* The fence comes from the second half: 5 values of −10 % and 6 of +10 % among 20 have the MAD 10 %, so that
	 * nothing is a spike. The squares of these 11, 0.11, drown the warm-up's 3 · 0.07²: over 40² less than 0.11
	 * over 36². (A fence from the still first half would clip the six, and 0.05 would not drown it.) */
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1070000 : i < 24 || i > 34 ? 1000000 : i % 2 ? 900000 : 1100000;
	assert_int_equal(cut_of(p, 40), 0);
	/* ±1 % in turn: the fence is 1 + 3 · 1.4826 = 5.4 % above the lower of them. Three spikes of 30 % are clipped
	 * to it. */
	for (int i = 0; i < 40; i++)
		p[i] = i > 0 && i < 4 ? 1060000 : i % 2 ? 1010000 : 990000;
	p[10] = p[20] = p[30] = 1300000;
	assert_int_equal(cut_of(p, 40), 4);
}

/* What leads and is slow is left out, however steady the rest is that MSER would rather cut. */
static void slow_start_is_skipped(void **unused)
{
	(void)unused;
	int64_t p[40];
	/* a slow first step, then one that settles by 0.3 % until the tenth: MSER cuts 10, which are not slow as a
	 * whole */
	for (int i = 0; i < 40; i++)
		p[i] = i < 10 ? 1003000 : 1000000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = 1110000;
	assert_int_equal(cut_of(p, 40), 1);
	p[1] = 1050000;
	assert_int_equal(cut_of(p, 40), 2);
	p[3] = 1050000; /* not behind a steady step */
	assert_int_equal(cut_of(p, 40), 2);
	/* nor within half a percent */
	p[0] = p[1] = 1004900, p[3] = 1003000;
	assert_int_equal(cut_of(p, 40), 0);
	/* nor within 3 · 1.4826 · MAD: −2 to 2 % in equal parts make it 4.47 %. Two spikes beside each other keep MSER
	 * from cutting at the front. */
	for (int i = 0; i < 40; i++)
		p[i] = 980000 + 10000 * (i * 7 % 5);
	p[30] = p[31] = 3000000;
	p[0] = 1040000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = 1060000;
	assert_int_equal(cut_of(p, 40), 1);
	p[30] = p[31] = 1000000;
	/* with 8 steps all of them are needed for an interval */
	p[0] = 1500000;
	assert_int_equal(cut_of(p, 9), 1);
	for (int i = 0; i < 9; i++)
		p[i] = i == 0 ? 1110000 : i < 3 ? 1003000 : 1000000;
	assert_int_equal(cut_of(p, 9), 1);
	assert_int_equal(cut_of(p, 8), 0);
}

static void warmup_must_be_material(void **unused)
{
	(void)unused;
	int64_t p[40];
	for (int i = 0; i < 40; i++)
		p[i] = 1000000;
	/* beyond half a percent, also where nothing varies */
	p[0] = p[1] = p[2] = 1004000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = p[1] = p[2] = 1006000;
	assert_int_equal(cut_of(p, 40), 3);
	/* and beyond 2 · 1.4826 · MAD: ±1 % in turn makes it 2.97 % */
	for (int i = 0; i < 40; i++)
		p[i] = i % 2 ? 1010000 : 990000;
	p[0] = p[1] = p[2] = p[3] = 1027000;
	assert_int_equal(cut_of(p, 40), 0);
	p[0] = p[1] = p[2] = p[3] = 1035000;
	assert_int_equal(cut_of(p, 40), 4);
	/* two slow steps behind six good ones: the mean of these eight is high, their median is not */
	for (int i = 0; i < 40; i++)
		p[i] = i == 6 || i == 7 ? 1500000 : 1000000;
	assert_int_equal(cut_of(p, 40), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(location_is_trimmed),
		cmocka_unit_test(variance_by_hand),
		cmocka_unit_test(drift_by_hand),
		cmocka_unit_test(drift_among_waves),
		cmocka_unit_test(correlation_up_to_a_third),
		cmocka_unit_test(number_of_cosines),
		cmocka_unit_test(single_step),
		cmocka_unit_test(warmup_by_hand),
		cmocka_unit_test(warmup_found),
		cmocka_unit_test(spikes_hide_no_warmup),
		cmocka_unit_test(slow_start_is_skipped),
		cmocka_unit_test(warmup_must_be_material),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
