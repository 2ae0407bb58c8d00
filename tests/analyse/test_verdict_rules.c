/* What holds for every pair (swapped, scaled, reordered), the gates, and how many more steps or runs it would take. */
#include "verdict/stats.h"
#include "verdict_pair.h"

/* ---- invariances ---- */

static struct pair *random_pair(uint64_t start)
{
	struct pair *p = pair_new();
	seed = start * 0x9e3779b97f4a7c15;
	size_t n_runs[2] = {1, 1};
	double kind = uniform();
	if (kind < 0.5)
		n_runs[0] = n_runs[1] = 1 + (size_t)(uniform() * RUNS);
	else if (kind < 0.6)
		n_runs[0] = 1 + (size_t)(uniform() * RUNS);
	double change = uniform() < 0.5 ? 1 : exp(uniform() - 0.5), wild = 0.1 * uniform() * uniform();
	double equal = uniform() < 0.7 ? uniform() : -1; /* all runs are as long, or each as it comes */
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n_runs[s]; r++)
			add_noisy_run(p, s, 4 + (size_t)((equal < 0 ? uniform() : equal) * 150), 5e9 * (s ? change : 1),
			              wild, uniform());
	if (uniform() < 0.1)
		p->side[0].steps = p->side[1].steps = false;
	for (int s = 0; s < 2 && !p->side[0].steps; s++)
		for (size_t r = 0; r < n_runs[s]; r++)
			p->run[s][r].n = 1;
	return p;
}

static void swapped_sides_mirror(void **unused)
{
	(void)unused;
	int results[4] = {0};
	for (uint64_t i = 1; i <= 1000; i++) {
		struct pair *p = random_pair(i);
		struct verdict a = *judge(p);
		swap_sides(p);
		struct verdict b = *judge(p);
		near(a.speedup * b.speedup, 1, 1e-12);
		near(a.lo * b.hi, 1, 1e-12);
		near(a.hi * b.lo, 1, 1e-12);
		assert_true(a.half_width == b.half_width);
		enum verdict_result mirror[] = {VERDICT_INCONCLUSIVE, VERDICT_SLOWER, VERDICT_FASTER,
		                                VERDICT_UNCHANGED};
		assert_int_equal(b.result, mirror[a.result]);
		assert_int_equal(a.more_steps, b.more_steps);
		assert_int_equal(a.more_runs, b.more_runs);
		results[a.result]++;
		/* inconclusive always says what it would take */
		if (a.result == VERDICT_INCONCLUSIVE)
			assert_true(a.more_steps + a.more_runs > 0 || !p->side[0].steps || says(&a, "No number of"));
		arena_release(&arena);
	}
	for (int i = 0; i < 4; i++)
		assert_true(results[i] > 30);
}

static void scaled_times(void **unused)
{
	(void)unused;
	for (uint64_t i = 1; i <= 300; i++) {
		struct pair *p = random_pair(i);
		struct verdict a = *judge(p);
		for (int s = 0; s < 2; s++)
			for (size_t r = 0; r < p->side[s].n_runs; r++)
				for (size_t k = 0; k < p->run[s][r].n; k++)
					p->period[s][r][k] *= 1000;
		struct verdict b = *judge(p);
		near(a.speedup, b.speedup, 1e-12 * a.speedup);
		near(a.lo, b.lo, 1e-9);
		near(a.hi, b.hi, 1e-9 * a.hi);
		assert_int_equal(a.result, b.result);
		arena_release(&arena);
	}
}

/* One step of many extreme ones is nearly all that was measured: once is no evidence. The same in every run of several
 * is. */
static void one_step_decides_nothing(void **unused)
{
	(void)unused;
	for (int swapped = 0; swapped < 2; swapped++)
		for (int runs = 1; runs <= 3; runs += 2) {
			struct pair *p = pair_new();
			for (int r = 0; r < runs; r++) {
				int64_t *a = add_run(p, swapped, 200, 18000), *b = add_run(p, !swapped, 300, 18000);
				for (size_t i = 0; i < 300; i++) {
					a[i % 200] += (int64_t)(100 * uniform());
					b[i] += (int64_t)(100 * uniform());
				}
				for (size_t i = 10; i < 300; i += 33)
					b[i] += 370000;
				b[150] += 3000000000 + (int64_t)(1000 * uniform());
			}
			judge(p);
			if (runs == 1) {
				assert_int_equal(p->v.result, VERDICT_INCONCLUSIVE);
				assert_int_equal(p->v.aside[!swapped], 10);
				assert_true(p->v.lo < 1 && p->v.hi > 1);
			} else {
				assert_int_equal(p->v.result, swapped ? VERDICT_FASTER : VERDICT_SLOWER);
				assert_int_equal(p->v.aside[!swapped], 0);
			}
		}
}

