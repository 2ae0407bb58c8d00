/* What findings are told of a side: counts and times a step, means over its devices, of threads that launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort.h"
#include "charge/charge.h"
#include "random.h"
#include "scene.h"
#include "side/side.h"
#include "side/side_rows.h"

enum { STEPS = 20, LONG = 10000 };

static struct side_facts facts_of(struct scene *s)
{
	static const char *const files[] = {"hand-made"};
	struct run *run = ARENA_NEW(&s->arena, 1, struct run);
	const struct side_words words = {.label = "profile", .run_files = files};
	struct side_facts facts;
	struct err err;
	if (run_prepare(run, maker_link(&s->m), "step", 2, &s->arena, &err) < 0)
		fail_msg("%s", err.text);
	side_build(run, 1, &words, &s->arena, &facts);
	return facts;
}

/* A call of 5 ns and the operation that it starts 100 ns later, of so many. */
static size_t add_op(struct scene *s, uint32_t gpu, int64_t at, enum op_kind kind, int64_t length)
{
	maker_call(&s->m, s->main, at, at + 5, kind == OP_KERNEL ? "cudaLaunchKernel" : "cudaMemcpyAsync",
	           kind == OP_KERNEL ? CALL_LAUNCH : CALL_COPY, ++s->correlation);
	return maker_op(&s->m, gpu, 7, kind, at + 100, at + 100 + length, "op", s->correlation);
}

static void add_copy(struct scene *s, uint32_t gpu, int64_t at, int64_t length, uint8_t flags)
{
	size_t row = add_op(s, gpu, at, OP_COPY, length);
	s->m.trace->ops.flags[row] = flags;
	s->m.trace->ops.bytes[row] = 1 << 20;
}

/* In every step each of two devices copies, computes and is waited for, one after the other. */
static void test_times_of_copies_are_means_over_devices(void **state)
{
	struct scene *s = *state;
	uint32_t gpus[] = {s->gpu, maker_device(&s->m, s->process, 1, TRACE_NONE)};
	for (int64_t t = 0; t < STEPS * LONG; t += LONG) {
		scene_range(s, s->main, t, t + LONG - 100, "step");
		for (int d = 0; d < 2; d++) {
			int64_t at = t + d * LONG / 2;
			add_copy(s, gpus[d], at, 300, OPF_PAGEABLE);
			add_copy(s, gpus[d], at + 500, 200, OPF_MANAGED);
			add_op(s, gpus[d], at + 1000, OP_KERNEL, 1000);
			scene_call(s, s->main, at + 1100, at + 2200, "cudaDeviceSynchronize", CALL_SYNC);
		}
	}
	struct side_facts facts = facts_of(s);
	assert_float_equal(facts.copy_pageable, 300, 1e-9);
	assert_float_equal(facts.copy_managed, 200, 1e-9);
	assert_float_equal(facts.sync_gaps, 1, 1e-9); /* each device stands idle once after its wait */
	assert_float_equal(facts.work.pageable_copies, 2, 1e-9);
	assert_float_equal(facts.work.blocking_syncs, 2, 1e-9);
}

/* Both devices run one, two, three kernels a step in turns: each varies by that, and one's steps are not the other's,
 * whose rows follow. Held against the counts themselves. */
static void test_kernels_vary_by_device(void **state)
{
	struct scene *s = *state;
	uint32_t gpus[] = {s->gpu, maker_device(&s->m, s->process, 1, TRACE_NONE)};
	for (int64_t i = 0; i < STEPS; i++) {
		scene_range(s, s->main, i * LONG, (i + 1) * LONG - 100, "step");
		for (int64_t k = 0; k <= i % 3; k++)
			for (int d = 0; d < 2; d++)
				add_op(s, gpus[d], i * LONG + 1000 * (2 * k + d), OP_KERNEL, 500);
	}
	struct side_facts facts = facts_of(s);
	const struct run_table *run = &facts.runs[0];
	double n = 0, n2 = 0, steps = run->n_steps;
	for (uint32_t i = STEPS - run->n_steps; i < STEPS; i++) {
		double count = 1 + i % 3;
		n += count;
		n2 += count * count;
	}
	assert_true(steps >= 12);
	assert_int_equal(run->n_kernels, 1);
	assert_float_equal(run->kernels[0].n, 2 * n, 1e-9);
	assert_float_equal(run->kernels[0].varies, 2 * sqrt(n2 / steps - n * n / steps / steps), 1e-9);
}

/* A step captures a graph of thirty kernels and launches it: that is one launch. */
static void test_what_is_captured_is_not_launched(void **state)
{
	struct scene *s = *state;
	for (int64_t t = 0; t < STEPS * LONG; t += LONG) {
		scene_range(s, s->main, t, t + LONG - 100, "step");
		for (int k = 0; k < 30; k++)
			maker_call(&s->m, s->main, t + 20 * k, t + 20 * k + 5, "cudaLaunchKernel", CALL_LAUNCH,
			           ++s->correlation);
		maker_call(&s->m, s->main, t + 1000, t + 1040, "cudaGraphLaunch", CALL_LAUNCH, ++s->correlation);
		maker_op(&s->m, s->gpu, 7, OP_GRAPH, t + 1100, t + 1500, "[CUDA graph]", s->correlation);
	}
	const struct side_facts facts = facts_of(s);
	assert_float_equal(facts.work.launch_calls, 1, 1e-9);
	assert_float_equal(facts.work.launch_call, 40, 1e-9);
}

