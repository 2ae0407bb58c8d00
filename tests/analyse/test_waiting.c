/* Generated jobs of several ranks: who is waited for, why, and every rank's step, as put in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysed.h"
#include "charge/comm.h"
#include "rank_job.h"

enum { STEPS = RANK_JOB_STEPS, WARM = 2, MOST = RANK_JOB_MOST, US = 1000 };

static const struct rank_job plain = {.ranks = 8, .load = 200, .forward = 3000, .backward = 4000, .move = 500};

static const struct side *analyse_by(struct analysed *s, const struct rank_job *j, const char *step)
{
	struct err err = {0};
	struct analyse_run run = {.trace = rank_job_make(j, &s->arena, &s->names), .file = "generated"};
	struct analyse_options options = {.step = step, .warmup = step ? 0 : WARM, .gates.max_regression = -1};
	if (analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	return &s->result.side[0];
}

static const struct side *analyse(struct analysed *s, const struct rank_job *j)
{
	return analyse_by(s, j, NULL);
}

static const struct rank_result *rank_of(const struct side *side, uint32_t device)
{
	for (uint32_t i = 0; i < side->ranks.n; i++)
		if (side->ranks.list[i].device == device)
			return &side->ranks.list[i];
	fail();
	return NULL;
}

static const struct finding *finding_of(const struct analysed *s, const char *id)
{
	for (uint32_t i = 0; i < s->result.findings.n; i++)
		if (strcmp(s->result.findings.list[i].id, id) == 0)
			return &s->result.findings.list[i];
	return NULL;
}

static const struct finding *straggler_of(const struct analysed *s)
{
	return finding_of(s, "straggler");
}

static void expect_text(const struct analysed *s, const char *part)
{
	const struct finding *f = straggler_of(s);
	assert_non_null(f);
	if (!strstr(f->text, part))
		fail_msg("\"%s\" is not said: %s", part, f->text);
}

/* Every rank waits `lag` µs for `late`, moves data for 500 µs, and has the step that was put in. */
static void expect_budgets(const struct side *side, const struct rank_job *j, uint32_t late, double lag, double own)
{
	assert_true(side->ranks.known && side->ranks.one_clock);
	assert_int_equal(side->ranks.n, j->ranks);
	assert_float_equal(side->ranks.waiting, lag * US * (j->ranks - 1) / j->ranks, 1e-6);
	assert_float_equal(side->ranks.collectives, 1, 1e-9);
	assert_int_equal(side->ranks.list[0].device, late);
	for (uint32_t d = 0; d < j->ranks; d++) {
		const struct rank_result *r = rank_of(side, d);
		assert_float_equal(r->waiting, d == late ? 0 : lag * US, 1e-6);
		assert_float_equal(r->moving, 500 * US, 1e-6);
		assert_float_equal(r->unmatched, 0, 1e-6);
		assert_float_equal(r->hidden, 0, 1e-6);
		assert_float_equal(r->waiting + r->moving, side->devices[d].budget.comm_exposed, 1e-6);
		assert_float_equal(r->own, (own + (d == late ? lag : 0)) * US, 1e-6);
		assert_float_equal(r->own, side->devices[d].budget.period - r->waiting, 1e-6);
		assert_float_equal(r->waited_for, d == late ? lag * US : 0, 1e-6);
		assert_float_equal(r->last, d == late, 1e-9);
	}
}

static const double OWN = 200 + 4 + 100 + 3000 + 4000 + 500 + 11; /* µs: a step without waiting */

