/* Steps (docs/method/analysis.md, Step): which ranges are steps, what names fold, where a step ends. Every trace is
 * made so that the answer is plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene_steps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool phase_is_there(struct scene *s, const struct side *side, const char *name)
{
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (strcmp(names_text(&s->names, side->phases[i].name), name) == 0)
			return true;
	return false;
}

/* ---- which ranges are steps ---- */

static void test_plain(void **state)
{
	/* Ten steps end at 800, 1800, …: nine periods of 1000, whatever the ranges' own length of 900. */
	struct scene *s = *state;
	steps_plain(s, 10, "train");
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "train");
	assert_int_equal(side->runs[0].n_steps, 10);
	assert_int_equal(side->runs[0].n_periods, 9);
	for (int i = 0; i < 9; i++)
		assert_int_equal(side->runs[0].period[i], 1000);
	assert_true(fabs(side->headline.step - 1000) < 1e-6);
	assert_true(fabs(side->budget.compute - 600) < 1e-9 && fabs(side->budget.idle - 400) < 1e-9);
}

static void test_four_are_too_few(void **state)
{
	struct scene *s = *state;
	steps_plain(s, 4, "train");
	step_expect(s, scene_analyse(s), "(none)");
}

static void test_a_range_without_a_name(void **state)
{
	/* Nobody could say which range the step is. */
	struct scene *s = *state;
	steps_plain(s, 10, "");
	step_expect(s, scene_analyse(s), "(none)");
}

static void test_eighty_percent_launch(void **state)
{
	/* Eight of ten instances launch. */
	struct scene *s = *state;
	steps_plain(s, 8, "train");
	scene_range(s, s->main, 8000, 8900, "train");
	scene_range(s, s->main, 9000, 9900, "train");
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "train");
	assert_int_equal(side->runs[0].n_periods, 7); /* the two without GPU work have no step to merge into */
}

static void test_less_than_eighty_percent_launch(void **state)
{
	/* Seven of nine: 78 %. */
	struct scene *s = *state;
	steps_plain(s, 7, "train");
	scene_range(s, s->main, 8000, 8900, "train");
	scene_range(s, s->main, 9000, 9900, "train");
	step_expect(s, scene_analyse(s), "(none)");
}

/* Ten ranges whose kernels take 700 of GPU time, and one kernel of `between` launched after each but the last. */
static void steps_with_work_between(struct scene *s, int64_t between)
{
	for (int64_t t = 0; t < 20000; t += 2000) {
		scene_range(s, s->main, t, t + 1000, "train");
		kernel(s, s->main, t + 10, t + 100, t + 800);
		if (t < 18000)
			kernel(s, s->main, t + 1100, t + 1200, t + 1200 + between);
	}
}

static void test_seventy_percent_of_gpu_time(void **state)
{
	/* 7000 inside, 9 x 333 = 2997 between: 70.02 %. */
	struct scene *s = *state;
	steps_with_work_between(s, 333);
	step_expect(s, scene_analyse(s), "train");
}

static void test_less_than_seventy_percent_of_gpu_time(void **state)
{
	/* 7000 inside, 9 x 334 = 3006 between: 69.96 %. */
	struct scene *s = *state;
	steps_with_work_between(s, 334);
	step_expect(s, scene_analyse(s), "(none)");
}

/* Ten steps of 600 of GPU time, and as much before the first and after the last as `before` and `after` say. */
static void steps_with_work_around(struct scene *s, int64_t before, int64_t after)
{
	kernel(s, s->main, 0, 100, 100 + before);
	for (int i = 0; i < 10; i++) {
		int64_t t = 100000 + 1000 * (int64_t)i;
		scene_range(s, s->main, t, t + 900, "train");
		kernel(s, s->main, t + 100, t + 200, t + 800);
	}
	kernel(s, s->main, 120000, 120100, 120100 + after);
}

static void test_half_of_the_gpu_time_lies_around(void **state)
{
	/* Start-up and evaluation before the first and after the last instance take as long as the ten steps: 6000. */
	struct scene *s = *state;
	steps_with_work_around(s, 2000, 4000);
	step_expect(s, scene_analyse(s), "train");
}

