/* What the reader makes of single rows, columns and texts that are odd, hostile or missing. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void rows_that_make_no_sense_are_counted(void **state)
{
	struct support *s = *state;
	/* TEXT in an INTEGER column stays TEXT when it is no number. */
	const char *path = support_profile(
		s, "layout_2021.sql",
		"CREATE TEMP TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;"
		"UPDATE k SET start = 500, end = 400; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = 0, end = 0; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = -5, end = 10; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = 1, end = 9000000000000000000;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = 'soon', end = 10; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = 1.5, end = 10; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET start = 1, end = 10, deviceId = x'00'; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * "
		"FROM k;"
		"UPDATE k SET deviceId = -1; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;"
		"UPDATE k SET deviceId = 0, streamId = -1; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * "
		"FROM k;"
		"UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET bytes = -1; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 1 << "
		"60 WHERE"
		" copyKind = 11;"
		"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 'cudaFree' WHERE start = 1200;"
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text) VALUES (50, 40, 59, 'backwards');"
		"INSERT INTO OSRT_API VALUES (50, 40, 27, 281476654432358, 10, 0, 0, 0)");
	assert_int_equal(support_read(s, path), 0);
	static const struct {
		const char *table, *reason;
		int rows;
	} want[] = {
		{"CUPTI_ACTIVITY_KIND_RUNTIME", "holds a value of the wrong type", 1},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "ends before it starts", 2},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "has no timestamp", 1},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "starts before the capture", 1},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "has an impossible timestamp", 1},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "holds a value of the wrong type", 3},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "has an impossible device or stream", 2},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", "has an impossible size", 1},
		{"CUPTI_ACTIVITY_KIND_MEMSET", "has an impossible size", 1},
		{"NVTX_EVENTS", "ends before it starts", 1},
		{"OSRT_API", "ends before it starts", 1},
	};
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_dropped, sizeof want / sizeof *want);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		assert_string_equal(t->dropped[i].where, want[i].table);
		assert_string_equal(t->dropped[i].reason, want[i].reason);
		assert_int_equal(t->dropped[i].rows, want[i].rows);
	}
	assert_int_equal(t->ops.n, 4); /* the six of events.sql without the memset and a copy */
	assert_int_equal(t->calls.n, 3);
	assert_int_equal(t->ranges.n, 4);
}

/* Kernels 1 and 2 are nodes 11 and 12 of a graph, which are copies, as they are made when a graph is instantiated. Of
 * 12 it is not said what it is a copy of. In the other process number 11 is another node. Node 7 was made by call 51.
 */
static void graph_nodes_have_the_call_that_made_them(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *layout, *table;
	} names[] = {{"layout_2023.sql", "CUDA_GRAPH_EVENTS"}, {"layout_2025.sql", "CUDA_GRAPH_NODE_EVENTS"}};
	for (size_t i = 0; i < 2; i++) {
		char more[2048];
		snprintf(
			more, sizeof more,
			"CREATE TABLE IF NOT EXISTS %s (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass "
			"INTEGER "
			"NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL, "
			"originalGraphNodeId INTEGER);"
			"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 10 + rowid, correlationId = 50, globalPid "
			"= 281476654432256;"
			"INSERT INTO StringIds VALUES (16, 'cudaGraphLaunch_v10000');"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, "
			"nameId, returnValue) VALUES (1110, 1140, 0, 281476654432357, 50, 16, 0), "
			"(300, 340, 0, 281476654432358, 51, 1, 0), (400, 500, 0, 281476654432357, 52, 16, 0);"
			"INSERT INTO %s VALUES (420, 420, 95, 281476654432357, 0, 11, NULL), "
			"(421, 421, 95, 281476654432357, 0, 11, 9), (410, 410, 95, 281476654432357, 0, 9, 7), "
			"(320, 320, 95, 281476654432358, 0, 7, NULL), (450, 450, 95, 281476654432357, 0, 12, 8), "
			"(451, 451, 95, 281476654432357, 0, 12, NULL), (450, 450, 95, 281478332154057, 0, 11, 12)",
			names[i].table, names[i].table);
		const char *path = support_profile(s, names[i].layout, more);
		assert_int_equal(support_read(s, path), 0);
		const struct trace *t = &s->trace;
		size_t known = 0, unknown = 0;
		for (size_t op = 0; op < t->ops.n; op++) {
			unknown += t->ops.flags[op] & OPF_GRAPH_NODE && t->ops.creator[op] == TRACE_NONE;
			if (t->ops.creator[op] == TRACE_NONE)
				continue;
			known++;
			assert_int_equal(t->ops.start[op], 1150);
			assert_int_equal(t->calls.start[t->ops.creator[op]], 300);
			assert_int_equal(t->ops.creation[op], 51);
		}
		assert_int_equal(known, 1);
		assert_int_equal(unknown, 1);
		unlink(path);
	}
}

