/* Generated pipelines: every rank's bubbles are idle time with a cause, as they were played. Of GPipe and of one
 * forward, one backward they are also known by a formula. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysed.h"
#include "pipeline_job.h"

enum { US = 1000, STEPS = PIPELINE_STEPS - PIPELINE_WARM };

static struct pipeline_truth played[PIPELINE_MOST]; /* of the job that was made last */

static const struct analyse_options options = {.warmup = PIPELINE_WARM, .gates.max_regression = -1};

static double idle_of(const struct budget *b, enum cause cause)
{
	double sum = 0;
	for (uint32_t i = 0; i < b->n_rows; i++)
		sum += b->rows[i].cause == cause ? b->rows[i].per_step : 0;
	return sum;
}

static const struct finding *finding_of(const struct analysed *s)
{
	for (uint32_t i = 0; i < s->result.findings.n; i++)
		if (strcmp(s->result.findings.list[i].id, "pipeline_bubbles") == 0)
			return &s->result.findings.list[i];
	return NULL;
}

static double all_idle(const struct budget *b)
{
	double sum = 0;
	for (uint32_t i = 0; i < b->n_rows; i++)
		sum += b->rows[i].per_step;
	return sum;
}

/* Every rank's parts are those that were played, and they are all of its window. */
static void expect_as_played(const struct pipeline_job *s, const struct side *side)
{
	double steps = STEPS, mean = 0;
	assert_int_equal(side->ranks.n, pipeline_ranks(s));
	assert_true(side->ranks.known && side->ranks.one_clock);
	for (uint32_t i = 0; i < side->ranks.n; i++) {
		const struct rank_result *r = &side->ranks.list[i];
		const struct budget *b = &side->devices[r->device].budget;
		const struct pipeline_truth *truth = &played[side->devices[r->device].rank];
		assert_float_equal(r->unmatched, 0, 1e-3);
		assert_float_equal(r->bubble, (double)truth->bubble / steps, 1e-3);
		assert_float_equal(idle_of(b, CAUSE_BUBBLE), (double)truth->bubble / steps, 1e-3);
		assert_float_equal(r->waiting, (double)truth->waiting / steps, 1e-3);
		assert_float_equal(b->comm_exposed, (double)(truth->waiting + truth->moving) / steps, 1e-3);
		assert_float_equal(b->compute, (double)truth->compute / steps, 1e-3);
		assert_float_equal(b->compute + b->comm_exposed + b->copy_exposed + b->idle, b->period, 1e-3);
		assert_float_equal(all_idle(b), b->idle, 1e-3);
		mean += (double)truth->bubble / steps / pipeline_ranks(s);
	}
	assert_float_equal(side->ranks.bubble, mean, 1e-3);
	assert_float_equal(idle_of(&side->budget, CAUSE_BUBBLE), mean, 1e-3);
	double cost = 0;
	for (uint32_t i = 0; i < side->n_phases; i++)
		cost += side->phases[i].cost;
	assert_float_equal(cost, side->budget.period, 1e-3);
}

