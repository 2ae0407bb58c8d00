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
#ifndef GAPLINE_READ_DB_PAGES_H
#define GAPLINE_READ_DB_PAGES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
