/* What --step and --warmup ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_steps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

static void test_step_named(void **state)
{
	/* forward qualifies, its total is shorter than step's: --step wins over the longest total. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t, t + 950, "step");
		scene_range(s, s->main, t + 10, t + 500, "forward");
		kernel(s, s->main, t + 20, t + 30, t + 330);
		kernel(s, s->main, t + 600, t + 610, t + 660);
	}
	s->step = "forward";
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "forward");
	assert_int_equal(side->runs[0].n_periods, 9);
}

static void test_step_named_by_normalised_name(void **state)
{
	struct scene *s = *state;
	steps_plain(s, 12, "step_%d");
	s->step = "step_#";
	step_expect(s, scene_analyse(s), "step_#");
}

static void test_step_named_that_the_rules_refuse(void **state)
{
	/* Half of the instances launch: no step by the rules, but the user says so. The last one launches nothing and
	 * is left out: eleven steps of 1000. */
	struct scene *s = *state;
	for (int64_t i = 0; i < 12; i++) {
		scene_range(s, s->main, 1000 * i, 1000 * i + 900, "tick");
		if (i % 2 == 0)
			kernel(s, s->main, 1000 * i + 100, 1000 * i + 200, 1000 * i + 800);
	}
	s->step = "tick";
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "tick");
	assert_int_equal(side->runs[0].n_periods, 10);
	assert_int_equal(side->runs[0].period[0], 1000);
}

static void test_alone_every_step_counts(void **state)
{
	/* One of them takes 15 times as long. Of a pair's side it may be set aside; one profile's mean has it, as the
	 * parts below it have. */
	struct scene *s = *state;
	for (int64_t i = 0, t = 0; i < 12; i++) {
		int64_t length = i == 7 ? 15000 : 1000;
		scene_range(s, s->main, t, t + length - 10, "step");
		kernel(s, s->main, t + 20, t + 30, t + 800);
		t += length;
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "step");
	double sum = 0;
	for (size_t i = 0; i < side->runs[0].n_periods; i++)
		sum += (double)side->runs[0].period[i];
	assert_true(sum > 20000);
	assert_true(fabs(side->headline.step - sum / (double)side->runs[0].n_periods) < 1e-6);
}

static void test_step_named_that_is_not_there(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	steps_plain(s, 10, "train");
	struct analyse_run run = {.trace = maker_link(&s->m), .file = "hand-made"};
	struct analyse_options options = {.step = "trian", .warmup = -1, .gates.max_regression = -1};
	assert_int_equal(analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err), -1);
	assert_non_null(strstr(err.text, "trian"));
	assert_non_null(strstr(err.text, "train")); /* the message lists what is there */
}

/* A whole run, thousands of a library's operators, phases, a range that is there once: what may be meant comes first.
 */
static void test_step_names_that_are_likely(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	maker_range(&s->m, s->main, 0, 100000, "main", "", RANGE_PUSH_POP);
	for (int64_t t = 1000; t < 11000; t += 1000) {
		for (int64_t i = 0; i < 40; i++)
			maker_range(&s->m, s->main, t + 20 * i, t + 20 * i + 15, "aten::a", "PyTorch operators",
			            RANGE_PUSH_POP);
		maker_range(&s->m, s->main, t, t + 950, "library", "PyTorch operators", RANGE_PUSH_POP);
		scene_range(s, s->main, t, t + 10, "short");
		scene_range(s, s->main, t, t + 950, "step");
		kernel(s, s->main, t + 20, t + 30, t + 330);
	}
	scene_range(s, s->main, 20000, 20700, "evaluate");
	struct analyse_run run = {.trace = maker_link(&s->m), .file = "hand-made"};
	struct analyse_options options = {.step = "nothing", .warmup = -1, .gates.max_regression = -1};
	assert_int_equal(analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err), -1);
	assert_non_null(strstr(err.text, "it has 'step', 'short', 'main', 'evaluate', 'library', 'aten::a'"));
}

static void test_warmup_given(void **state)
{
	/* --warmup 4 of ten steps of 1000: window from the fourth step's end, 3800, to 9800. */
	struct scene *s = *state;
	steps_plain(s, 10, "train");
	s->warmup = 4;
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].warmup, 4);
	assert_int_equal(side->steps.measured, 6);
	assert_int_equal(side->devices[0].window_ns, 6000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_step_named),
		SCENE(test_step_named_by_normalised_name),
		SCENE(test_step_named_that_the_rules_refuse),
		SCENE(test_alone_every_step_counts),
		SCENE(test_step_named_that_is_not_there),
		SCENE(test_step_names_that_are_likely),
		SCENE(test_warmup_given),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
