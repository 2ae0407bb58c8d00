/* Spools that were recorded on a GPU (tests/capture/spools), converted; and the tables of a real nsys export beside
 * ours, which is skipped where there is none. */
#include "support_convert.h"

#include "base/file.h"

#include <inttypes.h>

/* ---- recorded spools ---- */

/* What the recorded programs do (workloads/capture-cases, train.py): most are 8 steps of 20 kernels after one memset,
 * in a range each. `calls` and all counts of `train` are those of nsys 2025.3 in a run of the same program, without
 * cuKernelGetName; −1: nsys was not asked. Programs that die count from and to: they lose 100 ms at most. */
struct recorded {
	const char *name;
	int kernels, copies, memsets, graphs, ranges, calls;
	int fewest_kernels;  /* when not all have to be there; `kernels` is the most then */
	int incomplete;      /* processes without an end */
	const char *message; /* what has to be said */
};

static const struct recorded RECORDED[] = {
	{.name = "tiny", .kernels = 160, .memsets = 1, .ranges = 8, .calls = 175},
	{.name = "graph", .memsets = 1, .graphs = 8, .ranges = 8, .calls = 46},
	/* workloads/capture-cases/device_graph.cu: each of 8 launches has a kernel that launches another graph. nsys
         * shows twice as many graphs as launches, too. */
	{.name = "device-graph", .memsets = 1, .graphs = 16, .calls = -1},
	{.name = "graph-node", .kernels = 160, .memsets = 1, .ranges = 8, .calls = 46},
	{.name = "streams", .kernels = 160, .copies = 48, .memsets = 4, .ranges = 16, .calls = 301},
	{.name = "osrt", .kernels = 160, .copies = 48, .memsets = 4, .ranges = 16, .calls = 301},
	{.name = "driver", .kernels = 160, .memsets = 1, .ranges = 8, .calls = 172},
	{.name = "child", .kernels = 160, .memsets = 1, .ranges = 8, .calls = 175},
	/* Every fourth step forks a child with a range; one of the two leaves by _exit and takes its range along. */
	{.name = "workers", .kernels = 160, .memsets = 1, .ranges = 9, .calls = -1},
	{.name = "train", .kernels = 240, .copies = 29, .memsets = 12, .ranges = 60, .calls = 1379},
	{.name = "cu12", .kernels = 160, .memsets = 1, .ranges = 8, .calls = -1},
	{.name = "none", .ranges = 8},
	{.name = "taken", .ranges = 8, .message = "Another tool already uses CUPTI in this process"},
	/* Steps 4 to 8 of 12 and their 10 kernels each; step 4 had begun before, step 8 ended after.
         * Calls: 5 × 11, and cudaProfilerStop, which begins inside. */
	{.name = "range", .kernels = 50, .ranges = 3, .calls = 56},
	/* Steps 1 and 2 of four, three times, of 5 kernels each, beside four other threads. */
	{.name = "ranges", .kernels = 1000000, .fewest_kernels = 30, .ranges = 0, .calls = -1},
	/* 100 ms of steps that take 1.028 ms, by the program's own clock, for 10 kernels. */
	{.name = "window", .kernels = 990, .fewest_kernels = 960, .ranges = -1, .calls = -1},
	/* 150 steps of 2.014 ms for 2 kernels. */
	{.name = "_exit",
         .kernels = 300,
         .fewest_kernels = 200,
         .memsets = 1,
         .ranges = -1,
         .calls = -1,
         .incomplete = 1},
	{.name = "crash",
         .kernels = 300,
         .fewest_kernels = 200,
         .memsets = 1,
         .ranges = -1,
         .calls = -1,
         .incomplete = 1},
	/* 600 ms of steps of 4 ms for 2 kernels. */
	{.name = "killed",
         .kernels = 300,
         .fewest_kernels = 240,
         .memsets = 1,
         .ranges = -1,
         .calls = -1,
         .incomplete = 1},
};

static int count(struct support *s, const char *db, const char *table, const char *where)
{
	if (!*query(s, db, arena_format(&s->arena, "SELECT 1 FROM sqlite_master WHERE name = '%s'", table)))
		return 0;
	return atoi(query(s, db, arena_format(&s->arena, "SELECT count(*) FROM %s%s", table, where)));
}