static void test_waiting_for_others_is_no_work(void **state)
{
	for (int work = 0; work < 2; work++) {
		struct scene *s = *state;
		scene_trace_begin(s);
		steps_with_work_around(s, 2000, 4000);
		scene_call(s, s->main, 3000, 3005, "cudaLaunchKernel", CALL_LAUNCH);
		maker_op(&s->m, s->gpu, 7, work ? OP_KERNEL : OP_COMM, 5000, 95000, "reduce", s->correlation);
		step_expect(s, scene_analyse(s), work ? "(none)" : "train");
	}
}

static void test_more_than_half_of_the_gpu_time_lies_around(void **state)
{
	struct scene *s = *state;
	steps_with_work_around(s, 2000, 4001);
	step_expect(s, scene_analyse(s), "(none)");
}

static void test_small_ranges_that_launch_most(void **state)
{
	/* Each step launches 20 tiny copies inside ranges "aten::copy_" and one long kernel outside them: most
	 * launches, hardly any GPU time. The step is the range around. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 80000; t += 10000) {
		scene_range(s, s->main, t, t + 9900, "ProfilerStep");
		for (int64_t k = 0; k < 20; k++) {
			scene_range(s, s->main, t + 100 + 50 * k, t + 140 + 50 * k, "aten::copy_");
			kernel(s, s->main, t + 110 + 50 * k, t + 130 + 50 * k, t + 135 + 50 * k);
		}
		kernel(s, s->main, t + 2000, t + 2100, t + 9800);
	}
	step_expect(s, scene_analyse(s), "ProfilerStep");
}

static void test_small_ranges_alone_are_no_steps(void **state)
{
	/* The same without the range around: the copies' ranges hold 100 of 7800 of GPU time. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 80000; t += 10000) {
		for (int64_t k = 0; k < 20; k++) {
			scene_range(s, s->main, t + 100 + 50 * k, t + 140 + 50 * k, "aten::copy_");
			kernel(s, s->main, t + 110 + 50 * k, t + 130 + 50 * k, t + 135 + 50 * k);
		}
		kernel(s, s->main, t + 2000, t + 2100, t + 9800);
	}
	step_expect(s, scene_analyse(s), "(none)");
}

static void test_autograd_thread_is_not_the_step_thread(void **state)
{
	/* The autograd thread launches 80 % of the GPU time, each kernel in a range of its own; all of it while main's
	 * step is open. Its range qualifies as well (80 % of the GPU time) but main's total is longer. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t, t + 950, "iteration");
		kernel(s, s->main, t + 10, t + 20, t + 120);
		scene_range(s, s->other, t + 200, t + 600, "ConvolutionBackward");
		kernel(s, s->other, t + 210, t + 300, t + 700);
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "iteration");
	assert_true(fabs(side->budget.period - 1000) < 1e-9);
}

static void test_phases_are_not_steps(void **state)
{
	/* forward launches 75 % of the GPU time, once a step: it qualifies, the step's total is longer. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t, t + 950, "step");
		scene_range(s, s->main, t + 10, t + 500, "forward");
		kernel(s, s->main, t + 20, t + 30, t + 330);
		scene_range(s, s->main, t + 500, t + 900, "backward");
		kernel(s, s->main, t + 510, t + 520, t + 620);
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "step");
	assert_true(phase_is_there(s, side, "forward") && phase_is_there(s, side, "backward"));
}

static void test_ranges_that_overlap_come_last(void **state)
{
	/* "in flight" is open for two steps each time: a longer total than step's, but not one after the other. */
	struct scene *s = *state;
	steps_plain(s, 10, "step");
	for (int64_t t = 0; t < 10000; t += 1000)
		maker_range(&s->m, s->main, t + 50, t + 1950, "in flight", "", RANGE_START_END);
	step_expect(s, scene_analyse(s), "step");
}

