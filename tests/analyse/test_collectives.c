/* Collectives of generated jobs, in which who came last and how long everybody waited is put in; and the division of a
 * device's time beside a walk over every nanosecond. */
#include "charge/collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 64, STEPS = 20, EACH = 3 };

static struct collective_op op(int64_t start, int64_t end, int64_t launched, uint32_t rank, uint32_t step, uint32_t key)
{
	return (struct collective_op){
		.start = start, .end = end, .launched = launched, .rank = rank, .step = step, .key = key};
}

static uint64_t seed;

static int64_t draw(int64_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)limit);
}

struct job {
	struct collective_op ops[MOST_RANKS * STEPS * EACH];
	int64_t truth[STEPS * EACH][MOST_RANKS]; /* how long each rank waits */
	uint32_t last[STEPS * EACH];
	size_t n;
	uint32_t ranks;
};

/* Ranks enter within `spread`, rank `late` that much later still; all leave together `move` after the last. */
static void make(struct job *j, uint32_t ranks, uint32_t late, int64_t lag, int64_t skew)
{
	*j = (struct job){.ranks = ranks};
	for (uint32_t c = 0; c < STEPS * EACH; c++) {
		int64_t begin = 1000000 * (int64_t)(c + 1), enter[MOST_RANKS], last = INT64_MIN,
			move = 5000 + draw(9000);
		for (uint32_t r = 0; r < ranks; r++) {
			enter[r] = begin + draw(2000) + (r == late ? lag : 0);
			if (enter[r] > last) {
				last = enter[r];
				j->last[c] = r;
			}
		}
		for (uint32_t r = 0; r < ranks; r++) {
			j->truth[c][r] = last - enter[r];
			j->ops[j->n++] = (struct collective_op){.start = enter[r] + skew * r,
			                                        .end = last + move + skew * r,
			                                        .launched = begin - draw(1000),
			                                        .rank = r,
			                                        .step = c / EACH,
			                                        .key = 1 + c % 2};
		}
	}
	for (size_t i = j->n; i-- > 1;) { /* in any order */
		size_t k = (size_t)draw((int64_t)i + 1);
		struct collective_op swap = j->ops[i];
		j->ops[i] = j->ops[k];
		j->ops[k] = swap;
	}
}

/* The ops by rank, as ranks say and are told them; how many are of no collective. */
static size_t match_all(struct collective_op *ops, size_t n, uint32_t ranks, bool one_clock, struct arena *arena,
                        struct collectives *out)
{
	struct collective_op *own = test_malloc(n * sizeof *own);
	size_t unmatched = 0;
	collectives_begin(out, one_clock, 0, arena);
	for (int told = 0; told < 2; told++) {
		for (uint32_t r = 0; r < ranks; r++) {
			size_t k = 0;
			for (size_t i = 0; i < n; i++)
				if (ops[i].rank == r)
					own[k++] = ops[i];
			if (told)
				collectives_tell(out, own, k);
			else
				collectives_take(out, own, k);
			for (size_t i = n; i-- > 0;)
				if (told && ops[i].rank == r)
					ops[i] = own[--k];
		}
		collectives_decide(out);
	}
	for (size_t i = 0; i < n; i++)
		unmatched += !ops[i].matched;
	test_free(own);
	return unmatched;
}

static size_t count_matched(const struct collectives *found)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++)
		n += found->list[i].matched;
	return n;
}

static void check(struct job *j, bool one_clock, int64_t skew)
{
	struct arena arena = {0};
	struct collectives found;
	assert_int_equal(match_all(j->ops, j->n, j->ranks, one_clock, &arena, &found), 0);
	assert_int_equal(found.n, STEPS * EACH);
	assert_int_equal(count_matched(&found), STEPS * EACH);
	for (size_t i = 0; i < j->n; i++) {
		const struct collective_op *op = &j->ops[i];
		uint32_t c = (uint32_t)((op->start - skew * op->rank) / 1000000 - 1);
		assert_true(op->matched);
		assert_int_equal(op->arrived - op->start, j->truth[c][op->rank]);
	}
	uint32_t lasts[2][MOST_RANKS] = {{0}};
	int64_t waited[2] = {0};
	for (uint32_t c = 0; c < STEPS * EACH; c++) {
		lasts[0][j->last[c]]++;
		lasts[1][found.list[c].last]++;
		waited[1] += found.list[c].waited;
		assert_int_equal(found.list[c].n_ranks, j->ranks);
		for (uint32_t r = 0; r < j->ranks; r++)
			waited[0] += j->truth[c][r];
	}
	assert_int_equal(waited[0], waited[1]);
	assert_memory_equal(lasts[0], lasts[1], sizeof lasts[0]);
	arena_release(&arena);
}