/* Node 7, of which the kernel's is a copy, has one stack after the other: which line of it counts. */
static void nodes_have_the_line_that_made_them(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *chain, *line; /* rows of CUDA_CALLCHAINS: id, symbol, module, unresolved, originalIP,
		                             stackDepth, line, library */
	} cases[] = {{"(3, 21, 31, 0, NULL, 0, 42, 0), (3, 22, 31, 0, NULL, 1, 7, 0)", "a.py:42 inner"},
	             {"(3, 22, 31, 0, NULL, 1, 7, 0), (3, 21, 31, 0, NULL, 0, 42, 1)", "a.py:7 outer"},
	             {"(3, 22, 31, 0, NULL, 1, 7, 1), (3, 21, 31, 0, NULL, 0, 42, 1)", "a.py:42 inner"},
	             {"(3, 21, 31, 0, NULL, 0, NULL, 0)", "a.py inner"},
	             {"(3, 21, 31, 0, NULL, 0, -42, NULL)", "a.py inner"},
	             {"(3, 21, 31, 0, NULL, 0, 1 << 40, 0)", "a.py inner"},
	             {"(3, 21, 31, 0, NULL, 0, 'x', 0)", NULL},
	             {"(3, 99, 31, 0, NULL, 0, 42, 0)", NULL}, /* no such name */
	             {"(4, 21, 31, 0, NULL, 0, 42, 0)", NULL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char more[2048];
		snprintf(
			more, sizeof more,
			"DROP TABLE IF EXISTS CUDA_GRAPH_NODE_EVENTS; CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start "
			"INTEGER, "
			"globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER, callchainId INTEGER);"
			"CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER, "
			"originalIP INTEGER, stackDepth INTEGER, line INTEGER, library INTEGER);"
			"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 10 + rowid, globalPid = 281476654432256;"
			"INSERT INTO StringIds VALUES (21, 'inner'), (22, 'outer'), (31, 'a.py');"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, "
			"nameId, returnValue) VALUES (300, 340, 0, 281476654432358, 51, 1, 0);"
			"INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (320, 281476654432358, 7, NULL, 3), "
			"(410, 281476654432357, 11, 7, NULL); INSERT INTO CUDA_CALLCHAINS VALUES %s",
			cases[i].chain);
		const char *path = support_profile(s, "layout_2025.sql", more);
		assert_int_equal(support_read(s, path), 0);
		const struct trace *t = &s->trace;
		size_t known = 0;
		for (size_t call = 0; call < t->calls.n && t->calls.in_line; call++)
			if (t->calls.in_line[call]) {
				known++;
				assert_int_equal(t->calls.start[call], 300);
				assert_string_equal(names_text(t->names, t->calls.in_line[call]),
				                    cases[i].line ? cases[i].line : "");
			}
		assert_int_equal(known, cases[i].line != NULL);
		unlink(path);
	}
}

