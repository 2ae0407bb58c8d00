/* Hand-made traces for the rules around the causes (docs/method/analysis.md, Causes): the launch-latency limit, the
 * classes of busy time, phases, ties, clipping to the window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "said.h"
#include "scene_idle.h"

#include <math.h>

/* Most traces end like this: the GPU runs A on [1000, 2000), then idles until B starts at 5000; B's launch is
 * [4900, 4950), so r = 50, far below the limit of 10 us that holds where fewer than 20 launches measure it. A was
 * launched on [900, 950). */
static void kernels_a_b(struct scene *s)
{
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
}

/* ---- the limit ---- */

/* `n` late launches one after the other; gap i is 5000 long and ends `r[i % n_r]` after its launch returned. */
static void late_launches(struct scene *s, int n, const int64_t *r, int n_r)
{
	scene_kernel(s, s->main, 50, 60, 100, 200);
	for (int i = 0; i < n; i++) {
		int64_t start = 5200 + 5100 * (int64_t)i, returned = start - r[i % n_r];
		scene_kernel(s, s->main, returned - 10, returned, start, start + 100);
	}
}

static void limit_expect(struct scene *s, int64_t limit)
{
	assert_int_equal(scene_model(s)->devices[0].limit, limit);
	assert_int_equal(llround(scene_analyse(s)->devices[0].limit_ns), limit);
}

static void test_limit_unmeasured(void **state)
{
	const int64_t r[] = {2000};
	late_launches(*state, 19, r, 1);
	limit_expect(*state, 10000); /* 19 are too few to measure */
}

static void test_limit_least(void **state)
{
	const int64_t r[] = {1400};
	late_launches(*state, 20, r, 1);
	limit_expect(*state, 3000); /* 2800 is below the least limit */
}

static void test_limit_median(void **state)
{
	const int64_t r[] = {1800, 2101};
	late_launches(*state, 20, r, 2);
	limit_expect(*state, 3900); /* (1800 + 2101) / 2 = 1950.5, floored, twice */
}

static void test_limit_median_odd(void **state)
{
	const int64_t r[] = {1700, 2100, 2600};
	late_launches(*state, 21, r, 3);
	limit_expect(*state, 4200); /* seven of each: the middle one is 2100 */
}

static void test_limit_ignores_queued(void **state)
{
	/* Twenty late ones with r = 2000; thirty that had been queued before their gap opened do not count. */
	struct scene *s = *state;
	const int64_t r[] = {2000};
	late_launches(s, 20, r, 1);
	for (int i = 0; i < 30; i++)
		scene_kernel(s, s->main, 70 + i, 71 + i, 200000 + 1000 * i, 200500 + 1000 * i);
	limit_expect(s, 4000);
}

/* ---- busy time ---- */

static void test_classes(void **state)
{
	/* A kernel [1000, 2000), communication [1500, 3000), a copy [2500, 4000), a graph [3500, 3800), a memset
	 * [4500, 5000): compute 1000 + 300, communication alone 1000, copies alone 500 + 200 + 500, idle 500. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 910, 1000, 2000);
	static const struct {
		enum op_kind kind;
		int64_t start, end;
	} ops[] = {{OP_COMM, 1500, 3000}, {OP_COPY, 2500, 4000}, {OP_GRAPH, 3500, 3800}, {OP_MEMSET, 4500, 5000}};
	for (int i = 0; i < 4; i++) {
		maker_call(&s->m, s->main, 920 + 10 * i, 925 + 10 * i, "cudaLaunchKernel", CALL_LAUNCH,
		           10 + (uint32_t)i);
		maker_op(&s->m, s->gpu, 8, ops[i].kind, ops[i].start, ops[i].end, "op", 10 + (uint32_t)i);
	}
	const struct oracle *model = scene_model(s);
	const struct budget *budget = &scene_analyse(s)->devices[0].budget;
	const double parts[] = {budget->compute, budget->comm_exposed, budget->copy_exposed, budget->idle};
	const int64_t by_hand[] = {1300, 1000, 1200, 500};
	for (int i = 0; i < 4; i++) {
		assert_int_equal(llround(parts[i]), by_hand[i]);
		assert_int_equal(model->devices[0].total[i], by_hand[i]);
	}
	assert_int_equal(llround(budget->period), 4000);
}

static void test_zero_length_ops(void **state)
{
	/* An op of no length in the gap neither fills nor splits it, and does not end it. */
	struct scene *s = *state;
	kernels_a_b(s);
	maker_op(&s->m, s->gpu, 9, OP_KERNEL, 3000, 3000, "gemm", 0);
	maker_op(&s->m, s->gpu, 9, OP_KERNEL, 5000, 5000, "gemm", 0);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2950, NULL}, {CAUSE_LAUNCH_API, NULL, 50, NULL});
}