/* A pause in every 20th step: ten times a step of one side, and half of that of the other, or as long and seen once
 * more. It counts on both; what one side has alone is set aside. */
static void a_pause_of_both_sides_counts(void **unused)
{
	(void)unused;
	for (int swapped = 0; swapped < 2; swapped++)
		for (size_t n = 50; n <= 70; n += 20) { /* two of them, or three, which are the program's anyway */
			struct pair *p = pair_new();
			int64_t length = n == 50 ? 20000 : 10000;
			int64_t *a = add_run(p, swapped, 50, length), *b = add_run(p, !swapped, n, 10000);
			for (size_t i = 19; i < n; i += 20) {
				b[i] += 100000;
				if (i < 50)
					a[i] += 100000;
			}
			judge(p);
			assert_int_equal(p->v.aside[0] + p->v.aside[1], 0);
			double truth = ((double)length + 100000 * 2 / 50.0) /
			               (10000 + 100000 * (n < 60 ? 2 / 50.0 : 3 / 70.0));
			near(p->v.speedup, swapped ? 1 / truth : truth, 1e-9);
		}
	struct pair *p = pair_new();
	add_run(p, 0, 50, 20000);
	add_run(p, 1, 50, 10000)[19] += 100000;
	judge(p);
	assert_int_equal(p->v.aside[1], 1);
	/* checkpoints, of which one reaches ten times a step: the program's, all of them */
	p = pair_new();
	add_run(p, 0, 50, 20000);
	int64_t *b = add_run(p, 1, 50, 10000);
	for (size_t i = 9; i < 50; i += 20)
		b[i] += i == 49 ? 100000 : 60000;
	judge(p);
	assert_int_equal(p->v.aside[1], 0);
	near(p->v.speedup, 20000 / (10000 + 220000 / 50.0), 1e-9);
}

static void order_of_runs(void **unused)
{
	(void)unused;
	for (uint64_t i = 1; i <= 300; i++) {
		struct pair *p = random_pair(i);
		struct verdict a = *judge(p);
		for (int s = 0; s < 2; s++)
			for (size_t r = 0; r < p->side[s].n_runs / 2; r++) {
				struct verdict_run first = p->run[s][r];
				p->run[s][r] = p->run[s][p->side[s].n_runs - 1 - r];
				p->run[s][p->side[s].n_runs - 1 - r] = first;
			}
		struct verdict b = *judge(p);
		near(a.speedup, b.speedup, 1e-12 * a.speedup);
		near(a.half_width, b.half_width, 1e-9);
		assert_int_equal(a.result, b.result);
		arena_release(&arena);
	}
}

/* ---- gates ---- */

static enum gate_result gate(double speedup, double min_speedup, double max_regression)
{
	struct pair *p = pair_new();
	int64_t *first = add_run(p, 0, 100, 0);
	seed = 8;
	for (int i = 0; i < 50; i++) { /* no rhythm, and the mean is what it is meant to be */
		double off = uniform() < 0.5 ? 0.03 : -0.03;
		first[i] = (int64_t)(1e9 * speedup * (1 + off));
		first[i + 50] = (int64_t)(1e9 * speedup * (1 - off));
	}
	add_run(p, 1, 100, 1000000000);
	p->asked.min_speedup = min_speedup;
	p->asked.max_regression = max_regression;
	return gate_of(p);
}

