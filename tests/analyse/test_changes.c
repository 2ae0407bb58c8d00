/* Changes of a level: what is rare against counting all cases, what is measured against hand computation, and what is
 * found, when, and how often for nothing, in simulated series whose truth is known. */
#include "trend/changes.h"

#include "draws.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct changes_limits limits;
static const double LEAST = 0.00995033; /* log 1.01 */

/* ---- noise, the same on every machine ---- */

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

enum shape { NORMAL, HEAVY_TAILS, OUTLIERS, TWO_MACHINES, ROUNDED, ONE_SIDED, NEIGHBOURS, SHAPES };
static const char *const SHAPE[SHAPES] = {
	"normal",  "heavy tails (t, 3 degrees)", "5 % outliers of 10 %",  "two machines",
	"rounded", "one-sided (exponential)",    "neighbours alike (0.5)"};

/* About half a percent each. */
static double noise(enum shape shape)
{
	static double last;
	const double size = 0.005;
	double a = normal();
	switch (shape) {
	case HEAVY_TAILS: {
		double b = normal(), c = normal(), d = normal();
		return size * a / sqrt((b * b + c * c + d * d) / 3);
	}
	case OUTLIERS:
		return size * a + (uniform() < 0.05 ? 0.1 : 0);
	case TWO_MACHINES:
		return 0.7 * size * a + (uniform() < 0.5 ? 0.01 : 0);
	case ROUNDED:
		return floor(size * a / 0.004) * 0.004;
	case ONE_SIDED:
		return -size * log(uniform());
	case NEIGHBOURS:
		last = 0.5 * last + size * sqrt(0.75) * a;
		return last;
	default:
		return size * a;
	}
}

/* ---- what is rare ---- */

/* How many of the ways to choose m of all places have a statistic of u and less: by going through all of them. */
static double count_all(int m, int n, int u, double *all)
{
	int place[8];
	double found = 0;
	*all = 0;
	for (int i = 0; i < m; i++)
		place[i] = i;
	while (true) {
		int sum = 0;
		for (int i = 0; i < m; i++)
			sum += place[i] - i;
		found += sum <= u;
		*all += 1;
		int k = m - 1;
		while (k >= 0 && place[k] == n + k)
			k--;
		if (k < 0)
			return found;
		place[k]++;
		for (int i = k + 1; i < m; i++)
			place[i] = place[i - 1] + 1;
	}
}

static void test_limits_are_those_of_all_cases(void **unused)
{
	(void)unused;
	static const int sizes[][2] = {{3, 105}, {3, 106}, {3, 150}, {4, 36}, {4, 37},
	                               {4, 60},  {5, 30},  {6, 24},  {7, 14}, {8, 14}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int m = sizes[i][0], n = sizes[i][1];
		short twice = limits.twice[m][n];
		assert_int_equal(twice, limits.twice[n][m]);
		double all, at = twice < 0 ? 0 : count_all(m, n, twice / 2, &all);
		double above = count_all(m, n, twice < 0 ? 0 : twice / 2 + 1, &all);
		assert_true(2 * at / all <= CHANGES_CHANCE);
		assert_true(2 * above / all > CHANGES_CHANCE);
	}
	assert_int_equal(limits.twice[1][CHANGES_WINDOW], -1);
	assert_int_equal(limits.twice[2][CHANGES_WINDOW], -1);
}

/* Beyond what is counted, the normal distribution: where both are there, it asks for more. */
static void test_normal_limits_are_careful(void **unused)
{
	(void)unused;
	for (int n = CHANGES_EXACT + 1; n <= CHANGES_WINDOW; n++) {
		int exact = limits.twice[CHANGES_EXACT][n], next = limits.twice[CHANGES_EXACT + 1][n];
		double mean = CHANGES_EXACT * (double)n, next_mean = (CHANGES_EXACT + 1) * (double)n;
		double z = (mean - exact) / sqrt(mean * (CHANGES_EXACT + n + 1)),
		       next_z = (next_mean - next) / sqrt(next_mean * (CHANGES_EXACT + n + 2));
		assert_true(next_z > z - 0.02); /* in units of the deviation */
	}
}

