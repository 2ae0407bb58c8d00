/* The order of runs, worked out by hand; and the verdict of stopwatch runs, which is made of it. */
#include "analyse/judge/order.h"
#include "analyse/judge/stopwatch.h"
#include "verdict_pair.h"

static struct order order_of(const char *sides, const double *y)
{
	double of[2][8];
	int64_t start[2][8];
	size_t n[2] = {0};
	for (size_t i = 0; sides[i]; i++) {
		int s = sides[i] == 'B';
		of[s][n[s]] = y[i];
		start[s][n[s]++] = 1000 + (int64_t)(i * i); /* ranks count, not times */
	}
	return order_judge((const double *const[]){of[0], of[1]}, (const int64_t *const[]){start[0], start[1]}, n);
}

/* VIF: all Σ (t − t̄)² over those within the sides. AB 0.5 : 0; AABB 5 : 1; ABBA 5 : 5; ABAB 5 : 4; AAABBB 17.5 : 4. */
static void in_turns(void **unused)
{
	(void)unused;
	static const double y[6] = {0};
	static const struct {
		const char *sides;
		bool in_turns;
	} CASES[] = {{"AB", true},      {"AABB", false},  {"ABBA", true},   {"ABAB", true},
	             {"AAABBB", false}, {"ABBAAB", true}, {"BBBAAA", false}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct order o = order_of(CASES[i].sides, y);
		assert_true(o.known);
		assert_int_equal(o.interleaved, CASES[i].in_turns);
		assert_int_equal(o.judged, !CASES[i].in_turns);
	}
	assert_int_equal(order_of("BBBAAA", y).first, 1);
	/* one start time missing, or twice the same: not known */
	const double one[1] = {0};
	const int64_t none[1] = {0}, some[1] = {7};
	const size_t n[2] = {1, 1};
	assert_false(order_judge((const double *const[]){one, one}, (const int64_t *const[]){some, none}, n).known);
	assert_false(order_judge((const double *const[]){one, one}, (const int64_t *const[]){some, some}, n).known);
}

/* AAABBB with a drift of exactly 1 % a run and no effect: the line fits, and nothing is left of the difference of 3 %.
 * With ±e on the middle runs: t̄ = 2 and 5, Sxx = 4, RSS = 2 · (e² − e²/3) = 4/3 e², 3 degrees of freedom, and the
 * half-width is t_3 √(4/9 e²) √(2/3 + 9/4). */
static void drift_taken_out(void **unused)
{
	(void)unused;
	double y[6];
	for (int i = 0; i < 6; i++)
		y[i] = 0.01 * i;
	struct order o = order_of("AAABBB", y);
	near(o.drift, 0.01, 1e-15);
	near(o.change, 0, 1e-15);
	near(o.half, 0, 1e-8);
	const double e = 0.002;
	y[1] += e;
	y[4] -= e;
	o = order_of("AAABBB", y);
	near(o.drift, 0.01, 1e-15);
	near(o.change, 2 * e / 3, 1e-15);
	near(o.half, 3.1824463052842629 * sqrt(4 * e * e / 9) * sqrt(2.0 / 3 + 9.0 / 4), 1e-12);
	near(o.vif, 17.5 / 4, 1e-12); /* (2/3 + 9/4) / (2/3) */
	/* two runs a side: one degree of freedom, t = 12.706; AABB, y = 0, 1, 2, 3 and ±e: Sxx = 1, RSS = e² … */
	const double four[4] = {0, 0.01 + e, 0.02, 0.03 + e};
	o = order_of("AABB", four);
	near(o.drift, 0.01 + e, 1e-15);
	near(o.half, 0, 1e-7); /* a line through two pairs of points fits both slopes where they are the same */
	const double apart[4] = {0, 0.01 + e, 0.02, 0.03 + e * 3};
	o = order_of("AABB", apart);
	near(o.drift, 0.01 + 2 * e, 1e-15);
	/* residuals of the slopes 0.01 + e and 0.01 + 3e from their mean: ±e over two steps, 4 (e/2)² = e² */
	near(o.half, 12.706204736174705 * e * sqrt(1 + 4.0), 1e-9);
}

