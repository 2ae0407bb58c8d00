/* How often is the verdict wrong? Thousands of simulated pairs whose truth is known, of the kinds of noise that real
 * step times have. The tables that this prints are the source of those in docs/verdict.md. Fixed seed, own generator:
 * the same numbers everywhere. */
#include "analyse/judge/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A cell has PAIRS pairs, and more, up to MOST_PAIRS, while one of its shares is so close to its bound that chance
 * would decide. Sanitizers make each pair many times slower and look for other mistakes: there, few pairs and no
 * bounds. */
#if defined(__SANITIZE_ADDRESS__)
enum { PAIRS = 50, MOST_PAIRS = 50, BOUNDED = 0 };
#else
enum { PAIRS = 2000, MOST_PAIRS = 40000, BOUNDED = 1 };
#endif
enum { MAX_STEPS = 300, MAX_RUNS = 3 };

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
	/* what must hold; 0 and 1 are no bounds */
	double least_covered, most_wrong, most_met, least_faster;
};

/* Shares of the pairs. */
struct tally {
	int pairs;
	double covered, faster, slower, unchanged, inconclusive, met;
	double half; /* mean half-width, logs */
};

/* N steps give N − 1 periods. */
static void simulate_side(const struct cell *cell, double base, struct verdict_run *runs)
{
	static int64_t period[2][MAX_RUNS][MAX_STEPS];
	static int turn;
	turn = !turn;
	for (size_t r = 0; r < cell->runs; r++) {
		simulate(cell->noise, cell->steps - 1, base + cell->run_sd * normal(), period[turn][r]);
		runs[r] = (struct verdict_run){period[turn][r], cell->steps - 1};
	}
}

static void add_pairs(const struct cell *cell, struct tally *t)
{
	double truth = log(cell->speedup);
	double sum[7] = {t->covered, t->faster, t->slower, t->unchanged, t->inconclusive, t->met, t->half};
	for (int i = 0; i < 7; i++)
		sum[i] *= t->pairs;
	struct arena arena = {0};
	for (int pair = 0; pair < PAIRS; pair++) {
		struct verdict_run baseline[MAX_RUNS], fixed[MAX_RUNS];
		simulate_side(cell, log(20e6), baseline);
		simulate_side(cell, log(20e6) - truth, fixed);
		struct verdict_side side[2] = {{baseline, cell->runs, true}, {fixed, cell->runs, true}};
		struct verdict_options options = {.min_speedup = 1.1, .max_regression = -1, .warmup = -1};
		struct verdict v;
		verdict_judge(side, &options, &arena, &v);
		sum[0] += v.has_interval && log(v.lo) <= truth && truth <= log(v.hi);
		sum[1] += v.result == VERDICT_FASTER;
		sum[2] += v.result == VERDICT_SLOWER;
		sum[3] += v.result == VERDICT_UNCHANGED;
		sum[4] += v.result == VERDICT_INCONCLUSIVE;
		sum[5] += v.gate == GATE_PASSED;
		sum[6] += v.half_width;
		arena_release(&arena);
	}
	int n = t->pairs + PAIRS;
	*t = (struct tally){n, sum[0] / n, sum[1] / n, sum[2] / n, sum[3] / n, sum[4] / n, sum[5] / n, sum[6] / n};
}

/* A wrong direction: any when the sides are the same, the opposite one when they are not. */
static double wrong(const struct cell *cell, const struct tally *t)
{
	return t->slower + (cell->speedup == 1 ? t->faster : 0);
}

/* Whether chance (three binomial standard errors) could carry the share across the bound. */
static bool close_to(double share, double limit, int pairs)
{
	return fabs(share - limit) < 3 * sqrt(limit * (1 - limit) / pairs);
}

static int broken;

static void check(const char *what, double share, double least, double most)
{
	if (share >= least && share <= most)
		return;
	printf("^ %s: %.4f is not between %.4f and %.4f\n", what, share, least, most);
	broken += BOUNDED;
}

