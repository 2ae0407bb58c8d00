/* Files that are packed, foreign, cut off or damaged, and files that must be left alone. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

/* A profile with enough rows that every table spans many pages. */
static const char *big_profile(struct support *s)
{
	const char *path = support_profile(
		s, "layout_2021.sql",
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO StringIds SELECT n + 100, 'name number ' || n FROM x;"
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT n * 100, n * 100 + 5, 0, "
		"281476654432357, n + 100, 1, 0, NULL"
		" FROM x;"
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n * 100 + 9, n * 100 + 90, 0, 1, 7, n "
		"+ 100, 281476654432256,"
		" n + 100, 3, NULL, 1, 1, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, n, 0, 0, 0 FROM x;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start, end, deviceId, contextId, "
		"streamId, correlationId,"
		" globalPid, 64, 1, NULL, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) SELECT start, end, "
		"59, 'r', 281476654432357"
		" FROM CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO OSRT_API SELECT start, end, 27, 281476654432357, 10, 0, 0, 0 FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO PROFILER_OVERHEAD SELECT start, end, 281476654432357, 11, 0 FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"CREATE TABLE IF NOT EXISTS SCHED_EVENTS(start INTEGER NOT NULL, cpu INTEGER NOT NULL, "
		"isSchedIn INTEGER NOT NULL, globalTid INTEGER);"
		"INSERT INTO SCHED_EVENTS(start, cpu, isSchedIn, globalTid) SELECT start, 1, gridId % 2, "
		"281476654432357 FROM CUPTI_ACTIVITY_KIND_KERNEL");
	return path;
}

#define REFUSED(s, path, part)                                                                                         \
	do {                                                                                                           \
		if (support_read((s), (path)) != -1)                                                                   \
			fail_msg("%s was read", (path));                                                               \
		if (!strstr((s)->err.text, (path)))                                                                    \
			fail_msg("the file is not named: %s", (s)->err.text);                                          \
		if (!strstr((s)->err.text, (part)))                                                                    \
			fail_msg("\"%s\" is not said: %s", (part), (s)->err.text);                                     \
	} while (0)

static void told_by_content(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *data;
		size_t n;
		const char *says;
	} cases[] = {
		{"", 0, "is empty"},
		{"NVIDIA Tegra Profiler Report 2025@5@1@121-123v0.", 48, "nsys export --type sqlite"},
		{"NVIDIA Tegra Profiler Report 1.", 31, "nsys export --type sqlite"},
		{"{\"schemaVersion\": 1, \"traceEvents\": []}", 39, "PyTorch"},
		{"\n\t [ {} ]", 9, "PyTorch"},
		{"\xEF\xBB\xBF{}", 5, "PyTorch"},
		{"NVR\0....", 8, "Nsight Compute"},
		{"\xFD"
	         "7zXZ\0",
	         6, "xz; unpack"},
		{"PK\x03\x04", 4, "zip; unpack"},
		{"BZh9", 4, "bzip2; unpack"},
		{"hello", 5, "no profile that can be read here"},
		{"\0\0\0\0", 4, "no profile that can be read here"},
		{"S", 1, "is cut off"},
		{"SQLite format 3", 15, "is cut off"},
		{"SQLite format 3\0", 16, "is cut off"},
		{"SQLite format 4\0 and more", 24, "no profile that can be read here"},
		{"\x1F\x8B", 2, "is cut off"},
		{"\x28\xB5\x2F\xFD", 4, "zstd"},
		{"\x1F\x8B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 11, "is damaged"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *path = support_path(s, "run.sqlite"); /* the name means nothing */
		support_write(path, cases[i].data, cases[i].n);
		REFUSED(s, path, cases[i].says);
		if (cases[i].n && cases[i].data[0] != '\x1F') {
			const char *packed = support_path(s, "run.gz");
			support_gzip(packed, cases[i].data, cases[i].n, "wb");
			const char *said = cases[i].says;
			REFUSED(s, packed, strstr(said, "nsys export") ? "nsys export --type sqlite" : said);
		}
	}
	const char *packed = support_path(s, "run.gz");
	support_gzip(packed, "", 0, "wb");
	REFUSED(s, packed, "holds nothing");
	REFUSED(s, s->folder, "is a folder");
	REFUSED(s, support_path(s, "absent"), "No such file");
	REFUSED(s, "/dev/null", "is not a regular file");
	const char *pipe = support_path(s, "pipe");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	REFUSED(s, pipe, "is not a regular file"); /* and does not wait for a writer */
}

static void a_report_is_told_how_to_be_exported(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "a run.nsys-rep");
	support_write(path, "NVIDIA Tegra Profiler Report 1.", 31);
	REFUSED(s, path,
	        arena_format(&s->arena,
	                     "nsys export --type sqlite --force-overwrite true --output \"%s.sqlite\" \"%s\"", path,
	                     path));
}