static struct verdict time_runs(size_t n_baseline, const double *baseline, size_t n_fixed, const double *fixed,
                                const char *sides)
{
	struct stopwatch_run run[2][8];
	int64_t order = 0;
	const double *of[2] = {baseline, fixed};
	size_t n[2] = {0};
	for (size_t i = 0; sides[i]; i++) {
		int s = sides[i] == 'B';
		run[s][n[s]] = (struct stopwatch_run){of[s][n[s]], 50, ++order};
		n[s]++;
	}
	assert_true(n[0] == n_baseline && n[1] == n_fixed);
	const struct stopwatch_side side[2] = {{.runs = run[0], .n_runs = n[0]}, {.runs = run[1], .n_runs = n[1]}};
	return verdict_stopwatch(side, NULL, &arena);
}

static bool told(const struct verdict *v, const char *words)
{
	return says(v, words);
}

/* 1.02 of means 102 and 100, each with s = 1: Welch with 4 degrees of freedom. */
static void stopwatch_runs(void **unused)
{
	(void)unused;
	static const double a[] = {101e6, 102e6, 103e6}, b[] = {99e6, 100e6, 101e6};
	struct verdict v = time_runs(3, a, 3, b, "ABBAAB");
	assert_int_equal(v.measured, VERDICT_STOPWATCH);
	near(v.speedup, 1.02, 1e-12);
	double va = pow(1 / 102.0, 2) / 3, vb = pow(1 / 100.0, 2) / 3,
	       dof = (va + vb) * (va + vb) / (va * va / 2 + vb * vb / 2);
	near(v.half_width,
	     order_welch((const double *const[]){(double[]){101 / 102.0, 1, 103 / 102.0}, (double[]){0.99, 1, 1.01}},
	                 (const size_t[]){3, 3}),
	     1e-12);
	assert_true(dof > 3.99 && dof < 4);
	near(v.half_width, 2.7765 * sqrt(va + vb), 1e-5);
	near(v.hi, v.speedup * exp(v.half_width), 1e-12);
	assert_int_equal(v.result, VERDICT_INCONCLUSIVE);
	assert_true(v.more_runs > 3);
	assert_false(v.recorded.known || v.typical.known);
	/* swapped: mirrored */
	struct verdict m = time_runs(3, b, 3, a, "BAABBA");
	near(m.speedup * v.speedup, 1, 1e-12);
	near(m.lo * v.hi, 1, 1e-12);
	/* one after the other: the interval also holds what a drift may have done */
	struct verdict blocks = time_runs(3, a, 3, b, "AAABBB");
	assert_true(blocks.order_known && !blocks.in_turns);
	assert_true(blocks.lo < v.lo || blocks.hi > v.hi);
	assert_true(told(&blocks, "not run in turns"));
}

static void stopwatch_results(void **unused)
{
	(void)unused;
	static const double same[] = {100e6, 100.1e6, 99.9e6}, fast[] = {50e6, 50.1e6, 49.9e6};
	assert_int_equal(time_runs(3, same, 3, same, "ABBAAB").result, VERDICT_UNCHANGED);
	assert_int_equal(time_runs(3, same, 3, fast, "ABBAAB").result, VERDICT_FASTER);
	assert_int_equal(time_runs(3, fast, 3, same, "ABBAAB").result, VERDICT_SLOWER);
	/* one run says nothing of how much runs differ */
	struct verdict v = time_runs(1, same, 3, fast, "BABB");
	assert_int_equal(v.result, VERDICT_INCONCLUSIVE);
	assert_false(v.has_interval);
	near(v.speedup, 2, 1e-12);
	assert_int_equal(v.more_runs, 3);
	v = time_runs(0, same, 1, fast, "B");
	assert_false(v.has_speedup);
	/* two runs a side that agree to 2 %: t_2 or less, and the interval says so */
	static const double two[] = {100e6, 102e6}, half[] = {50e6, 51e6};
	v = time_runs(2, two, 2, half, "ABBA");
	assert_true(v.hi / v.lo > 1.08 && v.result == VERDICT_FASTER);
	/* far from the others: named, and counted */
	static const double odd[] = {100e6, 100.1e6, 99.9e6, 120e6};
	v = time_runs(4, odd, 3, same, "ABABABA");
	assert_true(told(&v, "Run 4 of the baseline took 120 ms a step where the others took about 100 ms"));
	near(v.step[0], 105e6, 1e-3);
}