static void test_a_straggler_that_computes_longer(void **state)
{
	struct analysed *s = *state;
	static const uint32_t sizes[] = {2, 8, MOST};
	for (size_t i = 0; i < 3; i++) {
		struct rank_job j = plain;
		j.ranks = sizes[i];
		uint32_t late = j.ranks > 5 ? 5 : 1;
		j.more_backward[late] = 1920; /* 48 % */
		const struct side *side = analyse(s, &j);
		expect_budgets(side, &j, late, 1920, OWN);
		const struct straggler *g = &side->ranks.straggler;
		assert_int_equal(g->kind, STRAGGLER_PERSISTENT);
		assert_int_equal(g->device, late);
		assert_true(g->has_reason);
		assert_int_equal(g->part, PART_COMPUTE);
		assert_string_equal(names_text(&s->names, g->phase), "backward");
		assert_float_equal(g->more, 1920 * US, 1e-6);
		assert_float_equal(g->others, 4000 * US, 1e-6);
		expect_text(
			s, late == 5 ? "They wait 100 % of that for rank 5. It computes 1.92 ms per step longer (48 %) "
				       "in backward"
				     : "They wait 100 % of that for rank 1.");
		/* what every rank has to move is communication, the rest is not */
		assert_float_equal(finding_of(s, "comm_exposed")->per_step[0], 500 * US, 1e-6);
		/* as fast as the mean: the mean over ranks of the step without waiting */
		assert_float_equal(straggler_of(s)->ceiling_step, side->budget.period - side->ranks.waiting, 1e-6);
	}
}

static void test_a_rank_whose_input_is_late(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_load[3] = 1500;
	const struct side *side = analyse(s, &j);
	expect_budgets(side, &j, 3, 1500, OWN);
	const struct straggler *g = &side->ranks.straggler;
	assert_int_equal(g->kind, STRAGGLER_PERSISTENT);
	assert_int_equal(g->device, 3);
	assert_int_equal(g->part, PART_IDLE);
	assert_true(g->input && g->has_reason);
	assert_float_equal(g->more, 1500 * US, 1e-6);
	expect_text(s, "for rank 3. Its input is late");
	assert_in_range(finding_of(s, "input_starvation")->ceiling_step, (OWN - 304) * US,
	                OWN * US); /* all are on time */
}

/* Of 64 ranks those are drawn that a reader asks for. */
static void test_the_timeline_has_the_slowest_and_the_fastest(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.ranks = 64;
	for (uint32_t r = 0; r < j.ranks; r++)
		j.more_backward[r] = (7 * r + 3) % 64 * 10;
	const struct side *side = analyse(s, &j);
	const struct timeline *t = &side->timeline;
	uint32_t slowest = 0, fastest = 0, median = 0;
	for (uint32_t r = 0; r < j.ranks; r++) {
		slowest = j.more_backward[r] == 630 ? r : slowest;
		fastest = j.more_backward[r] == 0 ? r : fastest;
		median = j.more_backward[r] == 310 ? r : median;
	}
	assert_int_equal(t->n_devices, 64);
	assert_int_equal(t->devices[0].device, slowest);
	assert_int_equal(t->devices[1].device, median);
	assert_int_equal(t->devices[2].device, fastest);
	for (uint32_t d = 3; d < TIMELINE_DEVICES; d++)
		assert_int_equal(j.more_backward[t->devices[d].device], 620 - 10 * (d - 3));
	bool seen[64] = {false};
	for (uint32_t d = 0; d < 64; d++) {
		assert_false(seen[t->devices[d].device]);
		seen[t->devices[d].device] = true;
		assert_int_equal(t->devices[d].n_streams > 0, d < TIMELINE_DEVICES);
	}
	j.ranks = 8; /* few are in their order */
	t = &analyse(s, &j)->timeline;
	for (uint32_t d = 0; d < 8; d++)
		assert_int_equal(t->devices[d].device, d);
}

/* Input that is late at regular steps, and at some: said with the straggler. */
static void test_when_a_rank_is_late(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_load[3] = 9000;
	j.every = 7;
	j.noise = 20;
	const struct side *side = analyse(s, &j);
	assert_int_equal(side->ranks.straggler.device, 3);
	assert_int_equal(side->ranks.straggler.kind, STRAGGLER_PERSISTENT);
	assert_int_equal(side->ranks.straggler.every, 7);
	assert_int_equal(side->ranks.straggler.late, 4); /* steps 7, 14, 21 and 28 of 2 to 29 */
	expect_text(s, "of that for rank 3, every 7th step. Its input is late");
	j.every = 1;
	assert_int_equal(analyse(s, &j)->ranks.straggler.late, 0);
	j = plain;
	j.once = 9000; /* rank 5, once */
	assert_int_equal(analyse(s, &j)->ranks.straggler.late, 1);
	expect_text(s, "for rank 5, in 1 of 28 steps.");
}

