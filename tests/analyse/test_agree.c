/* Steps that both sides of a comparison have (gen/run/choose_steps.h): what one side finds for itself, and what
 * the other is then asked for. Pairs made row by row, answers counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/words.h"
#include "said.h"
#include "scene.h"

#include <math.h>
#include <string.h>

static const struct analyse_options defaults = {.warmup = -1, .gates.max_regression = -1};

enum { US = 1000, STEPS = 40, STARTUP = 3500 * US, LONG = 100 * US, SHORT = 20 * US };

/* Start-up keeps the GPU busy for 3.5 ms in kernels that come once. Then 40 steps of two kernels that take `kernel`
 * each: 8 ms in all where that is LONG, 1.6 ms, less than half of the profile, where it is SHORT. */
struct program {
	int64_t kernel;
	const char *range; /* around each step; NULL: none */
	const char *first, *second;
	bool second_unmarked; /* it is launched after the range */
};

static int64_t launch(struct scene *s, int64_t t, int64_t length, const char *name)
{
	maker_call(&s->m, s->main, t, t + 2 * US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 5 * US, t + 5 * US + length, name, s->correlation);
	return t + 5 * US + length;
}

static const struct trace *trace_of(struct scene *s, const struct program *p)
{
	static const char *const once[] = {"fill", "sort", "hash", "scan", "pack"};
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < 5; i++)
		t = launch(s, t, STARTUP / 5, once[i]);
	for (int i = 0; i < STEPS; i++) {
		int64_t begin = t, first = launch(s, t + i % 3, p->kernel, p->first);
		t = launch(s, first, p->kernel, p->second);
		if (p->range)
			scene_range(s, s->main, begin, p->second_unmarked ? first : t, p->range);
	}
	return maker_link(&s->m);
}

static const struct analysis *pair(struct scene *s, const struct program *baseline, const struct program *fixed)
{
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	const struct analyse_run runs[2] = {{trace_of(s, baseline), "baseline"}, {trace_of(s, fixed), "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static void assert_steps(struct scene *s, const struct side *side, enum step_origin origin, const char *name)
{
	assert_true(side->steps.found);
	assert_int_equal(side->steps.origin, origin);
	assert_string_equal(names_text(&s->names, side->steps.name), name);
}

/* Steps that were marked, and then the same as a CUDA graph that nobody marks. A range around the last of them goes on
 * to the end of the capture, as one from an optimizer's step to the next does: what is in it is no step. */
static const struct trace *trace_of_replays(struct scene *s, int marked, bool open)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < marked; i++) {
		int64_t begin = t;
		t = launch(s, launch(s, t + i % 3, LONG, "gemm"), LONG, "relu");
		scene_range(s, s->main, begin, t, "step");
	}
	int64_t begin = t;
	for (int i = 0; i < STEPS && marked < STEPS; i++)
		t = launch(s, t + i % 3, 10 * LONG, "[CUDA graph]");
	if (open) {
		scene_range(s, s->main, begin, t, "step");
		s->m.trace->ranges.clipped[s->m.trace->ranges.n - 1] = 1;
	}
	return maker_link(&s->m);
}

static void test_the_loop_goes_on_without_marks(void **state)
{
	struct scene *s = *state;
	for (int i = 0; i < 4; i++) { /* three that were marked are no loop, six are one; the last range is open */
		struct err err = {0};
		struct analysis result;
		const struct analyse_run runs[2] = {{trace_of_replays(s, STEPS, false), "baseline"},
		                                    {trace_of_replays(s, i < 2 ? 3 : 6, i % 2), "fixed"}};
		assert_int_equal(analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, &result, &err),
		                 0);
		assert_int_equal(result.side[0].steps.origin, STEPS_BY_PATTERN);
		assert_int_equal(result.side[1].steps.origin, STEPS_BY_PATTERN);
		assert_in_range(result.side[1].steps.measured, STEPS - 2, STEPS);
	}
}

/* A step is 2 x (5 + 100) us against 2 x (5 + 20) us, whichever side is the shorter one. */
static void test_shorter_than_start_up(void **state)
{
	struct scene *s = *state;
	static const char *const ranges[] = {"step", NULL};
	for (int marked = 0; marked < 2; marked++) {
		const struct program slow = {LONG, ranges[marked], "gemm", "relu", false};
		const struct program fast = {SHORT, ranges[marked], "gemm", "relu", false};
		const enum step_origin origin = marked ? STEPS_BY_PATTERN : STEPS_BY_MARK;
		const char *name = marked ? "gemm + relu" : "step";
		const struct analysis *faster = pair(s, &slow, &fast), *slower = pair(s, &fast, &slow);
		for (int k = 0; k < 2; k++) {
			assert_steps(s, &faster->side[k], origin, name);
			assert_steps(s, &slower->side[k], origin, name);
		}
		assert_true(fabs(faster->verdict.speedup - 210.0 / 50) < 0.01);
		assert_true(fabs(slower->verdict.speedup - 50.0 / 210) < 0.001);
	}
}

