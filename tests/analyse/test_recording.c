/* What recording may have done to a speedup, worked out by hand for two sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/side/recording.h"
#include "scene.h"

#include <math.h>

enum { US = 1000, MS = 1000 * US };

static void test_recorded_steps_apart(void **unused)
{
	static struct side side[2];
	struct verdict v = {.measured = VERDICT_STOPWATCH};
	(void)unused;
	side[0].headline = (struct headline){.recorded = 10.1 * MS, .stopwatch = 10 * MS};
	side[1].headline = (struct headline){.recorded = 4.91 * MS, .stopwatch = 5 * MS}; /* 1 and 1.8 % */
	assert_false(recording_apart(side, &v));
	side[1].headline.recorded = 4.89 * MS;
	assert_true(recording_apart(side, &v));
	v.measured = VERDICT_RECORDED;
	assert_false(recording_apart(side, &v));
	v.measured = VERDICT_STOPWATCH;
	side[1].headline.stopwatch = 0; /* none was made */
	assert_false(recording_apart(side, &v));
}

static void test_recording_makes_kernels_longer(void **unused)
{
	/* The same 4 ms of kernels in steps of 8 and of 5 ms. Were each 2.5 % longer while recorded, they took 3.9 ms,
	 * and the steps 7.9 and 4.9. */
	static struct analysis a;
	static const double period[2] = {8 * MS, 5 * MS};
	double beyond[2];
	(void)unused;
	for (int i = 0; i < 2; i++)
		a.side[i] = (struct side){.budget = {.period = period[i], .compute = 4 * MS}, .busy = 4 * MS};
	recording_bounds(a.side, beyond);
	assert_float_equal(beyond[0], 0, 0);
	assert_float_equal(beyond[1], log(7.9 / 4.9) - log(8.0 / 5), 1e-6);
}

/* 40 steps: in each 50 kernels of 3 µs, one every 4 µs, and `ranges` around each launch but every tenth, of which begin
 * and end take 1 µs together: 4 µs of host code are in them, which begin while the kernel before still runs. */
static const struct trace *ranges_run(struct scene *s, int ranges)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 40; step++) {
		int64_t begin = t;
		for (int k = 0; k < 50; k++) {
			for (int r = 0; r < ranges && k % 10; r++, t += US)
				scene_range(s, s->main, t, t + US / 2, "op");
			scene_kernel(s, s->main, t, t + 2 * US, t + 3 * US, t + 6 * US);
			t += 4 * US;
		}
		t += 10 * US + step;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

/* Where only one side's launches lie in ranges, they may be all that it is slower by. */
static void test_ranges_that_one_side_has(void **state)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct scene *s = *state;
	struct err err = {0};
	const struct trace *with = ranges_run(s, 4), *without = ranges_run(s, 0);
	struct analyse_run runs[2] = {{.trace = with, .file = "with"}, {.trace = without, .file = "without"}};
	struct analysis *a = ARENA_NEW(&s->arena, 1, struct analysis);
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, a, &err))
		fail_msg("%s", err.text);
	assert_true(fabs(a->side[0].recording.waited_ranges - 4 * 45) < 2); /* and some steps' own */
	assert_true(a->side[1].recording.waited_ranges <= 1);
	assert_true(a->verdict.speedup > 1.8 && a->verdict.lo <= 1); /* 390 and 210 µs a step */
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	assert_true(a->while_recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_steps_apart),
		cmocka_unit_test(test_recording_makes_kernels_longer),
		SCENE(test_ranges_that_one_side_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