/* ---- what is measured ---- */

static void test_level_and_noise(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
	assert_true(changes_level(odd, 3, &arena) == 2 && changes_level(even, 4, &arena) == 2.5);
	struct changes none = {0};
	const double value[] = {1, 2, 3, 4, 100};
	assert_true(fabs(changes_noise(value, 5, &none, &arena) - 1.4826) < 1e-12); /* distances 2 1 0 1 97 */
	assert_true(changes_noise(value, 2, &none, &arena) == 0);
	arena_release(&arena);
}

/* Without noise: found with the fourth value after fifty, and measured exactly. */
static void test_clear_change(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	double value[90];
	for (int i = 0; i < 90; i++)
		value[i] = (i < 50 ? 1 : 1.03) + 1e-4 * (3 * i % 7);
	struct changes c = changes_find(value, 90, LEAST, &limits, &arena);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.list[0].at, 50);
	assert_int_equal(c.list[0].found, 53);
	assert_int_equal(c.list[0].within, 0);
	assert_true(fabs(c.list[0].shift - 0.03) < 2e-4 && c.list[0].lo <= c.list[0].shift &&
	            c.list[0].shift <= c.list[0].hi);
	/* one that is smaller than what was asked for is none */
	assert_int_equal(changes_find(value, 90, 0.04, &limits, &arena).n, 0);
	/* nor is what nobody can know yet */
	assert_int_equal(changes_find(value, 53, LEAST, &limits, &arena).n, 0);
	assert_int_equal(changes_find(value, 0, LEAST, &limits, &arena).n, 0);
	assert_int_equal(changes_find(value, 1, LEAST, &limits, &arena).n, 0);
	arena_release(&arena);
}

/* Equal values are no change, however many. */
static void test_equal_values(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	double value[1000];
	for (int i = 0; i < 1000; i++)
		value[i] = 1;
	assert_int_equal(changes_find(value, 1000, LEAST, &limits, &arena).alarms, 0);
	for (int i = 500; i < 1000; i++)
		value[i] = 1.02;
	struct changes c = changes_find(value, 1000, LEAST, &limits, &arena);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.list[0].at, 500);
	arena_release(&arena);
}

/* Up and down again, and what a series says backwards. */
static void test_several_changes(void **unused)
{
	(void)unused;
	struct arena arena = {0};
	double value[300], back[300];
	state = 11;
	for (int i = 0; i < 300; i++)
		value[i] = noise(NORMAL) + (i >= 100 && i < 170 ? 0.03 : i >= 240 ? -0.05 : 0);
	for (int i = 0; i < 300; i++)
		back[i] = value[299 - i];
	struct changes c = changes_find(value, 300, LEAST, &limits, &arena);
	assert_int_equal(c.n, 3);
	static const size_t at[] = {100, 170, 240};
	static const double shift[] = {0.03, -0.03, -0.05};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.list[i].at, at[i]);
		assert_true(fabs(c.list[i].shift - shift[i]) < 0.002);
	}
	c = changes_find(back, 300, LEAST, &limits, &arena);
	assert_int_equal(c.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(c.list[i].at, 300 - at[2 - i]);
	arena_release(&arena);
}

/* The interval of a shift holds the true one as often as it says. */
static void test_intervals(void **unused)
{
	(void)unused;
	enum { SERIES = 2000, HALF = 20 };
	int found = 0, held = 0;
	state = 5;
	for (int r = 0; r < SERIES; r++) {
		struct arena arena = {0};
		double value[2 * HALF];
		for (int i = 0; i < 2 * HALF; i++)
			value[i] = noise(NORMAL) + (i < HALF ? 0 : 0.3);
		struct changes c = changes_find(value, 2 * HALF, LEAST, &limits, &arena);
		if (c.n == 1 && c.list[0].at == HALF) {
			found++;
			held += c.list[0].lo <= 0.3 && 0.3 <= c.list[0].hi;
		}
		arena_release(&arena);
	}
	assert_true(found > SERIES * 9 / 10);
	if (held < 0.94 * found || held > 0.97 * found)
		fail_msg("%d of %d intervals hold the true shift", held, found);
}