static void gates(void **unused)
{
	(void)unused;
	assert_int_equal(gate(1.5, 0, -1), GATE_NONE);
	assert_int_equal(gate(1.5, 1.45, -1), GATE_PASSED);
	assert_int_equal(gate(1.5, 1.55, -1), GATE_FAILED);
	assert_int_equal(gate(1.5, 1.501, -1), GATE_INCONCLUSIVE);
	assert_int_equal(gate(1.5, 1.499, -1), GATE_INCONCLUSIVE);
	/* a slowdown fails on proof only: U < 1/1.05 */
	assert_int_equal(gate(0.90, 0, 5), GATE_FAILED);
	assert_int_equal(gate(0.955, 0, 5), GATE_PASSED);
	assert_int_equal(gate(0.951, 0, 5), GATE_INCONCLUSIVE); /* slower, and likely by more */
	assert_int_equal(gate(0.975, 0, 2), GATE_PASSED);       /* likely by more, but not even proven slower */
	assert_int_equal(gate(1, 0, 5), GATE_PASSED);
	assert_int_equal(gate(1.2, 0, 0), GATE_PASSED);
	assert_int_equal(gate(0.97, 0, 0), GATE_FAILED);
	/* both: failed wins, then inconclusive */
	assert_int_equal(gate(0.90, 0.5, 5), GATE_FAILED);
	assert_int_equal(gate(1.5, 1.55, 5), GATE_FAILED);
	assert_int_equal(gate(1.5, 1.5, 5), GATE_INCONCLUSIVE);
	assert_int_equal(gate(1.5, 1.45, 5), GATE_PASSED);
}

static void gate_at_the_very_end(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 50, 2000000000);
	add_run(p, 1, 50, 1000000000);
	p->asked.min_speedup = judge(p)->lo; /* L >= X passes … */
	assert_int_equal(gate_of(p), GATE_PASSED);
	p->asked.min_speedup = nextafter(p->v.hi, 3); /* … U < X fails */
	assert_int_equal(gate_of(p), GATE_FAILED);
	/* 5 % slower is 1/1.05 = 0.952, not 0.95 */
	p = pair_new();
	add_run(p, 0, 50, 951000000);
	add_run(p, 1, 50, 1000000000);
	p->asked.max_regression = 5;
	assert_int_equal(gate_of(p), GATE_FAILED);
	for (int i = 0; i < 50; i++)
		p->period[0][0][i] = 953000000;
	assert_int_equal(gate_of(p), GATE_PASSED);
}

/* A speedup above 1 takes the result `faster`: an interval that reaches it below a floor is not enough. */
static void gate_takes_faster(void **unused)
{
	(void)unused;
	static const struct {
		int64_t baseline;
		double asked;
		enum verdict_result result;
		enum gate_result gate;
	} CASES[] = {{1025000000, 1.02, VERDICT_INCONCLUSIVE, GATE_INCONCLUSIVE},
	             {1010000000, 1.005, VERDICT_UNCHANGED, GATE_INCONCLUSIVE},
	             {1010000000, 1, VERDICT_UNCHANGED, GATE_PASSED},
	             {1040000000, 1.02, VERDICT_FASTER, GATE_PASSED}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct pair *p = pair_new();
		add_run(p, 0, 50, CASES[i].baseline);
		add_run(p, 1, 50, 1000000000);
		p->asked.min_speedup = CASES[i].asked;
		assert_int_equal(gate_of(p), CASES[i].gate);
		assert_int_equal(p->v.result, CASES[i].result);
	}
}

static void incomparable_sides(void **unused)
{
	(void)unused;
	struct pair *p = three_runs(50, 2);
	p->conditions.doubt = fact_that_says(&arena, "The sides were traced differently.");
	p->asked.min_speedup = 1.1;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_string_equal(said(v->reasons.list[0], NULL), "The sides were traced differently.");
	assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
	near(v->speedup, 2, 1e-12);
	assert_true(v->has_interval); /* the numbers stand */
	p->conditions.nothing = fact_that_says(&arena, "The same capture is on both sides.");
	v = judge(p);
	assert_false(v->has_speedup || v->has_interval || v->recorded.known || v->typical.known);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
	assert_string_equal(said(v->reasons.list[0], NULL), "The same capture is on both sides.");
	assert_int_equal(v->reasons.n, 1);
}

/* ---- how many more ---- */