static const struct side *analyse(struct analysed *s, const struct pipeline_job *schedule)
{
	struct err err = {0};
	struct analyse_run run = {.trace = pipeline_make(schedule, &s->arena, &s->names, played), .file = "generated"};
	if (analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	return &s->result.side[0];
}

static const struct pipeline_job plain = {.stages = 4,
                                          .microbatches = 8,
                                          .tensor = 1,
                                          .data = 1,
                                          .forward = 1000 * US,
                                          .backward = 2000 * US,
                                          .slow = -1};

/* A rank is idle for (stages − 1) × (forward + backward), whichever the schedule: while the pipeline fills and drains.
 * What lies at the step's end it waits in the collective there. Transfers make it a little longer. */
static void test_the_formula(void **state)
{
	struct analysed *s = *state;
	for (int kind = 0; kind < 2; kind++)
		for (int stages = 2; stages <= 8; stages *= 2) {
			struct pipeline_job schedule = plain;
			schedule.alternating = kind;
			schedule.stages = stages;
			const struct side *side = analyse(s, &schedule);
			expect_as_played(&schedule, side);
			double expected = (stages - 1) * 3000. * US;
			double transfers = 2. * (schedule.microbatches + stages) * 2 * PIPELINE_SENT;
			for (uint32_t i = 0; i < side->ranks.n; i++) {
				double idle = side->ranks.list[i].bubble + side->ranks.list[i].waiting;
				assert_in_range((uintmax_t)(idle - expected + transfers), 0,
				                (uintmax_t)(2 * transfers));
			}
			const struct finding *f = finding_of(s);
			assert_non_null(f);
			assert_float_equal(f->per_step[0], side->ranks.bubble, 1e-3);
			assert_float_equal(f->ceiling_step, side->budget.period - side->ranks.bubble, 1e-3);
			assert_non_null(strstr(f->text, "in sends and receives"));
		}
}

static void test_a_slow_stage(void **state)
{
	struct analysed *s = *state;
	for (int kind = 0; kind < 2; kind++) {
		struct pipeline_job schedule = plain;
		schedule.alternating = kind;
		schedule.slow = 2;
		const struct side *side = analyse(s, &schedule);
		expect_as_played(&schedule, side);
		/* its neighbours wait for it, and the first one for what it hands on */
		for (uint32_t i = 0; i < side->ranks.n; i++) {
			const struct rank_result *r = &side->ranks.list[i];
			int32_t rank = side->devices[r->device].rank, partner = side->devices[r->partner].rank;
			if (rank == 1 || rank == 3)
				assert_int_equal(partner, 2);
		}
		assert_non_null(strstr(finding_of(s)->text, ", mostly for rank"));
	}
}

/* Tensor, pipeline and data parallel groups at once: three communicators a rank, and one of all. */
static void test_three_ways_at_once(void **state)
{
	struct analysed *s = *state;
	for (int kind = 0; kind < 2; kind++) {
		struct pipeline_job schedule = plain;
		schedule.alternating = kind;
		schedule.stages = 2;
		schedule.tensor = 2;
		schedule.data = 2;
		expect_as_played(&schedule, analyse(s, &schedule));
	}
	/* a reduce to one rank, which broadcasts: others leave the reduce whenever they can, and wait for the root */
	struct pipeline_job schedule = plain;
	schedule.stages = 2;
	schedule.data = 4;
	schedule.tensor = 2;
	schedule.rooted = true;
	expect_as_played(&schedule, analyse(s, &schedule));
}

/* Beside a copy the GPU is not idle. */
static void test_a_copy_beside_a_bubble(void **state)
{
	struct analysed *s = *state;
	struct pipeline_job schedule = plain;
	schedule.copies = 700 * US;
	expect_as_played(&schedule, analyse(s, &schedule));
	schedule.copies = 0;
	int64_t without = played[0].bubble;
	analyse(s, &schedule);
	assert_true(played[0].bubble > without + 700 * US);
}

static double mean_bubble(const struct pipeline_job *s)
{
	double sum = 0;
	for (int i = 0; i < pipeline_ranks(s); i++)
		sum += (double)played[i].bubble / (STEPS) / pipeline_ranks(s);
	return sum;
}

/* Four times as many microbatches, each a quarter as long: a quarter of the bubbles, but for the transfers. */
static void test_more_microbatches(void **state)
{
	struct analysed *s = *state;
	struct err err = {0};
	struct pipeline_job before = plain, after = plain;
	after.microbatches *= 4;
	after.forward /= 4;
	after.backward /= 4;
	struct analyse_run runs[] = {{.trace = pipeline_make(&before, &s->arena, &s->names, played), .file = "four"},
	                             {.trace = NULL, .file = "sixteen"}};
	double was = mean_bubble(&before);
	runs[1].trace = pipeline_make(&after, &s->arena, &s->names, played);
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	expect_as_played(&after, &s->result.side[1]);
	const struct finding *f = finding_of(s);
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_REDUCED);
	assert_float_equal(f->per_step[0], was, 1e-3);
	assert_float_equal(f->per_step[1], mean_bubble(&after), 1e-3);
	assert_true(f->per_step[1] < 0.75 * was && f->per_step[1] > 0.25 * was);
	const struct waterfall *w = &s->result.waterfall;
	double fell = 0;
	for (uint32_t i = 0; i < w->n; i++)
		fell += w->part[i].kind == PART_IDLE && w->part[i].cause == CAUSE_BUBBLE ? w->part[i].delta : 0;
	assert_float_equal(fell, f->per_step[1] - f->per_step[0], 1e-3);
}

/* `ranks` ranks that compute for 1, 2, 3 … × 200 µs in each step, and meet in one kernel of sends and receives: with
 * all others, as an all-to-all (expert parallelism), or with the next one and the one before. */