/* ---- how often ---- */

/* Alarms in so many series of 1000 quiet commits: also those that later commits took back. */
static size_t count_alarms(enum shape shape, int series)
{
	size_t alarms = 0;
	state = 77 + (uint64_t)shape;
	for (int r = 0; r < series; r++) {
		struct arena arena = {0};
		double value[1000];
		for (int i = 0; i < 1000; i++)
			value[i] = noise(shape);
		alarms += changes_find(value, 1000, LEAST, &limits, &arena).alarms;
		arena_release(&arena);
	}
	return alarms;
}

/* At most one alarm in 1000 quiet commits was asked for: it is one in five times as many, whatever the noise. Alarms
 * come in pairs, there and back; where neighbours are alike, and there are most, more commits tell how often. */
static void test_quiet_series(void **unused)
{
	(void)unused;
	enum { SERIES = 20 };
	for (int shape = 0; shape < SHAPES; shape++) {
		int series = draws(shape == NEIGHBOURS ? 3 * SERIES : SERIES);
		size_t alarms = count_alarms((enum shape)shape, series);
		printf("%-28s %zu alarms in %d quiet commits\n", SHAPE[shape], alarms, series * 1000);
		assert_true(draws_apart() > 1 || alarms <= (size_t)series / 5);
	}
}

struct found {
	int series, within_5, within_15, right, covered, held, others, missed, alarms;
};

static struct found look_for_steps(enum shape shape, double size, double drift, int series)
{
	struct found f = {.series = series};
	state = 177 + (uint64_t)shape;
	for (int r = 0; r < series; r++) {
		struct arena arena = {0};
		double value[200], shift = uniform() < 0.5 ? log1p(size) : -log1p(size);
		size_t at = 60 + (size_t)(80 * uniform());
		for (size_t i = 0; i < 200; i++)
			value[i] = noise(shape) + (i >= at ? shift : 0) + drift * (double)i;
		struct changes c = changes_find(value, 200, LEAST, &limits, &arena);
		const struct change *best = NULL;
		for (size_t i = 0; i < c.n; i++)
			if (labs((long)c.list[i].at - (long)at) <= 5)
				best = &c.list[i];
		f.missed += !best;
		f.others += c.n > (best != NULL);
		if (best) {
			size_t off = best->at > at ? best->at - at : at - best->at;
			f.within_5 += best->found < at + 5;
			f.within_15 += best->found < at + 15;
			f.right += off == 0;
			f.covered += off <= best->within || off <= 1;
			f.held += best->lo <= shift && shift <= best->hi;
		}
		arena_release(&arena);
	}
	return f;
}

/* A step of 3 % somewhere in 200 commits of half a percent of noise. */
static void test_steps_are_found(void **unused)
{
	(void)unused;
	enum { SERIES = 100 };
	for (int shape = 0; shape < SHAPES; shape++) {
		struct found f = look_for_steps((enum shape)shape, 0.03, 0, SERIES);
		printf("%-28s of %d steps: %d found within 5 commits, %d within 15, %d at the very commit, %d missed, "
		       "%d series "
		       "with another change\n",
		       SHAPE[shape], f.series, f.within_5, f.within_15, f.right, f.missed, f.others);
		bool wild = shape == OUTLIERS;
		assert_int_equal(f.missed, 0);
		assert_true(f.others <= 2);
		static const int least[SHAPES] = {[OUTLIERS] = 50, [NEIGHBOURS] = 75}; /* others: 92 */
		assert_true(f.within_5 >= (least[shape] ? least[shape] : 92));
		assert_true(f.within_15 >= 95);
		assert_true(f.right >= (wild || shape == HEAVY_TAILS ? 85 : 92));
		assert_true(f.covered >= 95);
	}
}