static void test_gap_ends_with_earliest_launched(void **state)
{
	/* Two kernels start at 5000: the one launched first, on 4700-4800 (r = 200), ends the gap: [1800, 4800). */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_kernel(s, s->main, 4700, 4800, 5000, 5500);
	EXPECT(s, 0, {CAUSE_HOST_CODE, NULL, 2900, NULL}, {CAUSE_LAUNCH_API, NULL, 100, NULL});
}

/* ---- phases ---- */

static void cost_expect(struct scene *s, const char *phase, int64_t by_hand)
{
	uint32_t name = scene_name(s, phase);
	const struct oracle *model = scene_model(s);
	const struct side *side = scene_analyse(s);
	int64_t cost = 0;
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == name)
			cost = llround(side->phases[i].cost * (double)scene_steps(model));
	assert_int_equal(cost, by_hand);
	assert_int_equal(model->devices[0].cost[name], by_hand);
}

/* Six steps of 10000: range [10000 i, 10000 i + 9000), one kernel each on [10000 i + 1000, 10000 i + 2000) launched
 * by main on [.. + 100, .. + 150). Window with one warm-up step: [2000, 52000), five steps. */
static void six_steps(struct scene *s)
{
	for (int64_t t = 0; t < 60000; t += 10000) {
		scene_range(s, s->main, t, t + 9000, "step");
		scene_kernel(s, s->main, t + 100, t + 150, t + 1000, t + 2000);
	}
	s->step = "step";
	s->warmup = 1;
}

static void test_phases_of_a_step(void **state)
{
	/* Each gap [.. 2000, .. 11000) ends 850 after its launch returned, so it is charged to [.. 1150, .. 10150): per
	 * step load [1150, 5000): 3850; a range of another domain around it and one inside do not shatter it; forward
	 * [5000, 9000) with a nested gemm: 4000; after the step nothing is open for 1000; then the next step: 100
	 * before its launch, 50 in it, both without a range. The epoch contains steps: it is no phase. */
	struct scene *s = *state;
	six_steps(s);
	scene_range(s, s->main, 0, 60000, "epoch");
	for (int64_t t = 0; t < 60000; t += 10000) {
		maker_range(&s->m, s->main, t + 1100, t + 8950, "ncclAllReduce", "NCCL", RANGE_PUSH_POP);
		scene_range(s, s->main, t + 1120, t + 5000, "load");
		scene_range(s, s->main, t + 2000, t + 3000, "decode");
		scene_range(s, s->main, t + 5000, t + 9000, "forward");
		scene_range(s, s->main, t + 6000, t + 7000, "gemm_call");
	}
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 5 * 3850, NULL}, {CAUSE_HOST_CODE, "forward", 5 * 4000, NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * 1100, NULL}, {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	cost_expect(s, "load", 5 * 3850);
	cost_expect(s, "forward", 5 * 4000);
	cost_expect(s, NULL, 5 * (1150 + 1000)); /* with the kernels, launched outside any phase */
}

