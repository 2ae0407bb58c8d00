/* The middle of lists, against sorting them. */
#include "analyse/run/middle.h"
#include "analyse/run/tally.h"
#include "base/sort.h"
#include "random_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 500 };

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

struct list {
	int64_t value[MOST];
	bool has[MOST];
};

static bool value_of(const void *context, size_t i, int64_t *out)
{
	const struct list *list = context;
	*out = list->value[i];
	return list->has[i];
}

static void check(const struct list *list, size_t n)
{
	int64_t sorted[MOST], low = 0, high = 0;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (list->has[i])
			sorted[kept++] = list->value[i];
	struct middle_values values = {value_of, list, n};
	assert_int_equal(middle_of(&values, &low, &high), kept);
	if (!kept)
		return;
	qsort(sorted, kept, sizeof *sorted, compare);
	assert_true(low == sorted[(kept - 1) / 2]);
	assert_true(high == sorted[kept / 2]);
}

static void test_equals_the_sorted_middle(void **state)
{
	(void)state;
	static const int64_t spans[] = {1, 2, 3, 100, 4095, 4096, 4097, 1000000, INT64_MAX / 2, INT64_MAX};
	struct list list;
	srandom(7);
	for (int round = 0; round < 4000; round++) {
		size_t n = (size_t)random() % (round % 10 ? 12 : MOST);
		int64_t span = spans[random() % 10];
		for (size_t i = 0; i < n; i++) {
			uint64_t bits = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();
			list.value[i] = (int64_t)(bits % (uint64_t)span) - (round % 3 ? 0 : span / 2);
			list.has[i] = round % 2 || random() % 4;
		}
		check(&list, n);
	}
}

static void test_the_ends_of_the_range(void **state)
{
	(void)state;
	struct list list = {.value = {INT64_MIN, INT64_MAX, 0, INT64_MAX, INT64_MIN, -1}};
	for (size_t i = 0; i < 6; i++)
		list.has[i] = true;
	for (size_t n = 0; n <= 6; n++)
		check(&list, n);
	const int64_t three[] = {7, -2, 4}, four[] = {1, 8, 3, 4};
	assert_true(middle_median_of_list(three, 3) == 4);
	assert_true(middle_median_of_list(four, 4) == 3.5);
	assert_true(middle_median_of_list(four, 0) == 0);
}

/* The middle of integers that cannot be asked again, few and many, and what lies above a bound. */
static void test_tally(void **state)
{
	(void)state;
	struct random random = {.state = 7};
	const size_t sizes[] = {0, 1, 2, 999, 1000, TALLY_FEW, TALLY_FEW + 1, TALLY_FEW + 40000};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct arena arena = {0};
		struct tally tally = {0};
		double *list = ARENA_NEW(&arena, sizes[s] + 1, double), above = 0;
		for (size_t i = 0; i < sizes[s]; i++) {
			int64_t value = random_between(&random, 0, s % 2 ? 5000 : INT64_C(1) << 40);
			list[i] = (double)value;
			above += value > 4000 ? (double)value - 10 : 0;
			tally_add(&tally, &arena, value);
		}
		sort_doubles(list, sizes[s]);
		double middle = sizes[s] ? (list[(sizes[s] - 1) / 2] + list[sizes[s] / 2]) / 2 : 0;
		assert_true(tally.many == (sizes[s] > TALLY_FEW));
		assert_true(tally_median(&tally) == middle);
		assert_true(tally_excess(&tally, 4000, 10) <= above * (1 + 1e-12));
		assert_true(tally_excess(&tally, 4000, 10) >= above * (1 - 1e-12));
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tally),
		cmocka_unit_test(test_equals_the_sorted_middle),
		cmocka_unit_test(test_the_ends_of_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
