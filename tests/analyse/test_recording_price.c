/* What bounds the price of a recorded call, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"
#include "side/recording.h"

#include <string.h>

enum { US = 1000, MS = 1000 * US };

/* 40 steps: the GPU waits 460 µs, at whose end the host makes 30 calls one every 1.5 µs, and then launches: each of
 * those pays no more than the 1.5 µs until the next one, and the launch may pay all that there is. */
static void a_call_pays_no_more_than_the_time_to_the_next(void **state)
{
	struct scene *s = *state;
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 40; step++) {
		const int64_t begin = t;
		t += 400 * US;
		for (int i = 0; i < 30; i++, t += 3 * US / 2)
			scene_call(s, s->main, t, t + US, "cudaEventQuery", CALL_OTHER);
		scene_kernel(s, s->main, t, t + 2 * US, t + 15 * US, t + 60 * US);
		t += 50 * US;
		scene_call(s, s->main, t, t + 12 * US, "cudaStreamSynchronize", CALL_SYNC);
		t += 13 * US;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	const struct trace *run = maker_link(&s->m);
	const struct analysis *a = scene_compare(s, run, run);
	const struct recording_cost *cost = &a->side[0].recording;
	assert_float_equal(cost->waited_calls, 31, 2.5);
	assert_float_equal(cost->took[1], 400 * (cost->waited_calls + cost->waited_ranges), 100);
	const double most = cost->took[RECORDING_PRICES - 1]; /* a launch and a wait may pay 20 µs, and ranges */
	if (!(most <= 31 * 1500 + (2 + cost->waited_ranges) * 20 * US && most >= 29 * 1500))
		fail_msg("%g", most);
}

/* 40 steps whose second launch takes 100 µs and loads a module inside, before the GPU has done what it had: it is what
 * the GPU waits for then. At a step's end it waits for the wait for it, the next launch and its range. */
static void a_launch_that_holds_calls_is_the_one_waited_for(void **state)
{
	struct scene *s = *state;
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 40; step++, t += 400 * US) {
		scene_kernel(s, s->main, t, t + 2 * US, t + 5 * US, t + 150 * US);
		scene_call(s, s->main, t + 110 * US, t + 120 * US, "cuModuleLoadData", CALL_OTHER);
		scene_kernel(s, s->main, t + 100 * US, t + 200 * US, t + 205 * US, t + 380 * US);
		scene_call(s, s->main, t + 210 * US, t + 385 * US, "cudaStreamSynchronize", CALL_SYNC);
		scene_range(s, s->main, t, t + 390 * US, "step");
	}
	const struct trace *run = maker_link(&s->m);
	const struct recording_cost *cost = &scene_compare(s, run, run)->side[0].recording;
	assert_float_equal(cost->waited_calls, 1 + 2, 1e-9);
	assert_float_equal(cost->waited_ranges, 1, 1e-9);
	assert_float_equal(cost->took[1], 4 * recording_price[1], 1e-9);
}

/* 60 steps of 20 kernels of 4 µs, launched one every `pace` ns behind an allocation of `alloc` ns (0: none). */
static const struct trace *allocating(struct scene *s, int64_t pace, int64_t alloc)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int step = 0; step < 60; step++) {
		const int64_t begin = t;
		if (alloc)
			scene_call(s, s->main, t, t + alloc, "cudaMalloc", CALL_ALLOC);
		t += alloc + US;
		for (int k = 0; k < 20; k++, t += pace + (step + k) % 3)
			scene_kernel(s, s->main, t, t + US, t + 2 * US, t + 6 * US);
		scene_call(s, s->main, t, t + 2 * US, "cudaStreamSynchronize", CALL_SYNC);
		t += 5 * US;
		scene_range(s, s->main, begin, t - 1, "step");
	}
	return maker_link(&s->m);
}

/* Launches of the same kernels took 10 µs longer on one side, and so may its allocations; of none there is nothing to
 * take. */
static void calls_that_are_not_made_cost_nothing(void **state)
{
	struct scene *s = *state;
	const struct analysis *a = scene_compare(s, allocating(s, 18 * US, 100 * US), allocating(s, 8 * US, 0));
	const struct finding *f = NULL;
	for (uint32_t i = 0; i < a->findings.n; i++)
		f = strcmp(a->findings.list[i].id, "alloc_in_step") == 0 ? &a->findings.list[i] : f;
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_RESOLVED);
	assert_non_null(strstr(f->text, "Fixed side: none."));
	assert_null(strstr(f->text, "If profiling"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_call_pays_no_more_than_the_time_to_the_next),
		SCENE(a_launch_that_holds_calls_is_the_one_waited_for),
		SCENE(calls_that_are_not_made_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