static void check_counts(struct support *s, const struct recorded *e, const char *db)
{
	int kernels = count(s, db, "CUPTI_ACTIVITY_KIND_KERNEL", "");
	assert_in_range(kernels, e->fewest_kernels ? e->fewest_kernels : e->kernels, e->kernels);
	assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_MEMCPY", ""), e->copies);
	assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_MEMSET", ""), e->memsets);
	assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ""), e->graphs);
	if (e->ranges >= 0)
		assert_int_equal(count(s, db, "NVTX_EVENTS", " WHERE eventType IN (59, 60) AND end IS NOT NULL"),
		                 e->ranges);
	if (e->calls >= 0)
		assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_RUNTIME", ""), e->calls);
}

/* Whatever the program did: every op has its call, every kernel its name, every call lies within the capture. */
static void check_sense(struct support *s, const char *db)
{
	if (count(s, db, "CUPTI_ACTIVITY_KIND_KERNEL", "") > 0) {
		assert_string_equal(
			query(s, db,
		              "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE NOT EXISTS (SELECT 1 FROM "
		              "CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = k.correlationId AND "
		              "(r.globalTid & ~0xFFFFFF) = k.globalPid AND r.start < k.end)"),
			"0");
		assert_string_equal(query(s, db,
		                          "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = "
		                          "demangledName WHERE value LIKE '[%' OR value LIKE '\\_Z%' ESCAPE '\\'"),
		                    "0");
	}
	assert_string_equal(query(s, db, "PRAGMA integrity_check"), "ok");
}

/* In a window, what was launched is there exactly when its launch is. */
static void check_window(struct support *s, const char *db)
{
	const char *launches =
		"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE "
		"s.value LIKE 'cudaLaunchKernel%'";
	assert_int_equal(atoi(query(s, db, launches)), count(s, db, "CUPTI_ACTIVITY_KIND_KERNEL", ""));
}

static int64_t number(struct support *s, const char *db, const char *sql)
{
	return strtoll(query(s, db, sql), NULL, 10);
}

