/* Slow steps, and patterns of steps. */
#include "verdict/stats.h"
#include "verdict_pair.h"

static void slow_steps(void **unused)
{
	(void)unused;
	double x[30], scratch[30];
	for (int i = 0; i < 30; i++)
		x[i] = 10 + 0.01 * (i % 5);
	x[3] = 10.9; /* below 10 % more than the median 10.02 */
	assert_int_equal(rhythm_slow_steps(x, 30, scratch).n, 0);
	x[3] = 15.02, x[12] = 25.02;
	struct slow_steps s = rhythm_slow_steps(x, 30, scratch);
	assert_int_equal(s.n, 2);
	near(s.excess, 10, 1e-12);
	near(s.least, 15.02 / 10.02, 1e-12);
	near(s.most, 25.02 / 10.02, 1e-12);
	assert_false(s.regular);
	x[21] = 25.02; /* 9 and 9 */
	s = rhythm_slow_steps(x, 30, scratch);
	assert_true(s.regular && s.equal);
	assert_int_equal(s.spacing, 9);
	x[21] = 10, x[22] = 25; /* 9 and 10: to one and a tenth of ten */
	s = rhythm_slow_steps(x, 30, scratch);
	assert_true(s.regular && !s.equal);
	x[22] = 10, x[24] = 25; /* 9 and 12 */
	assert_false(rhythm_slow_steps(x, 30, scratch).regular);
	x[3] = x[24] = 10, x[11] = x[13] = 25; /* side by side: one slow stretch */
	s = rhythm_slow_steps(x, 30, scratch);
	assert_int_equal(s.n, 3);
	assert_false(s.regular);
}

/* R²_adj of one p in the dullest way. */
static double explained(const double *x, size_t m, size_t p)
{
	double all = 0, total = 0, rest = 0;
	for (size_t i = 0; i < m; i++)
		all += x[i] / (double)m;
	for (size_t i = 0; i < m; i++) {
		double phase = 0, n = 0;
		for (size_t k = i % p; k < m; k += p, n++)
			phase += x[k];
		total += (x[i] - all) * (x[i] - all);
		rest += (x[i] - phase / n) * (x[i] - phase / n);
	}
	return 1 - rest / (double)(m - p) / (total / (double)(m - 1));
}

static void pattern_explains_most(void **unused)
{
	(void)unused;
	double x[80];
	int with = 0, without = 0;
	seed = 77;
	for (int k = 0; k < 400; k++) { /* rhythms and noise of all sizes, against the definition */
		size_t m = 10 + (size_t)(uniform() * 70), period = 2 + (size_t)(uniform() * 20);
		double size = 2 * uniform();
		for (size_t i = 0; i < m; i++)
			x[i] = 10 + size * (i % period == 1) + (i % period == 3) + (uniform() - 0.5);
		double best = 0;
		size_t expected = 0;
		for (size_t p = 2; p <= (m + 2) / 3; p++)
			best = fmax(best, explained(x, m, p));
		for (size_t p = (m + 2) / 3; p >= 2; p--)
			if (explained(x, m, p) >= fmax(0.75, best - 0.05))
				expected = p;
		assert_int_equal(rhythm_pattern(x, m, 0), expected);
		with += expected > 0;
		without += expected == 0;
	}
	assert_true(with > 20 && without > 20);
	/* the smallest that explains nearly as much as the best: not 4, 6, 8 … */
	for (int i = 0; i < 40; i++)
		x[i] = i % 2 ? 12 : 8;
	assert_int_equal(rhythm_pattern(x, 40, 0), 2);
	/* three cycles are needed, but for slow steps that are regular */
	for (int i = 0; i < 37; i++)
		x[i] = i % 13 == 5 ? 20 : 10;
	assert_int_equal(rhythm_pattern(x, 37, 0), 13); /* (37 + 2) / 3 = 13 */
	assert_int_equal(rhythm_pattern(x, 36, 0), 0);
	assert_int_equal(rhythm_pattern(x, 36, 13), 13);
	/* nothing varies */
	for (int i = 0; i < 40; i++)
		x[i] = 10;
	assert_int_equal(rhythm_pattern(x, 40, 0), 0);
}

/* 10, 10, 10, 22 and a cut cycle 10, 10: the mean of a cycle is 13, that of the 14 steps is less. */
static void pattern_taken_out(void **unused)
{
	(void)unused;
	double x[14], phase[4];
	for (int i = 0; i < 14; i++)
		x[i] = i % 4 == 3 ? 22 : 10;
	double mean = stats_mean(x, 14);
	near(rhythm_take_out(x, 14, 4, phase), 13, 1e-12);
	near(phase[0], 10, 0);
	near(phase[3], 22, 0);
	for (int i = 0; i < 14; i++)
		near(x[i], mean, 1e-12);
}

/* An evaluation every 20 steps, and a write every 40 that one side makes much shorter: both rhythms are told, whichever
 * side comes first. Of two cycles the one that varies more is told. */
static void the_rhythms_of_both_sides(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < 2; kind++)
		for (int swapped = 0; swapped < 2; swapped++) {
			struct pair *p = pair_new();
			for (int s = 0; s < 2; s++) {
				int64_t *period = add_run(p, s != swapped, 240, 10000000);
				for (int i = 0; i < 240; i++)
					period[i] += kind ? i % (s ? 2 : 3) * (s ? 6000000 : 1000000)
					                  : (i % 40 == 39) * (s ? 40000000 : 90000000) +
					                             (i % 40 == 19 && !s) * 60000000;
			}
			const char *line = said(judge(p)->typical_line, NULL);
			assert_non_null(line);
			if (kind)
				assert_non_null(
					strstr(line, swapped ? "Steps of the baseline repeat in cycles of 2"
				                             : "Steps of the fixed side repeat in cycles of 2"));
			else
				assert_non_null(
					strstr(line, swapped ? "Every 40th step takes 40 ms longer in the baseline, "
				                               "every 20th 75 ms longer in the fixed side."
				                             : "Every 20th step takes 75 ms longer in the baseline, "
				                               "every 40th 40 ms longer in the fixed side."));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_steps),
		cmocka_unit_test(pattern_explains_most),
		cmocka_unit_test(pattern_taken_out),
		cmocka_unit_test_teardown(the_rhythms_of_both_sides, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