static void values_that_may_be_missing(void **state)
{
	struct support *s = *state;
	/* Joining goes on without a process (both sides NULL), names without StringIds are said to be unknown. */
	const char *path = support_profile(s, "layout_2021.sql",
	                                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = NULL;"
	                                   "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET correlationId = NULL, srcKind = NULL,"
	                                   " dstKind = NULL;"
	                                   "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL;"
	                                   "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET correlationId = 4294967296 + 1;"
	                                   "DELETE FROM StringIds WHERE id = 2; DROP TABLE ThreadNames;"
	                                   "DROP TABLE TARGET_INFO_SYSTEM_ENV; DROP TABLE TARGET_INFO_GPU;"
	                                   "DROP TABLE EXPORT_META_DATA; DROP TABLE PROCESSES; DROP TABLE OSRT_API;"
	                                   "DROP TABLE PROFILER_OVERHEAD; DROP TABLE NVTX_EVENTS;"
	                                   "DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
	assert_int_equal(support_read(s, path), 0);
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_dropped, 1); /* kernels stay, and what they are is not known */
	assert_int_equal(t->dropped[0].kind, ROWS_KERNELS);
	assert_string_equal(t->dropped[0].reason, TRACE_NO_NAME);
	assert_int_equal(t->ops.n, 6);
	assert_int_equal(t->devices[0].n_ops, 2); /* of the unknown process */
	assert_string_equal(support_name(s, t->ops.name[0]), "(unknown name)");
	assert_int_equal(t->calls.start[t->ops.launch[0]], 1000);
	assert_int_equal(t->n_unlaunched, 3); /* two copies and the memset, whose id is no id */
	assert_false(t->source.has_ranges || t->source.has_os_calls || t->source.has_overheads);
	assert_int_equal(t->n_gpus, 0);
	assert_int_equal(t->devices[0].gpu, TRACE_NONE);
	for (size_t i = 0; i < t->ops.n; i++)
		assert_false(t->ops.flags[i] & OPF_PAGEABLE);
}

