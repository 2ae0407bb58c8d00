/* The order of runs, and from where it goes on; their state; what nsys says. */
#include "capture/nsys_words.h"
#include "capture/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena;

static int release_arena(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct suite new_suite(int recorded, int repeat)
{
	return (struct suite){.folder = ".", .n_sides = 2, .repeat = repeat, .recorded = recorded, .arena = &arena};
}

/* Goes through the whole plan: "b1 f1 f1s b1s"; s is a timed run. */
static const char *order(struct suite *suite)
{
	struct suite_run next;
	const char *text = "";
	while (suite_next(suite, false, &next)) {
		text = arena_format(&arena, "%s%s%c%d%s", text, *text ? " " : "", suite_side_key(2, next.side)[0],
		                    next.number, next.stopwatch ? "s" : "");
		assert_null(next.log);
		suite_add(suite, &next);
	}
	assert_int_equal(suite_done(suite), suite_total(suite));
	return text;
}

static void test_order(void **state)
{
	(void)state;
	struct suite suite = new_suite(1, 0);
	assert_string_equal(order(&suite), "b1 f1");
	suite = new_suite(3, 0);
	assert_string_equal(order(&suite), "b1 f1 f2 b2 b3 f3");
	suite = new_suite(1, 3);
	assert_string_equal(order(&suite), "b1 f1 f1s b1s b2s f2s f3s b3s");
	suite = new_suite(2, 5);
	assert_string_equal(order(&suite), "b1 f1 f1s b1s b2s f2s f3s b3s f2 b2 b4s f4s f5s b5s");
	suite = new_suite(3, 2); /* more recorded ones than others */
	assert_string_equal(order(&suite), "b1 f1 f1s b1s f2 b2 b2s f2s b3 f3");
}

/* Of several variants, a round and the same one backwards; then two further on. */
static void test_order_of_variants(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	(void)state;
	struct suite suite = new_suite(1, 4);
	struct suite_run next;
	const char *text = "";
	suite.n_sides = 3;
	memcpy(suite.name, names, sizeof names);
	while (suite_next(&suite, false, &next)) {
		text = arena_format(&arena, "%s%s", text, suite_side_name(&suite, next.side));
		if (next.side == 2 && !next.stopwatch)
			assert_string_equal(next.profile, "variant-3-1.sqlite");
		suite_add(&suite, &next);
	}
	assert_string_equal(text, "abccbaabcbaccab");
	assert_int_equal(suite_rounds(&suite, true), 4);
	assert_int_equal(suite_total(&suite), 15);
	/* Over two rounds each comes as early as the others: a drift of the machine hits all alike. */
	for (int n = 2; n <= SUITE_SIDES_MOST; n++) {
		suite = new_suite(1, 6);
		suite.n_sides = n;
		int at[SUITE_SIDES_MOST] = {0};
		for (int i = 0; suite_next(&suite, false, &next); i++) {
			if (next.stopwatch)
				at[next.side] += i % n;
			suite_add(&suite, &next);
		}
		for (int s = 0; s < n; s++)
			assert_int_equal(at[s], 3 * (n - 1));
	}
}

/* Every run is made once, and each kind takes turns: at any time no side is more than one ahead. */
static void test_turns(void **state)
{
	(void)state;
	for (int recorded = 1; recorded < 6; recorded++)
		for (int repeat = 0; repeat < 8; repeat++) {
			struct suite suite = new_suite(recorded, repeat);
			struct suite_run next;
			int made[2][2] = {{0}};
			for (int i = 0; suite_next(&suite, false, &next); i++) {
				int *n = made[next.stopwatch];
				assert_int_equal(next.number, ++n[next.side]);
				assert_in_range(n[0] - n[1] + 1, 0, 2);
				assert_true(i > 1 || !next.stopwatch);
				suite_add(&suite, &next);
			}
			assert_int_equal(made[0][0], recorded);
			assert_int_equal(made[0][1], recorded);
			assert_int_equal(made[1][0], repeat);
			assert_int_equal(made[1][1], repeat);
		}
}

/* Where it is not known how many there will be, the recorded runs are made before the first look. */
static void test_as_many_as_fit(void **state)
{
	(void)state;
	struct suite suite = new_suite(2, 15);
	struct suite_run next;
	int before = 0;
	suite.looks = true;
	while (suite_next(&suite, false, &next) && !(next.number == 2 && !next.stopwatch)) {
		before += next.stopwatch;
		suite_add(&suite, &next);
	}
	assert_int_equal(before, 4);
}

/* Where time may end before all are made, four timed runs of each side come before the second recorded one. */
static void test_as_many_as_there_is_time(void **state)
{
	(void)state;
	struct suite suite = new_suite(2, 5);
	suite.limited = true;
	assert_string_equal(order(&suite), "b1 f1 f1s b1s b2s f2s f3s b3s b4s f4s f2 b2 f5s b5s");
}

static void test_going_on(void **state)
{
	(void)state;
	struct suite suite = new_suite(3, 0);
	const struct suite_run done[] = {{.side = SUITE_FIXED, .number = 2}, {.side = SUITE_BASELINE, .number = 1}};
	suite_add(&suite, &done[0]);
	suite_add(&suite, &done[1]);
	assert_int_equal(suite_done(&suite), 2);
	assert_int_equal(suite_total(&suite), 6);
	assert_int_equal(suite_rounds(&suite, false), 0);
	assert_null(suite_first(&suite, SUITE_FIXED));
	assert_ptr_equal(suite_first(&suite, SUITE_BASELINE), &suite.runs[1]);
	assert_string_equal(order(&suite), "f1 b2 b3 f3");
	suite.recorded = 5;
	assert_string_equal(order(&suite), "f4 b4 b5 f5");
	suite.recorded = 2; /* fewer than there are: nothing is to be done */
	assert_string_equal(order(&suite), "");
	assert_int_equal(suite_rounds(&suite, false), 2);
}

/* No more timed runs: those that were made stay counted, and the recorded ones go on. */
static void test_giving_up(void **state)
{
	(void)state;
	struct suite suite = new_suite(2, 5);
	struct suite_run next;
	for (int i = 0; i < 4; i++) {
		assert_true(suite_next(&suite, false, &next));
		if (next.side == SUITE_FIXED && next.stopwatch)
			next.timed.unused = "it may not be";
		suite_add(&suite, &next);
	}
	assert_int_equal(suite_total(&suite), 14);
	assert_int_equal(suite_used(&suite, SUITE_FIXED), 0);
	assert_int_equal(suite_used(&suite, SUITE_BASELINE), 1);
	suite.no_stopwatch = "it may not be";
	assert_int_equal(suite_total(&suite), 6);
	assert_string_equal(order(&suite), "f2 b2");
}

static void test_names(void **state)
{
	(void)state;
	struct suite suite = new_suite(1, 1);
	struct suite_run next;
	assert_true(suite_next(&suite, true, &next));
	assert_string_equal(next.profile, "baseline-1.sqlite");
	assert_string_equal(next.log, "baseline-1.log");
	suite_add(&suite, &next);
	assert_true(suite_next(&suite, true, &next));
	suite_add(&suite, &next);
	assert_true(suite_next(&suite, true, &next));
	assert_null(next.profile);
	assert_string_equal(next.log, "fixed-1.stopwatch.log");
}

/* What is read is what was written, and what makes no sense is left out. */
static void test_state(void **state)
{
	static const char *const words[] = {"true", NULL};
	char folder[] = "/tmp/gapline-suite-XXXXXX";
	struct err err;
	(void)state;
	assert_non_null(mkdtemp(folder));
	struct suite suite = new_suite(2, 3), was = {.folder = folder, .arena = &arena};
	suite.folder = folder;
	suite.version = "1";
	suite.collector = suite.collector_version = suite.options = "x";
	suite.commands[0] = suite.commands[1] = words;
	suite.planned[1] = true;
	suite.plan[1] = (struct stopwatch_plan){"step \"#\"", "d", 4, 60, 600, 56, 2, 10000};
	struct suite_run runs[] = {
		{.side = SUITE_FIXED,
	         .number = 1,
	         .stopwatch = true,
	         .complete = "yes",
	         .start_utc_ns = 17,
	         .steps = 56},
		{.side = SUITE_BASELINE, .number = 2, .stopwatch = true, .complete = "yes", .seconds = 1.5},
		{.side = SUITE_BASELINE, .number = 1, .complete = "yes", .profile = "is-not-there.sqlite"},
		{.side = SUITE_FIXED, .number = SUITE_MANY + 1, .stopwatch = true, .complete = "yes"},
		{.side = SUITE_FIXED, .number = SUITE_MANY, .stopwatch = true, .complete = "yes"},
	};
	runs[0].timed.ns = INT64_C(1) << 60;
	runs[1].timed.unused = "a reason";
	runs[3].timed.unused = runs[4].timed.unused = "no run has this number";
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		suite_add(&suite, &runs[i]);
	const char *path = arena_format(&arena, "%s/run.json", folder);
	FILE *older = fopen(path, "w");
	struct stat file;
	assert_int_equal(chmod(path, 0644) | fclose(older), 0);
	assert_int_equal(suite_write(&suite, &err), 0);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600); /* commands hold passwords */
	assert_int_equal(suite_read(&was, &err), 1);
	assert_int_equal(suite_same(&was, &suite, &err), 0);
	assert_true(!was.planned[0] && was.planned[1] && !was.no_stopwatch);
	assert_string_equal(was.plan[1].step, "step \"#\"");
	assert_string_equal(was.plan[1].domain, "d");
	assert_int_equal(was.plan[1].first, 4);
	assert_int_equal(was.plan[1].last, 60);
	assert_int_equal(was.plan[1].steps, 56);
	assert_int_equal(was.plan[1].launches, 600);
	assert_int_equal(was.plan[1].processes, 2);
	assert_int_equal(was.plan[1].limit_ms, 10000);
	assert_int_equal(was.n_runs, 3);
	assert_int_equal(was.runs[2].number, SUITE_MANY);
	assert_true(was.runs[0].timed.ns == INT64_C(1) << 60 && was.runs[0].steps == 56);
	assert_int_equal(was.runs[0].start_utc_ns, 17);
	assert_string_equal(was.runs[1].timed.unused, "a reason");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
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
	                                   "fixed-2.stopwatch.log",
	                                   "fixed-2.sqlite-journal",
	                                   ".fixed-2.stopwatch.AbCd12",
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
		cmocka_unit_test_teardown(test_order_of_variants, release_arena),
		cmocka_unit_test_teardown(test_turns, release_arena),
		cmocka_unit_test_teardown(test_as_many_as_fit, release_arena),
		cmocka_unit_test_teardown(test_as_many_as_there_is_time, release_arena),
		cmocka_unit_test_teardown(test_going_on, release_arena),
		cmocka_unit_test_teardown(test_giving_up, release_arena),
		cmocka_unit_test_teardown(test_names, release_arena),
		cmocka_unit_test_teardown(test_state, release_arena),
		cmocka_unit_test_teardown(test_which_files_are_a_suites, release_arena),
		cmocka_unit_test_teardown(test_nsys_words, release_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
