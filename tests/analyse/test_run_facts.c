/* What is known of a run besides its budget: where its steps come from, what the capture cuts, start-up, clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "said.h"
#include "scene.h"

#include <math.h>
#include <string.h>

/* Steps of 1000 from `from`: range [t, t + 900), one kernel [t + 200, t + 800) launched at t + 100. */
static void steps_at(struct scene *s, int64_t from, int n)
{
	for (int64_t t = from; t < from + 1000 * (int64_t)n; t += 1000) {
		scene_range(s, s->main, t, t + 900, "train");
		scene_kernel(s, s->main, t + 100, t + 105, t + 200, t + 800);
	}
}

static bool is_noted(const struct side *side, const char *words)
{
	return said_in(&side->quality.notes, NULL, words) != NULL;
}

static void test_coverage(void **state)
{
	/* Ten steps of 600, and 2000 of other work before and after them: 6000 of 8000. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 0, 5, 100, 1100);
	steps_at(s, 2000, 10);
	scene_kernel(s, s->main, 13000, 13005, 13100, 14100);
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->steps.origin, STEPS_BY_RANGE);
	assert_true(fabs(side->steps.coverage - 0.75) < 1e-12);
	assert_int_equal(side->steps.ranks, 1);
	assert_true(side->startup.ns == 2000);
	assert_false(is_noted(side, "cuts") || is_noted(side, "clocks"));
}

static void test_phases_of_ranks_are_means(void **state)
{
	/* Two ranks, each with a phase of 300 in every step of 1000. */
	struct scene *s = *state;
	uint32_t process = maker_process(&s->m, 200), second = maker_thread(&s->m, process, 200);
	uint32_t gpu = maker_device(&s->m, process, 0, TRACE_NONE);
	s->m.trace->processes[s->process].rank = 0;
	s->m.trace->processes[process].rank = 1;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t, t + 900, "train");
		scene_range(s, s->main, t + 50, t + 350, "forward");
		scene_kernel(s, s->main, t + 100, t + 105, t + 200, t + 800);
		scene_range(s, second, t, t + 900, "train");
		scene_range(s, second, t + 50, t + 350, "forward");
		uint32_t id = ++s->correlation;
		maker_call(&s->m, second, t + 100, t + 105, "cudaLaunchKernel", CALL_LAUNCH, id);
		maker_op(&s->m, gpu, 7, OP_KERNEL, t + 200, t + 800, "gemm", id);
	}
	const struct side *side = scene_analyse(s);
	const struct phase_result *forward = NULL;
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == scene_name(s, "forward"))
			forward = &side->phases[i];
	assert_int_equal(side->steps.ranks, 2);
	assert_non_null(forward);
	assert_float_equal(forward->host, 300, 1e-9);
	assert_float_equal(forward->instances, 1, 1e-9);
}

/* Two processes, as many steps each, are ranks; where one makes half as many, each makes its own. */
static void test_workers_are_no_ranks(void **state)
{
	struct scene *s = *state;
	for (int half = 0; half < 2; half++) {
		scene_trace_begin(s);
		uint32_t process = maker_process(&s->m, 200), second = maker_thread(&s->m, process, 200);
		uint32_t gpu = maker_device(&s->m, process, 0, TRACE_NONE);
		steps_at(s, 0, 40);
		for (int64_t t = 0; t < 40000; t += half ? 2000 : 1000) {
			uint32_t id = ++s->correlation;
			scene_range(s, second, t, t + 900, "train");
			maker_call(&s->m, second, t + 100, t + 105, "cudaLaunchKernel", CALL_LAUNCH, id);
			maker_op(&s->m, gpu, 7, OP_KERNEL, t + 200, t + 700, "gemm", id);
		}
		assert_int_equal(scene_analyse(s)->ranks.n, half ? 0 : 2);
	}
}

