/* CSV for spreadsheets, and a CUDA graph traced by node, which counts as nsys counts it. The
 * profile is that of test_stats_tables (profiles/stats.sql). */
#include "stats/stats.h"
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void read_tables(struct support *s)
{
	const char *path = support_path(s, "profile.sqlite");
	support_run(path, support_sql(s, "layout_2025.sql"));
	support_run(path, support_sql(s, "stats.sql"));
	const struct read_wish wish = {.details = true};
	if (read_profile_with(path, &wish, &s->names, &s->arena, &s->trace, &s->err) != 0)
		support_die(s->err.text);
}

static struct sheet make(struct support *s, const char *report)
{
	struct stats_request request;
	struct sheet sheet;
	if (stats_request_parse(report, &s->arena, &request, &s->err) != 0)
		support_die(s->err.text);
	stats_make(&s->trace, &request, &s->arena, &sheet);
	return sheet;
}

static int setup(void **state)
{
	support_setup(state);
	read_tables(*state);
	return 0;
}

/* Three nodes of a graph that one call launched are one op of its range, reaching from the first to the last; the
 * kernels' own table has all of them. */
static void graphs_by_node(void **state)
{
	struct support *s = *state;
	support_run(support_path(s, "profile.sqlite"),
	            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, contextId, streamId, "
	            "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, gridZ, "
	            "blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, "
	            "localMemoryTotal, gridId, graphNodeId) SELECT 4200 + 100 * i, 4250 + 100 * i, 0, 1, 7, 11, "
	            "281476654432256, 5, 6, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 9, 70 + i "
	            "FROM (SELECT 0 AS i UNION SELECT 1 UNION SELECT 2)");
	const struct read_wish wish = {.details = true};
	assert_int_equal(
		read_profile_with(support_path(s, "profile.sqlite"), &wish, &s->names, &s->arena, &s->trace, &s->err),
		0);
	struct sheet projected = make(s, "nvtx_gpu_proj_sum");
	assert_string_equal(projected.cells[0].text, ":step");
	assert_int_equal(projected.cells[10].whole, 13); /* 12 without the graph, of both processes' steps */
	assert_int_equal(projected.cells[2].whole, 4450 - 1200 + 1020);
	struct sheet kernels = make(s, "cuda_gpu_kern_sum:base");
	int64_t count = 0;
	for (size_t i = 0; i < kernels.n_rows; i++)
		count += kernels.cells[i * kernels.n_columns + 2].whole;
	assert_int_equal(count, 5 + 3);
}

/* What a spreadsheet sees, worked out by hand after OWASP's rules; without being asked nothing changes. */
static void csv_for_spreadsheets(void **state)
{
	static const struct {
		const char *name, *safe;
	} names[] = {
		{"gemm", "\"gemm\""},
		{"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""},
		{"+1", "\"'+1\""},
		{"-1", "\"'-1\""},
		{"@SUM(A1)", "\"'@SUM(A1)\""},
		{"\t=1", "\"'\t'=1\""},
		{"\r=1", "\"'\r'=1\""},
		{"  =1", "\"'  =1\""},
		{"\uff1d1", "\"'\uff1d1\""},
		{"a=b, c-1", "\"a=b, c-1\""},
		{"a;=HYPERLINK(\"x\");b", "\"a;'=HYPERLINK(\"\"x\"\");b\""},
		{"", "\"\""},
	};
	struct support *s = *state;
	static const struct sheet_column columns[] = {{"Name", SHEET_TEXT}, {"Total", SHEET_WHOLE}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct sheet sheet = {.columns = columns, .n_columns = 2, .arena = &s->arena};
		struct sheet_cell *cell = sheet_add(&sheet);
		struct buf out = {0};
		cell[0] = sheet_text(names[i].name);
		cell[1] = sheet_whole(-5);
		sheet_csv(&sheet, true, &out);
		assert_string_equal(out.data, arena_format(&s->arena, "\"Name\",\"Total\"\n%s,-5\n", names[i].safe));
		buf_release(&out);
	}
	struct sheet plain = {.columns = columns, .n_columns = 2, .arena = &s->arena};
	struct buf out = {0};
	sheet_add(&plain)[0] = sheet_text("=1");
	sheet_csv(&plain, false, &out);
	assert_string_equal(out.data, "Name,Total\n=1,0\n");
	buf_release(&out);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(graphs_by_node),
		TEST(csv_for_spreadsheets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
