/* Damaged databases: an error that says so, never other numbers in silence. */
#include "big_profile.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

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
/* The pages below a table's root, whose page has to be an interior one: its cells' pointers and the rightmost. */
static uint32_t children_of(const unsigned char *data, uint32_t root, uint32_t *child, uint32_t most)
{
	const unsigned char *page = data + (size_t)(root - 1) * PAGE;
	assert_int_equal(page[0], 5);
	uint32_t n = number(page + 3, 2), found = 0;
	for (uint32_t i = 0; i < n && found + 1 < most; i++)
		child[found++] = number(page + number(page + 12 + 2 * i, 2), 4);
	child[found++] = number(page + 8, 4);
	return found;
}

static void swap_pages(unsigned char *data, uint32_t a, uint32_t b)
{
	unsigned char page[PAGE];
	memcpy(page, data + (size_t)(a - 1) * PAGE, PAGE);
	memcpy(data + (size_t)(a - 1) * PAGE, data + (size_t)(b - 1) * PAGE, PAGE);
	memcpy(data + (size_t)(b - 1) * PAGE, page, PAGE);
}

/* Each page is sound by itself and SQLite reads on: only the order of the rows tells. */
static void pages_that_changed_places_are_errors(void **state)
{
	struct support *s = *state;
	static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
	                                     "CUPTI_ACTIVITY_KIND_MEMCPY",
	                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
	                                     "NVTX_EVENTS",
	                                     "OSRT_API",
	                                     "StringIds"};
	enum { KINDS = sizeof tables / sizeof *tables, MOST = 400 };
	const char *path = big_profile(s), *swapped = support_path(s, "swapped.sqlite");
	size_t bytes;
	unsigned char *data = support_load(s, path, &bytes);
	uint32_t child[KINDS][MOST], n[KINDS];
	for (size_t t = 0; t < KINDS; t++)
		n[t] = children_of(data, root_page(path, tables[t]), child[t], MOST);
	for (size_t t = 0; t < KINDS; t++)
		for (uint32_t other = 0; other < 3; other++) {
			uint32_t with_table = other < 2 ? (uint32_t)t : (uint32_t)(t + 1) % KINDS;
			uint32_t a = child[t][n[t] / 2], b = child[with_table][other == 1 ? 0 : n[with_table] / 2 + 1];
			swap_pages(data, a, b);
			support_write(swapped, data, bytes);
			REFUSED(s, swapped, "is damaged in table ");
			swap_pages(data, a, b);
		}
	support_write(swapped, data, bytes);
	assert_int_equal(support_read(s, swapped), 0);
}

/* A table whose own columns have every name of the rowid, and one without a rowid, are read as ever. */
static void tables_without_a_rowid_are_read(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(
		s, "layout_2025.sql",
		"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN rowid; ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD "
		"COLUMN oid; ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN _rowid_;"
		"CREATE TABLE copies AS SELECT * FROM StringIds; DROP TABLE StringIds;"
		"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT) WITHOUT ROWID;"
		"INSERT INTO StringIds SELECT * FROM copies");
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.ops.n, 6);
}

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

/* The same in a table without row ids, whose order nobody can look at, of an auto-vacuum database, whose pages nobody
 * can look at: more rows than the file has room for. */
static void endless_tables_without_a_rowid_are_errors(void **state)
{
	struct support *s = *state;
	const char *path =
		support_profile(s, "layout_2025.sql",
	                        "CREATE TABLE copies AS SELECT * FROM StringIds; DROP TABLE StringIds;"
	                        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	                        "INSERT INTO StringIds SELECT * FROM copies");
	const char *broken = support_path(s, "broken.sqlite");
	static const unsigned char cell[] = {0, 0, 0, 0, 5, 3, 1, 15, 99, 'x'}; /* a row of its own: 99, 'x' */
	size_t n;
	unsigned char *whole = support_load(s, path, &n);
	unsigned char *data = arena_alloc(&s->arena, n + 3 * PAGE, 1);
	memcpy(data, whole, n);
	uint32_t root = root_page(path, "StringIds"), next = (uint32_t)(n / PAGE) + 1;
	memcpy(data + n + PAGE, data + (size_t)(root - 1) * PAGE, PAGE);
	assert_int_equal(data[n + PAGE], 10); /* a leaf */
	for (int level = 0; level < 2; level++) {
		unsigned char *page = level ? data + n : data + (size_t)(root - 1) * PAGE;
		uint32_t at = PAGE - sizeof cell, cells = 300;
		memset(page, 0, PAGE);
		page[0] = 2;
		put(page + 3, cells, 2);
		put(page + 5, at, 2);
		put(page + 8, next + (uint32_t)level, 4);
		memcpy(page + at, cell, sizeof cell);
		put(page + at, next + (uint32_t)level, 4);
		for (uint32_t i = 0; i < cells; i++)
			put(page + 12 + 2 * i, at, 2);
	}
	put(data + 28, next + 1, 4);
	put(data + 52, next + 1, 4);
	support_write(broken, data, n + 2 * PAGE);
	REFUSED(s, broken, "is damaged in table StringIds");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(damaged_pages_are_errors),        TEST(pages_that_changed_places_are_errors),
		TEST(tables_without_a_rowid_are_read), TEST(damaged_indexes_are_not_used),
		TEST(truncated_files_are_errors),      TEST(endless_tables_are_errors),
		TEST(huge_rowids_cost_nothing),        TEST(endless_tables_without_a_rowid_are_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