/* For itself it has none: that a loop is most of the work is then all there is to tell a step by. */
static void test_alone(void **state)
{
	struct scene *s = *state;
	static const char *const ranges[] = {"step", NULL};
	for (int marked = 0; marked < 2; marked++) {
		const struct program slow = {LONG, ranges[marked], "gemm", "relu", false};
		const struct program fast = {SHORT, ranges[marked], "gemm", "relu", false};
		s->trace = trace_of(s, &slow);
		assert_true(scene_analyse(s)->steps.found);
		s->trace = trace_of(s, &fast);
		assert_false(scene_analyse(s)->steps.found);
		const struct analysis *both = pair(s, &fast, &fast);
		assert_false(both->side[0].steps.found);
		assert_false(both->side[1].steps.found);
	}
}

/* The share of the profile alone may fall short: a range that half of the work between is launched outside of, of
 * another name, or a loop of other kernels is no step of the other side. */
static void test_other_reasons(void **state)
{
	struct scene *s = *state;
	const struct program slow = {LONG, "step", "gemm", "relu", false};
	const struct program others[] = {{SHORT, "step", "gemm", "relu", true},
	                                 {SHORT, "batch", "gemm", "relu", false}};
	for (int i = 0; i < 2; i++) {
		const struct analysis *result = pair(s, &slow, &others[i]);
		assert_true(result->side[0].steps.found);
		assert_false(result->side[1].steps.found);
		assert_int_equal(result->verdict.result, VERDICT_INCONCLUSIVE);
	}
	const struct program unmarked = {LONG, NULL, "gemm", "relu", false},
			     other = {SHORT, NULL, "conv", "tanh", false};
	const struct analysis *result = pair(s, &unmarked, &other);
	assert_steps(s, &result->side[0], STEPS_BY_PATTERN, "gemm + relu");
	assert_false(result->side[1].steps.found);
	assert_int_equal(result->verdict.result, VERDICT_INCONCLUSIVE);
}

/* One of three repeats whose start-up was longer is no reason to refuse the side. */
static void test_repeats(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	struct analysis result;
	const struct program slow = {LONG, "step", "gemm", "relu", false},
			     fast = {SHORT, "step", "gemm", "relu", false};
	const struct analyse_run baseline[] = {{trace_of(s, &fast), "1"}, {trace_of(s, &slow), "2"}};
	const struct analyse_run fixed = {trace_of(s, &fast), "3"};
	if (analyse_pair(baseline, 2, &fixed, 1, &defaults, &s->names, &s->arena, &result, &err))
		fail_msg("%s", err.text);
	assert_steps(s, &result.side[0], STEPS_BY_MARK, "step");
	assert_steps(s, &result.side[1], STEPS_BY_MARK, "step");
}

/* A power iteration, four times the same two kernels, which one side reads back: on the other a quarter of a step is
 * all that repeats, and the stopwatch was told quarters. 55 steps took 55 x 1000 and 55 x 800 us. */
static const struct trace *power_trace(struct scene *s, bool reads, uint32_t steps_told, int64_t step)
{
	enum { N = 60, TIMED = 55 };
	const uint32_t launches = reads ? 9 : 8;
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < N; i++)
		for (uint32_t k = 0; k < launches; k++)
			t = launch(s, t, 80 * US, k == 8 ? "largest" : k % 2 ? "normalise" : "multiply");
	s->m.trace->stopwatch = ARENA_NEW(&s->arena, 2, struct trace_stopwatch);
	for (int r = 0; r < 2; r++)
		s->m.trace->stopwatch[s->m.trace->n_stopwatch++] =
			(struct trace_stopwatch){.time = TIMED * step + (r ? 100 : -100),
		                                 .start = r + 1,
		                                 .steps = steps_told,
		                                 .step = "multiply + normalise",
		                                 .launches = TIMED * launches};
	return maker_link(&s->m);
}

static void test_stopwatch_in_the_report_s_unit(void **state)
{
	struct scene *s = *state;
	struct err err = {0};
	struct analysis result;
	const struct analyse_run runs[2] = {{power_trace(s, true, 55, 1000 * US), "1"},
	                                    {power_trace(s, false, 220, 800 * US), "2"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, &result, &err))
		fail_msg("%s", err.text);
	assert_int_equal(result.verdict.measured, VERDICT_STOPWATCH);
	assert_true(fabs(result.side[0].headline.step - 1000 * US) < 1);
	assert_true(fabs(result.side[1].headline.step - 800 * US) < 1);
	assert_true(fabs(result.verdict.speedup - 1.25) < 1e-6);
}

/* Iterations of a step's kernels. */
struct repeated {
	const char *const *kernels;
	int iterations;
	int64_t length; /* of a kernel */
};