static void test_ranks_that_take_turns(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_backward[0] = 2000;
	j.turns = true;
	const struct side *side = analyse(s, &j);
	assert_int_equal(side->ranks.straggler.kind, STRAGGLER_TURNS);
	assert_true(side->ranks.straggler.share < 0.2);
	/* the same exposed communication on all ranks, nearly: and all the same they wait for each other */
	assert_float_equal(side->ranks.waiting, 2000. * US * 7 / 8, 1e-6);
	expect_text(s, "They wait for several");
	/* Rank 3 is late by 1 ms in all of 28 steps, 5 by more in seven: 0.69 and 0.62 of the waiting are for rank 3.
	 */
	for (int more = 1500; more <= 2000; more += 500) {
		j = plain;
		j.more_backward[3] = 1000;
		j.more_load[5] = more;
		j.every = 4;
		const struct straggler *g = &analyse(s, &j)->ranks.straggler;
		assert_float_equal(g->share, 21. * 7 * 1000 / (21 * 7 * 1000 + 7 * (7 * more - 1000)), 1e-9);
		assert_int_equal(g->kind, more < 1600 ? STRAGGLER_PERSISTENT : STRAGGLER_TURNS);
	}
}

static void test_nobody_is_named_where_ranks_are_alike(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.noise = 20;
	const struct side *side = analyse(s, &j);
	assert_true(side->ranks.known);
	assert_null(straggler_of(s));
}

/* The second half of the ranks has a clock that is 3 ms ahead: who is last is told by how long kernels run. */
static void test_hosts_with_clocks_of_their_own(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.skew = 3000;
	j.more_backward[2] = 1920;
	const struct side *side = analyse(s, &j);
	assert_true(side->ranks.known && !side->ranks.one_clock);
	assert_int_equal(side->ranks.straggler.device, 2);
	assert_int_equal(side->ranks.straggler.kind, STRAGGLER_PERSISTENT);
	for (uint32_t d = 0; d < 8; d++) {
		assert_float_equal(rank_of(side, d)->own, (OWN + (d == 2 ? 1920 : 0)) * US, 1e-6);
		assert_float_equal(rank_of(side, d)->waited_for, d == 2 ? 1920. * US : 0, 1e-6);
	}
}

/* A quarter of what rank 5 is late by in each part of its step: no part explains it. */
static void test_no_reason_is_better_than_a_poor_one(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_load[5] = j.more_copy[5] = j.more_forward[5] = j.more_backward[5] = 400;
	const struct side *side = analyse(s, &j);
	expect_budgets(side, &j, 5, 1600, OWN);
	assert_int_equal(side->ranks.straggler.kind, STRAGGLER_PERSISTENT);
	assert_false(side->ranks.straggler.has_reason);
	expect_text(s, "They wait 100 % of that for rank 5. No single part of its step explains that.");
	j.more_copy[5] = 2000;
	analyse(s, &j);
	expect_text(s, "It copies 2 ms per step longer (2000 %) than the others");
}

/* What happened in one step is no reason for all. */
static void test_what_happened_once_is_no_reason(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_backward[5] = 1920;
	j.once = 100000;
	const struct side *side = analyse(s, &j);
	assert_int_equal(side->ranks.straggler.device, 5);
	assert_int_equal(side->ranks.straggler.part, PART_COMPUTE);
	assert_float_equal(side->ranks.straggler.more, 1920 * US, 1e-6);
	/* one step that is so much longer leaves colours for the others */
	assert_float_equal(side->ranks.map.low, OWN * US, 1);
	assert_float_equal(side->ranks.map.high, 2 * OWN * US, 2);
}

/* Ranks need not wait for each other in a broadcast: what is known is that one waits less than the others. */
static void test_collectives_that_tell_nothing(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.collective = "ncclDevKernel_Broadcast_RING_LL";
	j.more_backward[5] = 1920;
	const struct side *side = analyse(s, &j);
	assert_false(side->ranks.known);
	assert_int_equal(side->ranks.straggler.kind, STRAGGLER_NONE);
	assert_float_equal(side->ranks.unmatched, (500 + 1920. * 7 / 8) * US, 1e-6);
	assert_float_equal(finding_of(s, "comm_exposed")->per_step[0], 500 * US, 1e-6);
	expect_text(s, "than the one that does least, rank 5");
}

static void test_a_rank_without_a_number(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.nameless = true;
	j.more_backward[6] = 1000;
	analyse(s, &j);
	expect_text(s, "for device 0 of process 106.");
}

