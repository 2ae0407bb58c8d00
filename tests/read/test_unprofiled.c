/* Runs in which nothing but ranges was noted: their step periods, and what they do to the verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/judge/unprofiled.h"
#include "scene.h"

#include <math.h>
#include <string.h>

enum { STEPS = 40 };

/* A recorded run of steps of `period` ns and a bit (0, 1 or 2 in turn), of which a kernel takes all but 2000. */
static void record(struct scene *s, int64_t period)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t end = t + period + i % 3;
		scene_range(s, s->main, t, end - 1, "step");
		scene_kernel(s, s->main, t + 1, t + 1900, t + 2000, end);
		t = end;
	}
}

/* The ranges of the unprofiled run beside it: sorted by thread and start, as the reader gives them. */
static void add_range(struct scene *s, int64_t thread, int64_t start, int64_t end, const char *name)
{
	struct trace_unprofiled *u = &s->m.trace->unprofiled;
	u->start = arena_grow(&s->arena, u->start, u->n, u->n + 1, sizeof *u->start);
	u->end = arena_grow(&s->arena, u->end, u->n, u->n + 1, sizeof *u->end);
	u->name = arena_grow(&s->arena, u->name, u->n, u->n + 1, sizeof *u->name);
	u->thread = arena_grow(&s->arena, u->thread, u->n, u->n + 1, sizeof *u->thread);
	u->start[u->n] = start;
	u->end[u->n] = end;
	u->name[u->n] = scene_name(s, name);
	u->thread[u->n++] = thread;
}

static void add_steps(struct scene *s, int64_t thread, int n, int64_t period)
{
	int64_t t = 1000000000000;
	for (int i = 0; i < n; i++) {
		int64_t end = t + period + i % 3;
		add_range(s, thread, t, end - 10, "step");
		add_range(s, thread, t + 5, end - 20, "load");
		t = end;
	}
}

static const struct analysis *compare(struct scene *s, const struct trace *baseline, const struct trace *fixed,
                                      struct analyse_options options)
{
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = baseline, .file = "baseline"}, {.trace = fixed, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static bool says(const struct analysis *a, const char *words)
{
	bool said = false;
	for (size_t i = 0; i < a->verdict.n_reasons; i++)
		said |= strstr(a->verdict.reasons[i], words) != NULL;
	return said;
}

static void assert_near(double value, double expected)
{
	if (fabs(value / expected - 1) > 1e-3)
		fail_msg("%.6g is not %.6g", value, expected);
}

static const struct analyse_options defaults = {.warmup = -1, .gates.max_regression = -1};

/* Recorded 3x, unprofiled 2.7x. */
static const struct trace *baseline_of(struct scene *s)
{
	record(s, 3000000);
	add_steps(s, 1, STEPS, 2700000);
	return maker_link(&s->m);
}

static const struct trace *fixed_of(struct scene *s)
{
	record(s, 1000000);
	add_steps(s, 1, STEPS, 1000000);
	return maker_link(&s->m);
}

static void test_the_outer_interval_holds_both(void **state)
{
	struct scene *s = *state;
	const struct trace *baseline = baseline_of(s), *fixed = fixed_of(s);
	const struct analysis *a = compare(s, baseline, fixed, defaults);
	assert_near(a->verdict.speedup, 3);
	assert_near(a->unprofiled.verdict.speedup, 2.7);
	assert_true(a->unrecorded == a->unprofiled.verdict.speedup);
	assert_true(a->unprofiled.n_runs[0] == 1 && a->unprofiled.n_runs[1] == 1);
	assert_near(a->verdict.recorded.lo, 3);
	assert_near(a->verdict.lo, 2.7);
	assert_near(a->verdict.hi, 3);
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	assert_true(strstr(a->verdict.reasons[0], "Without a profiler the speedup is 2.700") != NULL);
	assert_true(strstr(a->verdict.reasons[0], "the baseline's step is 11.1 % longer") != NULL); /* 3.0 / 2.7 */
	/* swapped, everything is mirrored */
	const struct analysis *m = compare(s, fixed, baseline, defaults);
	assert_int_equal(m->verdict.result, VERDICT_SLOWER);
	assert_near(m->verdict.lo * a->verdict.hi, 1);
	assert_near(m->verdict.hi * a->verdict.lo, 1);
}

static enum gate_result gate_at(struct scene *s, double min_speedup)
{
	const struct trace *baseline = baseline_of(s);
	struct analyse_options options = defaults;
	options.gates.min_speedup = min_speedup;
	return compare(s, baseline, fixed_of(s), options)->gates.result;
}

static void test_gates_go_by_it(void **state)
{
	assert_int_equal(gate_at(*state, 2.6), GATE_PASSED);
	assert_int_equal(gate_at(*state, 2.8), GATE_INCONCLUSIVE);
	assert_int_equal(gate_at(*state, 3.1), GATE_FAILED);
}

static void test_a_gain_of_recording_is_none(void **state)
{
	/* The "fix" saves only what recording takes: recorded 1.2x, unprofiled none. */
	struct scene *s = *state;
	record(s, 1200000);
	add_steps(s, 1, STEPS, 1000000);
	const struct trace *baseline = maker_link(&s->m);
	const struct analysis *a = compare(s, baseline, fixed_of(s), defaults);
	assert_near(a->verdict.speedup, 1.2);
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	assert_true(says(a, "the unprofiled runs do not show the same"));
}

static void test_gate_of_regression(void **state)
{
	/* Recorded, both sides take the same; without a profiler the fixed side is slower by 30 %. */
	struct scene *s = *state;
	const struct trace *side[2];
	for (int k = 0; k < 2; k++) {
		record(s, 3000000 + k);
		add_steps(s, 1, STEPS, k ? 2600000 : 2000000);
		side[k] = maker_link(&s->m);
	}
	struct analyse_options options = defaults;
	options.gates.max_regression = 5;
	const struct analysis *a = compare(s, side[0], side[1], options);
	assert_near(a->unprofiled.verdict.speedup, 1 / 1.3);
	assert_int_equal(a->gates.result, GATE_INCONCLUSIVE);
	assert_non_null(strstr(a->gates.gate[0].text, "open: without a profiler it is missed"));
}

/* A host that runs ahead: its ranges take 1 ms, the GPU's steps 3 ms, so that the ranges say nothing of the steps. */
static void test_host_ahead_of_the_gpu(void **state)
{
	struct scene *s = *state;
	const struct trace *fixed = fixed_of(s);
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t host = (int64_t)i * 1000000, gpu = 2000 + (int64_t)i * 3000000;
		scene_range(s, s->main, host, host + 900000, "step");
		scene_kernel(s, s->main, host + 1, host + 1900, gpu, gpu + 3000000 - i % 3);
	}
	add_steps(s, 1, STEPS, 1000000);
	const struct analysis *a = compare(s, maker_link(&s->m), fixed, defaults);
	assert_near(a->verdict.speedup, 3);
	assert_false(a->conditions.unprofiled);
	assert_near(a->verdict.recorded.lo, 3);
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	assert_true(says(a, "not used: on the baseline the host runs ahead"));
}

