/* Several variants against one baseline: Dunnett's quantile beside published ones, and how often a variant that is like
 * the baseline gets a direction, simulated through the verdict of timed runs. Fixed seed, own generator.
 *
 *	test_variants [WORLDS]      worlds of a cell, 300 unless told */
#include "draws.h"
#include "verdict/stopwatch.h"
#include "verdict/variants.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int worlds = 300;
static struct arena arena;

/* Simulated before this code was written, with other draws (two decimals): dof = (k + 1)(R - 1). */
static void as_published(void **unused)
{
	(void)unused;
	static const size_t k[] = {1, 2, 3, 4, 5, 7}, runs[] = {3, 4, 5, 8};
	static const double at98[6][4] = {{3.74, 3.14, 2.89, 2.62}, {3.61, 3.20, 3.01, 2.80}, {3.51, 3.19, 3.06, 2.88},
	                                  {3.45, 3.20, 3.09, 2.94}, {3.42, 3.21, 3.11, 2.99}, {3.39, 3.23, 3.15, 3.06}};
	static const double at95[6][4] = {{2.78, 2.44, 2.31, 2.14}, {2.87, 2.61, 2.50, 2.37}, {2.88, 2.68, 2.60, 2.48},
	                                  {2.89, 2.73, 2.66, 2.56}, {2.90, 2.76, 2.70, 2.61}, {2.93, 2.82, 2.76, 2.70}};
	for (size_t i = 0; i < 6; i++)
		for (size_t r = 0; r < 4; r++) {
			double dof = (double)((k[i] + 1) * (runs[r] - 1));
			double sure = variants_dunnett(.98, k[i], dof), shown = variants_dunnett(.95, k[i], dof);
			if (fabs(sure - at98[i][r]) > .015 || fabs(shown - at95[i][r]) > .015)
				fail_msg("k %zu, R %zu: %.3f, %.3f", k[i], runs[r], sure, shown);
		}
	/* one variant is Student's t */
	assert_true(fabs(variants_dunnett(.95, 1, 6) - 2.446912) < 1e-4);
}

static uint64_t seed;

static double uniform(void) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

enum { GROUPS = 8, RUNS = 8 };

/* A world: `n` groups of `runs` runs in turns, which differ by `sd`; group i takes `change[i]` of the usual time. */
static void make(struct variant *list, size_t n, size_t runs, double sd, const double *change)
{
	static double took[GROUPS][RUNS];
	static struct stopwatch_run run[GROUPS][RUNS];
	for (size_t g = 0; g < n; g++) {
		for (size_t r = 0; r < runs; r++) {
			took[g][r] = 1e7 * change[g] * exp(sd * normal());
			size_t place = r % 2 ? n - 1 - g : g;
			run[g][r] = (struct stopwatch_run){
				.step = took[g][r], .steps = 100, .start = (int64_t)(1 + r * n + place) * 10000000000};
		}
		const struct stopwatch_side side[2] = {{.runs = run[0], .n_runs = runs},
		                                       {.runs = run[g], .n_runs = runs}};
		list[g] = (struct variant){.run = took[g], .n = runs};
		if (g)
			list[g].pair = verdict_stopwatch(side, NULL, &arena);
	}
	variants_judge(list, n, &arena);
}

/* Four that are alike, A/A/A/A, and eight: a direction in at most 2 % of the worlds, intervals that all hold in 95 %.
 */
