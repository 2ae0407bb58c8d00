/* Lists, binary search, heap and sort, each against the dullest way to do the same. */
#include "base/heap.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t state_of_random = 1;

static uint32_t random_below(uint32_t n)
{
	state_of_random = state_of_random * 1664525 + 1013904223;
	return (state_of_random >> 8) % n;
}

static void search_finds_what_counting_finds(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		int64_t value[40], at = 0;
		uint32_t n = random_below(40), from = n ? random_below(n + 1) : 0;
		for (uint32_t i = 0; i < n; i++)
			value[i] = at += random_below(3);
		int64_t asked = random_below(60);
		uint32_t below = from, until = from;
		while (below < n && value[below] < asked)
			below++;
		while (until < n && value[until] <= asked)
			until++;
		uint32_t i = from;
		SEARCH(i, n, value[i] < asked);
		assert_int_equal(i, below);
		size_t k = from;
		SEARCH(k, n, value[k] <= asked);
		assert_int_equal(k, until);
	}
}

static bool never(void)
{
	fail();
	return false;
}

static void search_leaves_what_is_empty(void **state)
{
	(void)state;
	size_t i = 7;
	SEARCH(i, 7, never());
	assert_int_equal(i, 7);
	SEARCH(i, 3, never());
	assert_int_equal(i, 7);
}

static void search_works_on_times(void **state)
{
	(void)state;
	int64_t t = -1000000;
	SEARCH(t, 1000000, t * t * t < -27);
	assert_int_equal(t, -3);
}

struct item {
	uint32_t weight, number;
	char more[24]; /* larger than a register: copied whole */
};

static bool is_lighter(const void *a, const void *b, const void *context)
{
	const struct item *x = a, *y = b;
	assert_string_equal(context, "mine");
	return x->weight != y->weight ? x->weight < y->weight : x->number < y->number;
}

static void heap_gives_in_order(void **state)
{
	(void)state;
	struct item heap[64], left[64];
	size_t n = 0, n_left = 0;
	for (uint32_t round = 0; round < 20000; round++) {
		if (n < 64 && (n == 0 || random_below(2))) {
			struct item item = {random_below(10), round, "goes with it"};
			heap_push(heap, n++, sizeof *heap, &item, is_lighter, "mine");
			left[n_left++] = item;
		} else {
			size_t first = 0;
			for (size_t i = 1; i < n_left; i++)
				if (is_lighter(&left[i], &left[first], "mine"))
					first = i;
			assert_memory_equal(&heap[0], &left[first], sizeof *heap);
			heap_pop(heap, n--, sizeof *heap, is_lighter, "mine");
			left[first] = left[--n_left];
		}
	}
}

static void lists_keep_what_they_hold(void **state)
{
	(void)state;
	struct arena arena = {0};
	uint16_t *list = NULL;
	uint32_t room = 0, grown = 0;
	for (uint32_t n = 0; n < 50000; n++) {
		uint32_t before = room;
		LIST_GROW(&arena, list, n, room);
		assert_true(room > n);
		grown += room != before;
		list[n] = (uint16_t)n;
	}
	for (uint32_t i = 0; i < 50000; i++)
		assert_int_equal(list[i], (uint16_t)i);
	assert_true(room <= 50000 + 50000 / 8); /* a long list has little that is not used */
	assert_true(grown < 40);                /* and it is not copied at every item */
	arena_release(&arena);
}

static void sorts_put_the_smallest_first(void **state)
{
	enum { N = 200 };
	double doubles[N];
	float floats[N];
	int64_t times[N];
	uint32_t counts[N];
	uint64_t hashes[N];
	uint32_t seen[2 * N] = {0};
	(void)state;
	for (uint32_t i = 0; i < N; i++) { /* far apart: differences do not fit into an int, and half are below zero */
		uint32_t r = random_below(2 * N);
		seen[r]++;
		doubles[i] = ((double)r - N) * 1e-3;
		floats[i] = ((float)r - N) * 1e9F;
		times[i] = ((int64_t)r - N) * 40000000000;
		counts[i] = r * 10000000;
		hashes[i] = r * UINT64_C(40000000000000000);
	}
	sort_doubles(doubles, N);
	sort_floats(floats, N);
	sort_times(times, N);
	sort_counts(counts, N);
	sort_hashes(hashes, N);
	for (uint32_t r = 0, i = 0; r < 2 * N; r++)
		for (uint32_t k = 0; k < seen[r]; k++, i++) {
			assert_float_equal(doubles[i], ((double)r - N) * 1e-3, 0);
			assert_float_equal(floats[i], ((float)r - N) * 1e9F, 0);
			assert_int_equal(times[i], ((int64_t)r - N) * 40000000000);
			assert_int_equal(counts[i], r * 10000000);
			assert_int_equal(hashes[i], r * UINT64_C(40000000000000000));
		}
	sort_doubles(NULL, 0);
	assert_true(sort_nested(1, 9, 2, 3) < 0); /* starts first */
	assert_true(sort_nested(2, 3, 1, 9) > 0);
	assert_true(sort_nested(1, 9, 1, 3) < 0); /* holds the other */
	assert_true(sort_nested(1, 3, 1, 9) > 0);
	assert_int_equal(sort_nested(1, 3, 1, 3), 0);
}

/* Every place of lists that selection finds hard: equal numbers, in order, the other way round, up and down. */
static void select_finds_what_sorting_finds(void **state)
{
	enum { N = 120, KINDS = 6 };
	double list[N], sorted[N], work[N];
	(void)state;
	for (size_t n = 1; n <= N; n += 7)
		for (int kind = 0; kind < KINDS; kind++) {
			for (size_t i = 0; i < n; i++)
				list[i] = kind == 0   ? (double)random_below(1000)
				          : kind == 1 ? (double)random_below(3)
				          : kind == 2 ? (double)i
				          : kind == 3 ? (double)(n - i)
				          : kind == 4 ? (double)(i < n / 2 ? i : n - i)
				                      : 7;
			memcpy(sorted, list, n * sizeof *list);
			sort_doubles(sorted, n);
			for (size_t k = 0; k < n; k++) {
				memcpy(work, list, n * sizeof *list);
				assert_float_equal(sort_select(work, n, k), sorted[k], 0);
				sort_doubles(work, n); /* nothing is lost */
				assert_memory_equal(work, sorted, n * sizeof *work);
			}
			double high;
			memcpy(work, list, n * sizeof *list);
			assert_float_equal(sort_middle(work, n, &high), sorted[(n - 1) / 2], 0);
			assert_float_equal(high, sorted[n / 2], 0);
			assert_float_equal(sort_median(work, n), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_finds_what_counting_finds),
		cmocka_unit_test(search_leaves_what_is_empty),
		cmocka_unit_test(search_works_on_times),
		cmocka_unit_test(heap_gives_in_order),
		cmocka_unit_test(lists_keep_what_they_hold),
		cmocka_unit_test(sorts_put_the_smallest_first),
		cmocka_unit_test(select_finds_what_sorting_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