static void test_findings_name_no_phase_that_nobody_marked(void **state)
{
	/* A loop without ranges: a wait for the GPU in every cycle, and half of it idle. */
	enum { US = 1000 };
	struct scene *s = *state;
	for (int64_t t = 0; t < 60 * 200 * US; t += 200 * US) {
		for (int64_t k = 0; k < 4; k++)
			scene_kernel(s, s->main, t + 25 * k * US, t + 25 * k * US + 2 * US, t + 25 * k * US + 3 * US,
			             t + 25 * k * US + 23 * US);
		scene_call(s, s->main, t + 80 * US, t + 99 * US, "cudaDeviceSynchronize", CALL_SYNC);
	}
	const struct side *side = scene_analyse(s);
	assert_true(side->phases_by_work);
	assert_true(side->n_phases > 0);
	assert_true(s->result.findings.n > 0);
	for (uint32_t i = 0; i < s->result.findings.n; i++)
		assert_int_equal(s->result.findings.list[i].phase[0], 0);
}

static void test_ops_without_a_launch_are_noted(void **state)
{
	/* One of 201 is half a percent, and one of 41 two. */
	struct scene *s = *state;
	steps_at(s, 0, 200);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, 5900, 5950, "gemm", 0);
	assert_false(is_noted(scene_analyse(s), "no launch call"));
	scene_trace_begin(s);
	steps_at(s, 0, 40);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, 5900, 5950, "gemm", 0);
	assert_true(is_noted(scene_analyse(s), "2 % of the measured GPU operations have no launch call"));
}

/* What a collector says in no words says nothing. */
static void test_silent_diagnostics(void **state)
{
	struct scene *s = *state;
	struct trace_diagnostic said[] = {{.severity = 2}, {.severity = 3, .text = names_add_text(&s->names, "lost")}};
	steps_at(s, 0, 10);
	s->m.trace->diagnostics = said;
	s->m.trace->n_diagnostics = 2;
	const struct quality *q = &scene_analyse(s)->quality;
	assert_int_equal(q->n_diagnostics, 1);
	assert_string_equal(names_text(&s->names, q->diagnostics[0].text), "lost");
}

static void test_open_step_is_left_out(void **state)
{
	/* The eleventh was open when the capture ended, and its kernel ran: nine periods all the same. */
	struct scene *s = *state;
	steps_at(s, 0, 11);
	s->m.trace->ranges.clipped[10] = 1;
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_periods, 9);
	assert_true(is_noted(side, "cuts the last step of"));
}

static void test_step_whose_launch_never_ran_is_left_out(void **state)
{
	struct scene *s = *state;
	steps_at(s, 0, 11);
	scene_call(s, s->main, 10850, 10860, "cudaLaunchKernel", CALL_LAUNCH);
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_periods, 9);
	assert_true(is_noted(side, "cuts the last step of"));
}

static void test_steps_that_were_queued_at_the_end_are_steps(void **state)
{
	/* The host was four steps ahead when the capture ended: they launched work that never ran. */
	struct scene *s = *state;
	steps_at(s, 0, 12);
	for (int64_t t = 12000; t < 16000; t += 1000) {
		scene_range(s, s->main, t, t + 900, "train");
		scene_call(s, s->main, t + 100, t + 110, "cudaLaunchKernel", CALL_LAUNCH);
	}
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->steps.origin, STEPS_BY_RANGE);
	assert_int_equal(side->runs[0].n_periods, 11);
	assert_true(is_noted(side, "cuts the last 4 steps of"));
}

static void test_more_than_half_may_have_been_queued(void **state)
{
	/* Five ran, the sixth in part, and six were queued. */
	struct scene *s = *state;
	steps_at(s, 0, 6);
	scene_call(s, s->main, 5850, 5860, "cudaLaunchKernel", CALL_LAUNCH);
	for (int64_t t = 6000; t < 12000; t += 1000) {
		scene_range(s, s->main, t, t + 900, "train");
		scene_call(s, s->main, t + 100, t + 110, "cudaLaunchKernel", CALL_LAUNCH);
	}
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_steps, 5);
	assert_true(is_noted(side, "cuts the last 7 steps of"));
}

