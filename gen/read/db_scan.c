#include "read/db.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	HIDDEN = 6,        /* column of table_xinfo: not 0 for generated columns (https://www.sqlite.org/pragma.html) */
	ROW_MIN_BYTES = 4, /* a table row needs at least: cell pointer 2, length 1, rowid 1 */
	ROW_USUAL_BYTES = 32, /* rows with a start, an end and ids are no shorter */
	ROWS_AT_HAND = 64     /* that SQLite goes through without a stop */
};

/* Which of the columns (and of their alternatives) the table has. `names` is the table's list. */
static bool has_column(const char *const *names, size_t n, const char *name, size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == length && sqlite3_strnicmp(names[i], name, (int)length) == 0)
			return true;
	return false;
}

static void quote(struct buf *sql, const char *name, size_t n)
{
	buf_add(sql, "\"", 1);
	for (size_t i = 0; i < n; i++)
		buf_add(sql, name[i] == '"' ? "\"\"" : name + i, name[i] == '"' ? 2 : 1);
	buf_add(sql, "\"", 1);
}

struct column_list {
	struct arena *arena;
	const char **names;
	size_t n, room;
	const char **generated; /* SQLite would compute them from others when they are read */
	size_t n_generated, generated_room;
};

static void add_name(void *context, sqlite3_stmt *row)
{
	struct column_list *list = context;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	if (!name)
		return;
	name = arena_copy(list->arena, name, strlen(name));
	if (sqlite3_column_int(row, HIDDEN) != 0) {
		LIST_ADD(list->arena, list->generated, list->n_generated, list->generated_room, name);
		return;
	}
	LIST_ADD(list->arena, list->names, list->n, list->room, name);
}

static int list_columns(struct db *db, const char *table, struct column_list *list)
{
	BUF_LOCAL(sql);
	*list = (struct column_list){.arena = db->arena};
	buf_text(&sql, "PRAGMA table_xinfo(");
	quote(&sql, table, strlen(table));
	buf_text(&sql, ")");
	return db_each(db, sql.data, table, add_name, list);
}

/* -1 with the scan's `err` where a column that is asked for, or one of its alternatives, is generated. */
static int refuse_generated(struct scan *scan, const struct column_list *list, const char *specification)
{
	for (const char *at = specification; list->n_generated; at++) {
		size_t n = strcspn(at, "|");
		if (has_column(list->generated, list->n_generated, at, n))
			return err_set(scan->db->err,
			               "%s: column %.*s of table %s is generated, and gapline reads only stored ones; "
			               "export the report again with nsys",
			               scan->db->path, (int)n, at, scan->table);
		at += n;
		if (!*at)
			break;
	}
	return 0;
}

/* Appends an expression for one column specification; true when the table has any of its alternatives. */
static bool add_column(struct buf *sql, const char *specification, const char *const *names, size_t n_names)
{
	int found = 0;
	size_t before = sql->n;
	for (const char *at = specification;;) {
		size_t n = strcspn(at, "|");
		if (has_column(names, n_names, at, n)) {
			buf_text(sql, found++ ? ", " : "coalesce(");
			quote(sql, at, n);
		}
		at += n;
		if (!*at++)
			break;
	}
	if (found == 0)
		buf_text(sql, "NULL");
	else if (found == 1) /* coalesce wants two arguments; the bare column is faster than a dummy */
		memset(sql->data + before, ' ', sizeof "coalesce(" - 1);
	else
		buf_text(sql, ")");
	return found > 0;
}

/* Without an index of the user's making: rows then come in the table's order, and the index may be stale. */
static void add_from(const struct scan *scan, struct buf *sql, const char *then)
{
	buf_text(sql, " FROM ");
	quote(sql, scan->table, strlen(scan->table));
	buf_format(sql, " NOT INDEXED%s", then);
}

/* What a scan asks SQLite for: columns before the first number as they are, the others as arguments of a function that
 * keeps them (db_scan_take). */
static void add_select(struct scan *scan, struct buf *sql, const char *const *columns, int n_columns,
                       const struct column_list *list)
{
	buf_text(sql, scan->first_number ? "SELECT " : "SELECT NULL");
	for (int i = 0; i < n_columns; i++) {
		if (i && i != scan->first_number)
			buf_text(sql, ", ");
		if (i == scan->first_number)
			add_from(scan, sql, " WHERE gapline_take(");
		scan->has[i] = add_column(sql, columns[i], list->names, list->n);
	}
	if (scan->first_number < n_columns)
		buf_text(sql, ")");
	else
		add_from(scan, sql, "");
}