static void databases_that_are_no_profile(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "other.db");
	support_run(path, "CREATE TABLE bookmarks (url TEXT)");
	REFUSED(s, path, "not one that nsys exported");
	path = support_profile(s, "layout_2021.sql",
	                       "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
	                       "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET");
	REFUSED(s, path, "4 CUDA calls, 4 NVTX ranges, 1 OS calls");
	REFUSED(s, path, "nothing from the GPU");
	REFUSED(s, path, "nsys profile --trace=cuda,nvtx,osrt");
	support_run(path, "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
	REFUSED(s, path, "did not use CUDA");
	unlink(path);
	path = support_profile(
		s, "layout_2021.sql",
		"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = 1;"
		"UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET end = 1");
	REFUSED(s, path, "6 rows dropped");
}

/* ---- gzip ---- */

static void gzipped(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL), *packed = support_path(s, "any name at all");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	support_gzip(packed, data, n, "wb");
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);

	/* Two members, and zeros after them as some tapes and downloads leave them. */
	support_gzip(packed, data, n / 3, "wb");
	support_gzip(packed, data + n / 3, n - n / 3, "ab");
	FILE *f = fopen(packed, "ab");
	fwrite("\0\0\0\0\0\0\0\0", 1, 8, f);
	fclose(f);
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);

	size_t packed_n;
	support_gzip(packed, data, n, "wb");
	unsigned char *whole = support_load(s, packed, &packed_n);
	for (size_t cut = 2; cut < packed_n; cut += 1 + packed_n / 40) {
		support_write(packed, whole, cut);
		REFUSED(s, packed, "is cut off");
	}
	for (size_t at = 20; at < packed_n; at += 1 + packed_n / 40) {
		whole[at] ^= 0x55;
		support_write(packed, whole, packed_n);
		assert_int_equal(support_read(s, packed), -1); /* found by the format or by the checksum */
		whole[at] ^= 0x55;
	}
	/* A database that was cut off before it was packed. */
	support_gzip(packed, data, n - 4096, "wb");
	REFUSED(s, packed, "is cut off");
}

static void gzipped_with_a_wal_mark(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	assert_int_equal(data[18], 2);
	const char *packed = support_path(s, "wal.gz");
	support_gzip(packed, data, n, "wb");
	assert_int_equal(support_read(s, packed), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
}

/* ---- the input is left alone ---- */

/* Names, sizes and times of everything in the folder, and the bytes of the profile. */
static const char *folder_state(struct support *s, const char *profile)
{
	struct buf text = {0};
	struct dirent **entries;
	int n = scandir(s->folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		struct stat st;
		if (stat(support_path(s, entries[i]->d_name), &st) == 0 && S_ISREG(st.st_mode))
			buf_format(&text, "%s %lld %lld.%09ld\n", entries[i]->d_name, (long long)st.st_size,
			           (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		free(entries[i]);
	}
	free(entries);
	size_t bytes;
	unsigned char *data = support_load(s, profile, &bytes);
	buf_format(&text, "%lu", crc32(0, data, (uInt)bytes));
	const char *copy = arena_copy(&s->arena, text.data, text.n);
	buf_release(&text);
	return copy;
}

static void no_file_beside_the_input(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL);
	const char *before = folder_state(s, path);
	assert_int_equal(support_read(s, path), 0);
	assert_string_equal(folder_state(s, path), before);

	/* What another program left there is neither used nor removed: a hot journal would be rolled back. */
	support_write(support_path(s, "profile.sqlite-journal"), "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\1 garbage",
	              20);
	support_write(support_path(s, "profile.sqlite-wal"), "\x37\x7f\x06\x82 garbage", 12);
	support_write(support_path(s, "profile.sqlite-shm"), "garbage", 7);
	chmod(s->folder, 0500);
	chmod(path, 0400);
	before = folder_state(s, path);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_string_equal(folder_state(s, path), before);
}

static void rows_only_in_a_wal_file_stay_there(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", "PRAGMA journal_mode = WAL");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL", NULL, NULL, NULL), SQLITE_OK);
	const char *before = folder_state(s, path);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_string_equal(folder_state(s, path), before);
	sqlite3_close(db);
}

