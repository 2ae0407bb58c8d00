/* Sorting rows that live in columns, against a sort that is too simple to be wrong. */
#include "trace/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300 };

struct rows {
	size_t n;
	uint32_t group[MOST], tie[MOST];
	int64_t start[MOST], end[MOST];
};

static int64_t draw(int64_t below)
{
	return random() % below;
}

/* As profiles come: a few tables one after the other, each nearly in order; with times that are often the same. */
static void make(struct rows *r, uint32_t groups, int tables, int64_t step)
{
	int64_t t = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (draw((int64_t)r->n) < tables)
			t = 0;
		t += draw(step) - (draw(20) == 0 ? step : 0);
		r->group[i] = (uint32_t)draw(groups);
		r->start[i] = t;
		r->end[i] = t + draw(3);
		r->tie[i] = (uint32_t)draw(3);
	}
}

static bool is_behind(const struct order *o, size_t a, size_t b)
{
	if (o->group[a] != o->group[b])
		return o->group[a] > o->group[b];
	if (o->start && o->start[a] != o->start[b])
		return o->start[a] > o->start[b];
	if (o->end && o->end[a] != o->end[b])
		return o->end_descending ? o->end[a] < o->end[b] : o->end[a] > o->end[b];
	return o->tie && o->tie[a] > o->tie[b];
}

static void check(const struct order *o)
{
	struct arena arena = {0};
	uint32_t expected[MOST];
	bool sorted = true;
	for (uint32_t i = 0; i < o->n; i++) { /* by insertion: rows that are equal keep their places */
		size_t at = i;
		for (; at > 0 && is_behind(o, expected[at - 1], i); at--)
			expected[at] = expected[at - 1];
		expected[at] = i;
		sorted = sorted && at == i;
	}
	const uint32_t *rows = order_rows(o, &arena);
	assert_int_equal(rows == NULL, sorted);
	if (rows)
		assert_memory_equal(rows, expected, o->n * sizeof *rows);
	arena_release(&arena);
}

static void test_equals_a_simple_sort(void **state)
{
	(void)state;
	struct rows r;
	srandom(11);
	for (int round = 0; round < 3000; round++) {
		uint32_t groups = 1 + (uint32_t)draw(4);
		r.n = (size_t)draw(round % 10 ? 30 : MOST);
		make(&r, groups, 1 + (int)draw(5), 1 + draw(round % 3 ? 3 : 50));
		const struct order o = {.n = r.n,
		                        .group = r.group,
		                        .n_groups = groups,
		                        .start = round % 7 ? r.start : NULL,
		                        .end = round % 5 ? r.end : NULL,
		                        .end_descending = round % 2,
		                        .tie = round % 4 ? r.tie : NULL};
		check(&o);
	}
}

/* Thousands of one table between two of another: both ways. */
static void test_a_long_run_and_a_short_one(void **state)
{
	(void)state;
	struct rows r = {.n = MOST};
	for (size_t shorter = 0; shorter < 4; shorter++)
		for (int first = 0; first < 2; first++) {
			size_t begin = first ? 0 : r.n - shorter, end = first ? shorter : r.n;
			for (size_t i = 0, k = 0; i < r.n; i++)
				r.start[i] = i >= begin && i < end ? (int64_t)(k++ * 97) : (int64_t)i;
			const struct order o = {.n = r.n, .group = r.group, .n_groups = 1, .start = r.start};
			check(&o);
		}
}

static void test_columns_follow(void **state)
{
	(void)state;
	const uint32_t permutation[] = {2, 0, 1};
	int64_t eight[] = {10, 20, 30}, room[3];
	uint32_t four[] = {1, 2, 3};
	uint8_t one[] = {7, 8, 9};
	order_column(eight, 8, 3, permutation, room);
	order_column(four, 4, 3, permutation, room);
	order_column(one, 1, 3, permutation, room);
	assert_memory_equal(eight, ((const int64_t[]){30, 10, 20}), sizeof eight);
	assert_memory_equal(four, ((const uint32_t[]){3, 1, 2}), sizeof four);
	assert_memory_equal(one, ((const uint8_t[]){9, 7, 8}), sizeof one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_a_simple_sort),
		cmocka_unit_test(test_a_long_run_and_a_short_one),
		cmocka_unit_test(test_columns_follow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
