/* The order of runs, with and without steps, and from where it goes on; what nsys says. */
#include "capture/nsys_words.h"
#include "capture/suite.h"

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

static int release_arena(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct suite new_suite(int repeat, enum suite_steps steps)
{
	return (struct suite){.folder = ".", .repeat = repeat, .steps = steps, .arena = &arena};
}

/* Goes through the whole plan: "b1 f1 f2 b2". */
static const char *order(struct suite *suite)
{
	struct suite_run next;
	const char *text = "";
	while (suite_next(suite, false, &next)) {
		text = arena_format(&arena, "%s%s%c%d%s", text, *text ? " " : "", suite_side_names[next.side][0],
		                    next.number, next.unprofiled ? "u" : "");
		assert_null(next.log);
		suite_add(suite, &next);
	}
	assert_int_equal(suite_done(suite), suite_total(suite));
	return text;
}

static void test_order(void **state)
{
	(void)state;
	struct suite suite = new_suite(1, SUITE_STEPS);
	assert_string_equal(order(&suite), "b1 f1");
	suite = new_suite(3, SUITE_STEPS_UNKNOWN);
	assert_string_equal(order(&suite), "b1 f1 f2 b2 b3 f3");
	suite = new_suite(4, SUITE_STEPS);
	assert_string_equal(order(&suite), "b1 f1 f2 b2 b3 f3 f4 b4");
	suite = new_suite(2, SUITE_NO_STEPS);
	assert_string_equal(order(&suite), "b0 f0 b1 f1 f2 b2");
}

/* Each pair of unprofiled runs behind the recorded one of its number, and the other way round. */
static void test_unprofiled_order(void **state)
{
	(void)state;
	struct suite suite = new_suite(3, SUITE_STEPS_UNKNOWN);
	suite.unprofiled = 3;
	assert_string_equal(order(&suite), "b1 f1 f1u b1u f2 b2 b2u f2u b3 f3 f3u b3u");
	suite = new_suite(4, SUITE_STEPS);
	suite.unprofiled = 1;
	assert_string_equal(order(&suite), "b1 f1 f1u b1u f2 b2 b3 f3 f4 b4");
	suite = new_suite(1, SUITE_STEPS);
	suite.unprofiled = 5;
	assert_string_equal(order(&suite), "b1 f1 f1u b1u");
	suite = new_suite(2, SUITE_NO_STEPS); /* nothing to time */
	suite.unprofiled = 2;
	assert_string_equal(order(&suite), "b0 f0 b1 f1 f2 b2");
}

static void test_going_on(void **state)
{
	(void)state;
	struct suite suite = new_suite(3, SUITE_STEPS);
	const struct suite_run done[] = {{.side = SUITE_FIXED, .number = 2}, {.side = SUITE_BASELINE, .number = 1}};
	suite_add(&suite, &done[0]);
	suite_add(&suite, &done[1]);
	assert_int_equal(suite_done(&suite), 2);
	assert_int_equal(suite_total(&suite), 6);
	assert_false(suite_has_pair(&suite));
	assert_string_equal(order(&suite), "f1 b2 b3 f3");
	suite.repeat = 5;
	assert_string_equal(order(&suite), "f4 b4 b5 f5");
	suite.repeat = 2; /* fewer than there are: nothing is to be done */
	assert_string_equal(order(&suite), "");
	assert_true(suite_has_pair(&suite));
}

static void test_names(void **state)
{
	(void)state;
	struct suite suite = new_suite(2, SUITE_NO_STEPS);
	struct suite_run next;
	assert_true(suite_next(&suite, true, &next));
	assert_string_equal(next.profile, "discarded-baseline.sqlite");
	assert_string_equal(next.log, "discarded-baseline.log");
	suite.steps = SUITE_STEPS;
	assert_true(suite_next(&suite, true, &next));
	assert_string_equal(next.profile, "baseline-1.sqlite");
	assert_string_equal(next.log, "baseline-1.log");
}

static void put(const char *path)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void test_which_files_are_a_suites(void **state)
{
	static const char *const ours[] = {"run.json",
	                                   "report.html",
	                                   "report.json",
	                                   "baseline-1.sqlite",
	                                   "fixed-12.log",
	                                   "discarded-fixed.sqlite",
	                                   ".baseline-1.sqlite.AbCd12",
	                                   "fixed-2.unprofiled.log",
	                                   "fixed-2.sqlite-journal",
	                                   "baseline-2.unprofiled.sqlite",
	                                   ".fixed-2.unprofiled.sqlite.AbCd12",
	                                   ".run.json.17-0.tmp"};
	static const char *const others[] = {"run.json.bak",
	                                     "baseline-0.sqlite",
	                                     "baseline-.sqlite",
	                                     "fixed-1.sqlite.bak",
	                                     "baseline.sqlite",
	                                     "fixed-1x.sqlite",
	                                     "discarded.sqlite",
	                                     "notes",
	                                     "discarded-fixed-1.sqlite",
	                                     ".hidden"};
	char folder[] = "/tmp/gapline-suite-XXXXXX";
	struct suite_folder found;
	struct err err;
	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		put(ours[i]);
	assert_int_equal(suite_look(".", &found, &arena, &err), 0);
	assert_int_equal(found.n_others, 0);
	assert_true(found.exists && found.has_run);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		put(others[i]);
	assert_int_equal(suite_look(".", &found, &arena, &err), 0);
	assert_int_equal(found.n_others, sizeof others / sizeof *others);
	assert_int_equal(suite_clear(".", &err), 0);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		assert_int_not_equal(access(ours[i], F_OK), 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(unlink(others[i]), 0);
	assert_int_equal(suite_look(".", &found, &arena, &err), 0);
	assert_true(found.exists && !found.has_run && !found.n_others);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(suite_look(folder, &found, &arena, &err), 0);
	assert_false(found.exists);
}

/* Texts as nsys 2022.4 and 2025.3 print them. */
static void test_nsys_words(void **state)
{
	static const char said[] = "WARNING: --cuda-graph-trace=graph requires CUDA driver version 11.7 or higher.\n"
				   "Generating '/tmp/nsys-report-36d3.qdstrm'\n"
				   "\r[1/1] [0%                          ] k.nsys-rep\r[1/1] [=====100%] k.nsys-rep\n"
				   "\nImporter error status: An unknown error occurred.\n"
				   "Generated:\n    /home/user/k.nsys-rep\n";
	const char *at = said;
	(void)state;
	assert_string_equal(nsys_version("NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n", &arena),
	                    "2022.4.2.1-df9881f");
	assert_string_equal(nsys_version("nsys 1\n", &arena), "");
	assert_true(nsys_has_option("\t-t, --trace=\n\t--kill=\n", "--kill"));
	assert_false(nsys_has_option("\t--killing=\n\t--kil\n", "--kill"));
	assert_string_equal(nsys_next_line(&at, &arena),
	                    "WARNING: --cuda-graph-trace=graph requires CUDA driver version 11.7 or higher.");
	assert_string_equal(nsys_next_line(&at, &arena), "Importer error status: An unknown error occurred.");
	assert_null(nsys_next_line(&at, &arena));
	assert_string_equal(nsys_last_line(said, &arena), "Importer error status: An unknown error occurred.");
	assert_string_equal(nsys_last_line("\n[1/1] [1%]\n", &arena), "");
	assert_null(nsys_explain(said));
	assert_non_null(strstr(nsys_explain("Error: ptrace: Operation not permitted"), "SYS_PTRACE"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_order, release_arena),
		cmocka_unit_test_teardown(test_unprofiled_order, release_arena),
		cmocka_unit_test_teardown(test_going_on, release_arena),
		cmocka_unit_test_teardown(test_names, release_arena),
		cmocka_unit_test_teardown(test_which_files_are_a_suites, release_arena),
		cmocka_unit_test_teardown(test_nsys_words, release_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
