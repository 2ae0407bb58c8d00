#include "read/db.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	LEAF = 0x0d,
	INTERIOR = 0x05,
	INDEX_LEAF = 0x0a,
	INDEX_INTERIOR = 0x02,
	DEEPEST = 20,       /* as SQLite itself goes (BTCURSOR_MAX_DEPTH) */
	COLUMNS_MOST = 2000 /* SQLITE_MAX_COLUMN */
};

/* What SQLite can have stored in a column. */
struct column {
	bool not_null, is_text, is_rowid, may_be_rowid;
};

struct tree {
	const struct db_pages *pages;
	int64_t root;
	size_t n_columns;
	struct column *columns;
	int leaf_depth;    /* -1: none met */
	unsigned char *at; /* DEEPEST pages */
	bool whole;
	unsigned char *met; /* a bit for each page */
};

/* ---- the table, as its CREATE TABLE says ---- */

static bool holds(const char *type, const char *word)
{
	return strcasestr(type, word) != NULL;
}

/* The affinity TEXT, by SQLite's rules in their order. */
static bool is_text(const char *type)
{
	return !holds(type, "INT") && (holds(type, "CHAR") || holds(type, "CLOB") || holds(type, "TEXT"));
}

/* false: it cannot be told what its rows look like. */
static bool look_at_columns(struct tree *tree, sqlite3_stmt *statement)
{
	size_t keys = 0, key = 0;
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(statement, 0);
		if (tree->n_columns == COLUMNS_MOST || sqlite3_column_int(statement, 3) != 0)
			return false;
		struct column *column = &tree->columns[tree->n_columns];
		*column = (struct column){
			.not_null =
				sqlite3_column_int(statement, 1) && sqlite3_column_type(statement, 4) == SQLITE_NULL,
			.is_text = type && is_text(type),
			.is_rowid = type && strcasecmp(type, "INTEGER") == 0,
		};
		if (sqlite3_column_int(statement, 2)) {
			keys++;
			key = tree->n_columns;
		}
		tree->n_columns++;
	}
	for (size_t i = 0; i < tree->n_columns; i++)
		tree->columns[i].is_rowid = tree->columns[i].is_rowid && keys == 1 && i == key;
	return tree->n_columns > 0;
}

/* A statement with the table's name bound; NULL: this SQLite cannot be asked so. */
static sqlite3_stmt *ask(sqlite3 *handle, const char *sql, const char *table)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	return statement;
}

/* Its rows are kept as an index is. */
static bool has_no_rowid(const char *sql)
{
	for (const char *at = sql; (at = strcasestr(at, "WITHOUT"));) {
		at += strlen("WITHOUT");
		if (strncasecmp(at + strspn(at, " \t\r\n"), "ROWID", 5) == 0)
			return true;
	}
	return false;
}

void db_pages_describe(struct db_pages_table *table, const char *sql)
{
	table->is_tree = !has_no_rowid(sql);
	table->may_be_other = holds(sql, "DESC"); /* INTEGER PRIMARY KEY DESC is a column like others */
}

static bool look_at_table(struct tree *tree, sqlite3 *handle, const struct db_pages_table *table)
{
	static const char sql[] =
		"SELECT type, \"notnull\", pk, hidden, dflt_value FROM pragma_table_xinfo(?1) ORDER BY cid";
	sqlite3_stmt *statement = table->is_tree ? ask(handle, sql, table->name) : NULL;
	bool known = statement && look_at_columns(tree, statement);
	sqlite3_finalize(statement);
	tree->root = table->root;
	for (size_t i = 0; table->may_be_other && i < tree->n_columns; i++)
		tree->columns[i].may_be_rowid = tree->columns[i].is_rowid;
	return known;
}

/* ---- bytes ---- */

static uint32_t big_endian(const unsigned char *at, int n)
{
	uint32_t value = 0;
	for (int i = 0; i < n; i++)
		value = value << 8 | at[i];
	return value;
}

/* Moves `at` behind the number; false: it would end beyond `end`. */
static bool take_number(const unsigned char **at, const unsigned char *end, int64_t *number)
{
	uint64_t value = 0;
	for (int i = 0; i < 9; i++) {
		if (*at >= end)
			return false;
		unsigned char byte = *(*at)++;
		if (i == 8)
			value = value << 8 | byte;
		else
			value = value << 7 | (byte & 0x7f);
		if (i == 8 || !(byte & 0x80))
			break;
	}
	*number = (int64_t)value;
	return true;
}

static bool read_page(const struct db_pages *pages, int64_t number, unsigned char *page, size_t n)
{
	return pread(pages->fd, page, n, (number - 1) * pages->page) == (ssize_t)n;
}

