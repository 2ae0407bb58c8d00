/* Loops of a profile and their cycles (gen/steps/pattern_loops.h, choose_steps.h): small profiles made row by
 * row, answers counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop_program.h"
#include "run/choose_steps.h"
#include "run/instants.h"

#include <math.h>
#include <stdio.h>

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
		for (uint32_t k = 0; k < run.window.n_periods; k++)
			assert_int_equal(run.window.period[k], 69000); /* 2 x 8000 + 50000 + 3000 */
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

/* Three stretches of steps, with `others` cycles of another loop behind each, of kernels that take `length`. */
static void make_epochs(struct loop_program *p, const int steps[3], int others, int64_t length, struct run *run)
{
	loop_program_init(p);
	for (int e = 0; e < 3; e++) {
		for (int k = 0; k < steps[e]; k++) {
			loop_program_kernel(p, "a", 20000, true);
			loop_program_kernel(p, "b", 30000, true);
			wait_for_gpu(p);
		}
		for (int k = 0; k < others; k++) {
			loop_program_kernel(p, "c", length, true);
			loop_program_kernel(p, "d", length, true);
			wait_for_gpu(p);
		}
		p->now += MS;
	}
	loop_program_find(p, run);
}

static void test_stretches(void **state)
{
	(void)state;
	/* all stretches are measured but for their first steps, and what runs between them is no step's time, on the
	 * host neither */
	struct loop_program p;
	struct run run;
	make_epochs(&p, (const int[]){10, 15, 12}, 3, 5000, &run);
	assert_int_equal(run.steps.n, 35);
	assert_int_equal(run.steps.n_stretches, 3);
	assert_int_equal(run.steps.unmeasured, 2);
	assert_int_equal(run.steps.pauses.n, 2);
	assert_true(run.steps.coverage > 0.9); /* with those: 37 x 50000 of 1940000 */
	for (uint32_t k = 0; k < run.window.n_periods; k++)
		assert_int_equal(run.window.period[k], 69000);
	assert_int_equal(run.window.ns, 34 * 69000);
	assert_int_equal(run.window.host[0].n, 3);
	for (size_t i = 0; i < run.trace->ops.n; i++) {
		/* steps and 3 others, of two kernels each */
		bool step = i < 20 || (i >= 28 && i < 56) || (i >= 64 && i < 86);
		assert_int_equal(run.steps.op_step[i] != TRACE_NONE, step);
		assert_int_equal(run_measures_op(&run, i), step && i >= 2);
	}
	/* a timed run takes its time in the longest stretch: from the 30th launch to the 56th */
	struct instants at;
	struct err err = {0};
	const struct instants_request how = {NULL, NULL, 1};
	assert_int_equal(instants_find(&run.trace, 1, &how, &p.arena, &at, &err), 0);
	assert_null(at.unknown);
	assert_int_equal(at.first, 30);
	assert_int_equal(at.last, 56);
	assert_int_equal(at.steps, 13);
	arena_release(&p.arena);
}

static void test_no_stretches(void **state)
{
	(void)state;
	struct loop_program p;
	struct run run;
	static const struct {
		int steps, others;
		int64_t length;
		bool several;
	} cases[] = {
		{9, 3, 5000, true},
		{8, 3, 5000, false}, /* too short to be measured alone */
		{9, 2, 5000, false}, /* two of something else are no other loop */
		{9, 3, 24000, true},
		{9, 3, 26000, false}, /* 144 of 594, 156 of 606: a quarter of what repeats is more */
		{12, 11, 2000, true},
		{12, 13, 2000, false}, /* the other one comes more often */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make_epochs(&p, (const int[]){cases[i].steps, cases[i].steps, cases[i].steps}, cases[i].others,
		            cases[i].length, &run);
		assert_int_equal(run.steps.n, cases[i].steps * 3 - (cases[i].several ? 2 : 0));
		assert_int_equal(run.steps.n_stretches, cases[i].several ? 3 : 0);
		arena_release(&p.arena);
	}
}