static void run_cell(const struct cell *cell)
{
	struct tally t = {0};
	state = 20240607 + cell->steps * 1000003 + cell->runs * 7919 + (uint64_t)(cell->run_sd * 1e6) +
	        (uint64_t)(cell->noise - NOISES) * 104729 + (uint64_t)(cell->speedup * 1e6);
	do
		add_pairs(cell, &t);
	while (t.pairs < MOST_PAIRS &&
	       (close_to(t.covered, cell->least_covered, t.pairs) ||
	        close_to(wrong(cell, &t), cell->most_wrong, t.pairs) || close_to(t.met, cell->most_met, t.pairs) ||
	        close_to(t.faster, cell->least_faster, t.pairs)));
	printf("| %s | %zu | %zu | %.1f %% | %.1f %% | %.2f %% | %.2f %% | %.1f %% | %.1f %% | %.2f %% | %.1f %% | %d "
	       "|\n",
	       cell->noise->name, cell->runs, cell->steps, 100 * cell->run_sd, 100 * t.covered, 100 * t.faster,
	       100 * t.slower, 100 * t.unchanged, 100 * t.inconclusive, 100 * t.met, 100 * t.half, t.pairs);
	check("covered", t.covered, cell->least_covered, 1);
	check("wrong direction", wrong(cell, &t), 0, cell->most_wrong);
	check("target met", t.met, 0, cell->most_met);
	check("found faster", t.faster, cell->least_faster, 1);
	fflush(stdout);
}

static void print_head(const char *title)
{
	printf("\n%s\n\n| noise | runs | steps | run sd | covered | faster | slower | unchanged | inconclusive | "
	       "1.10x met | half-width | pairs |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
	       title);
}

/* Bounds hold except where one run cannot know better and docs/verdict.md says so: two-state clocks, and run effects of
 * 2 % that differ between the only two runs. The interval of one run is about these two runs: run effects are not in
 * it. */
static void same_on_both_sides(void **unused)
{
	(void)unused;
	static const size_t STEPS[] = {20, 30, 60, 100, 300};
	static const double RUN_SD[] = {0, 0.005, 0.02};
	broken = 0;
	for (size_t runs = 1; runs <= 3; runs += 2) {
		print_head(runs == 1 ? "The sides are the same, one run a side"
		                     : "The sides are the same, three runs a side");
		for (size_t i = 0; i < N_NOISES * 15; i++) {
			const struct noise *noise = &NOISES[i / 15];
			struct cell cell = {noise, STEPS[i / 3 % 5], runs, RUN_SD[i % 3], 1, 0, 1, 1, 0};
			bool bounded = !noise->regimes && (runs > 1 || cell.run_sd < 0.01);
			if (bounded) {
				cell.most_wrong = runs == 1 ? 0.01 : 0.04;
				cell.most_met = 0.005;
				if (runs > 1 || (noise->phi <= 0.6 && cell.steps >= 60 && cell.run_sd == 0))
					cell.least_covered = 0.93;
			}
			if (runs == 1 || (cell.steps != 30 && cell.steps != 300))
				run_cell(&cell);
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
		for (size_t i = 0; i < N_NOISES * 6; i++) {
			size_t runs = i / 3 % 2 ? 3 : 1;
			struct cell cell = {
				&NOISES[i / 6], STEPS[i % 3], runs, runs > 1 ? 0.005 : 0, SPEEDUP[s], 0, 0.005, 1, 0};
			if (SPEEDUP[s] == 2.3)
				cell.least_faster = 0.95;
			if (SPEEDUP[s] < 2 || cell.steps == 20)
				run_cell(&cell);
		}
	}
	assert_int_equal(broken, 0);
}

/* What is left out of series that never warmed up: steps are lost, and where waves are long, the slow ones. */
static void steady_series_stay_whole(void **unused)
{
	(void)unused;
	static const size_t STEPS[] = {20, 60, 100, 300};
	printf("\nNothing warms up\n\n| noise | steps | series that are cut | steps left out |\n|---|---|---|---|\n");
	broken = 0;
	for (size_t i = 0; i < N_NOISES * 4; i++) {
		const struct noise *noise = &NOISES[i / 4];
		size_t n = STEPS[i % 4] - 1, cut_series = 0, cut_steps = 0;
		if (noise->warmup || noise->regimes)
			continue;
		state = 1000 + i;
		for (int k = 0; k < PAIRS; k++) {
			int64_t period[MAX_STEPS];
			struct series series;
			simulate(noise, n, log(1e7), period);
			verdict_series(&(struct verdict_run){period, n}, -1, &series);
			cut_series += series.cut > 0;
			cut_steps += series.cut;
		}
		double lost = (double)cut_steps / PAIRS / (double)n;
		printf("| %s | %zu | %.1f %% | %.2f %% |\n", noise->name, STEPS[i % 4],
		       100.0 * (double)cut_series / PAIRS, 100 * lost);
		if (BOUNDED && noise->phi < 0.9 && lost > 0.03)
			broken++;
	}
	assert_int_equal(broken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_series_stay_whole),
		cmocka_unit_test(same_on_both_sides),
		cmocka_unit_test(real_differences),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
