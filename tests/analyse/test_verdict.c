/* The verdict, rule by rule, on series made so that the answer can be worked out by hand. */
#include "verdict/stats.h"
#include "verdict_pair.h"

/* ---- one run a side ---- */

static void identical_sides(void **unused)
{
	(void)unused;
	for (uint64_t start = 1; start < 300; start++) {
		struct pair *p = pair_new();
		for (int s = 0; s < 2; s++) {
			seed = start * 0x9e3779b97f4a7c15;
			size_t n_runs = 1 + (size_t)(uniform() * 4);
			for (size_t r = 0; r < n_runs; r++)
				add_noisy_run(p, s, 1 + (size_t)(uniform() * 100), 5e6, 0.2 * uniform(), uniform());
		}
		const struct verdict *v = judge(p);
		assert_true(v->speedup == 1);
		assert_true(v->result == VERDICT_UNCHANGED || v->result == VERDICT_INCONCLUSIVE);
		near(v->lo * v->hi, 1, 1e-12);
		arena_release(&arena);
	}
}

static void nothing_varies(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 30, 2000000);
	add_run(p, 1, 30, 1000000);
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_FASTER);
	near(v->speedup, 2, 1e-12);
	near(v->lo, v->speedup, 0);
	near(v->hi, v->speedup, 0);
	near(v->half_width, 0, 0);
	assert_true(v->has_interval && v->one_run && !v->short_capture);
	assert_int_equal(p->gates.result, GATE_NONE);
	assert_int_equal(v->more_steps + v->more_runs, 0);
	near(v->step[0], 2000000, 1e-5);
	near(v->step_typical[0], 2000000, 1e-5);
	assert_true(says(v, "Only one run per side: a different GPU clock would look like a change"));
	assert_true(says(v, "3 %"));
}

/* The result of `n` steps a side that do not vary, at a speedup. */
static enum verdict_result at(double speedup, size_t n)
{
	struct pair *p = pair_new();
	add_run(p, 0, n, (int64_t)(1e12 * speedup));
	add_run(p, 1, n, 1000000000000);
	enum verdict_result result = judge(p)->result;
	swap_sides(p);
	enum verdict_result mirrored = judge(p)->result;
	assert_int_equal(mirrored, result == VERDICT_FASTER   ? VERDICT_SLOWER
	                           : result == VERDICT_SLOWER ? VERDICT_FASTER
	                                                      : result);
	return result;
}

/* A difference that is proven and too small to count is not called one that may not exist. */
static void unchanged_says_what_is_known(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 50, 1019900000000);
	add_run(p, 1, 50, 1000000000000);
	assert_true(says(judge(p), "a difference so small does not count"));
	p = pair_new();
	add_run(p, 0, 50, 1000000000000);
	add_run(p, 1, 50, 1000000000000);
	assert_true(says(judge(p), "any difference is smaller than that"));
}

static void floors(void **unused)
{
	(void)unused;
	assert_int_equal(at(1.0199, 50), VERDICT_UNCHANGED);
	assert_int_equal(at(1.0201, 50), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1.0299, 50), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1.0301, 50), VERDICT_FASTER);
	assert_int_equal(at(1 / 1.0299, 50), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1 / 1.0301, 50), VERDICT_SLOWER);
	/* twenty steps are no short capture, nineteen are, seven are nothing */
	assert_int_equal(at(1.0301, 20), VERDICT_FASTER);
	assert_int_equal(at(1.0301, 19), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1.0999, 19), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1.1001, 19), VERDICT_FASTER);
	assert_int_equal(at(1.0199, 19), VERDICT_UNCHANGED);
	assert_int_equal(at(1.1001, 8), VERDICT_FASTER);
	assert_int_equal(at(3, 7), VERDICT_INCONCLUSIVE);
	assert_int_equal(at(1, 7), VERDICT_INCONCLUSIVE);
}

/* One run per side whose steps vary much: the near end lies beyond 1 by 0.4 of the half-width, or there is no
 * direction. */
