/* What the pages of a timed run say together. */
#include "capture/stopwatch.h"
#include "capture/stopwatch_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;
static char folder[] = "/tmp/gapline-pages-XXXXXX";
static unsigned n_pages;

static const struct stopwatch_plan plan = {"step_#", "", 10, 60, 0, 50, 1, 10000};
static const struct stopwatch_plan ranks = {"step_#", "", 10, 60, 0, 50, 2, 10000};
/* Five launches a step, 320 in all. */
static const struct stopwatch_plan launches = {"gemm", "", 50, 300, 320, 50, 1, 10000};

static const char *path_of(unsigned i)
{
	return arena_format(&arena, "%s/%u-0" STOPWATCH_ENDING, folder, i);
}

static void put_bytes(const void *bytes, size_t n)
{
	FILE *f = fopen(path_of(n_pages++), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void put(uint64_t ended, int64_t first, int64_t last, uint32_t problem, int32_t code)
{
	struct stopwatch_page page = {STOPWATCH_MAGIC, STOPWATCH_VERSION, 1,   ended, {first, last}, {first, last},
	                              {1, 1},          problem,           code};
	put_bytes(&page, sizeof page);
}

static int begin(void **state)
{
	(void)state;
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	n_pages = 0;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_pages; i++)
		unlink(path_of(i));
	arena_release(&arena);
	return rmdir(folder);
}

static struct stopwatch_result read_pages(const struct stopwatch_plan *of)
{
	struct stopwatch_result result;
	struct err err;
	assert_int_equal(stopwatch_read(folder, of, &arena, &result, &err), 0);
	assert_true((result.ns > 0) == !result.unused);
	return result;
}

static void test_one_process(void **state)
{
	(void)state;
	put(60, 1000, 51000, 0, 0);
	assert_int_equal(read_pages(&plan).ns, 50000);
}

/* More steps than were recorded come after what is measured. A helper that made some, and one whose CUDA cannot be
 * used, a forked child, are none of those that count. */
static void test_others_beside_it(void **state)
{
	(void)state;
	put(20, 900, 0, 0, 0);
	put(100, 1000, 51000, 0, 0);
	put(30, 0, 0, STOPWATCH_REFUSED, 3);
	assert_int_equal(read_pages(&plan).ns, 50000);
}

/* As many launches as in the recorded run, or the same up to less than a step's. */
static void test_launches(void **state)
{
	(void)state;
	put(324, 1000, 51000, 0, 0);
	assert_int_equal(read_pages(&launches).ns, 50000);
	put(316, 1000, 2000, 0, 0);
	assert_string_equal(read_pages(&launches).unused, "2 processes made the steps, and 1 in the recorded run");
}

static void test_other_number_of_launches(void **state)
{
	(void)state;
	put(325, 1000, 51000, 0, 0);
	struct stopwatch_result result = read_pages(&launches);
	assert_true(result.uncountable);
	assert_string_equal(result.unused,
	                    "it made 325 launches, and the recorded run made 320, so that its steps cannot be counted");
}

static void test_too_few_launches(void **state)
{
	(void)state;
	put(299, 1000, 0, 0, 0);
	struct stopwatch_result result = read_pages(&launches);
	assert_true(result.uncountable);
	assert_string_equal(result.unused,
	                    "the program ended after 299 launches, and the time is taken at the 300th, which a "
	                    "recorded run made");
}

static void test_ranks(void **state)
{
	(void)state;
	put(60, 1000, 51000, 0, 0);
	put(60, 1500, 50000, 0, 0);
	assert_int_equal(read_pages(&ranks).ns, 51000 - 1500);
	assert_string_equal(read_pages(&plan).unused, "2 processes made the steps, and 1 in the recorded run");
}

static void test_too_few(void **state)
{
	(void)state;
	assert_string_equal(read_pages(&plan).unused,
	                    "the program made no range 'step_#'; the recorded one made 60 and more");
	put(42, 1000, 0, 0, 0);
	assert_string_equal(read_pages(&plan).unused,
	                    "the program ended after 42 ranges 'step_#', and the time is taken "
	                    "at the 60th, which a recorded run made");
	static const char *const nth[] = {"61st", "62nd", "63rd", "111th", "112th", "113th", "121st"};
	for (size_t i = 0; i < sizeof nth / sizeof *nth; i++) {
		struct stopwatch_plan later = plan;
		later.last = (uint64_t)atoi(nth[i]);
		assert_non_null(strstr(read_pages(&later).unused, arena_format(&arena, "at the %s,", nth[i])));
	}
	put(60, 1000, 2000, 0, 0);
	assert_string_equal(read_pages(&ranks).unused,
	                    "one of its processes ended after 42 ranges 'step_#', and the time "
	                    "is taken at the 60th, which a recorded run made");
}

static void test_killed_while_it_waited(void **state)
{
	(void)state;
	put(60, 1000, 0, 0, 0);
	assert_non_null(read_pages(&plan).unused);
}

static void test_order_of_processes(void **state)
{
	(void)state;
	put(60, 1000, 2000, 0, 0);
	put(60, 3000, 2500, 0, 0);
	assert_non_null(read_pages(&ranks).unused);
}

static void test_problems(void **state)
{
	static const struct {
		uint32_t problem;
		int32_t code;
		int64_t first;
		const char *words;
	} cases[] = {
		{STOPWATCH_TIME_LIMIT, 0, 0, "after the last warm-up step the GPU did not become idle within 10 s"},
		{STOPWATCH_TIME_LIMIT, 0, 5, "after the last step the GPU did not become idle within 10 s"},
		{STOPWATCH_REFUSED, 900, 5, "because a CUDA graph was being captured (CUDA error 900)"},
		{STOPWATCH_REFUSED, 719, 5, "could not be waited for (CUDA error 719)"},
		{STOPWATCH_NO_CONTEXT, 0, 0, "no GPU is in use"},
		{STOPWATCH_NO_DRIVER, 0, 0, "no CUDA driver"},
		{STOPWATCH_NO_THREAD, 11, 0, "could not be started"},
		{STOPWATCH_NO_CUPTI, 39, 0, "CUPTI did not let launches be counted (its error 39)"},
		{STOPWATCH_NO_CUPTI, 0, 0, "no CUPTI that fits the driver was found"},
		{4711, 0, 0, "could not be waited for"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put(60, cases[i].first, 0, cases[i].problem, cases[i].code);
		const char *unused = read_pages(&plan).unused;
		assert_non_null(strstr(unused, cases[i].words));
		unlink(path_of(--n_pages));
	}
}

/* What is no page, or a part of one, says nothing; nor does a page of another version. */
static void test_damage(void **state)
{
	struct stopwatch_page page = {STOPWATCH_MAGIC, STOPWATCH_VERSION + 1, 1, 60, {1, 2}, {1, 2}, {1, 1}, 0, 0};
	(void)state;
	put_bytes("", 0);
	put_bytes("GLWATCH", 8);
	put_bytes(&page, sizeof page);
	assert_non_null(strstr(read_pages(&plan).unused, "made no range"));
	page.version--;
	put_bytes(&page, sizeof page - 1);
	assert_non_null(strstr(read_pages(&plan).unused, "made no range"));
	put_bytes(&page, sizeof page);
	assert_int_equal(read_pages(&plan).ns, 1);
}

static void test_no_folder(void **state)
{
	struct stopwatch_result result;
	struct err err;
	(void)state;
	assert_int_equal(stopwatch_read("/does/not/exist", &plan, &arena, &result, &err), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_one_process),
		TEST(test_others_beside_it),
		TEST(test_launches),
		TEST(test_other_number_of_launches),
		TEST(test_too_few_launches),
		TEST(test_ranks),
		TEST(test_too_few),
		TEST(test_killed_while_it_waited),
		TEST(test_order_of_processes),
		TEST(test_problems),
		TEST(test_damage),
		TEST(test_no_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