static void alike(void **unused)
{
	(void)unused;
	static const struct {
		size_t n, runs;
		double sd;
	} cells[] = {{4, 4, .01}, {4, 4, .03}, {4, 5, .05}, {8, 5, .02}};
	static const double same[GROUPS] = {1, 1, 1, 1, 1, 1, 1, 1};
	for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
		int directions = 0, held = 0;
		seed = 9500 + c;
		for (int i = 0; i < worlds; i++) {
			struct variant list[GROUPS];
			bool any = false, all = true;
			make(list, cells[c].n, cells[c].runs, cells[c].sd, same);
			for (size_t g = 1; g < cells[c].n; g++) {
				any = any || list[g].result == VERDICT_FASTER || list[g].result == VERDICT_SLOWER;
				all = all && list[g].lo <= 1 && list[g].hi >= 1;
			}
			directions += any;
			held += all;
			arena_release(&arena);
		}
		double few = 100.0 * directions / worlds, most = 100.0 * held / worlds;
		if (few > 2 || most < 95 - 300 * sqrt(.05 * .95 / worlds))
			fail_msg("cell %zu: a direction in %.1f %%, intervals hold in %.1f %%", c, few, most);
	}
}

/* A change of 5 % among three, four runs that differ by 1 %: found in 98 % (the table of the rule); the others are not.
 */
static void found(void **unused)
{
	(void)unused;
	static const double change[GROUPS] = {1, 1, 1 / 1.05, 1};
	int right = 0;
	seed = 9600;
	for (int i = 0; i < worlds; i++) {
		struct variant list[GROUPS];
		make(list, 4, 4, .01, change);
		right += list[2].result == VERDICT_FASTER;
		assert_true(list[2].has_interval && list[2].lo <= list[2].pair.lo && list[2].hi >= list[2].pair.hi);
		arena_release(&arena);
	}
	if (right < .95 * worlds)
		fail_msg("5 %% found in %d of %d", right, worlds);
}

/* One variant's runs differ by 2 %, all others by 0.02 %: what all groups' variances make together is too little for
 * it. 4 % is a direction at 95 %, as its pair has it, and none at 98 %. */
static void one_that_is_noisy(void **unused)
{
	(void)unused;
	enum { N = 4, R = 4 };
	static const double off[R] = {-.0235, -.007, .007, .0235};
	static double took[N][R];
	static struct stopwatch_run run[N][R];
	struct variant list[N];
	for (size_t g = 0; g < N; g++) {
		for (size_t r = 0; r < R; r++) {
			took[g][r] = 1e7 * (g == 1 ? .96 * (1 + off[r]) : 1 + .01 * off[r]);
			run[g][r] = (struct stopwatch_run){.step = took[g][r],
			                                   .steps = 100,
			                                   .start = (int64_t)(1 + r * N + (r % 2 ? N - 1 - g : g))};
		}
		const struct stopwatch_side side[2] = {{.runs = run[0], .n_runs = R}, {.runs = run[g], .n_runs = R}};
		list[g] = (struct variant){.run = took[g], .n = R};
		if (g)
			list[g].pair = verdict_stopwatch(side, NULL, &arena);
	}
	variants_judge(list, N, &arena);
	assert_int_equal(list[1].pair.result, VERDICT_FASTER);
	assert_int_equal(list[1].result, VERDICT_INCONCLUSIVE);
	arena_release(&arena);
}

/* Three runs say nothing together, nor does a pair that proves nothing. */
static void without(void **unused)
{
	(void)unused;
	static const double change[GROUPS] = {1, .5, .5};
	struct variant list[GROUPS];
	seed = 1;
	make(list, 3, 3, .01, change);
	assert_false(list[1].has_interval);
	assert_int_equal(list[1].result, VERDICT_INCONCLUSIVE);
	assert_non_null(list[1].why);
	make(list, 3, 4, .01, change);
	assert_int_equal(list[1].result, VERDICT_FASTER);
	list[1].pair.judged = false;
	variants_judge(list, 3, &arena);
	assert_int_equal(list[1].result, VERDICT_INCONCLUSIVE);
	assert_int_equal(list[2].result, VERDICT_FASTER);
	assert_null(list[2].why);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_published), cmocka_unit_test(alike),
	                                   cmocka_unit_test(found), cmocka_unit_test(one_that_is_noisy),
	                                   cmocka_unit_test(without)};
	worlds = argc > 1 ? atoi(argv[1]) : draws(worlds);
	int failed = cmocka_run_group_tests_name("variants", tests, NULL, NULL);
	arena_release(&arena);
	return failed;
}
