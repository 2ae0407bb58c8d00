/* Rows that make no sense: whatever kind they are of, the sentence names it; and records that were lost. */
#include "same/doubts.h"
#include "say/say.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_kind_has_a_name(void **state)
{
	(void)state;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		struct arena arena = {0};
		struct run_table whole = {.file = "a.sqlite"}, torn = {.file = "b.sqlite"};
		torn.rows[kind] = (struct trace_count){.read = 3, .dropped = 1};
		const struct side_facts sides[2] = {{.runs = &whole, .n_runs = 1}, {.runs = &torn, .n_runs = 1}};
		const char *said = say_fact(nothing_but_rest(sides, 2, &arena), NULL, &arena), *few;
		assert_null(nothing_left_out(&sides[0], 0, &arena));
		few = say_fact(nothing_left_out(&sides[1], 1, &arena), NULL, &arena);
		assert_ptr_equal(strstr(few, "In the fixed side, 1 of 3 rows of "), few);
		assert_null(strstr(few, "(null)"));
		assert_non_null(strstr(few, " make no sense and are left out."));
		if (kind == ROWS_METRICS || kind == ROWS_SAMPLES) { /* no verdict comes from these */
			assert_null(said);
			arena_release(&arena);
			continue;
		}
		assert_non_null(said);
		assert_ptr_equal(strstr(said, "1 of 3 rows of "), said);
		assert_null(strstr(said, "(null)"));
		assert_non_null(strstr(said, " in b.sqlite make no sense"));
		arena_release(&arena);
	}
}

/* What was lost while it was recorded may be of any kind: it is held against the GPU's work, however many calls there
 * are, and whatever the work is. */
static void test_lost(void **state)
{
	static const struct {
		int64_t lost, rows;
		bool proves;
		const char *share;
	} cases[] = {{0, 100, true, ""},
	             {1, 99, true, ""},
	             {2, 99, false, "Up to 2.0 % of"},
	             {1000, 60, false, "Up to 94.3 % of"},
	             {1, 0, false, "Up to 100.0 % of"}};
	static const enum row_kind kinds[] = {ROWS_KERNELS, ROWS_GRAPHS, ROWS_COPIES, ROWS_MEMSETS};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena arena = {0};
		struct run_table whole = {.file = "b.sqlite"};
		struct run_table torn = {.file = "a.sqlite", .source = {.lost = cases[i].lost}};
		torn.rows[ROWS_CALLS].read = torn.rows[ROWS_RANGES].read = 100 * 1000;
		torn.rows[kinds[i % (sizeof kinds / sizeof *kinds)]].read = cases[i].rows;
		const struct side_facts sides[2] = {{.runs = &torn, .n_runs = 1}, {.runs = &whole, .n_runs = 1}};
		const char *said = say_fact(nothing_but_rest(sides, 2, &arena), NULL, &arena);
		assert_int_equal(said == NULL, cases[i].proves);
		if (said)
			assert_non_null(strstr(said, cases[i].share));
		said = say_fact(nothing_left_out(&sides[0], 0, &arena), NULL, &arena);
		assert_int_equal(said == NULL, cases[i].lost == 0);
		if (cases[i].lost == 1)
			assert_string_equal(said, "In the baseline, 1 record was lost during capture.");
		arena_release(&arena);
	}
}

/* Of records that are known to be of host threads the GPU's work lacks nothing: they are held against the rarer of the
 * ranges and the operating-system calls, and where there are neither against the GPU's work. */
