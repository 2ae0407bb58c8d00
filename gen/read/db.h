/* A profile's SQLite database, opened so that nothing is written anywhere and a hostile file can do no harm: read-only,
 * immutable (no lock, journal or other file beside it), schema not trusted, plain tables only. Tables are scanned once,
 * front to back, columns chosen by name; a column that the table lacks reads as NULL, a table that is missing or empty
 * has no rows. SQLite's code is checked to the end of every scan, and so is that rows come in the order of their ids.
 * db_check looks whether the pages of the tables are their own.
 *
 *	struct scan scan;
 *	static const char *const columns[] = {"start", "end", "demangledName|shortName"};
 *	scan_open(&scan, db, "CUPTI_ACTIVITY_KIND_KERNEL", columns, 3);
 *	while (scan_row(&scan))
 *		... scan_int(&scan, 0) ...
 *	return scan_close(&scan);
 */
#ifndef GAPLINE_READ_DB_H
#define GAPLINE_READ_DB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/meter.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the pages of a table are its own. SQLite follows page numbers and looks at little else: where pages of a file
 * changed places (a copy put together from pieces, a disk's mistake), it reads on without a word. PRAGMA quick_check
 * finds it, but takes longer than the report. What can be told from a look at each page's first and last row:
 *
 *   - a page of rows that nothing leads to does not exist;
 *   - every leaf is as deep as the others, and no page is met twice;
 *   - row ids lie between the keys of the pages above;
 *   - a row has no more columns than the table, and each value is of a type that SQLite would have stored there: NULL
 * in the column that stands for the row id and in no column that is NOT NULL, no number in a column of texts.
 *
 * What cannot: pages of two tables with columns alike whose row ids fit, and continuations of long texts.
 * Source: https://www.sqlite.org/fileformat2.html, https://www.sqlite.org/datatype3.html */

struct db_pages {
	int fd;        /* of the database; -1: nothing is looked at */
	int64_t page;  /* bytes in one */
	int64_t pages; /* in the file */
};

/* A table as sqlite_master has it. */
struct db_pages_table {
	const char *name;
	int64_t root;
	bool is_tree;      /* of rows with row ids */
	bool may_be_other; /* an INTEGER PRIMARY KEY in it need not stand for the row id */
};

/* What the statement that made a table says of it. */
void db_pages_describe(struct db_pages_table *table, const char *sql);

/* True when something in the file leads to each of its pages, or it cannot be told (an auto-vacuum database, a page
 * that cannot be read). Looks at the pages that point to others, and at the first byte of those that none does. */
bool db_pages_used(const struct db_pages *pages, sqlite3 *handle);

/* True when the pages of the table could be its own, or it cannot be told: a table without rowid, with generated
 * columns, or whose pages cannot be read, of which SQLite says more. `whole`: all
 * its pages, else the first. Borrows everything. */
bool db_pages_match(const struct db_pages *pages, sqlite3 *handle, const struct db_pages_table *table, bool whole);

struct db {
	sqlite3 *handle;
	const char *path; /* as the user named the file */
	int64_t bytes;    /* size of the database */
	struct arena *arena;
	struct err *err;
	const char **tables; /* names of the plain tables */
	size_t n_tables;
	const char **views; /* names of views and virtual tables, which are not read */
	size_t n_views;
	struct db_pages_table *described;
	int64_t page; /* bytes in a page of it */
	bool owns;    /* the descriptor of `pages` is ours to close */
	struct db_pages pages;
	bool *matched;         /* by table: its pages were looked at */
	struct meter *meter;   /* see db_meter */
	int64_t told;          /* to the meter so far */
	struct scan *scanning; /* whose rows SQLite is at */
};

/* Opens the database that the descriptor `fd` reads, which stays the caller's and open until db_close; negative: the
 * file at `path`. -1 with `err`: not a database, cut off, damaged, or SQLite left a write-ahead log or a journal beside
 * it, so that what is in it is not what was written. Call db_close in any case.
 */
int db_open(struct db *db, const char *path, int fd, struct arena *arena, struct err *err);
void db_close(struct db *db);

/* Whether the pages of the file are where they belong, as above. Of a file of more than 256 MB, a look at every
 * table's first page here, and at the others when the table is scanned. -1 with `err`: the file is damaged. Once for a
 * file, however many connections read it. */
int db_check(struct db *db);

/* The same of one table of a large file, as `table` of db_table, when its rows are about to be read: once, and not of a
 * small file, whose tables are all looked at by then. */
int db_check_scanned(struct db *db, const char *table);

/* Says in `err` what one of SQLite's codes means for the file, and for a table of it (NULL: its schema). Returns -1. */
int db_fail(struct db *db, int code, const char *table);

/* Calls `row` for every row of a short statement, until it returns. -1 with `err`, which names `table` (NULL: the
 * schema). */
int db_each(struct db *db, const char *sql, const char *table, void (*row)(void *context, sqlite3_stmt *row),
            void *context);

/* The size that the header says a database has; 0: none that can be relied on. */
int64_t db_bytes_said(const struct file_head *head);

/* Counts the bytes of the database that are read from here on. Several connections to one database may share a meter.
 */
void db_meter(struct db *db, struct meter *meter);

/* The name under which the file has the table: `name` itself or the highest `name`_V<digit>; NULL if it has neither. */
const char *db_table(const struct db *db, const char *name);

/* -1 with `err` where that name stands for a view or a virtual table, which would run code of the file's choosing. */
int db_refuse_view(struct db *db, const char *name);

/* Whether a value could be used. */
enum scan_flaw { SCAN_MISSING = 1, SCAN_WRONG_TYPE = 2 };

enum { SCAN_COLUMNS_MAX = 64 };

/* A value, and SQLite's word for what it is; `value` is 0 where that is no integer. */
struct scan_number {
	int64_t value;
	int type;
};

struct scan {
	struct db *db;
	sqlite3_stmt *statement; /* NULL: no such table, or its last row was seen */
	const char *table;       /* as the file names it */
	int64_t rows, most_rows; /* seen so far; more than the file can hold means a damaged file */
	int first_number;        /* columns from this one on are in `number` … */
	size_t n_columns;        /* … of so many: SQLite hands those to a function of ours, many rows at a time */
	struct scan_number *number, *row; /* by column, of the rows at hand, and of the one at hand; NULL: there are
	                                   * none */
	int at, n, room;                  /* which one it is, of how many */
	bool failed;                      /* `err` says why */
	unsigned flaws;                   /* enum scan_flaw, of the values asked for in this row */
	bool has[SCAN_COLUMNS_MAX];       /* by column: the table has it */
};

/* Begins a scan. -1 with `err`, which scan_close says again, so that nobody needs to look at once: the table is
 * damaged, a view, a virtual table, or one whose wanted columns are generated: what they hold, the file's own code
 * would compute. A column may name alternatives ("id|deviceId"): the first that exists and is not NULL. It is fastest
 * to name the column first that stands last in the table: for each column further back than those before, SQLite goes
 * on through the row's header. */
int scan_open(struct scan *scan, struct db *db, const char *table, const char *const *columns, int n_columns);

/* The same where columns from `first_number` on are asked for by scan_int alone: each takes half as long. */
int scan_open_numbers(struct scan *scan, struct db *db, const char *table, const char *const *columns, int n_columns,
                      int first_number);

/* The function that a scan's statement calls for every row. */
void db_scan_take(sqlite3_context *context, int n, sqlite3_value **values);

bool scan_more(struct scan *scan);           /* of scan_row: whether SQLite has more rows */
bool scan_stop(struct scan *scan, int code); /* of scan_row: false */

/* What is in column i. */
static inline struct scan_number scan_number(struct scan *scan, int i)
{
	if (i >= scan->first_number)
		return scan->row[i];
	/* One visit to the column for its type and its value (values are safe to look at in a connection that only one
	 * thread uses). */
	sqlite3_value *value = sqlite3_column_value(scan->statement, i);
	int type = sqlite3_value_type(value);
	return (struct scan_number){type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0, type};
}

/* Whether there is another row; false also where the scan could not begin, and at a damaged row. That pages are where
 * they belong was seen before the first (db_pages_match); pages that point at each other can repeat rows without end.
 */
static inline bool scan_row(struct scan *scan)
{
	if (++scan->at >= scan->n && !scan_more(scan))
		return false;
	if (scan->number)
		scan->row = scan->number + (size_t)scan->at * scan->n_columns;
	scan->flaws = 0;
	return ++scan->rows <= scan->most_rows || scan_stop(scan, SQLITE_CORRUPT);
}

/* 0; -1: the scan could not begin, or its table is damaged, and `err` says so. */
int scan_close(struct scan *scan);

/* A guess of the table's number of rows, from the highest rowid; at most what an ordinary table of this size holds. */
size_t db_guess_rows(const struct db *db, const char *name);

static inline int64_t scan_int_as(struct scan *scan, int i, int64_t otherwise, unsigned if_null)
{
	struct scan_number number = scan_number(scan, i);
	if (__builtin_expect(number.type == SQLITE_INTEGER, 1))
		return number.value;
	scan->flaws |= number.type == SQLITE_NULL ? if_null : SCAN_WRONG_TYPE;
	return otherwise;
}

/* The integer in column i; NULL, text and anything else are 0 and a flaw. */
static inline int64_t scan_int(struct scan *scan, int i)
{
	return scan_int_as(scan, i, 0, SCAN_MISSING);
}

/* The same, but NULL is `otherwise` and no flaw, and so is anything else with one. */
static inline int64_t scan_int_or(struct scan *scan, int i, int64_t otherwise)
{
	return scan_int_as(scan, i, otherwise, 0);
}

/* The text in column i with its length, borrowed until the next row; NULL when it is NULL. A number or blob is a flaw
 * and NULL. */
const char *scan_text(struct scan *scan, int i, size_t *n);

/* Tables of what has a name and a value, both texts: opens one, and goes to the next row in which they are. */
struct scan_option {
	const char *name, *value; /* until the next row */
	size_t name_n, n;
};
int scan_open_options(struct scan *scan, struct db *db, const char *table);
bool scan_option(struct scan *scan, struct scan_option *option);

/* SQLite on a descriptor instead of a path: for files without a name, and for those whose name may come to stand for
 * another. Read-only, and taken not to change. */

const char *db_vfs(void);

/* A whole database as bytes. */

/* The main database of a connection, as its file would be; sqlite3_free gives it back. NULL: it does not fit into
 * memory, or is larger than SQLite copies at once (2 GB). */
unsigned char *db_bytes(sqlite3 *db, size_t *n);

#endif