static void test_the_map_has_every_rank_and_step(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_backward[5] = 1920;
	const struct rank_map *map = &analyse(s, &j)->ranks.map;
	assert_int_equal(map->rows, 8);
	assert_int_equal(map->columns, STEPS - WARM);
	assert_int_equal(map->ranks_a_row, 1);
	assert_int_equal(map->steps_a_column, 1);
	assert_int_equal(map->first_step, WARM);
	for (uint32_t i = 0; i < map->rows * map->columns; i++)
		assert_float_equal(map->step[i], (OWN + (i / map->columns == 5 ? 1920 : 0)) * US, 1);
	assert_float_equal(map->low, OWN * US, 1);
	assert_float_equal(map->high, (OWN + 1920) * US, 1);
}

/* What was put in: two computing kernels, an all-reduce, a copy, and the host's time between. */
static void test_a_map_for_every_part_of_a_step(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_backward[5] = 1920;
	const struct ranks_result *ranks = &analyse(s, &j)->ranks;
	static const double usual[RANK_PARTS] = {7000, 1920, 500, 100, 215},
			    late[RANK_PARTS] = {8920, 0, 500, 100, 215};
	for (int p = 0; p < RANK_PARTS; p++) {
		const struct rank_map *map = &ranks->parts[p];
		assert_int_equal(map->rows, 8);
		assert_int_equal(map->columns, STEPS - WARM);
		for (uint32_t i = 0; i < map->rows * map->columns; i++)
			assert_float_equal(map->step[i], (i / map->columns == 5 ? late : usual)[p] * US, 1);
	}
	j = plain; /* nobody is late: nothing is waited for, and there is no picture of it */
	ranks = &analyse(s, &j)->ranks;
	assert_int_equal(ranks->parts[RANK_WAITING].rows, 0);
	assert_int_equal(ranks->parts[RANK_COMPUTE].rows, 8);
	j.ranks = MOST;
	j.more_backward[7] = 1920;
	const struct rank_map *map = &analyse(s, &j)->ranks.parts[RANK_COMPUTE];
	assert_int_equal(map->rows, RANK_PART_ROWS);
	assert_int_equal(map->ranks_a_row, 2);
	for (uint32_t i = 0; i < map->rows * map->columns; i++) /* the longest of both ranks */
		assert_float_equal(map->step[i], (i / map->columns == 3 ? 8920 : 7000) * US, 1);
}

/* Of many ranks the host of the slowest one is shown. */
static void test_the_host_of_the_slowest_rank(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain;
	j.more_backward[5] = 1920;
	const struct timeline *t = &analyse(s, &j)->timeline;
	assert_int_equal(t->host, 5);
	assert_int_equal(t->n_calls, 1);
	assert_int_equal(t->calls[0].tid, 105);
	assert_true(t->n_phases > 0);
	j.ranks = 2;
	t = &analyse(s, &j)->timeline;
	assert_int_equal(t->host, TRACE_NONE);
	assert_int_equal(t->n_calls, 2);
}