static void test_launches_that_never_run_cut_nothing(void **state)
{
	/* One in every step: a failing launch, or one whose rows were lost. */
	struct scene *s = *state;
	steps_at(s, 0, 11);
	for (int64_t t = 0; t < 11000; t += 1000)
		scene_call(s, s->main, t + 850, t + 860, "cudaLaunchKernel", CALL_LAUNCH);
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->runs[0].n_periods, 10);
	assert_false(is_noted(side, "cuts"));
}

static void test_startup_without_steps(void **state)
{
	/* Modules are loaded on [1000, 5000), one more late on, which is no start-up. */
	struct scene *s = *state;
	scene_call(s, s->main, 1000, 5000, "cuModuleLoadData", CALL_MODULE);
	for (int64_t t = 6000; t < 30000; t += 7000) /* four: too few to be steps */
		scene_kernel(s, s->main, t, t + 10, t + 20, t + 600);
	scene_call(s, s->main, 50000, 51000, "cuModuleLoadData", CALL_MODULE);
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->steps.origin, STEPS_NONE);
	assert_true(side->startup.ns == 4000);
}

static void test_phases_that_touch(void **state)
{
	/* Two ranges of one name in every step, the second from where the first ends, and in that one more of the name:
	 * two phases a step. */
	struct scene *s = *state;
	for (int64_t t = 0; t < 10000; t += 1000) {
		scene_range(s, s->main, t + 50, t + 400, "half");
		scene_range(s, s->main, t + 400, t + 700, "half");
		scene_range(s, s->main, t + 450, t + 500, "half");
	}
	steps_at(s, 0, 10);
	const struct side *side = scene_analyse(s);
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == scene_name(s, "half")) {
			assert_true(fabs(side->phases[i].instances - 2) < 1e-12);
			assert_true(fabs(side->phases[i].host - 650) < 1e-9);
			return;
		}
	fail();
}

static double part_of(const struct side *side, enum startup_part part)
{
	for (uint32_t i = 0; i < side->startup.n_rows; i++)
		if (side->startup.row[i].part == part)
			return side->startup.row[i].ns;
	return 0;
}

static void test_parts_of_a_startup(void **state)
{
	/* The second call makes the context, the second launch of a kernel is no first one, and what the steps launch
	 * is none of it. */
	struct scene *s = *state;
	maker_os_call(&s->m, s->main, 0, 300, "read", OS_OTHER);
	scene_call(s, s->main, 1000, 1200, "cuInit", CALL_OTHER);
	scene_call(s, s->main, 1300, 2300, "cudaMalloc", CALL_ALLOC);
	scene_call(s, s->main, 2400, 2500, "cudaMalloc", CALL_ALLOC);
	scene_call(s, s->main, 2600, 2900, "cuModuleLoadData", CALL_MODULE);
	scene_kernel(s, s->main, 3000, 3400, 3410, 3450);
	scene_kernel(s, s->main, 3500, 3550, 3560, 3600);
	scene_call(s, s->main, 3600, 3670, "cudaStreamCreate", CALL_OTHER);
	maker_os_call(&s->m, s->main, 3700, 3900, "read", OS_OTHER);
	steps_at(s, 5000, 10);
	const struct side *side = scene_analyse(s);
	assert_true(side->startup.ns == 5000 && side->startup.least == 5000 && side->startup.most == 5000);
	assert_false(side->startup.whole);
	assert_true(part_of(side, STARTUP_BEFORE_CUDA) == 1000);
	assert_true(part_of(side, STARTUP_CUDA_SETUP) == 200 + 1000 + 70);
	assert_true(part_of(side, STARTUP_ALLOC) == 100);
	assert_true(part_of(side, STARTUP_MODULE_LOAD) == 300);
	assert_true(part_of(side, STARTUP_FIRST_LAUNCHES) == 400);
	assert_true(part_of(side, STARTUP_LAUNCH_API) == 50);
	assert_true(part_of(side, STARTUP_HOST_BLOCKED) == 200);
	assert_true(part_of(side, STARTUP_HOST_CODE) == 5000 - 1000 - 1270 - 100 - 300 - 400 - 50 - 200);
	assert_int_equal(side->startup.n_rows, 8);
	assert_true(side->startup.pause == 5000 - 3670); /* in the file and out of it, it makes no call */
}