static void test_phase_between_steps(void **state)
{
	/* A range between two steps is a phase of its own: log on [9000, 9500) after every step. */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000)
		scene_range(s, s->main, t + 9000, t + 9500, "log");
	EXPECT(s, 0, {CAUSE_HOST_CODE, "log", 5 * 500, NULL}, {CAUSE_HOST_CODE, NULL, 5 * 8450, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
}

static void test_phase_by_start_end_range(void **state)
{
	/* A start/end range that the step thread starts inside the step is a phase like any other. */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000)
		maker_range(&s->m, s->main, t + 3000, t + 4000, "load", "", RANGE_START_END);
	EXPECT(s, 0, {CAUSE_HOST_CODE, "load", 5 * 1000, NULL}, {CAUSE_HOST_CODE, NULL, 5 * 7950, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
}

static void test_phase_inherited(void **state)
{
	/* PyTorch's backward: another thread launches the kernel [.. 4000, .. 5000) by a call [.. 3900, .. 3950) while
	 * the step thread is inside backward [.. 3000, .. 5000); the other thread's only ranges belong to another
	 * domain. The kernel's 1000 belong to backward. The gap before it, [.. 2000, .. 4000), is charged to what the
	 * other thread did on [.. 1950, .. 3950), by the step thread's ranges: 1050 code outside a phase, then 900 code
	 * and the launch, 50, in backward. The gap after it, [.. 5000, .. 11000), ends 850 after a launch by main:
	 * [.. 4150, .. 10150): 850 in backward, 5100 outside, 50 launch. */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000) {
		scene_range(s, s->main, t + 3000, t + 5000, "backward");
		maker_range(&s->m, s->other, t + 3800, t + 3990, "cub::Reduce", "CCCL", RANGE_PUSH_POP);
		scene_kernel(s, s->other, t + 3900, t + 3950, t + 4000, t + 5000);
	}
	/* Steps now end at .. 5000: the window is [5000, 55000). */
	EXPECT(s, 0, {CAUSE_HOST_CODE, "backward", 5 * (900 + 850), NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * (1050 + 5100), NULL}, {CAUSE_LAUNCH_API, "backward", 5 * 50, NULL},
	       {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	cost_expect(s, "backward", 5 * (1000 + 900 + 850 + 50));
}

static void test_phase_of_the_other_thread(void **state)
{
	/* Where the step thread has no phase open, the launching thread's own range counts: prefetch. Gap
	 * [.. 2000, .. 4000) by [.. 1950, .. 3950) of the other thread, prefetch open on [.. 3000, .. 4000). */
	struct scene *s = *state;
	six_steps(s);
	for (int64_t t = 0; t < 60000; t += 10000) {
		scene_range(s, s->other, t + 3000, t + 4000, "prefetch");
		scene_kernel(s, s->other, t + 3900, t + 3950, t + 4000, t + 5000);
	}
	EXPECT(s, 0, {CAUSE_HOST_CODE, "prefetch", 5 * 900, NULL}, {CAUSE_LAUNCH_API, "prefetch", 5 * 50, NULL},
	       {CAUSE_HOST_CODE, NULL, 5 * (1050 + 5950), NULL}, {CAUSE_LAUNCH_API, NULL, 5 * 50, NULL});
	cost_expect(s, "prefetch", 5 * (950 + 1000));
}

/* ---- graphs ---- */

/* A graph captured on [200, 400) by main, before the steps: `first` and `second` are the calls that made its two nodes,
 * in ranges forward and backward that were opened in the capture, as was the step's own range; "set up" is around all.
 * Six steps of 10000 that replay it: nodes run on [10000 i + 1000, + 3000) and [+ 3000, + 4000). */
enum { FIRST = 901, SECOND = 902 };
static void replays(struct scene *s, const char *around, uint32_t backward_thread)
{
	for (int64_t i = 0; i < 6; i++) {
		int64_t t = 10000 * (i + 1);
		uint32_t launch = 910 + (uint32_t)i;
		scene_range(s, s->main, t, t + 9000, "step");
		if (around)
			scene_range(s, s->main, t + 100, t + 200, around);
		maker_call(&s->m, s->main, t + 110, t + 150, "cudaGraphLaunch", CALL_LAUNCH, launch);
		maker_created(&s->m, maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 1000, t + 3000, "gemm", launch), FIRST);
		maker_created(&s->m, maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 3000, t + 4000, "relu", launch), SECOND);
	}
	scene_range(s, s->main, 100, 500, "set up");
	maker_call(&s->m, s->main, 200, 201, "cudaStreamBeginCapture", CALL_OTHER, 900);
	scene_range(s, s->main, 205, 395, "step");
	scene_range(s, s->main, 210, 290, "forward");
	scene_range(s, s->main, 220, 280, "layer");
	maker_call(&s->m, s->main, 230, 240, "cudaLaunchKernel", CALL_LAUNCH, FIRST);
	scene_range(s, s->main, 300, 390, "backward");
	maker_call(&s->m, backward_thread, 310, 320, "cudaLaunchKernel", CALL_LAUNCH, SECOND);
	maker_call(&s->m, s->main, 400, 410, "cudaStreamEndCapture", CALL_OTHER, 903);
	s->step = "step";
	s->warmup = 2; /* the captured one and one more */
}

static void test_a_graph_that_is_the_step_has_the_phases_of_its_capture(void **state)
{
	struct scene *s = *state;
	replays(s, NULL, s->main);
	cost_expect(s, "forward", 5 * 2000);
	cost_expect(s, "backward", 5 * 1000);
	cost_expect(s, "set up", 0); /* it is around the capture */
	cost_expect(s, "layer", 0);  /* deeper */
	assert_null(said_in(&s->result.side[0].quality.notes, NULL, "nodes of CUDA graphs"));
}

static void test_what_another_thread_captured_is_of_the_step_thread_s_phase(void **state)
{
	struct scene *s = *state;
	replays(s, NULL, s->other); /* as PyTorch's backward */
	cost_expect(s, "forward", 5 * 2000);
	cost_expect(s, "backward", 5 * 1000);
}

static void test_updates_are_said(void **state)
{
	struct scene *s = *state;
	for (int updates = 0; updates < 3; updates++) {
		scene_trace_begin(s);
		replays(s, NULL, s->main);
		for (int i = 0; i < updates; i++)
			maker_call(&s->m, s->main, 450 + 10 * i, 455 + 10 * i, "cudaGraphExecUpdate", CALL_OTHER, 0);
		cost_expect(s, "forward", 5 * 2000);
		static const char *const said[] = {NULL, "updated 1 time (", "updated 2 times ("};
		const struct facts *notes = &s->result.side[0].quality.notes;
		if (updates)
			assert_non_null(said_in(notes, NULL, said[updates]));
		else
			assert_null(said_in(notes, NULL, "cudaGraphExecUpdate"));
	}
}

static void test_a_replay_in_a_phase_is_of_that(void **state)
{
	/* torch.cuda.make_graphed_callables: what was captured stands in the place of what would be called there. */
	struct scene *s = *state;
	replays(s, "decoder", s->main);
	cost_expect(s, "forward", 0);
	cost_expect(s, "backward", 0);
	const struct side *side = &s->result.side[0];
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == scene_name(s, "decoder"))
			assert_int_equal(llround(side->phases[i].gpu), 3000);
}

