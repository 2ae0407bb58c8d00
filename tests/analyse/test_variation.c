/* What steps vary by: kernels' own time, or anything else, or another speed from some step on; and what is said and
 * advised then. Worked out by hand. */
#include "same/same_work.h"
#include "same/work.h"
#include "verdict_pair.h"

enum { BLOCKS = 12, STEPS = 24 };

/* A run of two steps a block: in each of them kernels take 10 + `kernels`·w, and the GPU idles for 5 + `idle`·w, where
 * w is 0, 1, 0, 1, … by block. */
static struct run_table run_of(int64_t kernels, int64_t idle, uint32_t blocks)
{
	struct table_column *column = ARENA_NEW(&arena, 2, struct table_column);
	column[0] = (struct table_column){.kind = PART_COMPUTE, .n = blocks, .ns = ARENA_NEW(&arena, blocks, int64_t)};
	column[1] = (struct table_column){.kind = PART_IDLE, .n = blocks, .ns = ARENA_NEW(&arena, blocks, int64_t)};
	for (uint32_t b = 0; b < blocks; b++) {
		column[0].ns[b] = 2 * (10 + kernels * (b % 2));
		column[1].ns[b] = 2 * (5 + idle * (b % 2));
	}
	return (struct run_table){
		.column = column, .n_columns = 2, .n_blocks = blocks, .block = 2, .n_steps = 2 * blocks};
}

static double share_of(struct run_table *runs, size_t n)
{
	return variation_of_kernels(&(struct side_facts){.runs = runs, .n_runs = n});
}

static void shares(void **unused)
{
	(void)unused;
	struct run_table kernels = run_of(4, 0, BLOCKS), idle = run_of(0, 4, BLOCKS), both = run_of(3, 1, BLOCKS),
			 steady = run_of(0, 0, BLOCKS), few = run_of(4, 0, 7);
	near(share_of(&kernels, 1), 1, 1e-12);
	near(share_of(&idle, 1), 0, 1e-12);
	near(share_of(&both, 1), 0.75, 1e-12);
	near(share_of(&steady, 1), 0, 0);
	near(share_of(&few, 1), 0, 0);
	struct run_table runs[] = {kernels, steady, idle}; /* the steady one tells nothing */
	near(share_of(runs, 3), 0.5, 1e-12);
	arena_release(&arena);
}

/* Sides that vary too much to be told apart; kernels make `share` of that on both. */
static const struct verdict *noisy(double share, size_t n_runs)
{
	struct pair *p = pair_new();
	seed = 77;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < n_runs; r++)
			add_noisy_run(p, s, STEPS, 5e6, 0.3, 0);
	p->conditions.kernels[0] = p->conditions.kernels[1] = share;
	return judge(p);
}

static void advice(void **unused)
{
	(void)unused;
	const struct verdict *v = noisy(0.6, 1);
	assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
	assert_true(says(v, "Kernel time varies from step to step"));
	assert_false(says(v, "quieter machine"));
	v = noisy(0.4, 1);
	assert_true(says(v, "Use a quieter machine or more runs"));
	assert_false(says(v, "Kernel time"));
	assert_false(says(noisy(0.6, 2), "Kernel time")); /* what runs differ by is not what steps do */
	arena_release(&arena);
}

/* Ten times as many steps are worth recording, a hundred times as many are not asked for. */
static void steps_asked_for(void **unused)
{
	(void)unused;
	struct verdict v = {.judged = true, .more_steps = 2000, .n_steps = {50, 100}};
	assert_true(verdict_steps_worthwhile(&v));
	v.more_steps++;
	assert_false(verdict_steps_worthwhile(&v));
	v.judged = false; /* too few to judge: what is needed for that */
	assert_true(verdict_steps_worthwhile(&v));
	v.more_steps = 0;
	assert_false(verdict_steps_worthwhile(&v));
}

/* 149 steps of which the last lacks two of five fills; what lacks one in fifty, or one in ten steps, is less. */
static void a_step_that_is_cut_through(void **unused)
{
	(void)unused;
	struct work_scale scale = {.steps = true, .slack = 1.5 / 149, .variation = {.seen = 149}};
	assert_false(work_differs(&scale, 5, 5 - 2 / 149.));
	assert_false(work_differs(&scale, 11 - 2 / 149., 11));
	assert_true(work_differs(&scale, 1, 1 - 2 / 149.));
	assert_true(work_differs(&scale, 5, 4.9));
	assert_true(work_differs(&scale, 100, 99));
	scale.slack = 1.5 / 10;
	scale.variation.seen = 10;
	assert_false(work_differs(&scale, 10, 9.6));
	assert_true(work_differs(&scale, 10, 9));
}

/* Six steps in a row take three times as long, and then all is as it was: a few steps, and no other speed. */
static void a_few_slow_steps_are_no_other_speed(void **unused)
{
	(void)unused;
	for (int few = 0; few < 2; few++) {
		struct pair *p = pair_new();
		seed = 3;
		int64_t *period = add_run(p, 0, 59, 1000000);
		add_run(p, 1, 59, 1000000);
		for (int i = 0; i < 59; i++)
			for (int s = 0; s < 2; s++)
				p->period[s][0][i] = (int64_t)(1e6 * (1 + 0.02 * uniform()));
		for (int i = few ? 19 : 25; i < (few ? 25 : 59); i++)
			period[i] = period[i] * (few ? 30 : 13) / 10;
		const struct verdict *v = judge(p);
		assert_int_equal(v->result, VERDICT_INCONCLUSIVE);
		assert_int_equal(says(v, "changes speed by"), !few);
		assert_int_equal(says(v, "From step 26 the mean step of the baseline changes by"), few);
		assert_int_equal(says(v, "the typical step does not. 6 of 59 take"), few);
	}
}

/* A side that gets slower, and pauses every so many steps: until a direction comes, that it changed is what is in the
 * way, and no smaller change is named, above which the interval lies. */
static void another_speed_is_what_is_in_the_way(void **unused)
{
	(void)unused;
	int open = 0;
	for (int percent = 0; percent < 20; percent++) {
		struct pair *p = pair_new();
		seed = 3;
		int64_t *period[2] = {add_run(p, 0, 140, 10000000), add_run(p, 1, 140, 10000000)};
		for (int i = 0; i < 140; i++) {
			period[0][i] = (int64_t)(1e7 * (1 + 0.1 * uniform()) * (i < 70 ? 1 : 1.2) + (i % 20 ? 0 : 6e7));
			period[1][i] = (int64_t)(1e7 * (1 + 0.1 * uniform()) / (1 + percent / 100.0));
		}
		const struct verdict *v = judge(p);
		bool near = v->result == VERDICT_INCONCLUSIVE && v->lo > 1;
		open += near;
		assert_true(!near || says(v, "changes speed by 14 %"));
		assert_true(v->result != VERDICT_FASTER ||
		            says(v, "whose mean step changes: only a change above 14 %"));
	}
	assert_in_range(open, 10, 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(advice),
		cmocka_unit_test(steps_asked_for),
		cmocka_unit_test(a_step_that_is_cut_through),
		cmocka_unit_test_teardown(a_few_slow_steps_are_no_other_speed, tear_down),
		cmocka_unit_test_teardown(another_speed_is_what_is_in_the_way, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