static void beyond_chance(void **unused)
{
	(void)unused;
	static const struct {
		double beyond; /* of the half-width */
		enum verdict_result result;
	} table[] = {{0.44, VERDICT_FASTER}, {0.36, VERDICT_INCONCLUSIVE}};
	for (size_t k = 0; k < 2; k++) {
		double change = 0, half = 0;
		for (int i = 0; i < 2; i++) { /* what it is with the sides alike tells how far apart they have to be */
			struct pair *p = pair_new();
			seed = 3;
			add_even_run(p, 0, 100, 5e6 * exp(change), 0.6, 0);
			add_even_run(p, 1, 100, 5e6, 0.6, 0);
			const struct verdict *v = judge(p);
			half = v->half_width;
			change += i ? 0 : (1 + table[k].beyond) * half - log(v->speedup);
			if (i)
				assert_int_equal(v->result, table[k].result);
		}
		assert_true(0.4 * half > 1.2 * log(1.03));
	}
}

/* half-width = t √(a + b), dof (a + b)² / (a²/B_A + b²/B_B). */
static double half_width(double a, int dof_a, double b, int dof_b)
{
	double sum = a + b, dof = sum * sum / (a * a / dof_a + b * b / dof_b);
	return stats_t_quantile(0.975, dof) * sqrt(sum);
}

static double within(const struct verdict *v)
{
	const struct series *a = v->series[0], *b = v->series[1];
	return half_width(a->variance, a->dof, b->variance, b->dof);
}

/* V + 3 W: the core's standard error twice, what the slow steps add to it once. */
static double doubled(const struct verdict *v)
{
	const struct series *a = v->series[0], *b = v->series[1];
	return half_width(a->variance + 3 * a->core, a->dof, b->variance + 3 * b->core, b->dof);
}

static void interval_of_long_runs(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 11;
	add_even_run(p, 0, 200, 5e6, 0.05, 0.3);
	add_even_run(p, 1, 200, 4e6, 0.03, 0);
	const struct verdict *v = judge(p);
	assert_false(v->short_capture);
	assert_true(v->series[0]->dof > 4);
	near(v->half_width, within(v), 1e-12);
	near(log(v->hi / v->speedup), v->half_width, 1e-12);
	near(log(v->speedup / v->lo), v->half_width, 1e-12);
	near(v->speedup, v->series[0]->mean / v->series[1]->mean, 1e-12);
	assert_int_equal(v->result, VERDICT_FASTER);
}

static void short_capture_is_doubled(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	seed = 5;
	add_even_run(p, 0, 15, 5e6, 0.02, 0);
	add_even_run(p, 1, 300, 4e6, 0.02, 0); /* long, but the pair is as short as its shorter side */
	p->warmup = 0;
	const struct verdict *v = judge(p);
	assert_true(v->short_capture);
	assert_int_equal(v->series[0]->dof, 4);
	assert_int_equal(v->series[1]->dof, 4);
	assert_true(v->half_width > doubled(v)); /* the first 15 steps of both, too */
	assert_int_equal(v->result, VERDICT_FASTER);
	p->run[1][0].n = 15;
	v = judge(p);
	near(v->half_width, doubled(v), 1e-12);
	assert_int_equal(v->result, VERDICT_FASTER);
	assert_true(says(v, "Few independent steps: only a change above 10 % counts. This one does."));
	assert_false(says(v, "short capture")); /* once is enough */
	/* twenty-five steps that hang together are short as well: fewer than 12 independent ones */
	p = pair_new();
	int64_t *wave = add_run(p, 0, 25, 1);
	for (int i = 0; i < 25; i++)
		wave[i] = (int64_t)(5e6 * (1 + 0.01 * sin(i / 4.0)));
	add_noisy_run(p, 1, 25, 5e6, 0.02, 0);
	p->warmup = 0;
	v = judge(p);
	assert_true(25 / v->series[0]->tau < 12);
	assert_true(v->short_capture);
}

static void drift_widens(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	int64_t *first = add_run(p, 0, 60, 2000000);
	for (int i = 0; i < 60; i++)
		first[i] = (i < 30 ? 2000000 : 2100000) + (i % 2 ? 300 : -300);
	add_run(p, 1, 60, 1000000);
	p->warmup = 0;
	const struct verdict *v = judge(p);
	near(v->series[0]->drift, 0.05 / 1.025, 1e-4);
	assert_true(v->series[1]->drift == 0 && v->drifting);
	assert_true(v->short_capture); /* a step hangs together like nothing else */
	near(v->half_width, doubled(v) + v->series[0]->drift, 1e-12);
	assert_int_equal(v->result, VERDICT_FASTER);
	assert_true(says(v, "the baseline drifts"));
	assert_false(says(v, "the fixed side drifts"));
}

/* A run whose warm-up takes half of it never reached a level. One such run of several is in their spread; most of them
 * are not. */