/* Series of 200 quiet commits with a drift: alarms, also those that were taken back, and what is left of them. */
static struct found look_for_nothing(enum shape shape, double drift, int series)
{
	struct found f = {.series = series};
	state = 4 + (uint64_t)shape;
	for (int r = 0; r < series; r++) {
		struct arena arena = {0};
		double value[200];
		for (int i = 0; i < 200; i++)
			value[i] = noise(shape) + drift * i;
		struct changes c = changes_find(value, 200, LEAST, &limits, &arena);
		f.alarms += (int)c.alarms;
		f.others += c.n > 0;
		f.held += fabs(c.drift - drift) <= drift / 2;
		arena_release(&arena);
	}
	return f;
}

static void print(const char *what, struct found f, struct found quiet)
{
	printf("%s: of %d steps %d found within 5 commits, %d within 15, %d at the very commit, %d missed, %d "
	       "intervals "
	       "hold the size, %d series with another change; %d alarms in %d quiet series, %d left\n",
	       what, f.series, f.within_5, f.within_15, f.right, f.missed, f.held, f.others, quiet.alarms, quiet.series,
	       quiet.others);
}

/* Neighbours that are alike: steps of 2 % are found as well, and quiet histories stay quiet. */
static void test_neighbours_alike(void **unused)
{
	(void)unused;
	struct found f = look_for_steps(NEIGHBOURS, 0.02, 0, 100), quiet = look_for_nothing(NEIGHBOURS, 0, 300);
	print("neighbours alike, 2 %", f, quiet);
	assert_true(f.within_15 >= 90 && f.held >= 90 && f.others <= 2);
	assert_true(quiet.alarms <= 15 && quiet.held >= 297);
}

/* Steps of 3 % on top of a drift that makes as much of 150 commits: told as they are, and the drift is none. */
static void test_steps_on_a_drift(void **unused)
{
	(void)unused;
	const double drift = 0.0002;
	struct found f = look_for_steps(NORMAL, 0.03, drift, 100), quiet = look_for_nothing(NORMAL, drift, 100);
	print("on a drift", f, quiet);
	assert_true(f.missed <= 2 && f.within_15 >= 95 && f.held >= 85 && f.others <= 2);
	assert_true(quiet.alarms <= 5 && quiet.others == 0 && quiet.held >= 95);
}

/* Both: steps of 2 % on a drift that makes as much of 100 commits, among neighbours that are alike. Before the drift
 * was told of values without the step, more than half were missed. */
static void test_steps_on_a_drift_among_alike(void **unused)
{
	(void)unused;
	const double drift = 0.0002;
	struct found f = look_for_steps(NEIGHBOURS, 0.02, drift, 100);
	struct found quiet = look_for_nothing(NEIGHBOURS, drift, 100);
	print("neighbours alike on a drift, 2 %", f, quiet);
	assert_true(f.missed <= 15 && f.within_15 >= 65 && f.held >= 80 && f.others <= 10);
	assert_true(quiet.alarms <= 16 && quiet.others <= 1 && quiet.held >= 95);
}

static int prepare(void **unused)
{
	(void)unused;
	changes_limits_init(&limits);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_are_those_of_all_cases),
		cmocka_unit_test(test_normal_limits_are_careful),
		cmocka_unit_test(test_level_and_noise),
		cmocka_unit_test(test_clear_change),
		cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_several_changes),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_quiet_series),
		cmocka_unit_test(test_steps_are_found),
		cmocka_unit_test(test_neighbours_alike),
		cmocka_unit_test(test_steps_on_a_drift),
		cmocka_unit_test(test_steps_on_a_drift_among_alike),
	};
	return cmocka_run_group_tests(tests, prepare, NULL);
}
