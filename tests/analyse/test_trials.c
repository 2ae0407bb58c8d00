/* Trials of kernels (gen/steps/trials.h) and the loop behind them (pattern_loops.h): profiles made row by row,
 * answers counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop_program.h"
#include "steps/trials.h"

static void kernel(struct loop_program *p, const char *name, int64_t length)
{
	loop_program_kernel(p, name, length, true);
}

static void call(struct loop_program *p, const char *name, enum call_class class)
{
	maker_call(&p->m, p->thread, p->now, p->now + 1000, name, class, 0);
	p->now += 2000;
}

/* A kernel between two events, and the question for the time between them. */
static void trial(struct loop_program *p, const char *name, int64_t length)
{
	kernel(p, "flush", 10000);
	call(p, "cudaEventRecord", CALL_OTHER);
	kernel(p, name, length);
	call(p, "cudaEventRecord", CALL_OTHER);
	call(p, "cudaEventSynchronize", CALL_SYNC);
	call(p, "cudaEventElapsedTime", CALL_OTHER);
}

static const char *const STEP[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
enum { IN_STEP = sizeof STEP / sizeof *STEP };

static void step(struct loop_program *p)
{
	for (int i = 0; i < IN_STEP; i++)
		kernel(p, STEP[i], 10000);
	call(p, "cudaDeviceSynchronize", CALL_SYNC);
}

static void spans_and_launches(void **state)
{
	(void)state;
	struct loop_program p;
	struct trials trials;
	loop_program_init(&p);
	kernel(&p, "a", 10000);
	for (int i = 0; i < 2; i++) /* two are no search */
		trial(&p, "a", 10000);
	p.now += 200 * (int64_t)MS;
	int64_t before = p.now;
	for (int i = 0; i < 5; i++)
		trial(&p, "b", 20000);
	int64_t behind = p.now;
	kernel(&p, "a", 10000);
	const struct trace *t = maker_link(&p.m);
	trials_find(t, 0, INT64_MAX, &p.arena, &trials);
	assert_int_equal(trials.spans.n, 1);
	assert_true(trials.spans.at[0][0] == before + 18000); /* the first event, behind the flush */
	assert_true(trials.spans.at[0][1] == behind - 1000);
	assert_int_equal(trials.launches, 1);
	assert_int_equal(trials.later, 0);
	/* those behind a moment are only counted */
	trials_find(t, 0, before, &p.arena, &trials);
	assert_int_equal(trials.spans.n, 0);
	assert_int_equal(trials.later, 5);
	arena_release(&p.arena);
}

/* Launches of what was no search are not those of one. */
static void launches_are_those_of_searches(void **state)
{
	(void)state;
	struct loop_program p;
	struct trials trials;
	loop_program_init(&p);
	for (int group = 0; group < 8; group++) {
		for (int i = 0; i < 2; i++) {
			call(&p, "cudaEventRecord", CALL_OTHER);
			for (int k = 0; k < 4; k++)
				kernel(&p, "a", 10000);
			call(&p, "cudaEventRecord", CALL_OTHER);
			call(&p, "cudaEventElapsedTime", CALL_OTHER);
		}
		p.now += 200 * (int64_t)MS;
	}
	for (int i = 0; i < 5; i++)
		trial(&p, "b", 20000);
	trials_find(maker_link(&p.m), 0, INT64_MAX, &p.arena, &trials);
	assert_int_equal(trials.spans.n, 1);
	assert_int_equal(trials.launches, 1);
	arena_release(&p.arena);
}

/* Of as many short trials as long ones the long ones count. */
static void of_two_middle_ones_the_larger(void **state)
{
	(void)state;
	struct loop_program p;
	struct trials trials;
	loop_program_init(&p);
	for (int i = 0; i < 4; i++) {
		call(&p, "cudaEventRecord", CALL_OTHER);
		for (int k = 0; k < (i % 2 ? 3 : 1); k++)
			kernel(&p, "a", 10000);
		call(&p, "cudaEventRecord", CALL_OTHER);
		call(&p, "cudaEventElapsedTime", CALL_OTHER);
	}
	trials_find(maker_link(&p.m), 0, INT64_MAX, &p.arena, &trials);
	assert_int_equal(trials.spans.n, 1);
	assert_int_equal(trials.launches, 3);
	arena_release(&p.arena);
}

/* Where nobody asks for the time between events, a wait behind two of them is a trial; a program that paces its steps
 * by one event each waits behind one. */
static void each_trial_has_two_events_of_its_own(void **state)
{
	(void)state;
	struct loop_program p;
	struct trials trials;
	loop_program_init(&p);
	call(&p, "cudaEventRecord", CALL_OTHER);
	for (int i = 0; i < 40; i++) {
		kernel(&p, "a", 10000);
		call(&p, "cudaEventRecord", CALL_OTHER);
		call(&p, "cudaEventSynchronize", CALL_SYNC);
	}
	trials_find(maker_link(&p.m), 0, INT64_MAX, &p.arena, &trials);
	assert_int_equal(trials.spans.n, 0);
	arena_release(&p.arena);
}

static void the_loop_behind_a_longer_search(void **state)
{
	(void)state;
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int i = 0; i < IN_STEP; i++) {
		for (int k = 0; k < 40; k++)
			trial(&p, STEP[i], 30000);
		p.now += 150 * (int64_t)MS;
		kernel(&p, STEP[i], 10000); /* the first step */
	}
	for (int k = 0; k < 20; k++)
		step(&p);
	loop_program_find(&p, &run);
	assert_int_equal(run.loops.n, 1);
	assert_in_range(run.loops.list[0].n, 20, 21);
	assert_int_equal(run.loops.list[0].ops, IN_STEP);
	/* of 8 searches 40 trials of 40 µs each, but for the first flush of a search, which lies before its first
	 * event; 21 steps of 80 µs beside them */
	double trials = 8 * (40 * 40 - 10), all = trials + 8 * 10 + 21 * 80;
	assert_float_equal(run.loops.tried, trials / all, 1e-9);
	arena_release(&p.arena);
}

