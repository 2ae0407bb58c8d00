#include "read/db.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TEXT_MAX_BYTES = 64 << 20,       /* longest text or row that is taken from a file */
	CHECKED_WHOLE_BYTES = 256 << 20, /* a file up to this is looked at as a whole, in some hundredths of a second */
	METER_STEPS = 10000              /* of SQLite's machine between two looks at how far it is: some hundred rows */
};

int db_fail(struct db *db, int code, const char *table)
{
	const char *kind = table ? "table " : "", *where = table ? table : "its schema";
	switch (code & 0xFF) {
	case SQLITE_NOTADB:
		return err_set(db->err, "%s: is encrypted or no SQLite database; export the report again with nsys",
		               db->path);
	case SQLITE_TOOBIG:
		return err_set(db->err, "%s: %s%s holds a text of more than %d MB; export the report again with nsys",
		               db->path, kind, where, TEXT_MAX_BYTES >> 20);
	case SQLITE_NOMEM: /* also where SQLite asks for more at once than it ever gives */
		return err_set_id(db->err, ERR_MEMORY, "%s: out of memory while reading %s%s", db->path, kind, where);
	case SQLITE_CORRUPT:
		return err_set_id(db->err, ERR_DAMAGED,
		                  "%s: is damaged in %s%s; copy the file again or export the report again with nsys",
		                  db->path, kind, where);
	default:
		return err_set(db->err, "%s: cannot read %s%s: %s", db->path, kind, where, sqlite3_errmsg(db->handle));
	}
}

static uint32_t big_endian(const unsigned char *at, int n)
{
	uint32_t value = 0;
	for (int i = 0; i < n; i++)
		value = value << 8 | at[i];
	return value;
}

static int64_t page_size(const struct file_head *head)
{
	int64_t page = big_endian(head->data + 16, 2);
	return page == 1 ? 65536 : page;
}

int64_t db_bytes_said(const struct file_head *head)
{
	const unsigned char *h = head->data;
	bool count_holds =
		head->n >= 100 && big_endian(h + 24, 4) == big_endian(h + 92, 4); /* else it was left stale */
	return count_holds ? page_size(head) * big_endian(h + 28, 4) : 0;
}

/* Says early and plainly when the file is shorter than its header promises
 * (https://www.sqlite.org/fileformat2.html#the_database_header). */
static int check_length(struct db *db, const struct file_head *head)
{
	if (head->n < 100)
		return err_set_id(db->err, ERR_DAMAGED,
		                  "%s: is cut off: only %zu bytes of a SQLite database; copy the file again", db->path,
		                  head->n);
	int64_t page = db->page = page_size(head), said = db_bytes_said(head);
	int64_t whole = said ? said : page ? (head->size + page - 1) / page * page : 0;
	db->pages.page = page;
	db->pages.pages = page ? whole / page : 0;
	if (head->size < whole)
		return err_set_id(
			db->err, ERR_DAMAGED,
			"%s: is cut off: %lld of %lld bytes are there; copy the file again or export the report "
			"again with nsys",
			db->path, (long long)head->size, (long long)whole);
	return 0;
}

/* Whether there is a file at `path` with more than `empty` bytes that begins with the `n` of `magic`. */
static bool begins_with(const char *path, int64_t empty, const void *magic, size_t n)
{
	struct file_head head;
	struct err ignored;
	if (access(path, R_OK) && errno == EACCES)
		return true; /* it cannot be told, and what is not read would be missing in silence */
	return file_look(path, &head, &ignored) == 0 && head.size > empty && head.n >= n &&
	       memcmp(head.data, magic, n) == 0;
}

/* The file's name as one word of a shell's command line. */
static const char *shell_name(struct db *db)
{
	BUF_LOCAL(word);
	buf_word(&word, db->path, "");
	return arena_format(db->arena, "%s", word.data);
}

/* What SQLite leaves beside a file that somebody still writes to, or did not finish writing to. An immutable file has
 * none of it, so SQLite itself would not look: a write-ahead log holds changes that are not in the file yet, and a
 * journal with a header what the file was before a change that was broken off
 * (https://www.sqlite.org/fileformat2.html#the_rollback_journal, #the_write_ahead_log). What lies beside the name is of
 * no concern where the name stands for another file by now, or for none. */