static void odd_file_names(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(s, "layout_2025.sql", NULL);
	static const char *const names[] = {"a b?mode=rw&cache=shared#x%41%00.sqlite",
	                                    "\xC3\xBC\xFF'\";$`\\n",
	                                    "file:x",
	                                    "-rf",
	                                    ":memory:",
	                                    "%2e%2e"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *odd = support_path(s, names[i]);
		assert_int_equal(rename(path, odd), 0);
		const char *before = folder_state(s, odd);
		if (support_read(s, odd) != 0)
			fail_msg("%s", s->err.text);
		assert_int_equal(s->trace.ops.n, 6);
		assert_int_equal(support_read(s, arena_format(&s->arena, "/%s", odd)),
		                 0); /* //tmp/… has no host in it */
		char here[4096];
		assert_non_null(getcwd(here, sizeof here));
		assert_int_equal(chdir(s->folder), 0);
		int relative = support_read(s, names[i]);
		assert_int_equal(chdir(here), 0);
		assert_int_equal(relative, 0);
		assert_string_equal(folder_state(s, odd), before);
		path = odd;
	}
}

/* ---- damage ---- */

static uint32_t number(const unsigned char *at, int n)
{
	uint32_t value = 0;
	while (n-- > 0)
		value = value << 8 | *at++;
	return value;
}

static void put(unsigned char *at, uint32_t value, int n)
{
	while (n-- > 0) {
		at[n] = (unsigned char)value;
		value >>= 8;
	}
}

enum { PAGE = 4096 };

static uint32_t root_page(const char *path, const char *table)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name = ?", -1, &statement, NULL);
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	uint32_t page = (uint32_t)sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return page;
}

/* The page in the middle of a table whose root is an interior page
 * (https://www.sqlite.org/fileformat2.html#b_tree_pages). */
static uint32_t middle_page(const unsigned char *data, uint32_t root)
{
	const unsigned char *page = data + (size_t)(root - 1) * PAGE;
	assert_int_equal(page[0], 5);
	uint32_t cells = number(page + 3, 2), cell = number(page + 12 + 2 * (cells / 2), 2);
	return number(page + cell, 4);
}

static const char *const TABLES[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                     "CUPTI_ACTIVITY_KIND_KERNEL",
                                     "CUPTI_ACTIVITY_KIND_MEMCPY",
                                     "SCHED_EVENTS",
                                     "NVTX_EVENTS",
                                     "OSRT_API",
                                     "PROFILER_OVERHEAD",
                                     "StringIds"};

static void damaged_pages_are_errors(void **state)
{
	struct support *s = *state;
	const char *path = big_profile(s), *broken = support_path(s, "broken.sqlite");
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6 + 20000 + 2 + 20000);
	size_t n;
	unsigned char *data = support_load(s, path, &n), saved[PAGE];
	assert_int_equal(number(data + 16, 2), PAGE);
	for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
		uint32_t root = root_page(path, TABLES[i]), middle = middle_page(data, root);
		const struct {
			uint32_t page;
			int fill; /* -1: points to itself */
		} damage[] = {{root, 0}, {root, 0xFF}, {middle, 0}, {middle, 0xA5}, {middle, 0xFF}, {root, -1}};
		for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
			unsigned char *page = data + (size_t)(damage[k].page - 1) * PAGE;
			memcpy(saved, page, PAGE);
			if (damage[k].fill >= 0)
				memset(page, damage[k].fill, PAGE);
			else
				put(page + number(page + 12, 2), root, 4);
			support_write(broken, data, n);
			REFUSED(s, broken, "is damaged in table");
			REFUSED(s, broken, TABLES[i]);
			if (k == 3) {
				const char *packed = support_path(s, "broken.gz");
				support_gzip(packed, data, n, "wb1");
				REFUSED(s, packed, TABLES[i]);
			}
			memcpy(page, saved, PAGE);
		}
	}
	memset(data + 100, 0x77, 2000); /* the schema itself */
	support_write(broken, data, n);
	REFUSED(s, broken, "is damaged in its schema");
}