static void test_ranks_that_communicate_are_ranks(void **state)
{
	/* Two processes on a GPU each, of which one was captured for ten steps and one for twenty: they talk, so they
	 * are ranks, and the shorter one counts. Without communication each instance is a step. */
	struct scene *s = *state;
	for (int talk = 1; talk >= 0; talk--) {
		scene_trace_begin(s);
		uint32_t rank = maker_process(&s->m, 200), thread = maker_thread(&s->m, rank, 200);
		uint32_t gpu = maker_device(&s->m, rank, 0, TRACE_NONE);
		steps_plain(s, 20, "train");
		maker_op(&s->m, s->gpu, 7, talk ? OP_COMM : OP_KERNEL, 900, 950, "reduce", s->correlation);
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = 1000 * (int64_t)i;
			scene_range(s, thread, t + 3, t + 903, "train");
			maker_call(&s->m, thread, t + 110, t + 115, "cudaLaunchKernel", CALL_LAUNCH, i + 1);
			maker_op(&s->m, gpu, 7, talk ? OP_COMM : OP_KERNEL, t + 200, t + 790, "reduce", i + 1);
		}
		const struct side *side = scene_analyse(s);
		assert_int_equal(side->steps.ranks, talk ? 2 : 1);
		assert_in_range(side->runs[0].n_steps, talk ? 10 : 27, talk ? 10 : 30);
	}
}

static void test_ranges_around_all_steps(void **state)
{
	/* One epoch around ten steps has one instance: never a step. */
	struct scene *s = *state;
	scene_range(s, s->main, 0, 10000, "epoch");
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t + 1, t + 900, "train");
		kernel(s, s->main, t + 100, t + 200, t + 800);
	}
	step_expect(s, scene_analyse(s), "train");
}

/* ---- names ---- */

static void test_counter_in_the_step_name(void **state)
{
	struct scene *s = *state;
	steps_plain(s, 12, "step_%d");
	step_expect(s, scene_analyse(s), "step_#");
}

static void test_hash_counter(void **state)
{
	struct scene *s = *state;
	steps_plain(s, 12, "iter#%d");
	step_expect(s, scene_analyse(s), "iter#");
}

static void test_names_of_phases(void **state)
{
	/* Twelve steps. h2d once a step under one name: stays. layer_1 and layer_2 once a step each: they are two
	 * phases, not a counter. batch 0, batch 1, …: one name a step, a counter. A list of the profiler's after a
	 * comma is cut. */
	struct scene *s = *state;
	for (int i = 0; i < 12; i++) {
		int64_t t = 1000 * (int64_t)i;
		char list[64];
		snprintf(list, sizeof list, "aten::linear, seq = %d, op_id = %d", 2868 + i, 28669 + 7 * i);
		scene_range(s, s->main, t, t + 950, numbered(s, "step_%d", i));
		const char *names[] = {"h2d", "layer_1", "layer_2", numbered(s, "batch %d", i), list};
		for (int k = 0; k < 5; k++) {
			scene_range(s, s->main, t + 100 + 150 * k, t + 240 + 150 * k, names[k]);
			kernel(s, s->main, t + 110 + 150 * k, t + 120 + 150 * k, t + 230 + 150 * k);
		}
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "step_#");
	static const char *const kept[] = {"h2d", "layer_1", "layer_2", "batch #", "aten::linear"};
	for (int k = 0; k < 5; k++)
		if (!phase_is_there(s, side, kept[k]))
			fail_msg("no phase %s", kept[k]);
	assert_in_range(side->n_phases, 5, 6); /* and (between phases) */
}

static void test_counter_that_runs_within_a_step(void **state)
{
	/* microbatch_0 … counts on through the run, each name once: one phase. */
	struct scene *s = *state;
	for (int i = 0; i < 10; i++) {
		int64_t t = 1000 * (int64_t)i;
		scene_range(s, s->main, t, t + 950, "step");
		for (int k = 0; k < 4; k++) {
			scene_range(s, s->main, t + 100 + 200 * k, t + 290 + 200 * k,
			            numbered(s, "microbatch_%d", 4 * i + k));
			kernel(s, s->main, t + 110 + 200 * k, t + 120 + 200 * k, t + 280 + 200 * k);
		}
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "step");
	assert_true(phase_is_there(s, side, "microbatch_#"));
	assert_in_range(side->n_phases, 1, 2);
}

/* `batch 0` to `batch 19` in each of eight epochs: as many instances as epochs, and a counter all the same. */
static void test_counter_that_begins_anew(void **state)
{
	struct scene *s = *state;
	for (int64_t epoch = 0; epoch < 8; epoch++) {
		int64_t begin = 25000 * epoch;
		scene_range(s, s->main, begin, begin + 24000, numbered(s, "epoch %d", (int)epoch));
		for (int k = 0; k < 20; k++) {
			int64_t t = begin + 1000 * k;
			scene_range(s, s->main, t + 10, t + 950, numbered(s, "batch %d", k));
			kernel(s, s->main, t + 110, t + 120, t + 900);
		}
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "batch #");
	assert_int_equal(side->runs[0].n_steps, 160);
}

