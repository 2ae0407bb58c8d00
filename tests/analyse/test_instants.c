/* At which step ranges a timed run takes the time: scenes whose counts can be told by looking at them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/instants.h"
#include "scene.h"

enum { STEPS = 60, PERIOD = 1000000, LAG = 3000000 };

static void add_call(struct scene *s, uint32_t thread, int64_t at, const char *name)
{
	scene_call(s, thread, at, at + 10, name, CALL_OTHER);
}

/* Steps 0 to 59 of a millisecond on the host; the GPU ends each three milliseconds later. */
static void add_step(struct scene *s, uint32_t thread, int i, const char *name)
{
	int64_t t = (int64_t)i * PERIOD;
	scene_range(s, thread, t, t + PERIOD - 1000, name);
	scene_kernel(s, thread, t + 100, t + 200, t + PERIOD - 1000 + LAG - 900000, t + PERIOD - 1000 + LAG);
}

static void add_steps(struct scene *s, uint32_t thread)
{
	for (int i = 0; i < STEPS; i++)
		add_step(s, thread, i, "step");
}

static struct instants find(struct scene *s, int warmup)
{
	struct instants at;
	struct err err = {0};
	trace_link(s->m.trace, &s->arena);
	const struct instants_request how = {NULL, NULL, warmup};
	if (instants_find((const struct trace *const[]){s->m.trace}, 1, &how, &s->arena, &at, &err))
		fail_msg("%s", err.text);
	return at;
}

static void test_first_and_last(void **state)
{
	struct scene *s = *state;
	add_steps(s, s->main);
	struct instants at = find(s, 5);
	assert_null(at.unknown);
	assert_string_equal(at.step, "step");
	assert_string_equal(at.domain, "");
	assert_int_equal(at.first, 5);
	assert_int_equal(at.last, STEPS);
	assert_int_equal(at.steps, STEPS - 5);
	assert_int_equal(at.processes, 1);
	assert_int_equal(at.lag_ns, LAG);
}

/* Ranges of the name that are no steps, on a thread without GPU work, count all the same: the program's own order says
 * which is the 60th. */
static void test_other_ranges_of_the_name(void **state)
{
	struct scene *s = *state;
	add_steps(s, s->main);
	for (int i = 0; i < 10; i++)
		scene_range(s, s->other, 30 * PERIOD + i * 1000, 30 * PERIOD + i * 1000 + 500, "step");
	struct instants at = find(s, 5);
	assert_null(at.unknown);
	assert_int_equal(at.first, 5);
	assert_int_equal(at.last, STEPS + 10);
	assert_int_equal(at.steps, STEPS - 5);
}

/* Two workers of one process: each instance is a step. */
static void test_workers(void **state)
{
	struct scene *s = *state;
	for (int i = 0; i < STEPS; i++)
		add_step(s, i % 2 ? s->other : s->main, i, "step");
	struct instants at = find(s, 4);
	assert_null(at.unknown);
	assert_int_equal(at.first, 4);
	assert_int_equal(at.last, STEPS);
	assert_int_equal(at.steps, STEPS - 4);
}

/* The step thread captures a graph in the last warm-up step and in the last one, until the next would begin: the
 * neighbours are taken. */
static void test_captures_of_the_step_thread(void **state)
{
	struct scene *s = *state;
	add_steps(s, s->main);
	add_call(s, s->main, 4 * PERIOD + 500, "cudaStreamBeginCapture");
	add_call(s, s->main, 5 * PERIOD + 500, "cudaStreamEndCapture");
	add_call(s, s->main, (STEPS - 1) * PERIOD + 500, "cuStreamBeginCapture_v2");
	struct instants at = find(s, 5);
	assert_null(at.unknown);
	assert_int_equal(at.first, 6);
	assert_int_equal(at.last, STEPS - 1);
	assert_int_equal(at.steps, STEPS - 1 - 6);
}

/* A capture within a step of the same thread disturbs nobody. */
static void test_capture_inside_a_step(void **state)
{
	struct scene *s = *state;
	add_steps(s, s->main);
	add_call(s, s->main, 4 * PERIOD + 500, "cudaStreamBeginCapture");
	add_call(s, s->main, 4 * PERIOD + 800, "cudaStreamEndCapture");
	assert_int_equal(find(s, 5).first, 5);
}

/* Another thread's are kept away from: 50 ms here, as steps are short. */
static void test_captures_of_another_thread(void **state)
{
	struct scene *s = *state;
	for (int i = 0; i < 4 * STEPS; i++)
		add_step(s, s->main, i, "step");
	add_call(s, s->other, 10 * PERIOD, "cudaStreamBeginCapture");
	add_call(s, s->other, 11 * PERIOD, "cudaStreamEndCapture");
	struct instants at = find(s, 5);
	assert_null(at.unknown);
	assert_int_equal(at.first, 11 + 51);
	assert_int_equal(at.last, 4 * STEPS);
}