static void test_first_launches_are_first_by_their_calls(void **state)
{
	/* What is launched first has to wait: the kernel that is launched second runs before it. */
	struct scene *s = *state;
	scene_call(s, s->main, 1300, 2300, "cudaMalloc", CALL_ALLOC);
	scene_kernel(s, s->main, 3000, 3400, 4000, 4040);
	scene_kernel(s, s->main, 3500, 3550, 3560, 3600);
	steps_at(s, 5000, 10);
	const struct side *side = scene_analyse(s);
	assert_true(part_of(side, STARTUP_FIRST_LAUNCHES) == 400);
	assert_true(part_of(side, STARTUP_LAUNCH_API) == 50);
}

static void test_startup_is_whole_where_every_run_has_it(void **state)
{
	/* Of two runs one says when its program was started. */
	struct scene *s = *state;
	static const struct analyse_options defaults = {.warmup = -1, .gates.max_regression = -1};
	for (int known = 0; known < 3; known++) {
		struct analyse_run runs[2];
		struct err err = {0};
		for (int r = 0; r < 2; r++) {
			scene_trace_begin(s);
			scene_call(s, s->main, 4000 + r, 4100, "cuInit", CALL_OTHER);
			steps_at(s, 5000 + 1000 * r, 10);
			s->m.trace->source.began = known == 2 || known == r ? 0 : TRACE_NO_TIME;
			runs[r] = (struct analyse_run){.trace = maker_link(&s->m), .file = r ? "second" : "first"};
		}
		if (analyse_side(runs, 2, &defaults, &s->names, &s->arena, &s->result, &err))
			fail_msg("%s", err.text);
		assert_int_equal(s->result.side[0].startup.whole, known == 2);
	}
}

static void test_startup_from_the_programs_start(void **state)
{
	struct scene *s = *state;
	scene_call(s, s->main, 4000, 4100, "cuInit", CALL_OTHER);
	steps_at(s, 5000, 10);
	s->m.trace->source.began = 0;
	const struct side *side = scene_analyse(s);
	assert_true(side->startup.ns == 5000 && side->startup.whole);
	assert_true(part_of(side, STARTUP_BEFORE_CUDA) == 4000);
	assert_true(part_of(side, STARTUP_CUDA_SETUP) == 100 && part_of(side, STARTUP_HOST_CODE) == 900);
}

static void test_search_in_a_startup(void **state)
{
	/* Two rounds of an autotuner's, 1 ms apart: one search, whatever is called meanwhile. */
	struct scene *s = *state;
	uint32_t name = scene_name(s, "RedzoneAllocatorKernel");
	scene_call(s, s->main, 0, 1000, "cudaMalloc", CALL_ALLOC);
	for (int64_t t = 10000; t < 2000000; t += 1000000) {
		scene_kernel(s, s->main, t, t + 10, t + 20, t + 600);
		s->m.trace->ops.name[s->m.trace->ops.n - 1] = name;
	}
	steps_at(s, 5000000, 10);
	const struct side *side = scene_analyse(s);
	assert_true(part_of(side, STARTUP_SEARCH) == 1000600);
	assert_true(part_of(side, STARTUP_CUDA_SETUP) == 1000);
	assert_true(part_of(side, STARTUP_HOST_CODE) == 5000000 - 1000600 - 1000);
}

