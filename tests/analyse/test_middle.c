/* The middle of lists, against sorting them. */
#include "analyse/run/middle.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_the_sorted_middle),
		cmocka_unit_test(test_the_ends_of_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