/* Of a step in which the host launches ten kernels in 5 ns each and one in `longest`. */
static double host_work_of(struct scene *s, int64_t longest)
{
	scene_trace_begin(s);
	for (int64_t t = 0; t < STEPS * LONG; t += LONG) {
		scene_range(s, s->main, t, t + LONG - 100, "step");
		for (int k = 0; k < 10; k++)
			add_op(s, s->gpu, t + 200 * k, OP_KERNEL, 50);
		scene_kernel(s, s->main, t + 3000, t + 3000 + longest, t + 4000, t + 4050);
	}
	return facts_of(s).host_work;
}

static void test_launches_that_wait_count_at_the_median(void **state)
{
	struct scene *s = *state;
	double whole = host_work_of(s, 50); /* ten times the median */
	assert_true(whole > 0);
	assert_float_equal(host_work_of(s, 20), whole, 1e-9);
	assert_float_equal(host_work_of(s, 51), whole - (51 - 5), 1e-9);
	assert_float_equal(host_work_of(s, 500), whole - (500 - 5), 1e-9);
}

/* A graph may have other nodes in every step: what the host launches is the same. */
static void test_nodes_of_graphs_are_no_launches(void **state)
{
	struct scene *s = *state;
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t t = i * LONG;
		scene_range(s, s->main, t, t + LONG - 100, "step");
		add_op(s, s->gpu, t, OP_KERNEL, 1000);
		maker_call(&s->m, s->main, t + 1500, t + 1505, "cudaGraphLaunch", CALL_LAUNCH, ++s->correlation);
		for (int64_t k = 0; k <= i % 4; k++) {
			size_t row = maker_op(&s->m, s->gpu, 7, OP_KERNEL, t + 1600 + 200 * k, t + 1700 + 200 * k,
			                      "node", s->correlation);
			s->m.trace->ops.flags[row] = OPF_GRAPH_NODE;
		}
	}
	struct side_facts facts = facts_of(s);
	assert_float_equal(facts.work.steady_launches, 1, 1e-9);
	assert_float_equal(facts.work.launch_calls, 2, 1e-9);
	/* … but kernels that are launched one by one count */
	scene_trace_begin(s);
	for (int64_t i = 0; i < STEPS; i++) {
		scene_range(s, s->main, i * LONG, (i + 1) * LONG - 100, "step");
		for (int64_t k = 0; k <= i % 2; k++)
			add_op(s, s->gpu, i * LONG + 1500 * k, OP_KERNEL, 1000);
	}
	assert_float_equal(facts_of(s).work.steady_launches, 0.5, 1e-9); /* 9 of the 18 measured steps */
}

/* What a thread does that launches nothing is not in the GPU's way. */
static void test_calls_of_threads_that_launch(void **state)
{
	struct scene *s = *state;
	for (int64_t t = 0; t < STEPS * LONG; t += LONG) {
		scene_range(s, s->main, t, t + LONG - 100, "step");
		scene_call(s, s->main, t, t + 50, "cuModuleLoadData", CALL_MODULE);
		scene_call(s, s->main, t + 100, t + 130, "cudaMalloc", CALL_ALLOC);
		add_op(s, s->gpu, t + 200, OP_KERNEL, 1000);
		for (int64_t k = 0; k < 3; k++) {
			scene_call(s, s->other, t + 1000 * k, t + 1000 * k + 50, "cuModuleLoadData", CALL_MODULE);
			scene_call(s, s->other, t + 1000 * k + 100, t + 1000 * k + 150, "cudaMalloc", CALL_ALLOC);
			scene_call(s, s->other, t + 1000 * k + 200, t + 1000 * k + 250, "cudaDeviceSynchronize",
			           CALL_SYNC);
		}
	}
	struct side_facts facts = facts_of(s);
	assert_float_equal(facts.work.module_calls, 1, 1e-9);
	assert_float_equal(facts.work.alloc_calls, 1, 1e-9);
	assert_float_equal(facts.work.alloc_time, 30, 1e-9);
	assert_float_equal(facts.work.blocking_syncs, 0, 1e-9);
}

/* A peak is the largest of all devices of all runs; where one of them is not known, there is none, and the reason is
 * the first that stood in the way. */