static void test_captures_all_along(void **state)
{
	struct scene *s = *state;
	add_steps(s, s->main);
	for (int i = 0; i < STEPS; i += 10) {
		add_call(s, s->other, i * (int64_t)PERIOD, "cudaStreamBeginCapture");
		add_call(s, s->other, (i + 9) * (int64_t)PERIOD, "cudaStreamEndCapture");
	}
	struct instants at = find(s, 5);
	assert_true(at.steps > 0);
	assert_non_null(at.unknown);
}

/* No range marks a step: launches are counted, the driver's call inside the runtime's and other calls not, of all
 * threads of the process. */
static void test_launches(void **state)
{
	struct scene *s = *state;
	for (int i = 0; i < STEPS; i++) {
		int64_t t = (int64_t)i * PERIOD;
		for (int k = 0; k < 3; k++) {
			static const char *const kernels[] = {"gemm", "relu", "softmax"};
			int64_t at = t + 1000 * k;
			maker_call(&s->m, s->main, at, at + 200, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
			maker_op(&s->m, s->gpu, 7, OP_KERNEL, at + LAG, at + LAG + 500, kernels[k], s->correlation);
			scene_call(s, s->main, at + 50, at + 150, "cuLaunchKernel", CALL_LAUNCH);
		}
		add_call(s, s->main, t + 5000, "cudaStreamSynchronize");
		add_call(s, s->other, t + 6000, "cudaLaunchHostFunc");
	}
	add_call(s, s->other, 10, "cudaGraphLaunch");
	struct instants at = find(s, 5);
	assert_null(at.unknown);
	assert_int_equal(at.launches, 3 * STEPS + 1);
	assert_int_equal(at.first, 3 * 5 + 1);
	assert_int_equal(at.last, 3 * STEPS + 1);
	assert_int_equal(at.steps, STEPS - 5);
	assert_string_equal(at.domain, "");
}

/* A power iteration: four times the same two kernels are a step, which one side reads back. On the other one a quarter
 * of it is all that repeats, and five steps of warm-up would be five quarters. */
static void test_units_of_both_sides(void **state)
{
	struct scene *s = *state;
	const struct trace *trace[2];
	for (int reads = 1; reads >= 0; reads--) {
		int64_t t = 0;
		scene_trace_begin(s);
		for (int i = 0; i < STEPS; i++)
			for (int k = 0; k < 8 + reads; k++, t += 100000) {
				const char *name = k == 8 ? "largest" : k % 2 ? "normalise" : "multiply";
				maker_call(&s->m, s->main, t, t + 200, "cudaLaunchKernel", CALL_LAUNCH,
				           ++s->correlation);
				maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 500, t + 90000, name, s->correlation);
			}
		trace[!reads] = maker_link(&s->m);
	}
	struct instants at[2], alone;
	struct err err = {0};
	const struct instants_request how = {NULL, NULL, 5};
	for (int swapped = 0; swapped < 2; swapped++) {
		const struct trace *const order[2] = {trace[swapped], trace[!swapped]};
		assert_int_equal(instants_find(order, 2, &how, &s->arena, at, &err), 0);
		for (int side = 0; side < 2; side++) {
			/* a cycle may be taken to begin at any of its kernels, which costs the last one */
			uint32_t launches = side == swapped ? 9 : 8;
			assert_in_range(at[side].steps, STEPS - 6, STEPS - 5);
			assert_int_equal(at[side].last - at[side].first, at[side].steps * launches);
			assert_in_range(at[side].first, 5 * launches, 6 * launches - 1);
		}
	}
	assert_int_equal(instants_find(&trace[1], 1, &how, &s->arena, &alone, &err), 0);
	assert_int_equal(alone.first, 5 * 2);
	assert_int_equal(alone.steps, 4 * STEPS - 5);
}

static void test_no_steps(void **state)
{
	struct scene *s = *state;
	for (int i = 0; i < 3; i++)
		scene_kernel(s, s->main, i * 1000 + i * i, i * 1000 + i * i + 10, i * 1000 + 500, i * 1000 + 510);
	struct instants at = find(s, -1);
	assert_int_equal(at.steps, 0);
	assert_null(at.unknown);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(test_first_and_last),
		TEST(test_other_ranges_of_the_name),
		TEST(test_workers),
		TEST(test_captures_of_the_step_thread),
		TEST(test_capture_inside_a_step),
		TEST(test_captures_of_another_thread),
		TEST(test_captures_all_along),
		TEST(test_launches),
		TEST(test_units_of_both_sides),
		TEST(test_no_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