/* k = 2 (h/g)², g = max(|ln S| − ln 1.03, ln 1.02); steps = max(20, 12 τ, k m) with the undoubled h. */
static void more_steps(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 3;
	add_even_run(p, 0, 60, 4.9e9, 0.12, 0);
	add_run(p, 1, 60, 4800000000);
	p->warmup = 0;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_false(v->short_capture);
	double g = fmax(fabs(log(v->speedup)) - log(1.03), log(1.02)), k = 2 * pow(v->half_width / g, 2);
	assert_int_equal(v->more_steps, (int64_t)ceil(k * 60));
	assert_true(v->more_steps > 60);
	char words[80];
	snprintf(words, sizeof words, "At least %lld steps per side are needed", (long long)v->more_steps);
	assert_true(says(v, words));
	/* short: 4 % faster over 15 steps, the interval doubled, the plan not */
	p->run[0][0].n = p->run[1][0].n = 15;
	v = judge(p);
	assert_true(v->short_capture);
	double plain = stats_t_quantile(0.975, 4) * sqrt(v->series[0]->variance); /* the other side does not vary */
	g = fmax(fabs(log(v->speedup)) - log(1.03), log(1.02)), k = 2 * pow(plain / g, 2);
	double independent = 12 * fmax(v->series[0]->tau, v->series[1]->tau);
	assert_int_equal(v->more_steps, (int64_t)ceil(fmax(fmax(20, independent), k * 15)));
}

/* Where the steps that are there would show a change of 2 %, those count that would show that there is none of 2 %. */
static void more_steps_for_the_nearer_proof(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 3;
	add_even_run(p, 0, 60, 4.84e9, 0.035, 0);
	add_run(p, 1, 60, 4800000000);
	p->warmup = 0;
	const struct verdict *v = judge(p);
	double size = fabs(log(v->speedup)), wide = v->half_width / log(1.02), g = log(1.02) - size;
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(2 * wide * wide < 1 && size > 0);
	assert_int_equal(v->more_steps, (int64_t)ceil(2 * pow(v->half_width / g, 2) * 60));
	assert_int_equal(v->more_runs, 0);
}

/* Sides that vary alike vary as pairs: which of them was cut shorter does not depend on which is the baseline. */
static void more_pairs(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 5;
	add_even_run(p, 0, 90, 5e9, 0.5, 0);
	add_run(p, 1, 90, 1);
	for (int i = 0; i < 90; i++)
		p->period[1][0][i] = (int64_t)((double)p->period[0][0][i] * (0.8 + 0.4 * uniform() + (i < 8 ? 3 : 0)));
	struct verdict v = *judge(p);
	assert_true(v.paired && v.series[0]->m > v.series[1]->m);
	assert_int_equal(v.result, VERDICT_INCONCLUSIVE);
	assert_true(v.more_steps > 20);
	swap_sides(p);
	assert_int_equal(judge(p)->more_steps, v.more_steps);
}

/* A quiet series that hangs together needs 12 independent steps, however narrow its interval. */
static void more_independent_steps(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	int64_t *wave = add_run(p, 0, 25, 1);
	for (int i = 0; i < 25; i++)
		wave[i] = (int64_t)(1.06e9 * (1 + 0.001 * sin(i / 4.0)));
	add_run(p, 1, 25, 1000000000);
	p->warmup = 0;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(12 * v->series[0]->tau > 25);
	assert_int_equal(v->more_steps, (int64_t)ceil(12 * v->series[0]->tau));
}

static void more_steps_cannot_help(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 100, 1025000000);
	add_run(p, 1, 100, 1000000000);
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(v->more_steps, 0);
	assert_int_equal(v->more_runs, 3);
	assert_true(says(v, "Only one run per side: a different GPU clock"));
	assert_true(says(v, "With a single run, only a change above 3 % counts."));
	assert_true(says(v, "Make at least 3 runs of each side, in turns"));
	assert_false(says(v, "Three runs")); /* once is enough */
}

/* Two slow steps of 60: three, of 96, would show a rhythm. An interval as narrow as it should be takes other numbers.
 */
static void two_slow_steps(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 5;
	for (int s = 0; s < 2; s++) {
		int64_t *period = add_run(p, s, 60, 0);
		for (int i = 0; i < 60; i++)
			period[i] = (int64_t)(1e9 * (s && (i == 20 || i == 45) ? 3 : 1 + .02 * uniform()));
	}
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(v->more_steps > 96);
	assert_true(says(v, "two slow steps in 60: too few to show a rhythm. About 96 steps would show it."));
}