/* Steps of 10 ms, every 10th of 60: 15 ms in the long run. The 55 that are timed hold five of the slow ones, which is
 * 10 + 50 · 5/55 = 14.545 ms in each run, however many: as much as a step of the fixed side, which is 3 % faster. */
static void stopwatch_cuts_a_cycle(void **unused)
{
	enum { N = 55 };
	const double cut = 10e6 + 50e6 * 5 / N, whole = 15e6, e = 1e-4;
	static int64_t slow[N], even[N];
	struct stopwatch_run run[2][3];
	(void)unused;
	for (int i = 0; i < N; i++) {
		slow[i] = i % 10 == 9 ? 60000000 : 10000000;
		even[i] = (int64_t)cut + (i % 2 ? 1000 : -1000);
	}
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++)
			run[s][r] = (struct stopwatch_run){cut * (1 + e * (r - 1)), N, 10 + 2 * r + s};
	const struct verdict_run recorded[2] = {{slow, N, 1, false}, {even, N, 2, false}};
	const struct verdict_side sides[2] = {{&recorded[0], 1, true}, {&recorded[1], 1, true}};
	static const struct verdict_conditions nothing_known;
	const struct verdict v = verdict_judge(sides, -1, &nothing_known, &arena);
	struct stopwatch_side timed[2] = {{.runs = run[0], .n_runs = 3}, {.runs = run[1], .n_runs = 3}};
	struct verdict w = verdict_stopwatch(timed, &v, &arena);
	near(w.speedup, 1, 1e-9);
	/* one way only: the slow steps that are missing are the baseline's */
	near(w.hi, whole / cut / w.lo, 1e-5);
	assert_true(w.lo > 0.999);
	assert_int_equal(w.result, VERDICT_INCONCLUSIVE);
	assert_int_equal(w.more_runs, 0);
	assert_true(told(&w, "only because the steps that the runs time cut a cycle"));
	assert_true(told(&w, "up to 3.1 % away"));
	assert_int_equal(verdict_stopwatch(timed, NULL, &arena).result, VERDICT_UNCHANGED);
	/* other steps than were recorded: there may be too many of them as well */
	for (int r = 0; r < 3; r++)
		run[0][r].steps = N + 3;
	w = verdict_stopwatch(timed, &v, &arena);
	near(w.hi * w.lo, 1, 1e-9);
	assert_true(w.lo < cut / whole);
}

/* One side after the other: A falls by 0.01 % a run and B rises by as much, so there is no drift, and "0.0 %" would be
 * no number; then both rise by 0.3 %. */
static void stopwatch_says_a_drift(void **unused)
{
	(void)unused;
	static const double a[] = {100.02e6, 100.01e6, 100e6}, b[] = {99e6, 99.01e6, 99.02e6};
	struct verdict v = time_runs(3, a, 3, b, "AAABBB");
	assert_true(told(&v, "without a drift of less than 0.1 % a run"));
	static const double c[] = {100e6, 100.3e6, 100.6e6}, d[] = {101e6, 101.3e6, 101.6e6};
	v = time_runs(3, c, 3, d, "AAABBB");
	assert_true(told(&v, "without a drift of 0.3 % a run"));
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_turns),          TEST(drift_taken_out),        TEST(stopwatch_runs),
		TEST(stopwatch_results), TEST(stopwatch_cuts_a_cycle), TEST(stopwatch_says_a_drift)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