static void still_warming(void **unused)
{
	(void)unused;
	for (int cold = 1; cold <= 3; cold++) {
		struct pair *p = three_runs(60, 2);
		p->asked.max_regression = 5;
		for (int r = 0; r < cold; r++)
			for (int i = 0; i < 60; i++)
				p->period[1][r][i] += (int64_t)(5e10 * exp(-i / 20.0));
		const struct verdict *v = judge(p);
		assert_true(v->series[1][0].warming && !v->series[0][0].warming);
		assert_int_equal(v->warming, cold > 1);
		assert_int_equal(v->result, cold > 1 ? VERDICT_INCONCLUSIVE : VERDICT_FASTER);
		assert_int_equal(p->gates.result, cold > 1 ? GATE_INCONCLUSIVE : GATE_PASSED);
		assert_int_equal(says(v, "The fixed side was still warming up when the capture ended, after 61 steps"),
		                 cold > 1);
	}
}

static void descriptive_only(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 7, 2000000);
	add_run(p, 1, 500, 1000000);
	p->asked.min_speedup = 1.5;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_false(v->has_interval);
	near(v->speedup, 2, 1e-12);
	assert_true(v->lo == v->speedup && v->hi == v->speedup);
	assert_int_equal(v->more_steps, 20);
	assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
	assert_true(says(v, "7 measured in the baseline, 500 in the fixed side"));
}

static void nothing_measured(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 100, 2000000);
	add_run(p, 1, 0, 1);
	p->asked.min_speedup = 1.5;
	p->asked.max_regression = 5;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_false(v->has_interval);
	near(v->speedup, 1, 0);
	assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
	assert_true(says(v, "The fixed side has nothing to measure"));
}

/* ---- several runs a side ---- */

/* Runs of equal steps: all spread is between runs. Both sides spread alike, so ν = (2v)² / (2 v²/2) = 4 and the
 * half-width is t_4 √(2 s²/3). */
static void welch(void **unused)
{
	(void)unused;
	static const double FACTOR[] = {1, 1.02, 1.04};
	struct pair *p = pair_new();
	for (int r = 0; r < 3; r++) {
		add_run(p, 0, 30, (int64_t)(1e12 * FACTOR[r]));
		add_run(p, 1, 30, (int64_t)(5e11 * FACTOR[r]));
	}
	double square = 2 * pow(0.02 / 1.02, 2) / 2; /* relative to the side's mean, 1.02 */
	const struct verdict *v = judge(p);
	near(v->half_width, 2.7764451051977944 * sqrt(2 * square / 3), 1e-10);
	near(v->speedup, 2, 1e-11);
	assert_false(v->one_run);
	assert_int_equal(v->result, VERDICT_FASTER);
	near(v->step[0], 1.02e12, 1);
	assert_false(says(v, "One run"));
	/* one side does not vary: its runs add no uncertainty, ν = R − 1 = 2 */
	for (int r = 0; r < 3; r++)
		for (int i = 0; i < 30; i++)
			p->period[1][r][i] = 500000000000;
	v = judge(p);
	near(v->half_width, 4.3026527297494639 * sqrt(square / 3), 1e-10);
}

/* Runs that agree exactly while their steps do not: the steps' spread counts. dof = (V_A + V_B)² / Σ (V_r/R²)²/B_r */
static void steps_count_when_runs_agree(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	for (int s = 0; s < 2; s++) {
		add_even_run(p, s, 100, s ? 4e9 : 5e9, 0.05, 0.2);
		for (int r = 1; r < 3; r++)
			memcpy(add_run(p, s, 100, 1), p->period[s][0], 100 * sizeof(int64_t));
	}
	const struct verdict *v = judge(p);
	const struct series *a = v->series[0], *b = v->series[1];
	double va = a->variance / 3, vb = b->variance / 3;
	double dof =
		(va + vb) * (va + vb) / (3 * pow(a->variance / 9, 2) / a->dof + 3 * pow(b->variance / 9, 2) / b->dof);
	near(v->half_width, stats_t_quantile(0.975, dof) * sqrt(va + vb), 1e-12);
	/* twelve steps a run: no doubling with several runs */
	p->warmup = 0;
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++)
			p->run[s][r].n = 12;
	v = judge(p);
	a = v->series[0], b = v->series[1];
	va = a->variance / 3, vb = b->variance / 3;
	dof = (va + vb) * (va + vb) / (3 * pow(a->variance / 9, 2) / a->dof + 3 * pow(b->variance / 9, 2) / b->dof);
	near(v->half_width, stats_t_quantile(0.975, dof) * sqrt(va + vb), 1e-12);
	assert_false(v->short_capture);
}

