/* Ranges that gapline added to a PyTorch program while it recorded: steps where the program marks none, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <string.h>

enum { STEPS = 12, PERIOD = 1000 };

/* Twelve steps from one optimizer's end to the next's, with work in a forward and an optimizer range. */
static void train(struct scene *s)
{
	for (int i = 0; i < STEPS; i++) {
		int64_t t = PERIOD * (int64_t)i;
		maker_range(&s->m, s->main, t, t + PERIOD, "gapline: step", "", RANGE_START_END);
		scene_range(s, s->main, t + 10, t + 400, "forward");
		scene_kernel(s, s->main, t + 100, t + 105, t + 200, t + 600 + i % 3);
		scene_range(s, s->main, t + 500, t + 990, "optimizer");
		scene_kernel(s, s->main, t + 700, t + 705, t + 750, t + 900);
	}
}

static const char *step_name(struct scene *s)
{
	const struct side *side = scene_analyse(s);
	assert_true(side->steps.found && steps_by_ranges(side->steps.origin));
	return names_text(&s->names, side->steps.name);
}

static void test_they_are_steps_where_there_are_no_others(void **state)
{
	struct scene *s = *state;
	train(s);
	assert_string_equal(step_name(s), "gapline: step");
	const struct side *side = &s->result.side[0];
	assert_int_equal(side->runs[0].n_steps, STEPS);
	bool forward = false, optimizer = false;
	for (uint32_t i = 0; i < side->n_phases; i++) {
		forward = forward || !strcmp(names_text(&s->names, side->phases[i].name), "forward");
		optimizer = optimizer || !strcmp(names_text(&s->names, side->phases[i].name), "optimizer");
	}
	assert_true(forward && optimizer);
}

static void test_the_programs_own_steps_win_though_they_are_shorter(void **state)
{
	struct scene *s = *state;
	train(s);
	for (int i = 0; i < STEPS; i++)
		scene_range(s, s->main, PERIOD * (int64_t)i + 5, PERIOD * (int64_t)i + 995, "iteration");
	assert_string_equal(step_name(s), "iteration");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_they_are_steps_where_there_are_no_others, scene_begin, scene_end),
		cmocka_unit_test_setup_teardown(test_the_programs_own_steps_win_though_they_are_shorter, scene_begin,
	                                        scene_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