/* An index that somebody added is not needed, so that its damage does not matter. */
static void damaged_indexes_are_not_used(void **state)
{
	struct support *s = *state;
	const char *path = big_profile(s);
	support_run(path,
	            "CREATE INDEX helper ON CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId,"
	            " eventClass)");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	memset(data + (size_t)(root_page(path, "helper") - 1) * PAGE, 0xFF, PAGE);
	support_write(path, data, n);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.calls.n, 4 + 20000);
}

static void truncated_files_are_errors(void **state)
{
	struct support *s = *state;
	const char *path = big_profile(s), *broken = support_path(s, "broken.sqlite");
	size_t n;
	unsigned char *data = support_load(s, path, &n);
	const size_t cuts[] = {1, 15, 16, 17, 99, 100, 511, 512, 4095, 4096, 4097, n / 4, n / 2, n - 4096, n - 1};
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		support_write(broken, data, cuts[i]);
		REFUSED(s, broken, "is cut off");
	}
	/* Old writers leave a page count that must not be trusted; then the missing pages are found where they lack. */
	put(data + 92, number(data + 24, 4) + 1, 4);
	for (size_t i = 9; i < sizeof cuts / sizeof *cuts; i++) {
		support_write(broken, data, cuts[i]);
		if (support_read(s, broken) != -1)
			fail_msg("cut at %zu of %zu", cuts[i], n);
	}
}

/* Pages that all point to one child: 300 * 300 * 300 times the same rows, in a file of a few megabytes. */
static void endless_tables_are_errors(void **state)
{
	struct support *s = *state;
	const char *path = big_profile(s), *broken = support_path(s, "broken.sqlite");
	size_t n;
	unsigned char *whole = support_load(s, path, &n);
	unsigned char *data = arena_alloc(&s->arena, n + 2 * PAGE, 1);
	memcpy(data, whole, n);
	uint32_t root = root_page(path, "CUPTI_ACTIVITY_KIND_KERNEL"), leaf = middle_page(data, root);
	uint32_t pages[] = {root, (uint32_t)(n / PAGE) + 1, (uint32_t)(n / PAGE) + 2};
	for (int level = 0; level < 3; level++) {
		unsigned char *page = data + (size_t)(pages[level] - 1) * PAGE;
		uint32_t child = level < 2 ? pages[level + 1] : leaf, at = PAGE - 5, cells = 300;
		memset(page, 0, PAGE);
		page[0] = 5;
		put(page + 3, cells, 2);
		put(page + 5, at, 2);
		put(page + 8, child, 4);
		put(page + at, child, 4);
		page[at + 4] = 1;
		for (uint32_t i = 0; i < cells; i++)
			put(page + 12 + 2 * i, at, 2);
	}
	put(data + 28, (uint32_t)(n / PAGE) + 2, 4);
	support_write(broken, data, n + 2 * PAGE);
	REFUSED(s, broken, "is damaged in table CUPTI_ACTIVITY_KIND_KERNEL");
}

/* A rowid near the end of the range must not make the reader ask for room for as many rows. */
static void huge_rowids_cost_nothing(void **state)
{
	struct support *s = *state;
	const char *path =
		support_profile(s, "layout_2021.sql",
	                        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = 9223372036854775807 WHERE rowid = 2;"
	                        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET rowid = -9223372036854775807 WHERE rowid = 1;"
	                        "UPDATE OSRT_API SET rowid = 4611686018427387904 WHERE rowid = 2");
	size_t before = s->arena.used;
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
	assert_int_equal(s->trace.calls.n, 4);
	assert_true(s->arena.used - before < 4 << 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(told_by_content),
		TEST(a_report_is_told_how_to_be_exported),
		TEST(databases_that_are_no_profile),
		TEST(gzipped),
		TEST(gzipped_with_a_wal_mark),
		TEST(no_file_beside_the_input),
		TEST(rows_only_in_a_wal_file_stay_there),
		TEST(odd_file_names),
		TEST(damaged_pages_are_errors),
		TEST(damaged_indexes_are_not_used),
		TEST(truncated_files_are_errors),
		TEST(endless_tables_are_errors),
		TEST(huge_rowids_cost_nothing),
	};
	return cmocka_run_group_tests_name("reader files", tests, NULL, NULL);
}