static void check_more(struct support *s, const char *name, const char *db, int64_t start_ns)
{
	if (strcmp(name, "killed") == 0) { /* the program printed when it was to die */
		int64_t died = INT64_C(98404270864) - start_ns;
		int64_t last = number(s, db, "SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL");
		assert_in_range(died - last, 0, 100000000);
	}
	if (strcmp(name, "range") == 0 || strcmp(name, "ranges") == 0 || strcmp(name, "window") == 0)
		check_window(s, db);
	if (strcmp(name, "window") == 0)
		assert_in_range(number(s, db, "SELECT max(start) - min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
		                98000000, 100000000);
	if (strcmp(name, "ranges") == 0) /* of the thread that opens them, which is the only one with ranges of NVTX */
		assert_int_equal(
			number(s, db,
		               "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId "
		               "WHERE s.value LIKE 'cudaLaunchKernel%' AND r.globalTid IN (SELECT globalTid FROM "
		               "NVTX_EVENTS)"),
			30);
	if (strcmp(name, "osrt") == 0) { /* 8 steps join four threads each; of other calls only the long ones count */
		const char *joins =
			"SELECT count(*) FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE s.value = "
			"'pthread_join'";
		assert_in_range(number(s, db, joins), 8, 32);
		assert_in_range(number(s, db, "SELECT min(end - start) FROM OSRT_API"), 50000, 1000000000);
	}
}

static void test_recorded(void **state)
{
	struct support *s = *state;
	for (size_t i = 0; i < sizeof RECORDED / sizeof *RECORDED; i++) {
		const struct recorded *e = &RECORDED[i];
		const char *folder = support_path(s, e->name);
		print_message("%s\n", e->name);
		int64_t start = support_unpack_spools(s, e->name, folder) - 1000000000;
		const struct convert_request request = support_recorded(s, e->name, folder, start);
		struct convert_result r;
		if (convert_spool(&request, &s->arena, &r, &s->err) != 0)
			fail_msg("%s", s->err.text);
		assert_int_equal(r.skipped, 0);
		assert_int_equal(r.dropped, 0);
		assert_int_equal(r.incomplete, e->incomplete);
		assert_int_equal(r.n_messages, e->message ? 1 : 0);
		if (e->message)
			assert_non_null(strstr(r.messages[0], e->message));
		check_counts(s, e, request.profile);
		check_sense(s, request.profile);
		check_more(s, e->name, request.profile, start);
		if (r.ops > 0 && support_read(s, request.profile) != 0)
			fail_msg("%s", s->err.text);
	}
}

/* ---- our tables and nsys's ---- */

/* A profile in which every table that we write has a row. */
static const char *full_profile(struct support *s)
{
	struct spool_maker m;
	struct buf b = {0};
	struct spool_events events = {{0}};
	const struct spool_device device = {.sm_count = 132};
	begin_cuda(&m, PID);
	spool_add_device(&m, &device, "NVIDIA H200");
	spool_add_message(&m, SPOOL_INFO, "a word");
	spool_add_text(&m, SPOOL_THREAD_NAME, MAIN, "main");
	struct spool_record r = spool_call(5, 211, START + 5, START + 25, MAIN, 1);
	spool_record(&b, &r, 40);
	r = spool_kernel(START + 30, START + 40, 0, 7, 1, 0x7f0011);
	spool_record(&b, &r, 216);
	r = spool_copy(START + 50, START + 60, 2, 100, 1);
	spool_record(&b, &r, 96);
	r = spool_memset(START + 50, START + 60, 0, 100, 1);
	spool_record(&b, &r, 88);
	r = spool_sync(START + 50, START + 60, 3, 7, 1);
	spool_record(&b, &r, 56);
	r = spool_graph(START + 50, START + 60, 1, 7, 1);
	spool_record(&b, &r, 56);
	spool_add_buffer(&m, &b);
	spool_event_text(&events, (struct spool_event){.time = START + 1, .type = SPOOL_MARK}, "here");
	spool_event_text(&events,
	                 (struct spool_event){.time = START + 1, .type = SPOOL_OS_CALL, .payload = START + 60000},
	                 "poll");
	spool_add_events(&m, MAIN, &events);
	spool_end(&m, START + 900);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	convert(s, &db);
	return db;
}

/* "name type notnull" of a table's columns in order, "" without the table. */
static const char *columns(struct support *s, const char *db, const char *table)
{
	return query(s, db,
	             arena_format(&s->arena, "SELECT name, type, \"notnull\", pk FROM pragma_table_info('%s')", table));
}

static const char *unpack(struct support *s, const char *packed)
{
	const char *path = support_path(s, "nsys.sqlite");
	support_unpack(s, packed, path);
	return path;
}

/* Every table that a real export also has: the same columns, types and order, and in tables of constants the same. */
static void test_tables(void **state)
{
	struct support *s = *state;
	const char *captures = getenv("GAPLINE_CAPTURES");
	captures = captures ? captures : TESTS_DIR "/../../shared/captures";
	if (access(captures, R_OK) != 0) {
		print_message("skipped: no captures in %s (set GAPLINE_CAPTURES)\n", captures);
		skip();
	}
	const char *ours = full_profile(s);
	static const char *const files[] = {"torch-dataloader/baseline", "tiny-kernels-graph/fixed"};
	int compared = 0;
	for (int i = 0; i < 2; i++) {
		const char *theirs = unpack(s, arena_format(&s->arena, "%s/%s.sqlite.gz", captures, files[i]));
		char *tables = (char *)query(s, ours, "SELECT name FROM sqlite_master WHERE type = 'table'"), *rest;
		for (char *table = strtok_r(tables, "\n", &rest); table; table = strtok_r(NULL, "\n", &rest)) {
			const char *want = columns(s, theirs, table);
			if (!*want)
				continue;
			if (strcmp(columns(s, ours, table), want) != 0)
				fail_msg("%s:\n%s\n\nbut nsys:\n%s", table, columns(s, ours, table), want);
			compared++;
			if (strncmp(table, "ENUM_", 5) != 0)
				continue;
			char *rows = (char *)query(s, ours, arena_format(&s->arena, "SELECT * FROM %s", table)), *more;
			for (char *row = strtok_r(rows, "\n", &more); row; row = strtok_r(NULL, "\n", &more)) {
				const char *same = query(
					s, theirs,
					arena_format(&s->arena, "SELECT * FROM %s WHERE id = %d", table, atoi(row)));
				assert_string_equal(row, same);
			}
		}
	}
	assert_true(compared > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_recorded, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_tables, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
