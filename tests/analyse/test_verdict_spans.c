/* The verdict on runs without steps, on steps of one side only, and on steps that are set aside. */
#include "verdict/stats.h"
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

/* One or two of a side are described: nobody knows how much such runs differ. */
static void runs_without_steps(void **unused)
{
	(void)unused;
	for (size_t n = 1; n <= 2; n++) {
		struct pair *p = spans(n, n);
		p->asked.min_speedup = 1.1;
		const struct verdict *v = judge(p);
		assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
		assert_false(v->has_interval);
		near(v->speedup, 2, 1e-2);
		assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
		assert_int_equal(v->more_steps + v->more_runs, 0);
		assert_true(says(v, "from its first to its last GPU operation") && says(v, "--step"));
	}
}

/* Three of a side have the interval of several runs. Spans of 2, 2.01 and 2.02 s against 1, 1.005 and 1.01 s: relative
 * to their means both vary by 0.00498 (sd), so that by Welch 4 degrees of freedom and t = 2.776 make the half-width
 * 2.776 x 0.00498 x sqrt(2/3) = 0.01128. */
static void three_runs_without_steps(void **unused)
{
	(void)unused;
	struct pair *p = spans(3, 3);
	p->asked.min_speedup = 1.1;
	const struct verdict *v = judge(p);
	assert_int_equal(v->result, VERDICT_FASTER);
	assert_true(v->has_interval && v->judged);
	near(v->speedup, 2, 1e-6);
	assert_true(v->lo < 2 * (1 - 0.0110) && v->hi > 2 * (1 + 0.0110));
	assert_int_equal(p->gates.result, GATE_PASSED);
	swap_sides(p);
	assert_int_equal(judge(p)->result, VERDICT_SLOWER);
	/* only one of a side: how much its runs differ is not known */
	assert_false(judge(spans(3, 1))->has_interval);
}

/* The span lost 1 s. What lies before it grew by a tenth of that, or a little less, on the mean. */
static void spans_that_moved(void **unused)
{
	(void)unused;
	for (int moved = 0; moved < 2; moved++)
		for (int swapped = 0; swapped < 2; swapped++) {
			struct pair *p = spans(3, 3);
			p->asked.min_speedup = 1.1;
			for (int r = 0; r < 3; r++)
				p->run[1][r].before = (moved ? 0.11e9 : 0.09e9) + 1e7 * (r - 1);
			if (swapped)
				swap_sides(p);
			const struct verdict *v = judge(p);
			assert_true(v->has_interval);
			assert_int_equal(v->result, moved     ? VERDICT_INCONCLUSIVE
			                            : swapped ? VERDICT_SLOWER
			                                      : VERDICT_FASTER);
			assert_int_equal(says(v, "but more time before it"), moved);
			if (moved && !swapped)
				assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
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
	assert_true(says(v, "Only the fixed side has steps"));
	swap_sides(p);
	assert_true(says(judge(p), "Only the baseline has steps"));
}

/* ---- steps that are set aside ---- */

/* The first call of a library, in both captures: that it recurs is known, and it is said once of a side. */
static void what_both_sides_set_aside_recurs(void **unused)
{
	(void)unused;
	for (int both = 0; both < 2; both++) {
		struct pair *p = pair_new();
		int64_t *a = add_run(p, 0, 300, 21000), *b = add_run(p, 1, 300, 20000);
		for (size_t i = 0; i < 300; i++) {
			a[i] += (int64_t)(100 * uniform());
			b[i] += (int64_t)(100 * uniform());
		}
		b[50] += 300 * 20000;
		a[50] += both * 100 * 21000;
		judge(p);
		assert_int_equal(p->v.aside[0] + p->v.aside[1], 1 + both);
		assert_true(says(&p->v, "One step of the fixed side took 6.0"));
		assert_true(says(&p->v, "Capture again to see whether that recurs") == !both);
		assert_true(says(&p->v, "Both sides have such steps") == both);
		assert_false(says(&p->v, "One step of the fixed side took at least"));
		assert_true(says(&p->v, "One step of the baseline took at least") == both);
	}
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(runs_without_steps),     TEST(three_runs_without_steps),         TEST(spans_that_moved),
		TEST(steps_on_one_side_only), TEST(what_both_sides_set_aside_recurs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