/* A solver's iterations are the steps, not what holds five and more of them, each time another number. Fewer are parts.
 */
static void test_iterations_around_iterations(void **state)
{
	for (int least = 2; least <= 6; least += 4) {
		struct scene *s = *state;
		scene_trace_begin(s);
		for (int64_t i = 0; i < 9; i++) {
			int n = least + (int)(i % 3);
			scene_range(s, s->main, 10000 * i, 10000 * i + 9900, "newton_iteration");
			for (int k = 0; k < n; k++) {
				int64_t t = 10000 * i + 1000 * k;
				scene_range(s, s->main, t + 10, t + 950, "cg_iteration");
				kernel(s, s->main, t + 110, t + 120, t + 900);
			}
		}
		step_expect(s, scene_analyse(s), least > 2 ? "cg_iteration" : "newton_iteration");
	}
}

/* ---- where a step ends ---- */

static void test_host_runs_ahead(void **state)
{
	/* The host needs 10 a step, the GPU 100: ranges [20 i, 20 i + 10), kernels [200 + 100 i, 300 + 100 i). */
	struct scene *s = *state;
	for (int64_t i = 0; i < 20; i++) {
		scene_range(s, s->main, 20 * i, 20 * i + 10, "step");
		kernel(s, s->main, 20 * i + 1, 200 + 100 * i, 300 + 100 * i);
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "step");
	assert_int_equal(side->runs[0].n_periods, 19);
	for (int i = 0; i < 19; i++)
		assert_int_equal(side->runs[0].period[i], 100);
	assert_true(fabs(side->budget.compute - 100) < 1e-9 && side->budget.idle == 0);
}

static void test_step_without_ops_shares_the_next_period(void **state)
{
	/* Steps 3 and 7 of ten launch nothing (80 %): their GPU ends at 800, 1800, 2800, 4800, 5800, 6800, 8800, 9800,
	 * and the two times of 2000 are of two steps each. */
	struct scene *s = *state;
	for (int64_t i = 0; i < 10; i++) {
		scene_range(s, s->main, 1000 * i, 1000 * i + 900, "train");
		if (i != 3 && i != 7)
			kernel(s, s->main, 1000 * i + 100, 1000 * i + 200, 1000 * i + 800);
	}
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_periods, 9);
	for (int i = 0; i < 9; i++)
		assert_int_equal(side->runs[0].period[i], 1000);
}

static void test_step_that_is_overtaken_shares_the_period(void **state)
{
	/* Step 4's kernel ends inside a long one of step 3 on another stream, [3200, 4900): both end then, and each has
	 * half of the 2100 since the end of step 2. The last step might have gone the same way, and is left out. */
	struct scene *s = *state;
	steps_plain(s, 10, "train");
	maker_call(&s->m, s->main, 3150, 3160, "cudaLaunchKernel", CALL_LAUNCH, 99);
	maker_op(&s->m, s->gpu, 8, OP_KERNEL, 3200, 4900, "long", 99);
	static const int64_t periods[] = {1000, 1000, 1050, 1050, 900, 1000, 1000, 1000};
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_periods, 8);
	for (int i = 0; i < 8; i++)
		assert_int_equal(side->runs[0].period[i], periods[i]);
}

static void test_steps_that_an_op_outlives(void **state)
{
	/* A long kernel of step 1 runs until all are over: steps 1 to 9 end at 12500 and divide the 11700 since the end
	 * of step 0. To leave them out would leave one step; one of step 3 leaves three, and those are measured. */
	struct scene *s = *state;
	for (int64_t step = 1; step <= 3; step += 2) {
		scene_trace_begin(s);
		s->trace = NULL;
		steps_plain(s, 10, "train");
		maker_call(&s->m, s->main, 1000 * step + 150, 1000 * step + 160, "cudaLaunchKernel", CALL_LAUNCH, 99);
		maker_op(&s->m, s->gpu, 8, OP_KERNEL, 1000 * step + 200, 12500, "long", 99);
		const struct side *side = scene_analyse(s);
		assert_int_equal(side->runs[0].n_periods, step == 1 ? 9 : 2);
		for (size_t i = 0; i < side->runs[0].n_periods; i++)
			assert_int_equal(side->runs[0].period[i], step == 1 ? 1300 : 1000);
	}
}