static int check_leftovers(struct db *db, const struct stat *opened)
{
	static const unsigned char journal[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	static const unsigned char log[] = {0x37, 0x7f, 0x06}; /* and 0x82 or 0x83, by the order of bytes */
	enum { LOG_HEADER = 32 };
	struct stat named;
	if (stat(db->path, &named) != 0 || named.st_dev != opened->st_dev || named.st_ino != opened->st_ino)
		return 0;
	char *real = realpath(db->path, NULL); /* they lie beside the file itself, and not beside a link to it */
	if (!real && errno == ENOMEM)
		memory_exhausted();
	const char *path = arena_format(db->arena, "%s", real ? real : db->path);
	free(real);
	const char *beside = arena_format(db->arena, "%s-wal", path);
	if (begins_with(beside, LOG_HEADER, log, sizeof log))
		return err_set(
			db->err,
			"%s: its latest rows are not in it yet but in %s; let the program that writes it end, or "
			"have SQLite put them in: sqlite3 %s 'PRAGMA journal_mode=DELETE'",
			db->path, beside, shell_name(db));
	beside = arena_format(db->arena, "%s-journal", path);
	if (begins_with(beside, 0, journal, sizeof journal))
		return err_set(
			db->err,
			"%s: is in the middle of a change, which %s can take back; let the program that writes it "
			"end, or have SQLite do that: sqlite3 %s .tables",
			db->path, beside, shell_name(db));
	return 0;
}

static int configure(struct db *db)
{
	sqlite3 *h = db->handle;
	sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(h, SQLITE_LIMIT_LENGTH, TEXT_MAX_BYTES);
	sqlite3_limit(h, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
	sqlite3_limit(h, SQLITE_LIMIT_EXPR_DEPTH, 100);
	sqlite3_limit(h, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(h, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_create_function(h, "gapline_take", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db, db_scan_take, NULL, NULL);
	/* Tables are read once, front to back: few pages are needed again, and those stay in the processor's cache. */
	int code = sqlite3_exec(h,
	                        "PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; "
	                        "PRAGMA cache_size = 64",
	                        NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : db_fail(db, code, NULL);
}

int db_each(struct db *db, const char *sql, const char *table, void (*row)(void *context, sqlite3_stmt *row),
            void *context)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		if (code == SQLITE_ROW)
			row(context, statement);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : db_fail(db, code, table);
}

struct table_list {
	struct db *db;
	size_t room;
};

static void add_table(void *context, sqlite3_stmt *row)
{
	struct table_list *list = context;
	struct db *db = list->db;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	if (!name)
		return;
	if (db->n_tables == list->room) {
		size_t more = list_more(list->room);
		db->tables = arena_grow(db->arena, db->tables, list->room, more, sizeof *db->tables);
		db->described = arena_grow(db->arena, db->described, list->room, more, sizeof *db->described);
		list->room = more;
	}
	name = arena_copy(db->arena, name, strlen(name));
	struct db_pages_table *table = &db->described[db->n_tables];
	*table = (struct db_pages_table){.name = name, .root = sqlite3_column_int64(row, 1)};
	db_pages_describe(table, (const char *)sqlite3_column_text(row, 2));
	db->tables[db->n_tables++] = name;
}

static void add_view(void *context, sqlite3_stmt *row)
{
	struct table_list *list = context;
	struct db *db = list->db;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	if (!name)
		return;
	LIST_ADD(db->arena, db->views, db->n_views, list->room, arena_copy(db->arena, name, strlen(name)));
}

/* Lists the plain tables: what SQLite itself writes for one begins with CREATE TABLE and has a root page. Views and
 * virtual tables would run code of the file's choosing; they are listed apart. */
static int list_tables(struct db *db)
{
#define IS_PLAIN "rootpage > 0 AND sql LIKE 'CREATE TABLE %'"
	struct table_list list = {.db = db}, views = {.db = db};
	int failed = db_each(db, "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' AND " IS_PLAIN,
	                     NULL, add_table, &list);
	return failed ? failed
	              : db_each(db,
	                        "SELECT name FROM sqlite_master WHERE type = 'view' OR (type = 'table' AND "
	                        "NOT (" IS_PLAIN "))",
	                        NULL, add_view, &views);
}

/* SQLite calls this now and then while it works. */
static int tell_meter(void *context)
{
	struct db *db = context;
	int pages = 0, most = 0;
	sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_MISS, &pages, &most, 0);
	meter_add(db->meter, pages * db->page - db->told);
	db->told = pages * db->page;
	return 0;
}

/* By its descriptor, so that it is the same file for every connection, whatever its name stands for by now. */
static int open_file(struct db *db)
{
	char name[16];
	snprintf(name, sizeof name, "%d", db->pages.fd);
	return sqlite3_open_v2(name, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, db_vfs());
}

int db_open(struct db *db, const char *path, int fd, struct arena *arena, struct err *err)
{
	*db = (struct db){.path = path, .arena = arena, .err = err, .owns = fd < 0};
	struct file_head head;
	struct stat found;
	db->pages.fd = fd < 0 ? file_open(path, &db->bytes, err) : fd;
	if (db->pages.fd < 0 || file_head_of(db->pages.fd, path, &head, &found, err) != 0 ||
	    check_leftovers(db, &found) != 0 || check_length(db, &head) != 0)
		return -1;
	db->bytes = head.size;
	int code = open_file(db);
	if (code != SQLITE_OK)
		return db_fail(db, code, NULL);
	if (configure(db) != 0 || list_tables(db) != 0)
		return -1;
	db->matched = ARENA_NEW(arena, db->n_tables, bool);
	return 0;
}

void db_meter(struct db *db, struct meter *meter)
{
	db->meter = meter;
	meter->of = db->bytes;
	sqlite3_progress_handler(db->handle, METER_STEPS, tell_meter, db);
}

void db_close(struct db *db)
{
	sqlite3_close(db->handle);
	db->handle = NULL;
	if (db->owns && db->pages.fd >= 0)
		close(db->pages.fd);
	db->owns = false;
}

static int check_table(struct db *db, size_t i, bool whole)
{
	return db_pages_match(&db->pages, db->handle, &db->described[i], whole)
	               ? 0
	               : db_fail(db, SQLITE_CORRUPT, db->tables[i]);
}

int db_check(struct db *db)
{
	for (size_t i = 0; i < db->n_tables; i++)
		if (check_table(db, i, db->bytes <= CHECKED_WHOLE_BYTES) != 0)
			return -1;
	if (db_pages_used(&db->pages, db->handle))
		return 0;
	return err_set_id(
		db->err, ERR_DAMAGED,
		"%s: is damaged: pages of it belong to no table, as where pages changed places; copy the file again or "
		"export the report again with nsys",
		db->path);
}

int db_check_scanned(struct db *db, const char *table)
{
	for (size_t i = 0; i < db->n_tables; i++) {
		if (db->tables[i] != table || db->matched[i] || db->bytes <= CHECKED_WHOLE_BYTES)
			continue;
		db->matched[i] = true;
		return check_table(db, i, true);
	}
	return 0;
}

static const char *best_of(const char *const *names, size_t n_names, const char *name)
{
	size_t n = strlen(name);
	const char *best = NULL;
	for (size_t i = 0; i < n_names; i++) {
		const char *table = names[i];
		if (sqlite3_strnicmp(table, name, (int)n) != 0)
			continue;
		if (!table[n])
			return table;
		bool versioned = (table[n] == '_' && (table[n + 1] == 'V' || table[n + 1] == 'v') &&
		                  isdigit((unsigned char)table[n + 2]) && !table[n + 3]);
		if (versioned && (!best || table[n + 2] > best[n + 2]))
			best = table;
	}
	return best;
}

const char *db_table(const struct db *db, const char *name)
{
	return best_of(db->tables, db->n_tables, name);
}

int db_refuse_view(struct db *db, const char *name)
{
	const char *view = best_of(db->views, db->n_views, name);
	return view ? err_set(db->err,
	                      "%s: %s is a view or a virtual table, and gapline reads only plain tables; export the "
	                      "report again with nsys",
	                      db->path, view)
	            : 0;
}