static void test_a_peak_is_of_all_devices(void **state)
{
	(void)state;
	struct trace_device devices[2][2] = {
		{{.memory = MEMORY_SEEN, .memory_peak = 700}, {.memory = MEMORY_SEEN, .memory_peak = 900}},
		{{.memory = MEMORY_SEEN, .memory_peak = 800}, {.memory = MEMORY_SEEN, .memory_peak = 100}},
	};
	struct trace traces[2] = {{.devices = devices[0], .n_devices = 2}, {.devices = devices[1], .n_devices = 2}};
	struct run runs[2] = {{.trace = &traces[0]}, {.trace = &traces[1]}};
	struct side_memory memory = memory_build(runs, 2);
	assert_true(memory.known);
	assert_int_equal(memory.peak, 900);
	assert_false(memory.allocator);
	devices[0][0].memory = MEMORY_ALLOCATOR; /* which counts something else */
	assert_string_equal(memory_build(runs, 2).why, "mixed");
	for (int i = 0; i < 4; i++)
		devices[i / 2][i % 2].memory = MEMORY_ALLOCATOR;
	memory = memory_build(runs, 2);
	assert_true(memory.known && memory.allocator && memory.peak == 900);
	devices[0][0].memory = MEMORY_NO_PLACE;
	devices[1][0].memory = MEMORY_DAMAGED;
	memory = memory_build(runs, 2);
	assert_false(memory.known);
	assert_int_equal(memory.peak, 0);
	assert_string_equal(memory.why, "no_place");
	memory = memory_build(runs, 0);
	assert_false(memory.known);
}

enum { TICK = 100 }; /* memory changes at these only */

static int64_t most_in(const int64_t *level, int64_t from, int64_t to)
{
	int64_t most = 0;
	for (int64_t t = from / TICK; t * TICK < to; t++)
		most = level[t] > most ? level[t] : most;
	return most;
}

/* Steps of two phases on two devices whose memory changes at random: the median and the largest of the steps' own
 * peaks, and each phase's, looked up tick by tick. Between steps, and in those that are left out, there is more. */
static void test_steps_and_phases_have_peaks_of_their_own(void **state)
{
	struct scene *s = *state;
	enum { TICKS = LONG / TICK, WARMUP = 2 };
	static const char *const phase[] = {"forward", "backward"};
	static int64_t level[2][STEPS * TICKS + 1];
	int64_t own[STEPS], of[2] = {0};
	uint64_t random = 11;
	size_t n = 0;
	const uint32_t gpus[] = {s->gpu, maker_device(&s->m, s->process, 1, TRACE_NONE)};
	for (int d = 0; d < 2; d++)
		for (int64_t t = 0; t < STEPS * TICKS; t++) {
			bool out = t < WARMUP * TICKS || t % TICKS == TICKS - 1;
			level[d][t] = (int64_t)(random_bits(&random) % 1000) + (out ? 5000 : 1);
			maker_level(&s->m, gpus[d], t * TICK, (t + 1) * TICK, level[d][t]);
		}
	for (int64_t k = 0; k < STEPS; k++) {
		const int64_t t = k * LONG, part = TICK * (10 + (int64_t)(random_bits(&random) % 80)),
			      end = t + LONG - TICK;
		scene_range(s, s->main, t, end, "step");
		scene_range(s, s->main, t, t + part, phase[0]);
		scene_range(s, s->main, t + part, end, phase[1]);
		for (int d = 0; d < 2; d++)
			add_op(s, gpus[d], t + 200 + 20 * d, OP_KERNEL, LONG / 2);
		for (int d = 0; d < 2 && k >= WARMUP; d++) {
			int64_t in[] = {most_in(level[d], t, t + part), most_in(level[d], t + part, end)};
			for (int p = 0; p < 2; p++)
				of[p] = in[p] > of[p] ? in[p] : of[p];
			int64_t most = in[0] > in[1] ? in[0] : in[1];
			own[n] = d && own[n] > most ? own[n] : most;
			n += (size_t)d;
		}
	}
	for (int d = 0; d < 2; d++)
		s->m.trace->devices[gpus[d]].memory = MEMORY_SEEN;
	sort_times(own, n);
	s->step = "step";
	s->warmup = WARMUP;
	const struct side *side = scene_analyse(s);
	assert_int_equal(side->memory.n_steps, n);
	assert_int_equal(side->memory.step_median, (own[(n - 1) / 2] + own[n / 2]) / 2);
	assert_int_equal(side->memory.step_most, own[n - 1]);
	for (uint32_t i = 0; i < side->n_phases; i++)
		for (int p = 0; p < 2; p++)
			if (strcmp(names_text(&s->names, side->phases[i].name), phase[p]) == 0)
				assert_int_equal(side->phases[i].memory, of[p]);
	/* Nothing is said where one device's levels are not known, as in a digest of an earlier version. */
	s->m.trace->levels.n /= 2;
	side = scene_analyse(s);
	assert_true(side->memory.known);
	assert_int_equal(side->memory.n_steps, 0);
	for (uint32_t i = 0; i < side->n_phases; i++)
		assert_int_equal(side->phases[i].memory, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_times_of_copies_are_means_over_devices),
		SCENE(test_what_is_captured_is_not_launched),
		SCENE(test_kernels_vary_by_device),
		SCENE(test_launches_that_wait_count_at_the_median),
		SCENE(test_nodes_of_graphs_are_no_launches),
		SCENE(test_calls_of_threads_that_launch),
		cmocka_unit_test(test_a_peak_is_of_all_devices),
		SCENE(test_steps_and_phases_have_peaks_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
