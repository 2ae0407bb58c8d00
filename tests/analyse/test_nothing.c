/* Rows that make no sense: whatever kind they are of, the sentence names it; and records that were lost. */
#include "analyse/judge/nothing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_kind_has_a_name(void **state)
{
	(void)state;
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++) {
		struct arena arena = {0};
		struct trace whole = {0}, torn = {0};
		torn.rows[kind] = (struct trace_count){.read = 3, .dropped = 1};
		const struct run baseline = {.trace = &whole}, fixed = {.trace = &torn};
		const struct run *const runs[2] = {&baseline, &fixed};
		const char *const names[2][1] = {{"a.sqlite"}, {"b.sqlite"}};
		const char *const *const files[2] = {names[0], names[1]};
		const size_t n[2] = {1, 1};
		const char *said = nothing_but_rest(runs, files, n, &arena), *few;
		assert_null(nothing_left_out(&baseline, 1, "baseline", &arena));
		few = nothing_left_out(&fixed, 1, "fixed side", &arena);
		assert_ptr_equal(strstr(few, "Of the fixed side 1 of 3 rows of "), few);
		assert_null(strstr(few, "(null)"));
		assert_non_null(strstr(few, " make no sense and were left out."));
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
	             {2, 99, false, "up to 2.0 % of"},
	             {1000, 60, false, "up to 94.3 % of"},
	             {1, 0, false, "up to 100.0 % of"}};
	static const enum row_kind kinds[] = {ROWS_KERNELS, ROWS_GRAPHS, ROWS_COPIES, ROWS_MEMSETS};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena arena = {0};
		struct trace whole = {0}, torn = {.source = {.lost = cases[i].lost}};
		torn.rows[ROWS_CALLS].read = torn.rows[ROWS_RANGES].read = 100 * 1000;
		torn.rows[kinds[i % (sizeof kinds / sizeof *kinds)]].read = cases[i].rows;
		const struct run baseline = {.trace = &torn}, fixed = {.trace = &whole};
		const struct run *const runs[2] = {&baseline, &fixed};
		const char *const names[2][1] = {{"a.sqlite"}, {"b.sqlite"}};
		const char *const *const files[2] = {names[0], names[1]};
		const char *said = nothing_but_rest(runs, files, (const size_t[2]){1, 1}, &arena);
		assert_int_equal(said == NULL, cases[i].proves);
		if (said)
			assert_non_null(strstr(said, cases[i].share));
		said = nothing_left_out(&baseline, 1, "baseline", &arena);
		assert_int_equal(said == NULL, cases[i].lost == 0);
		if (cases[i].lost == 1)
			assert_string_equal(said, "Of the baseline 1 record was lost while it was captured.");
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_has_a_name), cmocka_unit_test(test_lost)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