/* The second run has its processes in the opposite order: rank 5 is rank 5 all the same. */
static void test_the_same_rank_in_every_run(void **state)
{
	struct analysed *s = *state;
	struct rank_job j = plain, other = plain;
	struct err err = {0};
	j.more_backward[5] = other.more_backward[5] = 1920;
	other.reversed = true;
	other.forward += 1; /* another run */
	struct analyse_run a[2] = {{.trace = rank_job_make(&j, &s->arena, &s->names), .file = "a"},
	                           {.trace = rank_job_make(&other, &s->arena, &s->names), .file = "b"}};
	other.backward += 1;
	struct analyse_run b = {.trace = rank_job_make(&other, &s->arena, &s->names), .file = "c"};
	struct analyse_options options = {.warmup = WARM, .gates.max_regression = -1};
	if (analyse_pair(a, 2, &b, 1, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	const struct side *side = &s->result.side[0];
	assert_int_equal(side->n_devices, 8);
	for (uint32_t d = 0; d < 8; d++) {
		assert_int_equal(side->devices[d].rank, d);
		assert_float_equal(side->devices[d].budget.compute, (7000.5 + (d == 5 ? 1920 : 0)) * US, 1e-6);
	}
	assert_int_equal(side->ranks.straggler.device, 5);
	assert_float_equal(side->ranks.straggler.more, 1920 * US, 1e-6);
	/* the fixed side alone is reversed: its first device is rank 7 */
	assert_int_equal(s->result.side[1].devices[0].rank, 7);
	for (uint32_t i = 0; i < s->result.side[1].timeline.n_devices; i++)
		assert_int_equal(s->result.side[1].timeline.devices[i].device, i);
}

/* Two captures of the same job, one run a side: no direction. */
static void test_a_job_against_itself(void **state)
{
	struct analysed *s = *state;
	int directions = 0;
	for (uint64_t pair = 0; pair < 100; pair++) {
		struct err err = {0};
		struct rank_job j = plain;
		struct analyse_run run[2];
		struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
		j.noise = 400;
		for (int i = 0; i < 2; i++) {
			j.seed = 2 * pair + (uint64_t)i + 1;
			run[i] = (struct analyse_run){.trace = rank_job_make(&j, &s->arena, &s->names),
			                              .file = "generated"};
		}
		if (analyse_pair(&run[0], 1, &run[1], 1, &options, &s->names, &s->arena, &s->result, &err))
			fail_msg("%s", err.text);
		enum verdict_result result = s->result.verdict.result;
		directions += result == VERDICT_FASTER || result == VERDICT_SLOWER;
	}
	assert_in_range(directions, 0, 2);
}

/* A process with two GPUs, which another run lists in the other order. */
static void test_the_same_gpu_of_a_process(void **state)
{
	struct analysed *s = *state;
	struct err err = {0};
	struct analyse_run run[2];
	for (int i = 0; i < 2; i++) {
		struct maker m;
		struct rank_job_rank rank[2];
		maker_init(&m, &s->arena, &s->names);
		rank[0].process = rank[1].process = maker_process(&m, 100);
		rank[0].thread = rank[1].thread = maker_thread(&m, 0, 100);
		rank[i].device = maker_device(&m, 0, (uint32_t)i, TRACE_NONE);
		rank[!i].device = maker_device(&m, 0, (uint32_t)!i, TRACE_NONE);
		if (i)
			m.trace->processes[0].pid = 200;
		for (int64_t k = 0; k < 20; k++) {
			int64_t t = (k + 1) * 10000 * US;
			rank_job_launch(&m, &rank[0], t, "cudaLaunchKernel", OP_KERNEL, t + 5 * US, t + (3000 + i) * US,
			                "gemm");
			rank_job_launch(&m, &rank[1], t + 4 * US, "cudaLaunchKernel", OP_KERNEL, t + 8 * US,
			                t + 6008 * US, "gemm");
			maker_range(&m, rank[0].thread, t, t + 9 * US, "step", "", RANGE_PUSH_POP);
		}
		run[i] = (struct analyse_run){.trace = maker_link(&m), .file = "generated"};
	}
	struct analyse_options options = {.warmup = WARM, .gates.max_regression = -1};
	if (analyse_pair(run, 2, run, 1, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	const struct side *side = &s->result.side[0];
	assert_int_equal(side->n_devices, 2);
	for (uint32_t d = 0; d < 2; d++) {
		assert_int_equal(side->devices[d].ordinal, d);
		assert_float_equal(side->devices[d].budget.compute, (d ? 6000 : 2995.5) * US, 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_straggler_that_computes_longer, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_rank_whose_input_is_late, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_timeline_has_the_slowest_and_the_fastest, analysed_begin,
	                                        analysed_end),
		cmocka_unit_test_setup_teardown(test_when_a_rank_is_late, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_ranks_that_take_turns, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_nobody_is_named_where_ranks_are_alike, analysed_begin,
	                                        analysed_end),
		cmocka_unit_test_setup_teardown(test_hosts_with_clocks_of_their_own, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_no_reason_is_better_than_a_poor_one, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_what_happened_once_is_no_reason, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_collectives_that_tell_nothing, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_rank_without_a_number, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_map_has_every_rank_and_step, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_map_for_every_part_of_a_step, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_host_of_the_slowest_rank, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_same_rank_in_every_run, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_job_against_itself, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_same_gpu_of_a_process, analysed_begin, analysed_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
