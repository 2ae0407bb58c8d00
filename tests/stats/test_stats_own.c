/* The tables of profiles that gapline's own collector recorded: sums beside what SQLite makes of the same rows. */
#include "support_convert.h"

#include "stats/stats.h"

#define NAMED "SELECT count(*), sum(\"end\" - start), count(DISTINCT value) FROM "

/* Rows of the profile, their time, and how many names they have; a table that is missing has none. */
static const struct {
	const char *report, *table, *sql;
	size_t total, count; /* columns of the sheet */
} REPORTS[] = {
	{"cuda_gpu_kern_sum", "CUPTI_ACTIVITY_KIND_KERNEL",
         NAMED "CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName", 1, 2},
	{"cuda_gpu_kern_sum:base", "CUPTI_ACTIVITY_KIND_KERNEL",
         NAMED "CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName", 1, 2},
	{"cuda_api_sum", "CUPTI_ACTIVITY_KIND_RUNTIME",
         NAMED "CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId", 1, 2},
	{"nvtx_pushpop_sum", "NVTX_EVENTS",
         /* a range that was open at the end of the capture ends when NVTX was last heard of */
         "SELECT count(*), sum(coalesce(\"end\", last) - start), count(DISTINCT domainId || ':' || coalesce(text, "
         "textId)) "
         "FROM NVTX_EVENTS, (SELECT max(max(start, coalesce(\"end\", 0))) AS last FROM NVTX_EVENTS) WHERE eventType = "
         "59",
         1, 2},
	{"osrt_sum", "OSRT_API", NAMED "OSRT_API JOIN StringIds ON id = nameId", 1, 2},
};

static void sums_beside_sqlite(void **state)
{
	struct support *s = *state;
	static const char *const names[] = {"tiny",       "streams", "driver", "osrt",
	                                    "graph-node", "ranges",  "child",  "train"};
	size_t compared = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *folder = support_path(s, names[i]);
		if (access(arena_format(&s->arena, TESTS_DIR "/capture/spools/%s", names[i]), R_OK) != 0)
			continue;
		int64_t start = support_unpack_spools(s, names[i], folder) - 1000000000;
		const struct convert_request request = support_recorded(s, names[i], folder, start);
		struct convert_result result;
		assert_int_equal(convert_spool(&request, &s->arena, &result, &s->err), 0);
		const struct read_wish wish = {.details = true, .without_gpu = true};
		if (read_profile_with(request.profile, &wish, &s->names, &s->arena, &s->trace, &s->err) != 0)
			fail_msg("%s", s->err.text);
		for (size_t k = 0; k < sizeof REPORTS / sizeof *REPORTS; k++) {
			struct stats_request what;
			struct sheet sheet;
			const char *there = "SELECT count(*) FROM sqlite_master WHERE name = '%s'";
			if (atoi(query(s, request.profile, arena_format(&s->arena, there, REPORTS[k].table))) == 0)
				continue;
			assert_int_equal(stats_request_parse(REPORTS[k].report, &s->arena, &what, &s->err), 0);
			stats_make(&s->trace, &what, &s->arena, &sheet);
			int64_t total = 0, count = 0;
			for (size_t r = 0; r < sheet.n_rows; r++) {
				total += sheet.cells[r * sheet.n_columns + REPORTS[k].total].whole;
				count += sheet.cells[r * sheet.n_columns + REPORTS[k].count].whole;
			}
			const char *ours = arena_format(&s->arena, "%lld|%lld|%zu", (long long)count, (long long)total,
			                                sheet.n_rows);
			if (count == 0)
				ours = "0|-|0";
			assert_string_equal(ours, query(s, request.profile, REPORTS[k].sql));
			compared += count > 0;
		}
	}
	assert_true(compared >= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_beside_sqlite, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