/* `n` candidates from `from` on, 10 µs apart: `marks` events and a call that asks for the time between them. */
static void time_candidates(struct scene *s, int64_t from, int n, int marks, const char *ask)
{
	for (int64_t t = from; t < from + 10000 * (int64_t)n; t += 10000) {
		for (int64_t mark = 0; mark < marks; mark++)
			scene_call(s, s->main, t + 500 * mark, t + 500 * mark + 10, "cudaEventRecord", CALL_OTHER);
		bool waits = strstr(ask, "Synchronize");
		scene_call(s, s->main, t + 520, t + 600, ask, waits ? CALL_SYNC : CALL_OTHER);
	}
}

static double search_of(struct scene *s, int n, int marks, const char *ask, const char *in_steps)
{
	scene_trace_begin(s);
	scene_call(s, s->main, 0, 1000, "cudaMalloc", CALL_ALLOC);
	time_candidates(s, 10000, n, marks, ask);
	steps_at(s, 100000, 10);
	for (int64_t t = 100000; in_steps && t < 110000; t += 1000) {
		scene_call(s, s->main, t + 110, t + 115, "cudaEventRecord", CALL_OTHER);
		scene_call(s, s->main, t + 120, t + 125, "cudaEventRecord", CALL_OTHER);
		scene_call(s, s->main, t + 130, t + 135, in_steps, CALL_OTHER);
	}
	return part_of(scene_analyse(s), STARTUP_SEARCH);
}

static void test_timing_candidates_is_a_search(void **state)
{
	/* From the first event to the last time, if there are three times or more. Where the collector leaves that
	 * call out, the wait for the second event shows it, and a wait for one event does not. */
	static const char asks[] = "cudaEventElapsedTime", waits[] = "cudaEventSynchronize";
	struct scene *s = *state;
	assert_true(search_of(s, 4, 2, asks, NULL) == 30600);
	assert_true(search_of(s, 3, 2, asks, NULL) == 20600);
	assert_true(search_of(s, 2, 2, asks, NULL) == 0);
	assert_true(search_of(s, 4, 2, waits, NULL) == 30600);
	assert_true(search_of(s, 4, 1, waits, NULL) == 0);
	/* A program that takes times in its steps times itself. */
	assert_true(search_of(s, 4, 2, asks, asks) == 0);
	/* One that asks in its steps shows that the call is recorded: a wait is none. */
	assert_true(search_of(s, 4, 2, waits, asks) == 0);
}

static void test_the_thread_that_starts_up(void **state)
{
	/* A loop without ranges, on a thread that had nothing to do before: another one of its process launched what
	 * came first. What another process launched before is nobody's start-up here. */
	enum { US = 1000 };
	struct scene *s = *state;
	uint32_t process = maker_process(&s->m, 200), foreign = maker_thread(&s->m, process, 200);
	uint32_t gpu = maker_device(&s->m, process, 1, TRACE_NONE), id = ++s->correlation;
	maker_call(&s->m, foreign, 1 * US, 2 * US, "cudaLaunchKernel", CALL_LAUNCH, id);
	maker_op(&s->m, gpu, 7, OP_KERNEL, 3 * US, 4 * US, "probe", id);
	scene_call(s, s->other, 5 * US, 9 * US, "cudaMalloc", CALL_ALLOC);
	scene_kernel(s, s->other, 10 * US, 17 * US, 18 * US, 19 * US);
	for (int64_t t = 1000 * US; t < (1000 + 60 * 200) * US; t += 200 * US) {
		for (int64_t k = 0; k < 4; k++)
			scene_kernel(s, s->main, t + 25 * k * US, t + (25 * k + 2) * US, t + (25 * k + 3) * US,
			             t + (25 * k + 23) * US);
		scene_call(s, s->main, t + 80 * US, t + 99 * US, "cudaDeviceSynchronize", CALL_SYNC);
	}
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->steps.origin, STEPS_BY_PATTERN);
	assert_true(part_of(side, STARTUP_CUDA_SETUP) == 4 * US);
	assert_true(part_of(side, STARTUP_FIRST_LAUNCHES) == 7 * US);
}