static const struct trace *repeated_trace(struct scene *s, const struct repeated *p)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < p->iterations; i++)
		for (const char *const *name = p->kernels; *name; name++)
			t = launch(s, t + i % 3, p->length, *name);
	return maker_link(&s->m);
}

static struct analysis repeated_pair(struct scene *s, const struct repeated *baseline, const struct repeated *fixed,
                                     const char *loop)
{
	struct err err = {0};
	struct analysis result;
	struct analyse_options options = defaults;
	options.loop = loop;
	const struct analyse_run runs[2] = {{repeated_trace(s, baseline), "1"}, {repeated_trace(s, fixed), "2"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, &result, &err))
		fail_msg("%s", err.text);
	return result;
}

static const char *const GAN[] = {"convolve_fprop", "bn_fw_inf", "leaky_relu", "convolve_dgrad", "adam", NULL};
static const char *const GRAPH_NETWORK[] = {"vectorized_gather", "index_add", "softmax_fwd", NULL};

/* A GAN's iterations and a graph network's: a time of one over a time of the other is no speedup. */
static void test_different_things(void **state)
{
	struct scene *s = *state;
	const struct repeated gan = {GAN, 40, LONG}, network = {GRAPH_NETWORK, 40, LONG};
	for (int swapped = 0; swapped < 2; swapped++) {
		const struct analysis a = repeated_pair(s, swapped ? &network : &gan, swapped ? &gan : &network, NULL);
		assert_int_equal(a.verdict.result, VERDICT_INCONCLUSIVE);
		assert_false(a.verdict.has_speedup);
		assert_non_null(strstr(said(a.conditions.nothing, a.names), "What repeats has too little in common"));
		assert_int_equal(a.comparison.same_work, SAME_WORK_UNKNOWN);
		assert_non_null(strstr(words_next(&a, &s->arena), "Mark the step on both sides"));
	}
	/* who names a loop has said what is compared */
	assert_true(repeated_pair(s, &gan, &network, "convolve").verdict.has_speedup);
}

/* What a fix makes of a step is still that step: other kernels of the same families, all of it in one graph or in a
 * compiler's kernels, or every kernel written anew. */
static void test_fixed_things(void **state)
{
	struct scene *s = *state;
	static const char *const half[] = {"convolve_fprop_h", "bn_fw_inf_h", "fused_relu", "convolve_dgrad_h", NULL};
	static const char *const graph[] = {"[CUDA graph]", NULL};
	static const char *const compiled[] = {"triton_poi_fused_0", "triton_red_fused_1", NULL};
	static const char *const anew[] = {"fprop_2", "norm_2", "relu_2", "dgrad_2", "step_2", NULL};
	static const char *const *const fixes[] = {half, graph, compiled, anew};
	const struct repeated gan = {GAN, 40, LONG};
	for (int i = 0; i < 4; i++) {
		const struct repeated fixed = {fixes[i], 40, SHORT};
		assert_true(repeated_pair(s, &gan, &fixed, NULL).verdict.has_speedup);
		assert_true(repeated_pair(s, &fixed, &gan, NULL).verdict.has_speedup);
	}
	/* the source line in an OpenMP kernel's name moves; data stay on the device, so only the kernel is left */
	static const char *const copied[] = {"[CUDA memcpy Host-to-Device]", "[CUDA memset]", "nvkernel_solve_F1L204_2",
	                                     "[CUDA memcpy Device-to-Host]", NULL};
	static const char *const kept[] = {"nvkernel_solve_F1L210_2", NULL};
	const struct repeated before = {copied, 40, LONG}, after = {kept, 40, SHORT};
	assert_true(repeated_pair(s, &before, &after, NULL).verdict.has_speedup);
	/* a step whose forward pass is calculated again: as many steps, of the same kernels, twice as many at most */
	static const char *const again[] = {"convolve_fprop", "bn_fw_inf", "leaky_relu",
	                                    "convolve_fprop", "bn_fw_inf", "leaky_relu",
	                                    "convolve_dgrad", "adam",      NULL};
	const struct repeated longer = {again, 40, LONG}, more = {again, 60, LONG};
	assert_true(repeated_pair(s, &gan, &longer, NULL).verdict.has_speedup);
	assert_true(repeated_pair(s, &longer, &gan, NULL).verdict.has_speedup);
	assert_false(repeated_pair(s, &gan, &more, NULL).verdict.has_speedup);
	/* a graph hides what it holds, and nothing speaks for another number of them */
	const struct repeated other = {graph, 60, SHORT};
	assert_false(repeated_pair(s, &gan, &other, NULL).verdict.has_speedup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_the_loop_goes_on_without_marks),
		SCENE(test_shorter_than_start_up),
		SCENE(test_alone),
		SCENE(test_other_reasons),
		SCENE(test_repeats),
		SCENE(test_different_things),
		SCENE(test_fixed_things),
		SCENE(test_stopwatch_in_the_report_s_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