static int begin(struct scan *scan, struct db *db, const char *table, const char *const *columns, int n_columns,
                 int first_number)
{
	*scan = (struct scan){.db = db,
	                      .table = db_table(db, table),
	                      .most_rows = db->bytes / ROW_MIN_BYTES,
	                      .first_number = first_number < n_columns ? first_number : INT_MAX};
	if (!scan->table)
		return db_refuse_view(db, table);
	struct column_list list;
	if (db_check_scanned(db, scan->table) != 0 || list_columns(db, scan->table, &list) != 0)
		return -1;
	for (int i = 0; i < n_columns; i++)
		if (refuse_generated(scan, &list, columns[i]) != 0)
			return -1;
	struct buf sql = {0};
	add_select(scan, &sql, columns, n_columns, &list);
	if (first_number < n_columns) {
		scan->n_columns = (size_t)n_columns;
		scan->room = first_number ? 1 : ROWS_AT_HAND; /* other columns are SQLite's until the next row */
		scan->number = memory_take((size_t)scan->room * scan->n_columns * sizeof *scan->number);
	}
	int code = sqlite3_prepare_v2(db->handle, sql.data, -1, &scan->statement, NULL);
	buf_release(&sql);
	if (code != SQLITE_OK) {
		scan->statement = NULL;
		return db_fail(db, code, scan->table);
	}
	return 0;
}

int scan_open_numbers(struct scan *scan, struct db *db, const char *table, const char *const *columns, int n_columns,
                      int first_number)
{
	scan->failed = begin(scan, db, table, columns, n_columns, first_number) != 0;
	return scan->failed ? -1 : 0;
}

int scan_open(struct scan *scan, struct db *db, const char *table, const char *const *columns, int n_columns)
{
	return scan_open_numbers(scan, db, table, columns, n_columns, n_columns);
}

void db_scan_take(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct scan *scan = ((struct db *)sqlite3_user_data(context))->scanning;
	struct scan_number *to = scan->number + (size_t)scan->n++ * scan->n_columns + scan->first_number;
	for (sqlite3_value **end = values + n; values < end; values++, to++) {
		int type = to->type = sqlite3_value_type(*values);
		to->value = type == SQLITE_INTEGER ? sqlite3_value_int64(*values) : 0;
	}
	if (scan->n == scan->room)
		sqlite3_result_int(context, 1);
}

bool scan_more(struct scan *scan)
{
	scan->at = scan->n = 0;
	scan->db->scanning = scan;
	int code = scan->statement ? sqlite3_step(scan->statement) : SQLITE_DONE;
	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE || !scan->n)
		return scan_stop(scan, code);
	sqlite3_finalize(scan->statement); /* the last rows are at hand */
	scan->statement = NULL;
	return true;
}

bool scan_stop(struct scan *scan, int code)
{
	if (code != SQLITE_DONE) {
		scan->failed = db_fail(scan->db, code, scan->table) != 0;
		scan_close(scan);
	}
	return false;
}

int scan_close(struct scan *scan)
{
	sqlite3_finalize(scan->statement);
	scan->statement = NULL;
	free(scan->number);
	scan->number = NULL;
	return scan->failed ? -1 : 0;
}

size_t db_guess_rows(const struct db *db, const char *name)
{
	const char *table = db_table(db, name);
	if (!table)
		return 0;
	BUF_LOCAL(sql);
	buf_text(&sql, "SELECT max(rowid) FROM ");
	quote(&sql, table, strlen(table));
	sqlite3_stmt *statement = NULL;
	int64_t rows = 0;
	/* Only a guess: a table without rowid or a damaged page here is met again by the scan itself. */
	if (sqlite3_prepare_v2(db->handle, sql.data, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		rows = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	int64_t most = db->bytes / ROW_USUAL_BYTES;
	return rows < 0 ? 0 : (size_t)(rows < most ? rows : most);
}

const char *scan_text(struct scan *scan, int i, size_t *n)
{
	sqlite3_value *value = sqlite3_column_value(scan->statement, i);
	int type = sqlite3_value_type(value);
	*n = 0;
	if (type == SQLITE_TEXT) {
		const char *text = (const char *)sqlite3_value_text(value);
		*n = text ? (size_t)sqlite3_value_bytes(value) : 0;
		return text;
	}
	if (type != SQLITE_NULL)
		scan->flaws |= SCAN_WRONG_TYPE;
	return NULL;
}

int scan_open_options(struct scan *scan, struct db *db, const char *table)
{
	static const char *const columns[] = {"name", "value"};
	return scan_open(scan, db, table, columns, 2);
}

bool scan_option(struct scan *scan, struct scan_option *o)
{
	while (scan_row(scan)) {
		o->name = scan_text(scan, 0, &o->name_n);
		o->value = scan_text(scan, 1, &o->n);
		if (o->name && o->value)
			return true;
	}
	return false;
}
