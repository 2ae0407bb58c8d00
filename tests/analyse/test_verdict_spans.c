/* The verdict on runs without steps, and on steps of one side only. */
#include "analyse/judge/stats.h"
#include "verdict_pair.h"

/* ---- runs without steps ---- */

static struct pair *spans(size_t baseline, size_t fixed)
{
	struct pair *p = pair_new();
	for (size_t r = 0; r < baseline; r++)
		add_run(p, 0, 1, 2000000000 + 10000000 * (int64_t)r);
	for (size_t r = 0; r < fixed; r++)
		add_run(p, 1, 1, 1000000000 + 5000000 * (int64_t)r);
	p->side[0].steps = p->side[1].steps = false;
	return p;
}

/* What captures without steps give is described and decides nothing, however many there are. */
static void runs_without_steps(void **unused)
{
	(void)unused;
	for (size_t n = 1; n <= 5; n++) {
		struct pair *p = spans(n, n);
		p->asked.min_speedup = 1.1;
		const struct verdict *v = judge(p);
		assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
		assert_false(v->has_interval);
		near(v->speedup, 2, 1e-2);
		assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
		assert_int_equal(v->more_steps + v->more_runs, 0);
		assert_true(says(v, "start-up included") && says(v, "--step"));
	}
}

static void steps_on_one_side_only(void **unused)
{
	(void)unused;
	struct pair *p = three_runs(30, 2);
	p->side[0].steps = false;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_false(v->has_interval);
	assert_false(v->has_speedup || v->recorded.known); /* a span over a step is no speedup */
	assert_true(says(v, "Steps were found in the fixed side only"));
	swap_sides(p);
	assert_true(says(judge(p), "Steps were found in the baseline only"));
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_without_steps),
		TEST(steps_on_one_side_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
