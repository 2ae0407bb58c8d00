/* Loops of a profile and their cycles (gen/analyse/run/pattern_run.h, pattern_steps.h): small profiles made row by row,
 * answers counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop_program.h"

#include <math.h>

static void wait_for_gpu(struct loop_program *p)
{
	maker_call(&p->m, p->thread, p->now, p->now + 2000, "cudaDeviceSynchronize", CALL_SYNC, 0);
	p->now += 3000;
}

static void test_group(void **state)
{
	(void)state;
	/* 23 cycles of two kernels; taken together by five: four of ten, and the last three are in no loop */
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int k = 0; k < 23; k++) {
		loop_program_kernel(&p, "a", 20000, true);
		loop_program_kernel(&p, "b", 30000, true);
		wait_for_gpu(&p);
	}
	loop_program_find(&p, &run);
	assert_int_equal(run.loops.n, 1);
	assert_int_equal(run.loops.list[0].n, 23);
	assert_int_equal(run.loops.list[0].ops, 2);
	run_loop_group(run.trace, &run.loops, 0, 5);
	assert_int_equal(run.loops.list[0].n, 4);
	assert_int_equal(run.loops.list[0].ops, 10);
	uint32_t in_cycle[4] = {0}, outside = 0;
	const struct run_pieces *pieces = run.loops.pieces;
	for (size_t i = 0; i < pieces->n; i++) {
		const struct run_cycle *c = &run.loops.cycles[pieces->list[i].cycle];
		if (c->loop)
			in_cycle[c->cycle] += pieces->list[i].n;
		else
			outside += pieces->list[i].n;
	}
	for (int k = 0; k < 4; k++)
		assert_int_equal(in_cycle[k], 10);
	assert_int_equal(outside, 6);
	for (uint32_t i = 0; i < run.loops.list[0].n_makeup; i++)
		assert_true(fabs(run.loops.list[0].makeup[i].n - 5) < 1e-9);
	arena_release(&p.arena);
}

static void test_ends_are_dropped(void **state)
{
	(void)state;
	/* two cycles, a compiler's kernel for as long as twenty cycles, thirty cycles: the two and what follows them
	 * are not part of the loop */
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int k = 0; k < 32; k++) {
		loop_program_kernel(&p, "a", 20000, true);
		loop_program_kernel(&p, "b", 30000, true);
		if (k == 1) {
			p.now += MS;
			loop_program_kernel(&p, "tuning", 20000, true);
		}
		wait_for_gpu(&p);
	}
	loop_program_find(&p, &run);
	assert_int_equal(run.loops.n, 1);
	assert_int_equal(run.loops.list[0].n, 30);
	assert_true(run.steps.found);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(run.steps.op_step[i], TRACE_NONE);
	arena_release(&p.arena);
}

static void test_without_launches(void **state)
{
	(void)state;
	/* The calls of the first cycles are not in the profile: starts of ops stand for all of them, since starts and
	 * launches are never mixed. Periods are those of the ends either way. */
	for (int lost = 0; lost < 2; lost++) {
		struct loop_program p;
		struct run run;
		loop_program_init(&p);
		for (int k = 0; k < 12; k++) {
			loop_program_kernel(&p, "a", 20000, !lost || k > 3);
			loop_program_kernel(&p, "b", 30000, !lost || k > 3);
			wait_for_gpu(&p);
		}
		loop_program_find(&p, &run);
		assert_true(run.steps.found);
		assert_int_equal(run.steps.n, 12);
		for (uint32_t k = 0; k < run.n_periods; k++)
			assert_int_equal(run.period[k], 69000); /* 2 x 8000 + 50000 + 3000 */
		/* a launch is 7000 before its op's start */
		assert_int_equal(run.steps.threads[0].start[5] - run.steps.threads[0].start[4], 69000);
		assert_int_equal(run.trace->ops.start[8] - run.steps.threads[0].start[4], lost ? 0 : 7000);
		arena_release(&p.arena);
	}
}

static void test_half_of_the_work(void **state)
{
	(void)state;
	/* a loop that is less than half of the GPU's work is no answer to what a step is */
	for (int large = 0; large < 2; large++) {
		struct loop_program p;
		struct run run;
		loop_program_init(&p);
		static const char *const once[] = {"p", "q", "r", "s", "t", "u", "v"};
		for (int k = 0; k < 7; k++)
			loop_program_kernel(&p, once[k], large ? 400000 : 40000, true);
		for (int k = 0; k < 20; k++) {
			loop_program_kernel(&p, "a", 50000, true);
			loop_program_kernel(&p, "b", 50000, true);
		}
		loop_program_find(&p, &run);
		assert_int_equal(run.steps.found, !large); /* 2.0 ms beside 0.28 or 2.8 */
		arena_release(&p.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_ends_are_dropped),
		cmocka_unit_test(test_without_launches),
		cmocka_unit_test(test_half_of_the_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
