/* Which step of one rank is which of another: generated jobs whose ranks were recorded from and to steps at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "steps/steps.h"
#include "trace_maker.h"

enum { RANKS = 5, STEPS = 40, US = 1000, STEP = 1000 * US };

struct job {
	int from[RANKS], to[RANKS]; /* steps from which and before which a rank was recorded */
	int64_t skew[RANKS];        /* by how much its clock is ahead, ns */
	int64_t until;      /* a rank's work begins up to so much later, and ends so much earlier, than the step */
	bool silent;        /* ranks do not communicate */
	bool clocks, known; /* each rank has a host of its own; what its clock is is known within `within` */
	int64_t within;
};

static uint64_t seed;

static int64_t uniform(int64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return below > 0 ? (int64_t)((seed >> 33) % (uint64_t)below) : 0;
}

struct state {
	struct arena arena;
	struct names names;
	struct maker m;
	struct instance instance[RANKS * STEPS];
	int truth[RANKS * STEPS];
	struct steps steps;
};

static int begin(void **state)
{
	*state = test_calloc(1, sizeof(struct state));
	seed = 1;
	return 0;
}

static int end(void **state)
{
	struct state *s = *state;
	arena_release(&s->arena);
	test_free(s);
	return 0;
}

static const struct trace *make(struct state *s, const struct job *j, struct step_marks *marks)
{
	uint32_t correlation = 0;
	names_init(&s->names, &s->arena);
	maker_init(&s->m, &s->arena, &s->names);
	*marks = (struct step_marks){.origin = STEPS_BY_RANGE, .instance = s->instance};
	for (int r = 0; r < RANKS; r++) {
		uint32_t process = maker_process(&s->m, 100 + r), thread = maker_thread(&s->m, process, 100 + r);
		uint32_t device = maker_device(&s->m, process, 0, TRACE_NONE);
		s->m.trace->processes[process].rank = r;
		s->m.trace->processes[process].host = j->clocks ? 7 + (uint64_t)r : 7;
		for (int k = j->from[r]; k < j->to[r]; k++) {
			int64_t at = (k + 1) * STEP + j->skew[r];
			int64_t first = at + 200 * US + uniform(j->until), last = at + STEP - uniform(j->until);
			maker_call(&s->m, thread, at + 5 * US, at + 7 * US, "cudaLaunchKernel", CALL_LAUNCH,
			           ++correlation);
			maker_op(&s->m, device, 7, OP_KERNEL, first, (first + last) / 2, "gemm", correlation);
			maker_call(&s->m, thread, at + 9 * US, at + 11 * US, "cudaLaunchKernel", CALL_LAUNCH,
			           ++correlation);
			maker_op(&s->m, device, 7, j->silent ? OP_KERNEL : OP_COMM, (first + last) / 2, last, "all",
			         correlation);
			s->truth[marks->n] = k;
			s->instance[marks->n++] =
				(struct instance){.process = process, .thread = thread, .start = at, .end = at + STEP};
		}
	}
	struct trace *t = s->m.trace;
	t->n_clocks = j->clocks ? RANKS : 0;
	t->clocks = ARENA_NEW(&s->arena, RANKS, struct trace_clock);
	for (int r = 0; r < RANKS; r++)
		t->clocks[r] = (struct trace_clock){
			.host = 7 + (uint64_t)r, .known = !r || j->known, .within = r ? (double)j->within : 0};
	return maker_link(&s->m);
}

static void find(struct state *s, const struct job *j)
{
	struct step_marks marks;
	const struct trace *t = make(s, j, &marks);
	struct steps_part part;
	steps_of_part(t, &marks, &s->arena, true, &part);
	steps_join(t, &marks, &part, 1, &s->arena, &s->steps);
	for (uint32_t i = 0; i < part.n; i++)
		s->instance[i].step = part.step[i]; /* in the same order */
}

