/* Rows that make no sense: whatever kind they are of, the sentence names it. */
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
		const char *said = nothing_but_rest(runs, files, n, &arena);
		if (kind == ROWS_METRICS || kind == ROWS_SAMPLES) { /* no verdict comes from these */
			assert_null(said);
			continue;
		}
		assert_non_null(said);
		assert_ptr_equal(strstr(said, "1 of 3 rows of "), said);
		assert_null(strstr(said, "(null)"));
		assert_non_null(strstr(said, " in b.sqlite make no sense"));
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_has_a_name)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