static void test_clocks_that_disagree(void **state)
{
	/* A kernel 20 µs before its launch is within what clocks differ by, one of 21 µs is not. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 120000, 120010, 100000, 101000);
	scene_kernel(s, s->main, 140000, 140010, 150000, 151000);
	assert_false(is_noted(scene_analyse(s), "clocks"));
	scene_trace_begin(s);
	scene_kernel(s, s->main, 121000, 121010, 100000, 101000);
	scene_kernel(s, s->main, 140000, 140010, 150000, 151000);
	const struct side *side = scene_analyse(s);
	assert_true(is_noted(side, "1 of 2 GPU operations of hand-made starts before"));
	assert_true(is_noted(side, "up to 21 µs"));
}

/* Forty steps of 100 kernels' length and a pause of 60: the first one slow by itself, and nine that fall to the others'
 * length, as their kernels have fewer and fewer blocks, or for no reason that is known. */
static uint32_t left_out_of_a_falling_start(struct scene *s, bool range, bool larger)
{
	scene_trace_begin(s);
	int64_t t = 0;
	for (int k = 0; k < 40; k++) {
		int64_t work = k < 10 ? 3000 - 200 * k : 1000, cold = k ? 0 : 9000;
		if (range)
			scene_range(s, s->main, t, t + work + cold + 40, "train");
		for (int64_t i = 0; i < 10; i++) {
			int64_t from = t + cold + i * work / 10;
			scene_kernel(s, s->main, from, from + 5, from + 10, from + work / 10 - 10);
			s->m.trace->ops.bytes[s->m.trace->ops.n - 1] = larger ? work / 10 : 100;
		}
		scene_call(s, s->main, t + cold + work + 1, t + cold + work + 30, "cudaDeviceSynchronize", CALL_SYNC);
		t += cold + work + 60;
	}
	const struct side *side = scene_analyse(s);
	assert_true(side->steps.found);
	return (uint32_t)side->runs[0].warmup;
}

static void test_larger_kernels_are_no_warmup(void **state)
{
	struct scene *s = *state;
	for (int range = 0; range < 2; range++) {
		uint32_t slow = left_out_of_a_falling_start(s, range, false);
		assert_in_range(slow, 8, 11);
		assert_int_equal(left_out_of_a_falling_start(s, range, true), 1);
	}
}

static void test_no_steps_asked_for(void **state)
{
	struct scene *s = *state;
	steps_at(s, 0, 10);
	s->step = "none";
	const struct side *side = scene_analyse(s);
	assert_false(side->steps.found);
	assert_int_equal(side->runs[0].window_ns, 9600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_coverage),
		SCENE(test_phases_of_ranks_are_means),
		SCENE(test_workers_are_no_ranks),
		SCENE(test_ops_without_a_launch_are_noted),
		SCENE(test_findings_name_no_phase_that_nobody_marked),
		SCENE(test_silent_diagnostics),
		SCENE(test_open_step_is_left_out),
		SCENE(test_step_whose_launch_never_ran_is_left_out),
		SCENE(test_steps_that_were_queued_at_the_end_are_steps),
		SCENE(test_more_than_half_may_have_been_queued),
		SCENE(test_launches_that_never_run_cut_nothing),
		SCENE(test_startup_without_steps),
		SCENE(test_phases_that_touch),
		SCENE(test_parts_of_a_startup),
		SCENE(test_startup_from_the_programs_start),
		SCENE(test_search_in_a_startup),
		SCENE(test_timing_candidates_is_a_search),
		SCENE(test_the_thread_that_starts_up),
		SCENE(test_first_launches_are_first_by_their_calls),
		SCENE(test_startup_is_whole_where_every_run_has_it),
		SCENE(test_clocks_that_disagree),
		SCENE(test_larger_kernels_are_no_warmup),
		SCENE(test_no_steps_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
