/* Series: a change of level, steps compared in pairs, and a warm-up of one side. */
#include "verdict/stats.h"
#include "verdict_pair.h"

/* ---- level ---- */

/* 1 ± 0.01 in turn; from step 30 on 8 % more. D = 0.08, σ_d: the first differences are ±0.02 around 0. */
static void change_of_level(void **unused)
{
	(void)unused;
	int64_t period[60];
	seed = 3;
	for (int i = 0; i < 60; i++)
		period[i] = (int64_t)(1e9 * ((i < 30 ? 1 : 1.08) + 0.01 * (uniform() - 0.5)));
	struct series s = measure(period, 60, 0);
	near(s.level, log1p(0.08 / 1.04), 0.004);
	assert_int_equal(s.level_at, 30);
	/* as much once only is none, and neither is a slope of noise */
	for (int i = 0; i < 60; i++)
		period[i] = (int64_t)(1e9 * ((i == 30 ? 1.08 : 1) + 0.01 * (uniform() - 0.5)));
	near(measure(period, 60, 0).level, 0, 0);
}

/* ---- pairs ---- */

static void pairs(void **unused)
{
	(void)unused;
	int64_t period[2][60];
	struct verdict_run run[2] = {{.period = period[0], .n = 60}, {.period = period[1], .n = 60}};
	struct series s[2], pair;
	for (int i = 0; i < 60; i++) {
		period[0][i] = (i * 7 % 11 < 5 ? 13000000 : 10000000) + i * i % 7 * 100;
		period[1][i] = period[0][i] / 2;
	}
	for (int k = 0; k < 2; k++)
		s[k] = measure(period[k], 60, 0);
	assert_true(series_pair(&run[0], &s[0], &run[1], &s[1], false, &pair));
	near(pair.variance, 0, 1e-15);
	assert_int_equal(pair.m, 60);
	/* other lengths, or other steps */
	run[1].n = 59;
	assert_false(series_pair(&run[0], &s[0], &run[1], &s[1], false, &pair));
	run[1].n = 60;
	for (int i = 0; i < 60; i++)
		period[1][i] = 5000000 + i * i % 7 * 100;
	s[1] = measure(period[1], 60, 0);
	assert_false(series_pair(&run[0], &s[0], &run[1], &s[1], false, &pair));
	/* p of one side, k p of the other: 2k = 0.8 (1 + k²) at k = 0.5 */
	for (int alike = 0; alike < 2; alike++) {
		double k = alike ? 0.51 : 0.49;
		for (int i = 0; i < 60; i++) {
			double p = (i % 2 ? 0.1 : -0.1);
			period[0][i] = (int64_t)(1e9 * (1 + p));
			period[1][i] = (int64_t)(1e9 * (1 + k * p));
		}
		for (int side = 0; side < 2; side++)
			s[side] = measure(period[side], 60, 0);
		assert_int_equal(series_pair(&run[0], &s[0], &run[1], &s[1], false, &pair), alike);
	}
	/* twelve common steps behind the later cut */
	for (int i = 0; i < 60; i++)
		period[1][i] = period[0][i] = 10000000 + i % 2 * 1000000;
	for (int least = 11; least < 13; least++) {
		s[0] = measure(period[0], 60, 0);
		s[1] = measure(period[1], 60, 61 - least);
		assert_int_equal(series_pair(&run[0], &s[0], &run[1], &s[1], false, &pair), least == 12);
	}
}

/* ---- a warm-up of one side ---- */

/* 20 of 100 steps of the fixed side take 1.5 as long, falling to 1, or all as long: then they may be another program's
 * doing, and the interval holds the speedup with them. (100 × 2) / (80 × 1 + 20 × 1.5) = 1.818. */
static void a_level_of_one_side(void **unused)
{
	(void)unused;
	for (int flat = 0; flat < 2; flat++)
		for (size_t length = 7; length <= 20; length += 13) {
			struct pair *p = three_runs(100, 2);
			for (int r = 0; r < 3; r++)
				for (size_t i = 0; i < length; i++)
					p->period[1][r][i] =
						(int64_t)(1e12 * (flat ? 1.5 : 1.5 - 0.5 * (double)i / (double)length));
			const struct verdict *v = judge(p);
			bool kept = flat && length == 20;
			assert_int_equal(v->series[1][0].flat, kept);
			assert_int_equal(v->series[1][0].cut >= length - 1, true);
			assert_int_equal(
				says(v, "The first 21 steps of the fixed side are left out as warm-up, but get no"),
				kept);
			if (kept)
				assert_true(v->lo < 1.82);
			else
				near(v->lo, 2, 0.05);
		}
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(change_of_level),
		TEST(pairs),
		TEST(a_level_of_one_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