/* Three runs a side that do not vary, at a speedup that recording may have changed by a factor from `least` to `most`.
 */
static struct pair *recorded_pair(double speedup, double least, double most, double min_speedup, double max_regression)
{
	struct pair *p = three_runs(30, speedup);
	p->conditions.beyond[0] = log(least);
	p->conditions.beyond[1] = log(most);
	p->asked.min_speedup = min_speedup;
	p->asked.max_regression = max_regression;
	return p;
}

static const struct verdict *recorded(double speedup, double least, double most)
{
	return judge(recorded_pair(speedup, least, most, 0, -1));
}

/* The first gate. */
static const struct gate *recorded_gate(double speedup, double least, double most, double min_speedup,
                                        double max_regression)
{
	struct pair *p = recorded_pair(speedup, least, most, min_speedup, max_regression);
	judge(p);
	return &p->gates.gate[0];
}

static void what_recording_may_have_done(void **unused)
{
	(void)unused;
	const struct verdict *v = recorded(3, 0.9, 1.1);
	near(v->speedup, 3, 1e-9);
	near(v->recorded.lo, 3, 1e-9);
	near(v->recorded.hi, 3, 1e-9);
	near(v->lo, 2.7, 1e-9);
	near(v->hi, 3.3, 1e-9);
	assert_int_equal(v->result, VERDICT_FASTER);
	/* a result holds at every price of recording, or not at all; more of the same does not help */
	assert_int_equal(recorded(1.05, 0.96, 1)->result, VERDICT_FASTER);
	v = recorded(1.05, 0.94, 1);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(v->more_steps + v->more_runs, 0);
	assert_true(says(v, "The profiled result is faster, but profiling itself may explain that"));
	assert_int_equal(recorded(1 / 1.05, 1, 1 / 0.94)->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(recorded(1 / 1.05, 1, 1 / 0.96)->result, VERDICT_SLOWER);
	assert_int_equal(recorded(1.01, 0.99, 1.005)->result, VERDICT_UNCHANGED);
	assert_int_equal(recorded(1.01, 0.99, 1.015)->result, VERDICT_INCONCLUSIVE);
	/* so does a gate */
	assert_int_equal(recorded_gate(3, 0.9, 1, 2.6, -1)->result, GATE_PASSED);
	const struct gate *g = recorded_gate(3, 0.9, 1, 2.9, -1);
	assert_int_equal(g->result, GATE_INCONCLUSIVE);
	assert_non_null(strstr(said(g->fact, NULL), "inconclusive, because profiling may explain it"));
	assert_int_equal(recorded_gate(3, 1, 1.1, 3.2, -1)->result, GATE_INCONCLUSIVE);
	assert_int_equal(recorded_gate(3, 1, 1.1, 3.5, -1)->result, GATE_FAILED);
	assert_int_equal(recorded_gate(0.9, 1, 1.1, 0, 5)->result, GATE_INCONCLUSIVE);
	assert_int_equal(recorded_gate(0.9, 0.8, 1, 0, 5)->result, GATE_FAILED);
	assert_int_equal(recorded_gate(3, 0.9, 1, 0, 5)->result, GATE_PASSED);
}

static void floors_of_several_runs(void **unused)
{
	(void)unused;
	assert_int_equal(judge(three_runs(30, 1.0201))->result, VERDICT_FASTER);    /* the floor is 0.5 % … */
	assert_int_equal(judge(three_runs(30, 1.0199))->result, VERDICT_UNCHANGED); /* … but the margin comes first */
	assert_int_equal(judge(three_runs(12, 1.0201))->result, VERDICT_FASTER);
	assert_int_equal(judge(three_runs(8, 1 / 1.0201))->result, VERDICT_SLOWER);
	/* three runs are judged by the rule for runs, however short; two are not */
	assert_true(judge(three_runs(7, 2))->has_interval);
	assert_true(judge(three_runs(2, 2))->has_interval);
	struct pair *two = three_runs(3, 2);
	two->side[0].n_runs = two->side[1].n_runs = 2;
	assert_false(judge(two)->has_interval);
	assert_int_equal(judge(two)->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(judge(two)->more_steps, 20);
	two = three_runs(4, 2);
	two->side[0].n_runs = two->side[1].n_runs = 2;
	assert_true(judge(two)->has_interval);
	/* the median run decides: one short run among three is no harm */
	struct pair *p = three_runs(30, 2);
	p->run[1][2].n = 3;
	assert_int_equal(judge(p)->result, VERDICT_FASTER);
	p->run[1][0].n = 3;
	assert_int_equal(judge(p)->result, VERDICT_FASTER);
	/* of two runs all steps count together */
	p = three_runs(30, 2);
	p->side[0].n_runs = 2;
	assert_int_equal(judge(p)->result, VERDICT_FASTER);
	p->run[0][0].n = p->run[0][1].n = 3;
	assert_int_equal(judge(p)->result, VERDICT_INCONCLUSIVE);
	/* a warm-up that leaves fewer than 20 steps keeps the 10 % floor */
	for (int more = 0; more < 2; more++) {
		p = three_runs(21 + (size_t)more, 1.09);
		for (int r = 0; r < 3; r++)
			p->period[0][r][0] = p->period[0][r][1] = 3000000000000;
		const struct verdict *v = judge(p);
		assert_int_equal(v->series[0][1].cut, 2);
		assert_int_equal(v->result, more ? VERDICT_FASTER : VERDICT_INCONCLUSIVE);
		assert_int_equal(v->more_steps, more ? 0 : 20);
		assert_int_equal(v->more_runs, 0);
		assert_true(
			says(v, "The first 3 steps of a typical run of the baseline are left out as warm-up (found"));
	}
}

/* One of three runs drifts by 6 %: a third of that is added to what chance allows. */
static void drift_of_several_runs(void **unused)
{
	(void)unused;
	struct pair *p = three_runs(60, 2);
	p->warmup = 0;
	for (int i = 30; i < 60; i++)
		p->period[1][1][i] = 1060000000000;
	const struct verdict *v = judge(p);
	/* run means 1, 1.03, 1; of a side 1.01: s² = 2 · 0.01² + 0.02² over 2, relative */
	double square = (2 * 0.01 * 0.01 + 0.02 * 0.02) / 2 / (1.01 * 1.01);
	near(v->half_width, 4.3026527297494639 * sqrt(square / 3) + 0.06 / 1.03 / 3, 1e-9);
	assert_true(says(v, "the fixed side drifts: the two halves of a run differ by 5.8 %."));
}

/* One run against several: the several runs' spread stands for both sides, s √(1 + 1/3) with 2 degrees of freedom. */
static void one_run_against_several(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	add_run(p, 0, 30, 2000000000000);
	add_run(p, 1, 30, 1000000000000);
	add_run(p, 1, 30, 1020000000000);
	add_run(p, 1, 30, 1040000000000);
	double square = pow(0.02 / 1.02, 2);
	const struct verdict *v = judge(p);
	near(v->half_width, 4.3026527297494639 * sqrt(square * 4 / 3), 1e-10);
	assert_true(v->one_run);
	assert_int_equal(v->result, VERDICT_FASTER);
	assert_true(says(v, "The baseline has only one run"));
	/* 5 % apart that is too little, and what it takes is runs: k = 2 (h / ln S)² times the three there are */
	for (int i = 0; i < 30; i++)
		p->period[0][0][i] = 1070000000000;
	v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_int_equal(v->more_steps, 0);
	assert_int_equal(v->more_runs,
	                 (int)ceil(6 * pow(v->half_width / fmax(log(1.07 / 1.02) - log(1.03), log(1.02)), 2)));
}

static void names(void **unused)
{
	(void)unused;
	assert_string_equal(verdict_result_name(VERDICT_INCONCLUSIVE), "inconclusive");
	assert_string_equal(verdict_result_name(VERDICT_FASTER), "faster");
	assert_string_equal(verdict_result_name(VERDICT_SLOWER), "slower");
	assert_string_equal(verdict_result_name(VERDICT_UNCHANGED), "unchanged");
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(identical_sides),
		TEST(nothing_varies),
		TEST(unchanged_says_what_is_known),
		TEST(floors),
		TEST(beyond_chance),
		TEST(interval_of_long_runs),
		TEST(short_capture_is_doubled),
		TEST(drift_widens),
		TEST(still_warming),
		TEST(descriptive_only),
		TEST(what_recording_may_have_done),
		TEST(nothing_measured),
		TEST(welch),
		TEST(steps_count_when_runs_agree),
		TEST(floors_of_several_runs),
		TEST(drift_of_several_runs),
		TEST(one_run_against_several),
		TEST(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