static const struct side *analyse_meeting(struct analysed *s, int n_ranks, bool all)
{
	static const char kernel[] = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
	struct err err = {0};
	struct maker m;
	maker_init(&m, &s->arena, &s->names);
	for (int i = 0; i < n_ranks; i++) {
		uint32_t process = maker_process(&m, 100 + i), thread = maker_thread(&m, process, 100 + i);
		uint32_t device = maker_device(&m, process, 0, TRACE_NONE), id = (uint32_t)i << 20;
		m.trace->processes[process].rank = i;
		maker_comm_call(&m, thread, 100, 110, "ncclCommInitRank", 7, -1, TRACE_NONE, (uint32_t)i,
		                (uint32_t)n_ranks);
		for (int k = 0; k < PIPELINE_STEPS; k++) {
			int64_t at = 10000 * US + k * 2000 * US, met = at + n_ranks * 200 * US;
			int64_t there = at + (i + 1) * 200 * US;
			maker_range(&m, thread, at - 40 * US, met + 60 * US, "step", "", RANGE_PUSH_POP);
			maker_call(&m, thread, at - 20 * US, at - 18 * US, "cudaLaunchKernel", CALL_LAUNCH, ++id);
			maker_op(&m, device, 7, OP_KERNEL, at, there, "gemm", id);
			for (int peer = 0; peer < n_ranks; peer++) {
				bool next = peer == (i + 1) % n_ranks, before = i == (peer + 1) % n_ranks;
				if (peer != i && (all || next))
					maker_comm_call(&m, thread, at - 16 * US + peer, at - 6 * US, "ncclSend", 7,
					                1 << 20, (uint32_t)peer, TRACE_NONE, TRACE_NONE);
				if (peer != i && (all || before))
					maker_comm_call(&m, thread, at - 16 * US + peer, at - 6 * US, "ncclRecv", 7,
					                1 << 20, (uint32_t)peer, TRACE_NONE, TRACE_NONE);
			}
			maker_call(&m, thread, at - 5 * US, at - 3 * US, "cudaLaunchKernel", CALL_LAUNCH, ++id);
			maker_op(&m, device, 7, OP_COMM, there, met + 40 * US, kernel, id);
		}
	}
	struct analyse_run run = {.trace = maker_link(&m), .file = "meeting"};
	if (analyse_one(&run, &options, &s->names, &s->arena, &s->result, &err))
		fail_msg("%s", err.text);
	return &s->result.side[0];
}

/* Nobody is a stage of a pipeline in an all-to-all: who waits in it waits for a straggler. */
static void test_an_all_to_all(void **state)
{
	struct analysed *s = *state;
	const struct side *side = analyse_meeting(s, 4, true);
	assert_float_equal(side->ranks.bubble, 0, 1e-3);
	assert_null(finding_of(s));
	for (uint32_t i = 0; i < 4; i++) { /* 600, 400, 200 µs, and none */
		const struct rank_result *r = &side->ranks.list[i];
		assert_float_equal(r->waiting, (3.0 - side->devices[r->device].rank) * 200 * US, US);
	}
}

/* With the neighbours alone it is one. */
static void test_meeting_neighbours(void **state)
{
	struct analysed *s = *state;
	const struct side *side = analyse_meeting(s, 4, false);
	assert_true(side->ranks.bubble > 100 * US);
	assert_non_null(finding_of(s));
}

/* Every bubble stands among the idle stretches of the timeline's steps, in order, apart from the gaps. */
static void test_the_timeline(void **state)
{
	struct analysed *s = *state;
	struct pipeline_job schedule = plain;
	const struct side *side = analyse(s, &schedule);
	double shown = side->timeline.n_boundaries - 1;
	for (uint32_t d = 0; d < side->timeline.n_devices; d++) {
		const struct device_lanes *lanes = &side->timeline.devices[d];
		const struct budget *b = &side->devices[lanes->device].budget;
		double sum = 0;
		int64_t last = 0;
		for (uint32_t g = 0; g < lanes->n_gaps; g++) {
			const struct gap_span *gap = &lanes->gaps[g];
			assert_true(gap->start >= last && gap->end > gap->start);
			last = gap->end;
			for (uint32_t p = gap->first_piece; p < gap->first_piece + gap->n_pieces; p++)
				sum += lanes->pieces[p].cause == CAUSE_BUBBLE
				               ? (double)(lanes->pieces[p].end - lanes->pieces[p].start)
				               : 0;
		}
		assert_float_equal(sum / shown, idle_of(b, CAUSE_BUBBLE), 0.001 * b->period);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_formula, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_slow_stage, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_three_ways_at_once, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_copy_beside_a_bubble, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_more_microbatches, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_an_all_to_all, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_meeting_neighbours, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_timeline, analysed_begin, analysed_end),
	};
	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