/* runs = max(3, k R) with g = max(|ln S|, ln 1.02). */
static void more_runs(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	for (int r = 0; r < 2; r++) {
		add_run(p, 0, 30, r ? 1100000000 : 1000000000);
		add_run(p, 1, 30, r ? 1080000000 : 980000000);
	}
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	double g = fmax(fabs(log(v->speedup)), log(1.02)), k = 2 * pow(v->half_width / g, 2);
	assert_int_equal(v->more_runs, (int64_t)ceil(fmax(3, 2 * k)));
	assert_int_equal(v->more_steps, 0);
	assert_true(says(v, ". 4 runs of each side would halve that."));
}

/* Near the edge of the margin the formula asks for fewer runs than there are; the answer must still be more. */
static void more_runs_are_more(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	static const double AWAY[] = {0.986, 0.992, 1, 1.008, 1.014};
	for (int r = 0; r < 5; r++) {
		add_run(p, 0, 30, (int64_t)(1.012e12 * AWAY[r]));
		add_run(p, 1, 30, (int64_t)(1e12 * AWAY[r]));
	}
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(2 * pow(v->half_width / log(1.02), 2) < 2);
	assert_true(v->more_runs > 5);
}

/* Two steps in five take twice as long: these are no rare ones. One in twenty would be. */
static void lengths_of_two_kinds(void **unused)
{
	(void)unused;
	for (int rare = 0; rare < 2; rare++) {
		struct pair *p = pair_new();
		seed = 77;
		int64_t *period = add_run(p, 0, 200, 10000000);
		add_run(p, 1, 200, 10000000);
		for (int i = 0, n = 0; i < 200; i++)
			if (uniform() < (rare ? 0.05 : 0.4) && n++ < 80)
				period[i] = rare ? 80000000 : 20000000;
		const char *line = said(judge(p)->typical_line, NULL);
		assert_non_null(line);
		assert_int_equal(strstr(line, " steps of the baseline take ") != NULL, !rare);
		assert_int_equal(strstr(line, "of the time), so the mean is uncertain") != NULL, rare);
		assert_null(strstr(line, "one run"));
		for (int side = 0; side < 2; side++) /* of another run they are not */
			add_run(p, side, 200, 10000000);
		line = said(judge(p)->typical_line, NULL);
		assert_non_null(strstr(line, " of 200 steps of one run of the baseline "));
	}
}

/* Lengths over a range of one to eight. As the effect grows the interval leaves 1; a direction comes later, and until
 * then a sentence says why, and a gate is open. */
static void steps_that_vary(void **unused)
{
	(void)unused;
	int between = 0, given = 0;
	for (int percent = 0; percent <= 100; percent++) {
		struct pair *p = pair_new();
		seed = 5;
		add_even_run(p, 0, 60, 1e9, 1.04, 0);
		add_even_run(p, 1, 60, 1e9 * (1 + percent / 100.0), 1.04, 0);
		p->asked.max_regression = 3;
		const struct verdict *v = judge(p);
		bool beyond = v->hi < 1 / 1.031;
		between += beyond && v->result == VERDICT_INCONCLUSIVE;
		given += v->result == VERDICT_SLOWER;
		assert_true(v->surer > 0.4 * v->half_width - 1e-9);
		assert_int_equal(says(v, "vary a lot: one in twenty pairs"),
		                 beyond && v->result == VERDICT_INCONCLUSIVE);
		assert_int_equal(p->gates.result == GATE_FAILED, v->result == VERDICT_SLOWER);
		if (v->result == VERDICT_SLOWER) {
			assert_true(says(v, "One run per side, and steps that vary a lot: only a change above"));
			assert_true(log(v->hi) <= -0.4 * v->half_width + 1e-9);
		}
	}
	assert_in_range(between, 3, 40);
	assert_in_range(given, 10, 90);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(swapped_sides_mirror),
		TEST(scaled_times),
		TEST(one_step_decides_nothing),
		TEST(a_pause_of_both_sides_counts),
		TEST(order_of_runs),

		TEST(gates),
		TEST(gate_at_the_very_end),
		TEST(gate_takes_faster),
		TEST(incomparable_sides),
		TEST(more_steps),
		TEST(more_steps_for_the_nearer_proof),
		TEST(more_pairs),
		TEST(more_independent_steps),
		TEST(more_steps_cannot_help),
		TEST(two_slow_steps),
		TEST(more_runs),
		TEST(more_runs_are_more),
		TEST(lengths_of_two_kinds),
		TEST(steps_that_vary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
