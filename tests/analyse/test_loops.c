/* What is said of a run's loops: who is judged, by which names, and how long a step of the others is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"
#include "side/side_parts.h"

enum { OTHER, JUDGED, LOOPS };

/* A run with two loops, of which the first has cycles that end at these times (0: a cycle without an op). */
static struct side loops_of(struct scene *s, const int64_t *end, uint32_t n, const char *names[LOOPS],
                            const char *side_name)
{
	struct run *run = ARENA_NEW(&s->arena, 1, struct run);
	scene_trace_begin(s);
	for (uint32_t k = 0; k < n; k++)
		if (end[k])
			scene_kernel(s, s->main, 10 * k, 10 * k + 5, 10 * k + 6, end[k]);
	run->trace = maker_link(&s->m);
	run->loops = (struct run_loops){.list = ARENA_NEW(&s->arena, LOOPS, struct run_loop),
	                                .n = LOOPS,
	                                .cycles = ARENA_NEW(&s->arena, n, struct run_cycle)};
	for (uint32_t k = 0; k < n; k++)
		if (end[k])
			run->loops.cycles[run->loops.n_cycles++] =
				(struct run_cycle){.loop = 1 + OTHER, .cycle = k, .ops.end = end[k]};
	run->loops.list[OTHER] = (struct run_loop){.name = scene_name(s, names[OTHER]), .n = n, .ops = 1, .share = 0.7};
	run->loops.list[JUDGED] = (struct run_loop){.name = scene_name(s, names[JUDGED]), .n = 20, .share = 0.3};
	run->steps.found = true;
	run->steps.origin = STEPS_BY_PATTERN;
	run->agreed.loop = JUDGED;
	run->window.start = 1000;
	run->window.end = 7000;
	run->window.ns = 6000;
	run->window.n_steps = 12;
	struct side side = {.steps = {.found = true, .name = scene_name(s, side_name)}};
	loops_build(run, &s->arena, &side);
	return side;
}

static const char *plain[LOOPS] = {"train", "validate"};

static void test_the_judged_one_has_the_sides_window(void **state)
{
	static const int64_t ends[] = {100, 200, 300, 400, 500, 600};
	struct side side = loops_of(*state, ends, 6, plain, "validate");
	assert_int_equal(side.n_loops, LOOPS);
	assert_true(side.loops[JUDGED].judged && !side.loops[OTHER].judged);
	assert_float_equal(side.loops[JUDGED].period, 500, 1e-9); /* 6000 in 12 steps */
	assert_float_equal(side.loops[OTHER].period, 100, 1e-9);
	assert_float_equal(side.loops[OTHER].share, 0.7, 1e-9);
}

static void test_names_are_those_of_the_first_run(void **state)
{
	/* What is judged here is called "train" in the first run; so the loop that has that name here takes the other.
	 */
	struct scene *s = *state;
	static const int64_t ends[] = {100, 200, 300, 400, 500, 600};
	struct side side = loops_of(s, ends, 6, plain, "train");
	assert_string_equal(names_text(&s->names, side.loops[JUDGED].name), "train");
	assert_string_equal(names_text(&s->names, side.loops[OTHER].name), "validate");
	side = loops_of(s, ends, 6, plain, "fit");
	assert_string_equal(names_text(&s->names, side.loops[JUDGED].name), "fit");
	assert_string_equal(names_text(&s->names, side.loops[OTHER].name), "train");
}

static void test_cycles_that_end_late_or_not_at_all(void **state)
{
	/* The third outlives the fourth, the fifth has no op, and the last is over before the sixth: ends are 100, 200,
	 * 450, 600, of which the period is 500 / 3. */
	static const int64_t ends[] = {100, 200, 450, 400, 0, 600, 590};
	struct side side = loops_of(*state, ends, 7, plain, "validate");
	assert_float_equal(side.loops[OTHER].period, 500. / 3, 1e-9);
	/* one end is no period */
	side = loops_of(*state, ends, 1, plain, "validate");
	assert_true(side.loops[OTHER].period == 0);
}

static void test_others_warm_up_too(void **state)
{
	/* The first two periods are ten times as long as the others: they are no part of it. */
	int64_t ends[40] = {1000};
	for (int k = 1; k < 40; k++)
		ends[k] = ends[k - 1] + (k < 3 ? 1000 : 100);
	struct side side = loops_of(*state, ends, 40, plain, "validate");
	assert_float_equal(side.loops[OTHER].period, 100, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_the_judged_one_has_the_sides_window),
		SCENE(test_names_are_those_of_the_first_run),
		SCENE(test_cycles_that_end_late_or_not_at_all),
		SCENE(test_others_warm_up_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