/* Notes a page; false: there is no such page, or it was met before. */
static bool meet(struct tree *tree, int64_t number)
{
	if (number < 1 || number > tree->pages->pages || tree->met[number / 8] & 1 << number % 8)
		return false;
	tree->met[number / 8] |= (unsigned char)(1 << number % 8);
	return true;
}

/* ---- rows ---- */

static bool fits(const struct column *column, int64_t type)
{
	if (type < 0 || type == 10 || type == 11)
		return false;
	if (column->may_be_rowid)
		return true;
	if (column->is_rowid)
		return type == 0;
	if (type == 0)
		return !column->not_null;
	return !column->is_text || type >= 12;
}

/* The values' types stand before the values. */
static bool row_fits(const struct tree *tree, const unsigned char *row, const unsigned char *end)
{
	const unsigned char *at = row;
	int64_t length, type;
	if (!take_number(&at, end, &length) || length < at - row)
		return false;
	if (length > end - row)
		return true; /* they go on in another page: a table of very many columns */
	size_t n = 0;
	for (end = row + length; at < end; n++)
		if (!take_number(&at, end, &type) || n == tree->n_columns || !fits(&tree->columns[n], type))
			return false;
	for (; n < tree->n_columns; n++) /* added since, with a value for the rows that were there */
		if (tree->columns[n].not_null && !tree->columns[n].is_rowid)
			return false;
	return true;
}

/* ---- pages ---- */

/* Row ids in a page are above `low` and not above `high`. */
struct bounds {
	int64_t low, high;
	bool has_low;
};

static bool within(const struct bounds *b, int64_t rowid)
{
	return rowid <= b->high && (!b->has_low || rowid > b->low);
}

static bool leaf_fits(const struct tree *tree, const unsigned char *page, const unsigned char *head, int64_t n,
                      const struct bounds *bounds)
{
	const unsigned char *end = page + tree->pages->page;
	for (int64_t i = 0; i < n; i = i == 0 && n > 1 ? n - 1 : n) {
		const unsigned char *at = page + big_endian(head + 8 + 2 * i, 2);
		int64_t length, rowid;
		if (at >= end || !take_number(&at, end, &length) || !take_number(&at, end, &rowid))
			return false;
		if (!within(bounds, rowid) || !row_fits(tree, at, end))
			return false;
	}
	return true;
}

static bool subtree_fits(struct tree *tree, int64_t number, int depth, struct bounds bounds);

static bool interior_fits(struct tree *tree, const unsigned char *page, const unsigned char *head, int64_t n, int depth,
                          struct bounds bounds)
{
	const unsigned char *end = page + tree->pages->page;
	const int64_t high = bounds.high;
	for (int64_t i = 0; i < n; i++) {
		const unsigned char *at = page + big_endian(head + 12 + 2 * i, 2);
		if (end - at < 5)
			return false;
		int64_t child = big_endian(at, 4), key;
		at += 4;
		if (!take_number(&at, end, &key) || key > high || (bounds.has_low && key <= bounds.low))
			return false;
		bounds.high = key;
		if (!subtree_fits(tree, child, depth + 1, bounds))
			return false;
		if (!tree->whole)
			return true;
		bounds.low = key;
		bounds.has_low = true;
	}
	bounds.high = high;
	return subtree_fits(tree, big_endian(head + 8, 4), depth + 1, bounds);
}

static bool subtree_fits(struct tree *tree, int64_t number, int depth, struct bounds bounds)
{
	if (depth == DEEPEST || !meet(tree, number))
		return false;
	unsigned char *page = tree->at + depth * tree->pages->page;
	if (!read_page(tree->pages, number, page, (size_t)tree->pages->page))
		return true; /* SQLite will say why */
	const unsigned char *head = page + (number == 1 ? 100 : 0);
	int64_t n = big_endian(head + 3, 2), room = tree->pages->page - (head - page);
	if (head[0] == INTERIOR)
		return 12 + 2 * n <= room && interior_fits(tree, page, head, n, depth, bounds);
	if (head[0] != LEAF || 8 + 2 * n > room)
		return false;
	if (tree->leaf_depth >= 0 && tree->leaf_depth != depth)
		return false;
	tree->leaf_depth = depth;
	return leaf_fits(tree, page, head, n, &bounds);
}

bool db_pages_match(const struct db_pages *pages, sqlite3 *handle, const struct db_pages_table *table, bool whole)
{
	if (pages->fd < 0 || pages->page < 512 || pages->pages < 1)
		return true;
	struct tree tree = {.pages = pages, .leaf_depth = -1, .whole = whole};
	tree.columns = memory_take_zeroed(COLUMNS_MOST, sizeof *tree.columns);
	bool match = true;
	if (look_at_table(&tree, handle, table)) {
		tree.at = memory_take((size_t)(DEEPEST * pages->page));
		tree.met = memory_take_zeroed((size_t)pages->pages / 8 + 1, 1);
		match = subtree_fits(&tree, tree.root, 0, (struct bounds){.high = INT64_MAX});
		free(tree.at);
		free(tree.met);
	}
	free(tree.columns);
	return match;
}

