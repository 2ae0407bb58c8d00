/* How often is the verdict wrong? Thousands of simulated pairs whose truth is known, of the kinds of noise that real
 * step times have. The table that this prints is the one in docs/verdict.md. Fixed seed, own generator: the same
 * numbers everywhere. */
#include "analyse/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 2000, MAX_STEPS = 300, MAX_RUNS = 3 };

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t state;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return ((double)(next() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* What the steps of a run look like. */
struct noise {
	const char *name;
	double phi;   /* AR(1) of the logs, standard deviation 3 % */
	bool spikes;  /* 3 % of the steps × (1 + 0.1 Pareto(2)), every 50th × 1.5 */
	bool warmup;  /* the first steps × (1 + 0.5 exp(−i/5)) */
	bool regimes; /* two clock states 8 % apart, changing every 25 steps on average */
};

static const struct noise NOISES[] = {
	{"phi 0", 0, false, false, false},
	{"phi 0, spikes", 0, true, false, false},
	{"phi .6", 0.6, false, false, false},
	{"phi .6, spikes", 0.6, true, false, false},
	{"phi .6, warm-up", 0.6, false, true, false},
	{"phi .9", 0.9, false, false, false},
	{"phi .9, spikes", 0.9, true, false, false},
	{"clock regimes", 0, false, false, true},
};
enum { N_NOISES = sizeof NOISES / sizeof NOISES[0] };

static void simulate(const struct noise *noise, size_t n, double base, int64_t *period)
{
	double ar = 0.03 * normal();
	bool slow = uniform() < 0.5;
	size_t phase = (size_t)(uniform() * 50);
	for (size_t i = 0; i < n; i++) {
		double x = base + ar;
		if (noise->spikes && uniform() < 0.03)
			x += log(1 + 0.1 / sqrt(uniform()));
		if (noise->spikes && (i + phase) % 50 == 49)
			x += log(1.5);
		if (noise->warmup)
			x += log(1 + 0.5 * exp(-(double)i / 5));
		if (noise->regimes && slow)
			x += 0.08;
		period[i] = (int64_t)exp(x);
		ar = noise->phi * ar + 0.03 * sqrt(1 - noise->phi * noise->phi) * normal();
		if (uniform() < 1.0 / 25)
			slow = !slow;
	}
}

struct cell {
	const struct noise *noise;
	size_t steps, runs;
	double run_sd, speedup;
};

struct tally {
	double covered, faster, slower, unchanged, inconclusive, met, half; /* shares; mean half-width in logs */
};

/* N steps give N − 1 periods. */
static struct tally run_cell(const struct cell *cell)
{
	static int64_t period[2][MAX_RUNS][MAX_STEPS];
	struct tally t = {0};
	double truth = log(cell->speedup);
	struct arena arena = {0};
	state = 20240607 + cell->steps * 1000003 + cell->runs * 7919 + (uint64_t)(cell->run_sd * 1e6) +
	        (uint64_t)(cell->noise - NOISES) * 104729 + (uint64_t)(cell->speedup * 1e6);
	for (int pair = 0; pair < PAIRS; pair++) {
		struct verdict_run runs[2][MAX_RUNS];
		struct verdict_side side[2];
		for (int s = 0; s < 2; s++) {
			for (size_t r = 0; r < cell->runs; r++) {
				double base = log(20e6) + cell->run_sd * normal() - (s == 1 ? truth : 0);
				simulate(cell->noise, cell->steps - 1, base, period[s][r]);
				runs[s][r] = (struct verdict_run){period[s][r], cell->steps - 1};
			}
			side[s] = (struct verdict_side){runs[s], cell->runs, true};
		}
		struct verdict_options options = {.min_speedup = 1.1, .max_regression = -1, .warmup = -1};
		struct verdict v;
		verdict_judge(side, &options, &arena, &v);
		t.covered += v.has_interval && log(v.lo) <= truth && truth <= log(v.hi);
		t.faster += v.result == VERDICT_FASTER;
		t.slower += v.result == VERDICT_SLOWER;
		t.unchanged += v.result == VERDICT_UNCHANGED;
		t.inconclusive += v.result == VERDICT_INCONCLUSIVE;
		t.met += v.gate == GATE_PASSED;
		t.half += v.half_width;
		arena_release(&arena);
	}
	double *shares = &t.covered;
	for (size_t i = 0; i < sizeof t / sizeof *shares; i++)
		shares[i] /= PAIRS;
	return t;
}

static void print_head(const char *title)
{
	printf("\n%s, %d pairs a row\n| noise | runs | steps | run sd | covered | faster | slower | unchanged | "
	       "inconclusive | 1.10x met | half-width |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
	       title, PAIRS);
}

static void print_row(const struct cell *cell, const struct tally *t)
{
	printf("| %s | %zu | %zu | %.1f %% | %.1f %% | %.2f %% | %.2f %% | %.1f %% | %.1f %% | %.2f %% | %.1f %% |\n",
	       cell->noise->name, cell->runs, cell->steps, 100 * cell->run_sd, 100 * t->covered, 100 * t->faster,
	       100 * t->slower, 100 * t->unchanged, 100 * t->inconclusive, 100 * t->met, 100 * t->half);
	fflush(stdout);
}

static int broken;

static void bound(const char *what, double value, double least, double most)
{
	if (value >= least && value <= most)
		return;
	printf("^ %s is %.4f, not in [%.4f, %.4f]\n", what, value, least, most);
	broken++;
}

static void same_on_both_sides(void **unused)
{
	(void)unused;
	static const size_t STEPS[] = {20, 30, 60, 100, 300};
	static const double RUN_SD[] = {0, 0.005, 0.02};
	broken = 0;
	for (size_t runs = 1; runs <= 3; runs += 2) {
		print_head(runs == 1 ? "Identical sides, one run a side" : "Identical sides, three runs a side");
		for (size_t k = 0; k < N_NOISES; k++)
			for (size_t n = 0; n < 5; n++)
				for (size_t d = 0; d < 3; d++) {
					struct cell cell = {&NOISES[k], STEPS[n], runs, RUN_SD[d], 1};
					if (runs > 1 && (cell.steps == 30 || cell.steps == 300))
						continue;
					struct tally t = run_cell(&cell);
					print_row(&cell, &t);
					if (cell.noise->regimes)
						continue; 
					if (runs == 1 && cell.run_sd > 0.01)
						continue;
					bound("false direction", t.faster + t.slower, 0, runs == 1 ? 0.01 : 0.04);
					bound("target met", t.met, 0, 0.005);
					if (runs > 1 || (cell.noise->phi <= 0.6 && cell.steps >= 60 && cell.run_sd == 0))
						bound("coverage", t.covered, 0.93, 1);
				}
	}
	assert_int_equal(broken, 0);
}

static void real_differences(void **unused)
{
	(void)unused;
	static const double SPEEDUP[] = {1.05, 1.15, 2.3};
	static const size_t STEPS[] = {20, 60, 100};
	broken = 0;
	for (size_t s = 0; s < 3; s++) {
		char title[64];
		snprintf(title, sizeof title, "The fixed side is %.2f times as fast", SPEEDUP[s]);
		print_head(title);
		for (size_t runs = 1; runs <= 3; runs += 2)
			for (size_t k = 0; k < N_NOISES; k++)
				for (size_t n = 0; n < 3; n++) {
					struct cell cell = {&NOISES[k], STEPS[n], runs, runs > 1 ? 0.005 : 0, SPEEDUP[s]};
					struct tally t = run_cell(&cell);
					print_row(&cell, &t);
					bound("slower", t.slower, 0, 0.005);
					if (SPEEDUP[s] == 2.3)
						bound("found faster", t.faster, 0.95, 1);
				}
	}
	assert_int_equal(broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_on_both_sides),
		cmocka_unit_test(real_differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