static void test_both_sides_must_have_them(void **state)
{
	struct scene *s = *state;
	const struct trace *baseline = baseline_of(s);
	record(s, 1000000);
	const struct analysis *a = compare(s, baseline, maker_link(&s->m), defaults);
	assert_false(a->unprofiled.verdict.has_interval);
	assert_false(a->conditions.unprofiled);
	assert_near(a->verdict.recorded.lo, 3);
	/* two steps are no measurement either */
	baseline = baseline_of(s);
	record(s, 1000000);
	add_steps(s, 1, 2, 1000000);
	assert_false(compare(s, baseline, maker_link(&s->m), defaults)->unprofiled.verdict.has_interval);
}

static void test_periods(void **state)
{
	/* The thread with most of them; a step inside a step, as a recursive call makes it, is none of its own. */
	struct scene *s = *state;
	struct run run;
	struct err err;
	record(s, 1000000);
	add_steps(s, 1, 5, 7000000);
	int64_t end[4] = {2000, 2500, 4100, 5000};
	for (int i = 0; i < 4; i++) {
		int64_t start = i ? end[i - 1] + 100 : 1000;
		add_range(s, 2, start, end[i], "step");
		add_range(s, 2, start + 10, end[i] - 10, "step");
	}
	for (int i = 0; i < 2; i++) /* six on this thread */
		add_range(s, 2, 6000 + 1000 * i, 6400 + 1000 * i, "step");
	const struct trace *trace = maker_link(&s->m);
	assert_int_equal(run_prepare(&run, trace, NULL, -1, &s->arena, &err), 0);
	struct verdict_run periods = unprofiled_periods(&run, &s->arena);
	static const int64_t expected[] = {500, 1600, 900, 1400, 1000};
	assert_int_equal(periods.n, 5);
	assert_memory_equal(periods.period, expected, sizeof expected);
}

static void test_warmup_that_was_asked_for(void **state)
{
	/* 30 steps at 2x, then 12 at 1x: more than half is warm-up, which is not found by itself. */
	struct scene *s = *state;
	const struct trace *side[2];
	for (int k = 0; k < 2; k++) {
		record(s, 1000000 + 10 * k);
		add_steps(s, 1, 30, 2000000 * (2 - k));
		int64_t t = 2000000000000;
		for (int i = 0; i < 12; i++, t += 1000000 + i % 3)
			add_range(s, 1, t, t + 900000, "step");
		side[k] = maker_link(&s->m);
	}
	struct analyse_options options = defaults;
	options.warmup = 31;
	const struct analysis *a = compare(s, side[0], side[1], options);
	assert_near(a->unprofiled.verdict.speedup, 1);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_begin, scene_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_the_outer_interval_holds_both),
		SCENE(test_gates_go_by_it),
		SCENE(test_a_gain_of_recording_is_none),
		SCENE(test_gate_of_regression),
		SCENE(test_host_ahead_of_the_gpu),
		SCENE(test_both_sides_must_have_them),
		SCENE(test_periods),
		SCENE(test_warmup_that_was_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