static void test_stands_in(void **state)
{
	(void)state;
	/* Every 15th step runs without its graph: the layers in its place are a loop, and none that parts stretches. */
	struct loop_program p;
	struct run run;
	loop_program_init(&p);
	for (int k = 0; k < 90; k++) {
		loop_program_kernel(&p, "a", 20000, true);
		loop_program_kernel(&p, "b", 20000, true);
		loop_program_kernel(&p, "c", 20000, true);
		for (int layer = 0; k % 15 == 14 && layer < 12; layer++) {
			loop_program_kernel(&p, "d", 1000, true);
			loop_program_kernel(&p, "e", 1000, true);
		}
		if (k % 15 != 14)
			loop_program_kernel(&p, "graph", 40000, true);
		wait_for_gpu(&p);
	}
	loop_program_find(&p, &run);
	assert_int_equal(run.steps.n, 90);
	assert_int_equal(run.steps.n_stretches, 0);
	arena_release(&p.arena);
}

/* Eight steps of each of `n` kernels, which take `longer` more from one to the next; `turns`: they take turns. */
static uint32_t loops_of_versions(uint32_t n, int64_t longer, bool turns)
{
	struct loop_program p;
	struct run run;
	char name[16];
	loop_program_init(&p);
	for (uint32_t k = 0; k < 8 * n; k++) {
		const uint32_t version = turns ? k % n : k / 8;
		snprintf(name, sizeof name, "spec%u", version);
		loop_program_kernel(&p, name, 20000 + longer * version, true);
		loop_program_kernel(&p, "scale", 10000, true);
		wait_for_gpu(&p);
		p.now += k % 8 == 7 ? 20000000 : 0;
	}
	loop_program_find(&p, &run);
	const uint32_t most = run.loops.n ? run.loops.list[0].n : 0;
	arena_release(&p.arena);
	return most;
}

/* A kernel that is compiled anew is one to the program; those that are tried out are not, nor are those of one step. */
static void test_versions(void **state)
{
	(void)state;
	assert_int_equal(loops_of_versions(5, 0, false), 40);
	assert_int_equal(loops_of_versions(5, 200, false), 40);
	assert_int_equal(loops_of_versions(5, 4000, false), 8);
	assert_int_equal(loops_of_versions(2, 0, false), 8); /* two numbers count nothing */
	assert_int_equal(loops_of_versions(5, 0, true), 8);
	assert_int_equal(loops_of_versions(8, 4000, false),
	                 0); /* the longest is a sixth of all, and the next as long */
}

/* `launches` of a graph of 24 layers between an embedding and a head. */
static void run_graph(int launches, struct loop_program *p, struct run *run)
{
	static const char *const layer[] = {"norm", "gemm", "mix"};
	enum { NODES = 1 + 24 * 3 + 1 };
	loop_program_init(p);
	for (int k = 0; k < launches; k++) {
		maker_call(&p->m, p->thread, p->now, p->now + 5000, "cudaGraphLaunch", CALL_LAUNCH, ++p->correlation);
		for (int i = 0; i < NODES; i++) {
			const char *name = i == 0 ? "embed" : i == NODES - 1 ? "head" : layer[i % 3];
			p->now += 20000;
			maker_op(&p->m, p->gpu, 7, OP_KERNEL, p->now, p->now + 18000, name, p->correlation);
		}
		p->now += 20000;
		wait_for_gpu(p);
	}
	loop_program_find(p, run);
}

/* What repeats within one launch of a graph are the layers of a step, and no steps. */
static void test_layers_of_a_graph(void **state)
{
	(void)state;
	struct loop_program p;
	struct run run;
	for (int launches = 1; launches < 4; launches++) {
		run_graph(launches, &p, &run);
		assert_int_equal(run.loops.n, 0);
		assert_false(run.steps.found);
		arena_release(&p.arena);
	}
	run_graph(12, &p, &run);
	assert_int_equal(run.loops.n, 1);
	assert_int_equal(run.loops.list[0].n, 12);
	assert_int_equal(run.loops.list[0].ops, 1 + 24 * 3 + 1);
	arena_release(&p.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),          cmocka_unit_test(test_group),
		cmocka_unit_test(test_ends_are_dropped),  cmocka_unit_test(test_without_launches),
		cmocka_unit_test(test_half_of_the_work),  cmocka_unit_test(test_stretches),
		cmocka_unit_test(test_no_stretches),      cmocka_unit_test(test_stands_in),
		cmocka_unit_test(test_layers_of_a_graph),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
