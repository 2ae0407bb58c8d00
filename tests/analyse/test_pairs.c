/* What the comparison of two sides must not depend on: the unit of time, the order of the sides; and a profile against
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>
#include <string.h>

static const struct analyse_options defaults = {.warmup = -1, .gates.max_regression = -1};

/* A trace of `n` steps whose kernels take `busy`, whose host work before the next launch takes `idle`; every seventh
 * step is 10 % longer, so that spreads are not 0. Names are shared by all traces of the scene. */
static const struct trace *steps_trace(struct scene *s, int n, int64_t busy, int64_t idle)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < n; i++) {
		int64_t load = idle + (i % 7 == 3 ? (busy + idle) / 10 : i % 3), start = t + load + 15;
		scene_range(s, s->main, t, start + 2, "step");
		scene_range(s, s->main, t + 1, t + load, "load");
		scene_kernel(s, s->main, t + load + 1, t + load + 6, start, start + busy);
		t = start + busy;
	}
	return maker_link(&s->m);
}

static const struct analysis *pair_analyse(struct scene *s, const struct trace *baseline, const struct trace *fixed)
{
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = baseline, .file = "baseline"}, {.trace = fixed, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static void test_pair(void **state)
{
	/* Steps of about 300 against 100 µs: a price of 20 µs for a call and a range leaves them apart. */
	struct scene *s = *state;
	const struct analysis *pair =
		pair_analyse(s, steps_trace(s, 60, 80000, 220000), steps_trace(s, 60, 80000, 20000));
	assert_int_equal(pair->verdict.result, VERDICT_FASTER);
	assert_true(fabs(pair->verdict.speedup - 3) < 0.05);
	double baseline = 0, fixed = 0;
	for (uint32_t i = 0; i < pair->waterfall.n; i++) {
		const struct waterfall_part *part = &pair->waterfall.part[i];
		assert_true(fabs(part->fixed - part->baseline - part->delta) < 1e-6);
		baseline += part->baseline;
		fixed += part->fixed;
	}
	assert_true(fabs(baseline - pair->side[0].headline.step) < 1e-6);
	assert_true(fabs(fixed - pair->side[1].headline.step) < 1e-6);
}

static void test_unit_of_time_does_not_matter(void **state)
{
	struct scene *s = *state;
	const struct trace *a = steps_trace(s, 60, 80000, 220000), *b = steps_trace(s, 60, 80000, 20000);
	const struct analysis *pair = pair_analyse(s, a, b);
	static const int64_t factors[] = {2, 7, 1000};
	for (int i = 0; i < 3; i++) {
		const struct analysis *scaled =
			pair_analyse(s, maker_scaled(&s->arena, a, factors[i]), maker_scaled(&s->arena, b, factors[i]));
		assert_int_equal(scaled->verdict.result, pair->verdict.result);
		assert_true(fabs(scaled->verdict.speedup / pair->verdict.speedup - 1) < 1e-9);
		assert_true(fabs(scaled->verdict.recorded.lo / pair->verdict.recorded.lo - 1) < 1e-9);
		assert_true(fabs(scaled->verdict.recorded.hi / pair->verdict.recorded.hi - 1) < 1e-9);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(scaled->side[k].runs[0].warmup, pair->side[k].runs[0].warmup);
			assert_true(fabs(scaled->side[k].budget.compute / pair->side[k].budget.compute -
			                 (double)factors[i]) < 1e-9 * (double)factors[i]);
		}
	}
}

static void test_sides_swapped(void **state)
{
	struct scene *s = *state;
	const struct trace *a = steps_trace(s, 60, 80000, 220000), *b = steps_trace(s, 40, 80000, 20000);
	const struct analysis *pair = pair_analyse(s, a, b), *swapped = pair_analyse(s, b, a);
	assert_int_equal(pair->verdict.result, VERDICT_FASTER);
	assert_int_equal(swapped->verdict.result, VERDICT_SLOWER);
	assert_true(fabs(swapped->verdict.speedup * pair->verdict.speedup - 1) < 1e-12);
	assert_true(fabs(swapped->verdict.lo * pair->verdict.hi - 1) < 1e-12);
	assert_true(fabs(swapped->verdict.hi * pair->verdict.lo - 1) < 1e-12);
	assert_int_equal(swapped->comparison.differences.n, pair->comparison.differences.n);
	assert_int_equal(swapped->waterfall.n, pair->waterfall.n);
	for (uint32_t i = 0; i < pair->waterfall.n; i++) {
		const struct waterfall_part *part = &pair->waterfall.part[i];
		bool mirrored = false;
		for (uint32_t k = 0; k < swapped->waterfall.n; k++)
			mirrored |= swapped->waterfall.part[k].kind == part->kind &&
			            swapped->waterfall.part[k].cause == part->cause &&
			            swapped->waterfall.part[k].phase == part->phase &&
			            fabs(swapped->waterfall.part[k].delta + part->delta) < 1e-6;
		assert_true(mirrored);
	}
}

static void test_against_itself(void **state)
{
	struct scene *s = *state;
	const struct trace *a = steps_trace(s, 60, 80000, 220000);
	const struct analysis *pair = pair_analyse(s, a, a);
	assert_true(pair->verdict.speedup == 1);
	assert_true(pair->verdict.result == VERDICT_UNCHANGED || pair->verdict.result == VERDICT_INCONCLUSIVE);
	assert_int_equal(pair->waterfall.n, 0);
	assert_true(pair->comparison.comparable);
	assert_int_equal(pair->comparison.differences.n, 0);
	for (uint32_t i = 0; i < pair->findings.n; i++)
		assert_int_equal(pair->findings.list[i].status, FINDING_REMAINING);
	assert_int_equal(pair->findings.diagnosis.result, DIAGNOSIS_NONE); /* nothing was resolved */
}

static void test_one_capture_is_one_run(void **state)
{
	struct scene *s = *state;
	struct analysis result;
	struct err err = {0};
	const struct trace *once = steps_trace(s, 20, 5000, 900), *copy = maker_scaled(&s->arena, once, 1);
	struct analyse_run baseline[2] = {{once, "a.sqlite"}, {copy, "b.sqlite"}};
	struct analyse_run fixed = {steps_trace(s, 20, 4000, 900), "f"};
	assert_int_equal(analyse_pair(baseline, 2, &fixed, 1, &defaults, &s->names, &s->arena, &result, &err), -1);
	assert_non_null(strstr(err.text, "same capture as a.sqlite"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_pair),           SCENE(test_unit_of_time_does_not_matter), SCENE(test_sides_swapped),
		SCENE(test_against_itself), SCENE(test_one_capture_is_one_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