static void test_generated_jobs(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {2, 8, MOST_RANKS};
	struct job *j = test_malloc(sizeof *j);
	for (size_t s = 0; s < 3; s++)
		for (int round = 0; round < 10; round++) {
			seed = s * 100 + (uint64_t)round;
			make(j, sizes[s], sizes[s] / 2, 4000 * (round % 3), 0);
			check(j, true, 0);
			make(j, sizes[s], sizes[s] / 2, 4000 * (round % 3), 3000000000); /* clocks of their own */
			check(j, false, 3000000000);
		}
	test_free(j);
}

/* With one clock: how many are of no collective. */
static size_t match(struct collective_op *ops, size_t n, uint32_t ranks, struct arena *arena, struct collectives *out)
{
	return match_all(ops, n, ranks, true, arena, out);
}

/* Ranks 0 and 1, and 2 and 3, reduce among themselves, with the same kernel. */
static void test_groups_that_cannot_be_told_apart_are_not_matched(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct collectives found;
	struct collective_op ops[40];
	size_t n = 0;
	for (uint32_t k = 0; k < 10; k++)
		for (uint32_t r = 0; r < 4; r++) {
			int64_t start = 1000 * k + (r < 2 ? 0 : 500);
			ops[n++] = op(start, start + 100, start, r, k, 1);
		}
	assert_int_equal(match(ops, n, 4, &arena, &found), 40);
	assert_int_equal(count_matched(&found), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(!ops[i].matched && ops[i].arrived == ops[i].start);
	arena_release(&arena);
}

/* Of 20 or more of a name, one may be amiss. */
static void test_one_that_is_amiss(void **state)
{
	(void)state;
	for (uint32_t amiss = 1; amiss <= 2; amiss++) {
		struct arena arena = {0};
		struct collectives found;
		struct collective_op ops[60];
		for (uint32_t i = 0; i < 60; i++) {
			uint32_t k = i / 2, rank = i % 2;
			int64_t start = 1000 * k + (rank && k < amiss ? 500 : 0);
			ops[i] = op(start, start + 100, start, rank, k, 1);
		}
		assert_int_equal(match(ops, 60, 2, &arena, &found), amiss == 1 ? 2 : 60);
		assert_int_equal(count_matched(&found), amiss == 1 ? 29 : 0);
		arena_release(&arena);
	}
}

static void test_a_communicator_of_some_ranks(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct collectives found;
	struct collective_op ops[] = {
		op(10, 50, 1, 0, 0, 1), op(40, 50, 2, 3, 0, 1), /* 0 and 3 */
		op(60, 90, 3, 0, 0, 2), op(70, 90, 3, 1, 0, 2), /* all, but 2 */
		op(65, 90, 3, 3, 0, 2), op(60, 70, 9, 2, 0, 3), /* alone */
	};
	assert_int_equal(match(ops, 6, 4, &arena, &found), 1);
	assert_int_equal(count_matched(&found), 2);
	assert_int_equal(found.list[0].last, 3);
	assert_int_equal(found.list[0].waited, 30);
	assert_int_equal(found.list[1].last, 1);
	assert_int_equal(found.list[1].waited, 15);
	arena_release(&arena);
}

static void test_steps_in_which_ranks_disagree_are_not_matched(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct collectives found;
	struct collective_op ops[] = {op(10, 50, 1, 0, 0, 1), op(40, 50, 2, 1, 0, 1), op(60, 90, 3, 1, 0, 1),
	                              op(110, 150, 4, 0, 1, 1), op(140, 150, 5, 1, 1, 1)};
	assert_int_equal(match(ops, 5, 2, &arena, &found), 3);
	assert_int_equal(count_matched(&found), 1);
	for (size_t i = 0; i < found.n; i++)
		assert_true(!found.list[i].matched || found.list[i].step == 1);
	arena_release(&arena);
}

/* ---- the division of a device's time ---- */

struct waited {
	int64_t sum, bubbles, last;
};

static void add(void *context, const struct stretch *stretch, bool bubble)
{
	struct waited *w = context;
	assert_true(stretch->start >= w->last && stretch->end > stretch->start);
	*(bubble ? &w->bubbles : &w->sum) += stretch->end - stretch->start;
	w->last = stretch->end;
}

/* What runs at an instant. */
struct instant {
	bool computes, copies, moves, waits, bubble, other;
};

static struct instant at(int64_t t, const struct collective_op *op, size_t n, const struct stretches *compute,
                         const struct stretches *copies)
{
	struct instant now = {0};
	for (size_t i = 0; i < compute->n; i++)
		now.computes = now.computes || (t >= compute->list[i].start && t < compute->list[i].end);
	for (size_t i = 0; i < copies->n; i++)
		now.copies = now.copies || (t >= copies->list[i].start && t < copies->list[i].end);
	for (size_t i = 0; i < n; i++) {
		bool *waits = op[i].point ? &now.bubble : &now.waits, *past = op[i].matched ? &now.moves : &now.other;
		*waits = *waits || (t >= op[i].start && t < op[i].arrived);
		*past = *past || (t >= op[i].arrived && t < op[i].end);
	}
	return now;
}

static struct stretches draw_stretches(struct stretch *list)
{
	struct stretches all = {list, (size_t)draw(5)};
	for (size_t i = 0; i < all.n; i++) {
		list[i].start = draw(80);
		list[i].end = list[i].start + draw(20);
	}
	return all;
}

static void test_every_nanosecond_is_what_it_is(void **state)
{
	(void)state;
	int64_t bubbles = 0;
	for (seed = 1; seed < 600;) {
		uint64_t before = seed;
		struct collective_op op[6];
		const struct collective_op *ops[6];
		struct stretch computes[4], copied[4];
		struct comm_parts expected = {0};
		struct waited waited = {0, 0, INT64_MIN};
		size_t n = (size_t)draw(7);
		for (size_t i = 0; i < n; i++) {
			int64_t start = draw(80), length = draw(30);
			op[i] = (struct collective_op){.start = start, .end = start + length, .arrived = start};
			op[i].matched = draw(3) > 0;
			op[i].point = draw(2);
			op[i].arrived += op[i].matched ? draw(length + 1) : 0;
			ops[i] = &op[i];
		}
		const struct stretches compute = draw_stretches(computes), copies = draw_stretches(copied);
		for (int64_t t = 10; t < 90; t++) {
			struct instant now = at(t, op, n, &compute, &copies);
			if (now.moves)
				(*(now.computes ? &expected.hidden_moving : &expected.moving))++;
			else if (now.waits)
				(*(now.computes ? &expected.hidden_waiting : &expected.waiting))++;
			else if (now.other)
				(*(now.computes ? &expected.hidden_unmatched : &expected.unmatched))++;
			else if (now.bubble)
				(*(now.computes ? &expected.hidden_waiting
				   : now.copies ? &expected.moving
				                : &expected.bubble))++;
		}
		struct comm_parts found = collectives_divide(ops, n, &compute, &copies, 10, 90, add, &waited);
		assert_memory_equal(&found, &expected, sizeof found);
		assert_int_equal(waited.sum, expected.waiting);
		assert_int_equal(waited.bubbles, expected.bubble);
		bubbles += expected.bubble;
		seed = before + 1;
	}
	assert_true(bubbles > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_jobs),
		cmocka_unit_test(test_groups_that_cannot_be_told_apart_are_not_matched),
		cmocka_unit_test(test_one_that_is_amiss),
		cmocka_unit_test(test_a_communicator_of_some_ranks),
		cmocka_unit_test(test_steps_in_which_ranks_disagree_are_not_matched),
		cmocka_unit_test(test_every_nanosecond_is_what_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