/* A child graph that is captured in between, in ranges of this one, is another graph: what is captured afterwards is of
 * this one again. */
static void test_a_capture_inside_another_ends(void **state)
{
	struct scene *s = *state;
	replays(s, NULL, s->main);
	maker_call(&s->m, s->main, 301, 302, "cudaStreamBeginCapture", CALL_OTHER, 904);
	maker_call(&s->m, s->main, 303, 304, "cudaStreamBeginCapture", CALL_OTHER, 905);
	maker_call(&s->m, s->main, 305, 306, "cudaStreamEndCapture", CALL_OTHER, 906);
	maker_call(&s->m, s->main, 307, 308, "cudaStreamEndCapture", CALL_OTHER, 907);
	cost_expect(s, "forward", 5 * 2000);
	cost_expect(s, "backward", 5 * 1000);
}

static void test_a_child_s_nodes_are_not_of_the_ranges_around_it(void **state)
{
	struct scene *s = *state;
	replays(s, NULL, s->main);
	maker_call(&s->m, s->main, 301, 302, "cudaStreamBeginCapture", CALL_OTHER, 904);
	maker_call(&s->m, s->main, 330, 340, "cudaStreamEndCapture", CALL_OTHER, 905);
	cost_expect(s, "forward", 5 * 2000);
	cost_expect(s, "backward", 0); /* opened before the child was begun */
}

static void test_nodes_of_which_nothing_is_known_have_no_phase(void **state)
{
	static const struct {
		enum source_kind kind;
		const char *cupti;
		bool whole, none; /* recorded from the program's start; nothing is known of any node */
		const char *why;
	} cases[] = {{SOURCE_NSYS_SQLITE, "", false, false, "made before recording began"},
	             {SOURCE_GAPLINE, "", true, false, "made before recording began"}, /* through nsys */
	             {SOURCE_GAPLINE, "13.0.1", false, true, "made before recording began"},
	             {SOURCE_GAPLINE, "13.0.1", true, true, "its CUPTI did not say who makes nodes"},
	             {SOURCE_GAPLINE, "13.0.1", true, false, "but CUPTI did not say who made these"},
	             {SOURCE_KINETO, "", false, true, "The PyTorch profiler does not record captures"}};
	struct scene *s = *state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		scene_trace_begin(s);
		replays(s, NULL, s->main);
		s->m.trace->source.kind = cases[k].kind;
		s->m.trace->source.cupti = cases[k].cupti;
		s->m.trace->source.began = cases[k].whole ? 0 : TRACE_NO_TIME;
		for (size_t i = 0; i < s->m.trace->ops.n; i++)
			if (cases[k].none || s->m.trace->ops.creation[i] == SECOND)
				s->m.trace->ops.creation[i] = 0;
		cost_expect(s, "forward", cases[k].none ? 0 : 5 * 2000);
		cost_expect(s, "backward", 0);
		const struct facts *notes = &s->result.side[0].quality.notes;
		assert_non_null(said_in(notes, NULL,
		                        cases[k].none ? "100 % of the GPU time is nodes of CUDA graphs"
		                                      : "33 % of the GPU time is nodes of CUDA graphs"));
		assert_non_null(said_in(notes, NULL, cases[k].why));
	}
}