static void call_names_lose_their_versions(void **state)
{
	struct support *s = *state;
	static const char *const names[][2] = {
		{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
		{"cudaLaunchKernelExC_ptsz_v11060", "cudaLaunchKernelExC"},
		{"cudaMemsetAsync_ptds_v7000", "cudaMemsetAsync"},
		{"cudaStreamGetCaptureInfo_v2_v11030", "cudaStreamGetCaptureInfo_v2"},
		{"cuGetProcAddress_v2", "cuGetProcAddress_v2"},
		{"cuLaunchKernel_ptsz", "cuLaunchKernel"},
		{"cuLaunchKernel", "cuLaunchKernel"},
		{"_v7000", "_v7000"},
		{"7000", "7000"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = support_profile(
			s, "layout_2025.sql",
			arena_format(&s->arena, "UPDATE StringIds SET value = '%s' WHERE id = 4", names[i][0]));
		assert_int_equal(support_read(s, path), 0);
		assert_string_equal(support_name(s, s->trace.calls.name[1]), names[i][1]);
		unlink(path);
	}
}

/* Views, virtual tables and generated columns would run code of the file's choosing: where one has the name of what is
 * read, that is an error, and nothing is taken for missing. */
static void views_are_not_tables(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *sql, *says; /* NULL: it is read */
	} cases[] = {
		{"ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO hidden;"
	         "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
	         "FROM x) SELECT n AS start, n AS end, 0 AS eventClass, 1 AS globalTid, 1 AS correlationId, 1 AS "
	         "nameId FROM x",
	         ": CUPTI_ACTIVITY_KIND_RUNTIME is a view or a virtual table"},
		{"ALTER TABLE CUPTI_ACTIVITY_KIND_MEMSET RENAME TO hidden;"
	         "CREATE VIEW cupti_activity_kind_MEMSET_V2 AS SELECT * FROM hidden",
	         ": cupti_activity_kind_MEMSET_V2 is a view or a virtual table"},
		{"ALTER TABLE NVTX_EVENTS RENAME TO hidden;"
	         "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts4(start, end, eventType, text)",
	         ": NVTX_EVENTS is a view or a virtual table"},
		{"ALTER TABLE PROCESSES RENAME TO hidden;"
	         "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, n INTEGER, name TEXT AS (zeroblob(n * "
	         "100000000)))",
	         ": column name of table PROCESSES is generated"},
		{"ALTER TABLE PROCESSES RENAME TO hidden;"
	         "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER AS (globalPid / 16777216) STORED, name TEXT)",
	         ": column pid of table PROCESSES is generated"},
		{"CREATE VIEW kernels AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
	         "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL_V2x AS SELECT 1;"
	         "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN lasts INTEGER AS (end - start)",
	         NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *path = support_profile(s, "layout_2025.sql", cases[i].sql);
		int result = support_read(s, path);
		assert_int_equal(result, cases[i].says ? -1 : 0);
		if (cases[i].says && !strstr(s->err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].says, s->err.text);
		unlink(path);
	}
	assert_int_equal(s->trace.ops.n, 6);
	assert_int_equal(s->trace.calls.n, 4);
}

static void hostile_texts(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(
		s, "layout_2025.sql",
		"UPDATE StringIds SET value = '</script><img src=x onerror=alert(1)>' WHERE id = 2;"
		"UPDATE StringIds SET value = char(27) || ']0;owned' || char(7) WHERE id = 8;"
		"UPDATE NVTX_EVENTS SET text = CAST(x'6162ff63' AS TEXT) WHERE text = 'step_0';"
		"UPDATE NVTX_EVENTS SET text = char(8238) || 'evil' WHERE text = 'step_1';"
		"UPDATE META_DATA_EXPORT SET value = '1' || char(10) || '2' WHERE name = 'EXPORT_SCHEMA_VERSION';"
		"UPDATE PROCESSES SET name = 'C:\\Users\\someone\\a.exe' WHERE pid = 100;"
		"UPDATE TARGET_INFO_GPU SET name = char(155) || 'GPU';"
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) VALUES (1, 2, 59,"
		" replace(hex(zeroblob(50000)), '0', 'long'), 281476654432357)");
	assert_int_equal(support_read(s, path), 0);
	const struct trace *t = &s->trace;
	assert_string_equal(support_name(s, t->ops.name[0]), "</script><img src=x onerror=alert(1)>");
	assert_string_equal(support_name(s, t->ranges.name[1]), "ab\xEF\xBF\xBD"
	                                                        "c");
	assert_string_equal(support_name(s, t->ranges.name[2]), "\xEF\xBF\xBD]0;owned\xEF\xBF\xBD");
	assert_string_equal(support_name(s, t->ranges.name[3]), "\xEF\xBF\xBD"
	                                                        "evil");
	assert_in_range(strlen(support_name(s, t->ranges.name[0])), 4000, NAME_MAX_BYTES);
	assert_string_equal(t->source.schema, "1\xEF\xBF\xBD"
	                                      "2");
	assert_string_equal(support_name(s, t->processes[0].name), "a.exe");
	assert_string_equal(support_name(s, t->gpus[0].name), "\xEF\xBF\xBDGPU");
}

/* SQLite hands rows of numbers over many at a time: none is lost or taken for another where one such lot ends, and a
 * value of another type is its own row's alone. */
static void rows_are_as_many_as_there_are(void **state)
{
	struct support *s = *state;
	for (int rows = 61; rows < 132; rows += rows == 67 ? 57 : 1) {
		struct arena memory = {0};
		const char *more = arena_format(
			&memory,
			"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;"
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, "
			"nameId, returnValue)"
			" SELECT 1000 * i, 1000 * i + i, 0, 281476654432358, iif(i = 64, 'no', i), 2, 0"
			" FROM n",
			rows);
		const char *path = support_profile(s, "layout_2021.sql", more);
		assert_int_equal(support_read(s, path), 0);
		unlink(path);
		const struct trace_calls *calls = &s->trace.calls;
		assert_int_equal(calls->n, rows - (rows >= 64));
		for (int i = 1, at = 0; i <= rows; i++) {
			if (i == 64)
				continue;
			assert_int_equal(calls->start[at], 1000 * i);
			assert_int_equal(calls->end[at], 1001 * i);
			assert_int_equal(calls->correlation[at++], i);
		}
		arena_release(&memory);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_that_make_no_sense_are_counted),
		TEST(graph_nodes_have_the_call_that_made_them),
		TEST(nodes_have_the_line_that_made_them),
		TEST(values_that_may_be_missing),
		TEST(call_names_lose_their_versions),
		TEST(views_are_not_tables),
		TEST(hostile_texts),
		TEST(rows_are_as_many_as_there_are),
	};
	return cmocka_run_group_tests_name("reader_rows", tests, NULL, NULL);
}