static void a_program_that_times_its_own_steps(void **state)
{
	(void)state;
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int k = 0; k < 60; k++) {
		call(&p, "cudaEventRecord", CALL_OTHER);
		step(&p);
		call(&p, "cudaEventRecord", CALL_OTHER);
		call(&p, "cudaEventElapsedTime", CALL_OTHER);
	}
	for (int k = 0; k < 12; k++) { /* a validation */
		for (int i = 0; i < 3; i++)
			kernel(&p, STEP[i], 10000);
		call(&p, "cudaDeviceSynchronize", CALL_SYNC);
	}
	loop_program_find(&p, &run);
	assert_true(run.loops.n >= 1);
	assert_int_equal(run.loops.list[0].n, 60);
	assert_int_equal(run.loops.list[0].ops, IN_STEP);
	assert_float_equal(run.loops.tried, 0, 0);
	arena_release(&p.arena);
}

/* Nothing but trials: a benchmark, whose loops those are. */
static void a_benchmark(void **state)
{
	(void)state;
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 100; k++)
			trial(&p, STEP[i], 30000);
	for (int k = 0; k < 6; k++)
		step(&p);
	loop_program_find(&p, &run);
	assert_true(run.loops.n >= 1);
	assert_in_range(run.loops.list[0].n, 99, 200);
	assert_float_equal(run.loops.tried, 0, 0);
	arena_release(&p.arena);
}

static void spans(void **state)
{
	(void)state;
	int64_t at[][2] = {{50, 60}, {10, 20}, {15, 30}, {33, 40}};
	struct spans s = {at, 4};
	spans_join(&s, 3);
	assert_int_equal(s.n, 2);
	assert_true(at[0][0] == 10 && at[0][1] == 40 && at[1][0] == 50 && at[1][1] == 60);
	int64_t until = 1000;
	assert_true(spans_hold(&s, 39, &until));
	assert_true(until == 40);
	until = 1000;
	assert_false(spans_hold(&s, 40, &until));
	assert_true(until == 50);
	until = 45;
	assert_false(spans_hold(&s, 40, &until));
	assert_true(until == 45);
	assert_false(spans_hold(&s, 60, &until));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans),
		cmocka_unit_test(spans_and_launches),
		cmocka_unit_test(launches_are_those_of_searches),
		cmocka_unit_test(of_two_middle_ones_the_larger),
		cmocka_unit_test(each_trial_has_two_events_of_its_own),
		cmocka_unit_test(the_loop_behind_a_longer_search),
		cmocka_unit_test(a_program_that_times_its_own_steps),
		cmocka_unit_test(a_benchmark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
