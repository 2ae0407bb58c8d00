/* Spools that were recorded on GPUs (tests/spools), and the tables of a real nsys export beside ours. Skipped where
 * these are not at hand. */
#include "support_convert.h"

#include "base/file.h"

#include <inttypes.h>

/* ---- recorded spools ---- */

/* What the recorded programs do, as nsys counted it in a run of the same program, or as the program says: 8 steps of 20
 * kernels each after one memset, for the most part. */
static const struct {
	const char *name;
	int kernels, copies, memsets, graphs, ranges, calls; /* calls: −1 where nsys was not asked */
} RECORDED[] = {
	{"train", 240, 29, 12, 0, 60, 1547},     {"streams", 160, 48, 4, 0, 16, 461},
	{"cu12-streams", 160, 48, 4, 0, 16, -1}, {"graph", 0, 0, 1, 8, 8, 66},
	{"graph-node", 160, 0, 1, 0, 8, -1},     {"driver", 160, 0, 1, 0, 8, 172},
	{"tiny", 160, 0, 1, 0, 8, -1},           {"child", 160, 0, 1, 0, 8, -1},
	{"cu12", 160, 0, 1, 0, 8, -1},           {"cu12-on-13", 160, 0, 1, 0, 8, -1},
	{"cu13-on-12", 160, 0, 1, 0, 8, -1},
};

static int64_t earliest(struct support *s, const char *folder)
{
	int64_t start = INT64_MAX;
	DIR *dir = opendir(folder);
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		struct spool_header header;
		FILE *f = fopen(arena_format(&s->arena, "%s/%s", folder, e->d_name), "rb");
		if (f && fread(&header, 1, sizeof header, f) == sizeof header && header.monotonic_ns < start &&
		    memcmp(header.magic, SPOOL_MAGIC, sizeof header.magic) == 0)
			start = header.monotonic_ns;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return start;
}

static int count(struct support *s, const char *db, const char *table, const char *where)
{
	if (!*query(s, db, arena_format(&s->arena, "SELECT 1 FROM sqlite_master WHERE name = '%s'", table)))
		return 0;
	return atoi(query(s, db, arena_format(&s->arena, "SELECT count(*) FROM %s%s", table, where)));
}

static void check_counts(struct support *s, const char *name, const char *db)
{
	for (size_t i = 0; i < sizeof RECORDED / sizeof *RECORDED; i++) {
		if (strcmp(RECORDED[i].name, name) != 0)
			continue;
		assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_KERNEL", ""), RECORDED[i].kernels);
		assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_MEMCPY", ""), RECORDED[i].copies);
		assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_MEMSET", ""), RECORDED[i].memsets);
		assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ""), RECORDED[i].graphs);
		assert_int_equal(count(s, db, "NVTX_EVENTS", " WHERE eventType IN (59, 60)"), RECORDED[i].ranges);
		if (RECORDED[i].calls >= 0)
			assert_int_equal(count(s, db, "CUPTI_ACTIVITY_KIND_RUNTIME", ""), RECORDED[i].calls);
	}
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

static void test_recorded(void **state)
{
	struct support *s = *state;
	DIR *dir = opendir(TESTS_DIR "/spools");
	int converted = 0;
	for (const struct dirent *e; dir && (e = readdir(dir));) {
		const char *folder = arena_format(&s->arena, TESTS_DIR "/spools/%s", e->d_name);
		int64_t start = earliest(s, folder);
		if (e->d_name[0] == '.' || start == INT64_MAX)
			continue;
		const struct convert_request request = {.spool = folder,
		                                        .profile = support_path(s, "out.sqlite"),
		                                        .start_ns = start - 1000000000,
		                                        .start_utc_ns = 1700000000000000000,
		                                        .stop_ns = start + 60000000000,
		                                        .version = "0.1.0"};
		struct convert_result r;
		print_message("%s\n", e->d_name);
		if (convert_spool(&request, &s->arena, &r, &s->err) != 0)
			fail_msg("%s", s->err.text);
		assert_int_equal(r.skipped, 0);
		check_counts(s, e->d_name, request.profile);
		check_sense(s, request.profile);
		if (r.ops > 0 && support_read(s, request.profile) != 0)
			fail_msg("%s", s->err.text);
		converted++;
	}
	if (dir)
		closedir(dir);
	if (converted == 0) {
		print_message("skipped: no recorded spools in tests/spools\n");
		skip();
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
	struct file_bytes bytes = {0};
	if (file_unpack(packed, &bytes, &s->err) != 0)
		fail_msg("%s", s->err.text);
	const char *path = support_path(s, "nsys.sqlite");
	support_write(path, bytes.data, bytes.n);
	file_release(&bytes);
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
