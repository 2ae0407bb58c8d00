/* Work on several threads, and what is brought together afterwards: arenas and tables of names. */
#include "base/parallel.h"

#include "base/arena.h"
#include "trace/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 1000 };

static void count(void *context, size_t i)
{
	atomic_int *times = context;
	atomic_fetch_add(&times[i], 1);
}

static void test_every_piece_is_done_once(void **state)
{
	(void)state;
	static atomic_int times[PIECES];
	const size_t sizes[] = {0, 1, 2, 3, PIECES};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		memset(times, 0, sizeof times);
		parallel_each(sizes[s], count, times);
		for (size_t i = 0; i < PIECES; i++)
			assert_int_equal(times[i], i < sizes[s]);
	}
}

static void note_width(void *context, size_t i)
{
	size_t *width = context;
	width[i] = parallel_width();
}

static void test_pieces_share_the_processors(void **state)
{
	(void)state;
	size_t all = parallel_width(), width[4];
	for (size_t n = 1; n <= 4; n++) {
		size_t threads = n < all ? n : all;
		parallel_each(n, note_width, width);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(width[i], all / threads);
		assert_int_equal(parallel_width(), all);
	}
}

/* Fills an arena with small and large pieces, each with its number all over it. */
static void fill(struct arena *a, unsigned char **pieces, const size_t *sizes, size_t n, int first)
{
	for (size_t i = 0; i < n; i++) {
		pieces[i] = arena_alloc(a, sizes[i], 1);
		memset(pieces[i], first + (int)i, sizes[i]);
	}
}

static void check(unsigned char **pieces, const size_t *sizes, size_t n, int first)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(pieces[i][k], first + (int)i);
}

static void test_adopted_memory_lives_on(void **state)
{
	(void)state;
	const size_t sizes[] = {10, 100000, 3000, 70000, 1, 64000, 64000};
	enum { N = sizeof sizes / sizeof *sizes };
	for (int empty = 0; empty < 4; empty++) { /* bit 0: the one, bit 1: the other holds nothing */
		struct arena a = {0}, b = {0};
		unsigned char *of_a[N], *of_b[N], *later[N];
		size_t n_a = empty & 1 ? 0 : N, n_b = empty & 2 ? 0 : N;
		fill(&a, of_a, sizes, n_a, 1);
		fill(&b, of_b, sizes, n_b, 11);
		size_t used = a.used + b.used;
		arena_adopt(&a, &b);
		assert_int_equal(a.used, used);
		assert_null(b.blocks);
		fill(&a, later, sizes, N, 21);
		if (n_b) { /* an adopted large block can still be resized */
			of_b[1] = arena_grow(&a, of_b[1], sizes[1], 3 * sizes[1], 1);
			assert_int_equal(of_b[1][3 * sizes[1] - 1], 0);
		}
		check(of_a, sizes, n_a, 1);
		check(of_b, sizes, n_b, 11);
		check(later, sizes, N, 21);
		arena_release(&a);
	}
}

/* Two tables one after the other and one that both fed give the same ids. */
static void test_merged_names_have_the_ids_of_one_table(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names all, first, second;
	names_init(&all, &arena);
	names_init(&first, &arena);
	names_init(&second, &arena);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(names_add_text(&all, arena_format(&arena, "name %d", i)),
		                 names_add_text(&first, arena_format(&arena, "name %d", i)));
	uint32_t expected[3001] = {0};
	for (int i = 1; i <= 3000; i++) { /* every third is in the first table too */
		const char *text = arena_format(&arena, "name %d", i % 3 ? 10000 + i : i);
		assert_int_equal(names_add_text(&second, text), i);
		expected[i] = names_add_text(&all, text);
	}
	const uint32_t *ids = names_merge(&first, &second, false, &arena);
	assert_int_equal(first.n, all.n);
	assert_memory_equal(ids, expected, sizeof expected);
	for (uint32_t id = 0; id < all.n; id++)
		assert_string_equal(names_text(&first, id), names_text(&all, id));
	arena_release(&arena);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

/* What lies behind a request is nobody's, whichever way the room was asked for, though the next one lies there. */
static void test_requests_have_fences(void **state)
{
	(void)state;
	const size_t sizes[] = {0, 1, 7, 16, 100, 5000};
	struct arena a = {0};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const size_t n = sizes[i];
		char *const p[] = {arena_alloc(&a, n, 1), arena_take(&a, n, 1),
		                   (char *)arena_grow(&a, arena_alloc(&a, 1, 1), 1, n + 1, 1) + 1,
		                   arena_trim(&a, arena_alloc(&a, n + 9000, 1), n + 9000, n, 1)};
		for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
			assert_true(n == 0 || !__asan_address_is_poisoned(p[k] + n - 1));
			assert_true(__asan_address_is_poisoned(p[k] + n));
		}
	}
	arena_release(&a);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_piece_is_done_once),
		cmocka_unit_test(test_pieces_share_the_processors),
		cmocka_unit_test(test_adopted_memory_lives_on),
		cmocka_unit_test(test_merged_names_have_the_ids_of_one_table),
#ifdef __SANITIZE_ADDRESS__
		cmocka_unit_test(test_requests_have_fences),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