/* ---- pages that nothing leads to ---- */

static bool is_interior(unsigned char type)
{
	return type == INTERIOR || type == INDEX_INTERIOR;
}

/* Notes every page of a tree. Where one child is a leaf all are: they are noted and not read. 1: done; 0: not to be
 * told; -1: a page is met twice, or there is none. */
static int note_tree(struct tree *tree, int64_t number, int depth)
{
	const int64_t size = tree->pages->page;
	unsigned char *page = tree->at + depth * size;
	if (!read_page(tree->pages, number, page, (size_t)size))
		return 0;
	const unsigned char *head = page + (number == 1 ? 100 : 0);
	int64_t n = big_endian(head + 3, 2);
	if (!is_interior(head[0]))
		return head[0] == LEAF || head[0] == INDEX_LEAF ? 1 : -1;
	if (12 + 2 * n > size - (head - page) || depth + 1 == DEEPEST)
		return -1;
	bool leaves = false;
	for (int64_t i = 0; i <= n; i++) {
		int64_t at = i < n ? big_endian(head + 12 + 2 * i, 2) : head - page + 8;
		if (at > size - 4)
			return -1;
		int64_t child = big_endian(page + at, 4);
		if (!meet(tree, child))
			return -1;
		int noted = leaves ? 1 : note_tree(tree, child, depth + 1);
		if (noted <= 0)
			return noted;
		unsigned char *below = page + size;
		leaves = leaves || !is_interior(below[0]);
	}
	return 1;
}

/* Pages that are free: trunks, each with a list (https://www.sqlite.org/fileformat2.html#the_freelist). */
static int note_free(struct tree *tree, int64_t trunk)
{
	const int64_t size = tree->pages->page;
	unsigned char *page = tree->at;
	while (trunk) {
		if (!meet(tree, trunk))
			return -1;
		if (!read_page(tree->pages, trunk, page, (size_t)size))
			return 0;
		int64_t n = big_endian(page + 4, 4);
		if (n > size / 4 - 2)
			return -1;
		for (int64_t i = 0; i < n; i++)
			if (!meet(tree, big_endian(page + 8 + 4 * i, 4)))
				return -1;
		trunk = big_endian(page, 4);
	}
	return 1;
}

/* What begins as a page of rows does. A continuation of a long text begins with the number of the next one, whose first
 * byte is 0 in any file below 64 GB. */
static bool any_lost(const struct tree *tree)
{
	const struct db_pages *pages = tree->pages;
	const int64_t lock = (1 << 30) / pages->page + 1; /* is never used */
	for (int64_t i = 1; i <= pages->pages; i++) {
		unsigned char type;
		if (tree->met[i / 8] & 1 << i % 8 || i == lock || !read_page(pages, i, &type, 1))
			continue;
		if (type == LEAF || type == INDEX_LEAF || is_interior(type))
			return true;
	}
	return false;
}

static int note_all(struct tree *tree, sqlite3 *handle)
{
	unsigned char header[100];
	sqlite3_stmt *statement = NULL;
	if (!read_page(tree->pages, 1, header, sizeof header) || big_endian(header + 52, 4) != 0 ||
	    sqlite3_prepare_v2(handle, "SELECT rootpage, type = 'table' FROM sqlite_master WHERE rootpage > 0", -1,
	                       &statement, NULL) != SQLITE_OK)
		return 0;
	int noted = meet(tree, 1) ? note_tree(tree, 1, 0) : -1;
	while (noted > 0 && sqlite3_step(statement) == SQLITE_ROW) {
		int64_t root = sqlite3_column_int64(statement, 0);
		noted = meet(tree, root) ? note_tree(tree, root, 0) : -1;
		if (noted < 0 && !sqlite3_column_int(statement, 1)) /* an index: nothing is read from it */
			noted = 0;
	}
	sqlite3_finalize(statement);
	return noted > 0 ? note_free(tree, big_endian(header + 32, 4)) : noted;
}

bool db_pages_used(const struct db_pages *pages, sqlite3 *handle)
{
	if (pages->fd < 0 || pages->page < 512 || pages->pages < 1 || pages->pages > 0xffffff)
		return true;
	struct tree tree = {.pages = pages};
	tree.at = memory_take((size_t)(DEEPEST * pages->page));
	tree.met = memory_take_zeroed((size_t)pages->pages / 8 + 1, 1);
	int noted = note_all(&tree, handle);
	bool used = noted == 0 || (noted > 0 && !any_lost(&tree));
	free(tree.at);
	free(tree.met);
	return used;
}