static void test_a_capture_whose_begin_is_not_known_says_nothing(void **state)
{
	struct scene *s = *state;
	replays(s, NULL, s->main);
	for (size_t i = 0; i < s->m.trace->calls.n; i++)
		if (s->m.trace->calls.correlation[i] == 900)
			s->m.trace->calls.start[i] = s->m.trace->calls.end[i] = 450;
	cost_expect(s, "forward", 0);
}

static void test_overlapped_communication_costs_nothing(void **state)
{
	/* Communication [2000, 4000) launched in sync_grads runs beside a kernel of backward [1000, 3500): 2000 of GPU
	 * time, 500 of cost. */
	struct scene *s = *state;
	scene_range(s, s->main, 800, 930, "backward");
	scene_range(s, s->main, 930, 990, "sync_grads");
	scene_kernel(s, s->main, 900, 920, 1000, 3500);
	maker_call(&s->m, s->main, 940, 960, "cudaLaunchKernel", CALL_LAUNCH, 90);
	maker_op(&s->m, s->gpu, 8, OP_COMM, 2000, 4000, "ncclDevKernel", 90);
	cost_expect(s, "backward", 2500);
	cost_expect(s, "sync_grads", 500);
	for (uint32_t i = 0; i < s->result.side[0].n_phases; i++)
		if (s->result.side[0].phases[i].name == scene_name(s, "sync_grads"))
			assert_int_equal(llround(s->result.side[0].phases[i].gpu), 2000);
}

static void test_gap_clipped_to_window(void **state)
{
	/* The window [2000, 52000) ends inside a gap that a kernel after it ends: the causes are those of the whole
	 * gap. A second GPU runs [11500, 11600), launched on [10200, 10210), and [64000, 65000), launched outside any
	 * step on [63900, 63950). Its first gap begins with the window and is late by 1290, so charged to [710, 10210):
	 * 50 of main's launch calls at 10100, 10 of its own, 9440 code. Its second gap is late by 50: by the window's
	 * end that is [11550, 51950) with four launch calls of 50, 40200 code, and nothing unattributed. */
	struct scene *s = *state;
	uint32_t second = maker_device(&s->m, s->process, 1, TRACE_NONE);
	six_steps(s);
	maker_call(&s->m, s->main, 10200, 10210, "cudaLaunchKernel", CALL_LAUNCH, 90);
	maker_op(&s->m, second, 7, OP_KERNEL, 11500, 11600, "gemm", 90);
	maker_call(&s->m, s->main, 63900, 63950, "cudaLaunchKernel", CALL_LAUNCH, 91);
	maker_op(&s->m, second, 7, OP_KERNEL, 64000, 65000, "gemm", 91);
	EXPECT(s, 1, {CAUSE_LAUNCH_API, NULL, 50 + 10 + 200, NULL}, {CAUSE_HOST_CODE, NULL, 9440 + 40200, NULL});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_limit_unmeasured),
		SCENE(test_limit_least),
		SCENE(test_limit_median),
		SCENE(test_limit_median_odd),
		SCENE(test_limit_ignores_queued),
		SCENE(test_classes),
		SCENE(test_zero_length_ops),
		SCENE(test_gap_ends_with_earliest_launched),
		SCENE(test_phases_of_a_step),
		SCENE(test_phase_between_steps),
		SCENE(test_phase_by_start_end_range),
		SCENE(test_phase_inherited),
		SCENE(test_phase_of_the_other_thread),
		SCENE(test_a_graph_that_is_the_step_has_the_phases_of_its_capture),
		SCENE(test_a_capture_inside_another_ends),
		SCENE(test_updates_are_said),
		SCENE(test_a_child_s_nodes_are_not_of_the_ranges_around_it),
		SCENE(test_what_another_thread_captured_is_of_the_step_thread_s_phase),
		SCENE(test_a_replay_in_a_phase_is_of_that),
		SCENE(test_nodes_of_which_nothing_is_known_have_no_phase),
		SCENE(test_a_capture_whose_begin_is_not_known_says_nothing),
		SCENE(test_overlapped_communication_costs_nothing),
		SCENE(test_gap_clipped_to_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
