/* The tables of profiles that gapline's own collector recorded: sums beside what SQLite makes of the same rows. */
#include "support_convert.h"

#include "stats/stats.h"

#define THERE "SELECT count(*) FROM sqlite_master WHERE name = '%s%s'"
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

/* nvtx_gpu_proj_sum: ranges that own something, the time of their projections, and what nsys takes for GPU ops: the
 * different correlation ids of calls wholly inside them whose work is there. "count|time|ops" */
static const char *projected_sql(struct support *s, const char *profile)
{
	static const char *const tables[] = {"KERNEL", "MEMCPY", "MEMSET"};
	struct buf sql = {0};
	buf_text(&sql, "WITH op AS (");
	for (size_t i = 0, n = 0; i < sizeof tables / sizeof *tables; i++)
		if (atoi(query(s, profile, arena_format(&s->arena, THERE, "CUPTI_ACTIVITY_KIND_", tables[i]))))
			buf_format(&sql,
			           "%sSELECT start, \"end\", correlationId AS id, globalPid AS process FROM "
			           "CUPTI_ACTIVITY_KIND_%s",
			           n++ ? " UNION ALL " : "", tables[i]);
	buf_text(&sql,
	         "), last(time) AS (SELECT max(max(start, coalesce(\"end\", 0))) FROM NVTX_EVENTS), owner AS (SELECT "
	         "max(op.\"end\") - min(op.start) AS span, count(DISTINCT call.correlationId) AS ops FROM NVTX_EVENTS "
	         "AS "
	         "range, last JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.globalTid = range.globalTid AND "
	         "call.start >= range.start AND call.\"end\" <= coalesce(range.\"end\", time) JOIN op ON op.id = "
	         "call.correlationId AND op.process = call.globalTid >> 24 << 24 WHERE range.eventType = 59 GROUP BY "
	         "range.rowid) SELECT count(*), sum(span), sum(ops) FROM owner");
	const char *copy = arena_copy(&s->arena, sql.data, sql.n);
	buf_release(&sql);
	return copy;
}

/* Returns whether there was something to compare. */
static bool projections_beside_sqlite(struct support *s, const char *profile, const char *name)
{
	struct stats_request what;
	struct sheet sheet;
	assert_int_equal(stats_request_parse("nvtx_gpu_proj_sum", &s->arena, &what, &s->err), 0);
	stats_make(&s->trace, &what, &s->arena, &sheet);
	int64_t count = 0, time = 0, ops = 0;
	for (size_t r = 0; r < sheet.n_rows; r++) {
		const struct sheet_cell *cell = &sheet.cells[r * sheet.n_columns];
		count += cell[4].whole;
		time += cell[2].whole;
		ops += cell[10].whole;
	}
	const char *ours = arena_format(&s->arena, "%lld|%lld|%lld", (long long)count, (long long)time, (long long)ops);
	assert_string_equal(count ? ours : "0|-|-", query(s, profile, projected_sql(s, profile)));
	if (strcmp(name, "graph-node") == 0) { /* and the ops are nodes, many a call */
		static const char nodes[] = "SELECT count(*), count(DISTINCT correlationId) FROM "
					    "CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId > 0";
		assert_string_equal(query(s, profile, nodes), "160|8");
		assert_true(count && ops < 160);
	}
	return count;
}

static void sums_beside_sqlite(void **state)
{
	struct support *s = *state;
	static const char *const names[] = {"tiny",       "streams", "driver", "osrt",
	                                    "graph-node", "ranges",  "child",  "train"};
	size_t compared = 0, projected = 0;
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
			const char *there = arena_format(&s->arena, THERE, REPORTS[k].table, "");
			if (atoi(query(s, request.profile, there)) == 0)
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
		if (atoi(query(s, request.profile, arena_format(&s->arena, THERE, "NVTX_EVENTS", ""))))
			projected += projections_beside_sqlite(s, request.profile, names[i]);
	}
	assert_true(compared >= 20 && projected >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_beside_sqlite, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