static void test_ops_between_steps_end_none(void **state)
{
	/* A kernel launched between two steps ends after the second one's, but belongs to neither; it stays in the
	 * budget: 300 of compute each. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t, t + 500, "train");
		kernel(s, s->main, t + 50, t + 100, t + 600);
		kernel(s, s->main, t + 510, t + 600, t + 700);
	}
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "train");
	for (size_t i = 0; i < side->runs[0].n_periods; i++)
		assert_int_equal(side->runs[0].period[i], 1000);
	assert_true(fabs(side->budget.compute - 600) < 1e-9);
}

static void test_two_processes_make_one_series(void **state)
{
	/* Two ranks, a process each; the second one's step i ends 50 later on even steps, 50 earlier on odd ones: a
	 * step ends when the last rank has ended it. Ends: 850, 1800, 2850, 3800, …: periods 950, 1050, … */
	struct scene *s = *state;
	steps_plain(s, 10, "train");
	uint32_t rank = maker_process(&s->m, 200), thread = maker_thread(&s->m, rank, 200);
	uint32_t gpu = maker_device(&s->m, rank, 0, TRACE_NONE);
	for (uint32_t i = 0; i < 10; i++) {
		int64_t t = 1000 * (int64_t)i, end = t + (i % 2 ? 750 : 850);
		scene_range(s, thread, t + 3, t + 903, "train");
		maker_call(&s->m, thread, t + 110, t + 115, "cudaLaunchKernel", CALL_LAUNCH,
		           i + 1); /* ids come twice */
		maker_op(&s->m, gpu, 7, OP_KERNEL, t + 200, end, "gemm", i + 1);
	}
	s->warmup = 2;
	const struct side *side = scene_analyse(s);
	step_expect(s, side, "train");
	assert_int_equal(side->runs[0].n_steps, 10);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(side->runs[0].period[i], i % 2 ? 1050 : 950);
	assert_int_equal(side->n_devices, 2);
	/* Window [1800, 9800), eight steps; each device's parts add up to the same mean period. The first GPU runs 600
	 * a step, the second 650 and 550 in turns. */
	for (int k = 0; k < 2; k++) {
		assert_int_equal(side->devices[k].window_ns, 8000);
		assert_true(fabs(side->devices[k].budget.compute - 600) < 1e-9);
		assert_true(fabs(side->devices[k].budget.period - 1000) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_plain),
		SCENE(test_a_range_without_a_name),
		SCENE(test_four_are_too_few),
		SCENE(test_eighty_percent_launch),
		SCENE(test_less_than_eighty_percent_launch),
		SCENE(test_seventy_percent_of_gpu_time),
		SCENE(test_less_than_seventy_percent_of_gpu_time),
		SCENE(test_half_of_the_gpu_time_lies_around),
		SCENE(test_waiting_for_others_is_no_work),
		SCENE(test_more_than_half_of_the_gpu_time_lies_around),
		SCENE(test_small_ranges_that_launch_most),
		SCENE(test_small_ranges_alone_are_no_steps),
		SCENE(test_autograd_thread_is_not_the_step_thread),
		SCENE(test_phases_are_not_steps),
		SCENE(test_ranges_that_overlap_come_last),
		SCENE(test_ranks_that_communicate_are_ranks),
		SCENE(test_ranges_around_all_steps),
		SCENE(test_counter_in_the_step_name),
		SCENE(test_hash_counter),
		SCENE(test_names_of_phases),
		SCENE(test_counter_that_runs_within_a_step),
		SCENE(test_counter_that_begins_anew),
		SCENE(test_iterations_around_iterations),
		SCENE(test_host_runs_ahead),
		SCENE(test_step_without_ops_shares_the_next_period),
		SCENE(test_step_that_is_overtaken_shares_the_period),
		SCENE(test_steps_that_an_op_outlives),
		SCENE(test_ops_between_steps_end_none),
		SCENE(test_two_processes_make_one_series),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