static void test_lost_of_threads(void **state)
{
	static const struct {
		int64_t lost, events, ops, ranges, os_calls;
		const char *said; /* NULL: the rest proves enough */
	} cases[] = {
		{50, 50, 60, 5000, 0, NULL}, /* 0.99 % */
		{51, 51, 60, 5000, 0,
	         "51 records of unknown type from host threads were lost while a.sqlite was captured, so there "
	         "is no verdict. Up to 1.0 % of the ranges may be missing"},
		{50, 50, 60, 5000, 400, "Up to 11.1 % of the operating-system calls may"},
		{50, 50, 60, 0, 400, "Up to 11.1 % of the operating-system calls may"},
		{50, 50, 60, 300, 400, "Up to 14.3 % of the ranges may"},
		{50, 50, 60, 0, 0,
	         "50 records of unknown type were lost while a.sqlite was captured, so there is no verdict. Up to "
	         "45.5 % of the GPU's work may"},
		{53, 50, 60, 5000, 0,
	         "3 records of unknown type were lost while a.sqlite was captured, so there is no verdict. Up to "
	         "4.8 % of the GPU's work may"},
		{53, 50, 400, 5000, 0, NULL},
		{1, 1, 60, 9, 0, "1 record of unknown type from host threads was lost while a.sqlite"},
		{50, 900, 60, 5000, 0, NULL}, /* no more than there are in all */
		{0, 900, 60, 5000, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena arena = {0};
		struct run_table whole = {.file = "b.sqlite"};
		struct run_table torn = {.file = "a.sqlite",
		                         .source = {.lost = cases[i].lost, .lost_events = cases[i].events}};
		torn.rows[ROWS_KERNELS].read = cases[i].ops;
		torn.rows[ROWS_RANGES].read = cases[i].ranges;
		torn.rows[ROWS_OS_CALLS].read = cases[i].os_calls;
		const struct side_facts sides[2] = {{.runs = &torn, .n_runs = 1}, {.runs = &whole, .n_runs = 1}};
		const char *said = say_fact(nothing_but_rest(sides, 2, &arena), NULL, &arena);
		if (!said != !cases[i].said || (said && !strstr(said, cases[i].said)))
			fail_msg("case %zu: %s", i, said ? said : "nothing");
		said = say_fact(nothing_left_out(&sides[0], 0, &arena), NULL, &arena);
		if (i == 6)
			assert_string_equal(said, "In the baseline, 53 records were lost during capture, 50 of "
			                          "them by host threads.");
		if (i == 1)
			assert_string_equal(said, "In the baseline, 51 records were lost during capture, all by "
			                          "host threads.");
		arena_release(&arena);
	}
}

/* One kernel takes as long in two captures by chance; many do not. What does not say when it began may be a copy. */
static void few_ops_are_one_capture_by_their_start(void **state)
{
	static const struct {
		uint64_t ops;
		int64_t starts[2];
		bool same;
	} cases[] = {{1, {5000000000, 79000000000}, false},   {15, {5000000000, 79000000000}, false},
	             {16, {5000000000, 79000000000}, true},   {1, {5000000000, 5000000000}, true},
	             {1, {5000000000, 5000000999}, true}, /* as two exports round it */
	             {1, {TRACE_NO_TIME, 79000000000}, true}, {1, {5000000000, TRACE_NO_TIME}, true}};
	int64_t start[16], end[16];
	(void)state;
	for (int i = 0; i < 16; i++) {
		start[i] = i * 100;
		end[i] = start[i] + 20;
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena arena = {0};
		struct run_table runs[2];
		struct trace traces[2];
		for (int s = 0; s < 2; s++) {
			const struct trace_source source = {.started = cases[i].starts[s]};
			runs[s] = (struct run_table){
				.file = "a", .source = source, .print = 7, .n_printed = cases[i].ops};
			traces[s] = (struct trace){.source = source,
			                           .ops = {.n = cases[i].ops, .start = start, .end = end}};
		}
		const struct side_facts sides[2] = {{.runs = &runs[0], .n_runs = 1}, {.runs = &runs[1], .n_runs = 1}};
		if (nothing_same_capture(&traces[0], &traces[1]) != cases[i].same ||
		    (nothing_to_compare(sides, &arena) != NULL) != cases[i].same)
			fail_msg("case %zu", i);
		arena_release(&arena);
	}
}

/* A process without steps beside one with them is another's only where it uses the GPU for more of the time and of a
 * step on one side, by 1 % of the time and a tenth, and where the other side has fewer processes, if it has none. */
static void another_process_is_one_more(void **state)
{
	(void)state;
	static const struct {
		int64_t used[2];
		uint32_t steps, devices; /* of the fixed side; of the baseline 10 and 3 */
		const char *said;
	} cases[] = {
		{{0, 300}, 10, 4, "for 0 % of the baseline's time and 30 % of the fixed side's"},
		{{300, 0}, 10, 4, "for 30 % of the baseline's time and 0 % of the fixed side's"},
		{{0, 300}, 10, 3, NULL}, /* of the program */
		{{0, 9}, 10, 4, NULL},
		{{120, 100}, 10, 3, "for 12 % of the baseline's time and 10 % of the fixed side's"},
		{{108, 100}, 10, 3, NULL},
		{{8, 17}, 10, 3, NULL},
		{{100, 200}, 20, 3, NULL}, /* each step twice as fast, with as much of it */
		{{100, 200}, 10, 3, "for 10 % of the baseline's time and 20 % of the fixed side's"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena arena = {0};
		struct run_table run[2];
		struct side_facts sides[2];
		for (int k = 0; k < 2; k++) {
			run[k] = (struct run_table){.file = "a.sqlite",
			                            .n_devices = k ? cases[i].devices : 3,
			                            .n_steps = k ? cases[i].steps : 10,
			                            .window_end = 1000,
			                            .tenants = cases[i].used[k]};
			sides[k] = (struct side_facts){.runs = &run[k], .n_runs = 1};
		}
		const char *said = say_fact(possible_recording(sides, 2, &arena), NULL, &arena);
		if (!said != !cases[i].said || (said && !strstr(said, cases[i].said)))
			fail_msg("case %zu: %s", i, said ? said : "nothing");
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_has_a_name), cmocka_unit_test(test_lost),
	                                   cmocka_unit_test(test_lost_of_threads),
	                                   cmocka_unit_test(few_ops_are_one_capture_by_their_start),
	                                   cmocka_unit_test(another_process_is_one_more)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