/* Every instance is of the step that it was put in as, counted from the first that all ranks recorded. */
static void expect_truth(const struct state *s, const struct job *j)
{
	int from = 0, to = STEPS, first = STEPS, last = 0;
	uint32_t lacking = 0;
	for (int r = 0; r < RANKS; r++) {
		from = j->from[r] > from ? j->from[r] : from;
		to = j->to[r] < to ? j->to[r] : to;
		first = j->from[r] < first ? j->from[r] : first;
		last = j->to[r] > last ? j->to[r] : last;
	}
	assert_false(s->steps.unaligned);
	assert_int_equal(s->steps.n, to - from);
	for (int i = 0, r = 0; r < RANKS; r++) {
		for (int k = j->from[r]; k < j->to[r]; k++, i++) {
			uint32_t expected = k >= from && k < to ? (uint32_t)(k - from) : TRACE_NONE;
			assert_int_equal(s->truth[i], k);
			assert_int_equal(s->instance[i].step, expected);
		}
		if (!s->steps.by_time || (j->from[r] == first && j->to[r] == last))
			continue;
		const struct steps_lacking *l = &s->steps.lacking[lacking++];
		assert_int_equal(s->m.trace->processes[l->process].rank, r);
		assert_int_equal(l->first, j->from[r] - first);
		assert_int_equal(l->last, last - j->to[r]);
	}
	assert_int_equal(s->steps.n_lacking, lacking);
}

static void test_recorded_at_random(void **state)
{
	struct state *s = *state;
	for (int round = 0; round < 200; round++) {
		struct job j = {.until = uniform(400 * US), .clocks = round % 2, .known = true, .within = 30 * US};
		bool apart = false;
		for (int r = 0; r < RANKS; r++) {
			j.from[r] = (int)uniform(8);
			j.to[r] = STEPS - (int)uniform(8);
			j.skew[r] = r ? uniform(60 * US) - 30 * US : 0;
			apart = apart || j.from[r] != j.from[0];
		}
		find(s, &j);
		assert_int_equal(s->steps.by_time, apart);
		expect_truth(s, &j);
		arena_release(&s->arena);
	}
}

/* As recorded: whatever times say, where no rank waits for another. */
static void test_ranks_that_do_not_communicate(void **state)
{
	struct state *s = *state;
	struct job j = {.silent = true};
	for (int r = 0; r < RANKS; r++) {
		j.from[r] = r % 2;
		j.to[r] = STEPS - 1 + r % 2;
	}
	find(s, &j);
	assert_false(s->steps.by_time || s->steps.unaligned);
	assert_int_equal(s->steps.n, STEPS - 1);
	for (int i = 0; i < STEPS - 1; i++)
		assert_int_equal(s->instance[i].step, i);
}

/* Clocks that are not known tell nothing; neither do those that may be wrong by half a step. */
static void test_clocks_that_do_not_tell(void **state)
{
	struct state *s = *state;
	for (int round = 0; round < 6; round++) {
		struct job j = {.clocks = true, .known = round % 2, .within = 700 * US};
		for (int r = 0; r < RANKS; r++) {
			j.from[r] = round < 4 && r == 3 ? 5 : 0;
			j.to[r] = round >= 2 && round < 4 && r < 3 ? STEPS - 5 : STEPS;
		}
		find(s, &j);
		assert_int_equal(s->steps.unaligned, round < 4);
		if (round >= 4) /* as many everywhere, and they overlap as they were recorded */
			expect_truth(s, &j);
		arena_release(&s->arena);
	}
}

/* Recordings without a step in common. */
static void test_nothing_in_common(void **state)
{
	struct state *s = *state;
	struct job j = {0};
	for (int r = 0; r < RANKS; r++) {
		j.from[r] = r ? 0 : 20;
		j.to[r] = r ? 20 : STEPS;
	}
	find(s, &j);
	assert_true(s->steps.unaligned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_recorded_at_random, begin, end),
		cmocka_unit_test_setup_teardown(test_ranks_that_do_not_communicate, begin, end),
		cmocka_unit_test_setup_teardown(test_clocks_that_do_not_tell, begin, end),
		cmocka_unit_test_setup_teardown(test_nothing_in_common, begin, end),
	};
	return cmocka_run_group_tests_name("steps_align", tests, NULL, NULL);
}
