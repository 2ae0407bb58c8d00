#include "store/store.h"

#include "base/file.h"
#include "base/output.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	APPLICATION = 0x6761706c, /* "gapl" */
	PATIENCE = 60 * 1000      /* ms; twenty writers of large digests are done in a few seconds */
};

/* In the order of their making. Both tables are their own index: an index beside its table could disagree with it in a
 * damaged file, and rows would be missing without a word. `added` counts entries, `place` the parts of one. */
static const char *const SCHEMA[] = {
	"CREATE TABLE entry (kind INTEGER NOT NULL, name TEXT NOT NULL, added INTEGER NOT NULL, time INTEGER, "
	"machine TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID",
	"CREATE TABLE part (kind INTEGER NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, file TEXT NOT NULL, "
	"folder INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (kind, name, place)) WITHOUT ROWID",
};
enum { OBJECTS = sizeof SCHEMA / sizeof *SCHEMA };

bool store_name_ok(const char *name)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = strlen(name), begin = strspn(name, first);
	if (!begin || n > STORE_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr(first, name[i]) && !strchr("._+-/", name[i]))
			return false;
	return true;
}

/* ---- SQLite ---- */

/* What is no database. Not looked for earlier: a descriptor that is closed takes SQLite's locks on the file with it. */
static int refuse(const char *path, struct err *err)
{
	struct file_head head;
	if (file_look(path, &head, err) == 0 && pointer_is(&head))
		return pointer_refuse(path, "is ", err);
	return err_set(err, "%s: is no file of 'gapline save' or 'gapline history'", path);
}

/* Not with SQLite's own message, in which there may be any bytes of the file. */
static int fail(const struct store *s, struct err *err)
{
	int code = sqlite3_errcode(s->db);
	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, "%s: others have been writing to it for a minute; try again", s->path);
	case SQLITE_FULL:
		return err_set(err, "%s: cannot be written: the disk is full", s->path);
	case SQLITE_READONLY:
		return err_set(err, "%s: cannot be written (it, or the folder it is in)", s->path);
	case SQLITE_CANTOPEN:
		return err_set_id(err, ERR_UNREADABLE,
		                  "%s: cannot be opened: it, or a file beside it, could not be made or read", s->path);
	case SQLITE_TOOBIG:
		return err_set(err, "%s: takes no digest as large as this: 1 GB is the most", s->path);
	case SQLITE_NOTADB:
		return refuse(s->path, err);
	case SQLITE_CORRUPT:
		return err_set_id(err, ERR_DAMAGED, "%s: is damaged: its pages are not in order", s->path);
	default:
		return err_set(err, "%s: %s", s->path, sqlite3_errstr(code));
	}
}

static int run(const struct store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, err);
}

static sqlite3_stmt *prepare(const struct store *s, const char *sql, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail(s, err);
	return statement;
}

/* One that is about an entry: ?1 is its kind, ?2 its name. */
static sqlite3_stmt *prepare_of(const struct store *s, const char *sql, enum store_kind kind, const char *name,
                                struct err *err)
{
	sqlite3_stmt *statement = prepare(s, sql, err);
	if (statement) {
		sqlite3_bind_int(statement, 1, (int)kind);
		sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
	}
	return statement;
}

/* A row: 1; none: 0; -1 with `err`. */
static int step(const struct store *s, sqlite3_stmt *statement, struct err *err)
{
	int code = sqlite3_step(statement);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fail(s, err);
}

/* Ends a statement that gives no rows. */
static int finish(const struct store *s, sqlite3_stmt *statement, struct err *err)
{
	int result = step(s, statement, err);
	sqlite3_finalize(statement);
	return result < 0 ? -1 : 0;
}

static int number(const struct store *s, const char *pragma, int64_t *value, struct err *err)
{
	sqlite3_stmt *statement = prepare(s, pragma, err);
	int row = statement ? step(s, statement, err) : -1;
	*value = row > 0 ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return row < 0 ? -1 : 0;
}

/* ---- opening ---- */

/* Nothing in the schema but what we wrote there: no view, no trigger, no table that only looks like ours. */
static int check_schema(const struct store *s, struct err *err)
{
	sqlite3_stmt *statement = prepare(s, "SELECT sql FROM sqlite_master ORDER BY rowid", err);
	int more = -1;
	size_t n = 0;
	bool same = true;
	while (statement && (more = step(s, statement, err)) > 0) {
		const char *sql = (const char *)sqlite3_column_text(statement, 0);
		same = same && n < OBJECTS && sql && !strcmp(sql, SCHEMA[n]);
		n++;
	}
	sqlite3_finalize(statement);
	if (more == 0 && (!same || n != OBJECTS))
		return err_set(err, "%s: its tables are not those that gapline makes; it was changed or damaged",
		               s->path);
	return more;
}

/* Of a file that there was nothing in. Within a transaction that holds the lock. */
static int make_schema(const struct store *s, struct err *err)
{
	char pragmas[80];
	snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
	         STORE_VERSION);
	for (size_t i = 0; i < OBJECTS; i++)
		if (run(s, SCHEMA[i], err))
			return -1;
	return run(s, pragmas, err);
}

static int check(const struct store *s, bool write, struct err *err)
{
	int64_t application, version, objects;
	if (number(s, "PRAGMA application_id", &application, err) || number(s, "PRAGMA user_version", &version, err) ||
	    number(s, "SELECT count(*) FROM sqlite_master", &objects, err))
		return -1;
	if (!application && !version && !objects)
		return write ? make_schema(s, err) : err_set(err, "%s: nothing was saved in it yet", s->path);
	if (application != APPLICATION)
		return err_set(err, "%s: is a database of something else; name a file of 'gapline save' or a new one",
		               s->path);
	if (version != STORE_VERSION)
		return err_set(err, "%s: is of another version (%lld; this gapline knows %d)", s->path,
		               (long long)version, STORE_VERSION);
	return check_schema(s, err);
}

/* sqlite3_open_v2 would take a folder, a pipe or a missing file for one that "cannot be opened". */
static int look(const char *path, bool write, struct err *err)
{
	struct stat file;
	struct output made;
	if (stat(path, &file)) {
		if (errno == ENOENT && write) {
			const int rc = output_prepare(&made, path, err);
			output_release(&made);
			return rc;
		}
		return errno == ENOENT
		               ? err_set_id(err, ERR_MISSING,
		                            "%s: no such file; 'gapline save' and 'gapline history add' make one, "
		                            "and --db names it",
		                            path)
		               : err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
	}
	if (!S_ISREG(file.st_mode))
		return err_set(err, "%s: is %s", path, S_ISDIR(file.st_mode) ? "a folder" : "no regular file");
	return access(path, write ? R_OK | W_OK : R_OK)
	               ? err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno))
	               : 0;
}

/* Also to read it is opened for writing where that is allowed: what a writer left half done when its machine stopped
 * has to be taken back first. */
int store_open(struct store *s, const char *path, bool write, struct err *err)
{
	*s = (struct store){.path = path};
	if (look(path, write, err))
		return -1;
	int flags = SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0);
	/* a dot before a relative path, lest a file called ":memory:" be none */
	char *whole = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
	int code = sqlite3_open_v2(whole, &s->db, flags, NULL);
	sqlite3_free(whole);
	if (code != SQLITE_OK)
		return fail(s, err);
	sqlite3_busy_timeout(s->db, PATIENCE);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	if (run(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", err))
		return -1;
	if (run(s, write ? "BEGIN IMMEDIATE" : "BEGIN", err))
		return -1;
	if (check(s, write, err) == 0)
		return run(s, "COMMIT", err);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

void store_close(struct store *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
}

/* ---- writing ---- */

/* 1: there is one; 0: there is none; -1 with `err`. */
static int find(const struct store *s, const struct store_entry *e, bool *has_time, int64_t *time, struct err *err)
{
	sqlite3_stmt *statement =
		prepare_of(s, "SELECT time FROM entry WHERE kind = ?1 AND name = ?2", e->kind, e->name, err);
	int row = statement ? step(s, statement, err) : -1;
	*has_time = row > 0 && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
	*time = *has_time ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return row;
}

/* Commits of which some have a time and some have none have no order. */
static int check_times(const struct store *s, const struct store_entry *e, struct err *err)
{
	int64_t others;
	if (number(s,
	           e->has_time ? "SELECT count(*) FROM entry WHERE kind = 1 AND time IS NULL"
	                       : "SELECT count(*) FROM entry WHERE kind = 1 AND time IS NOT NULL",
	           &others, err))
		return -1;
	return others ? err_set(err, "%s: the commits that are in it have %s, which says their order; give this one %s",
	                        s->path, e->has_time ? "no time" : "a time", e->has_time ? "none, too" : "its --time")
	              : 0;
}

static int remove_entry(const struct store *s, const struct store_entry *e, struct err *err)
{
	static const char *const sql[] = {"DELETE FROM part WHERE kind = ?1 AND name = ?2",
	                                  "DELETE FROM entry WHERE kind = ?1 AND name = ?2"};
	for (int i = 0; i < 2; i++) {
		sqlite3_stmt *statement = prepare_of(s, sql[i], e->kind, e->name, err);
		if (!statement || finish(s, statement, err))
			return -1;
	}
	return 0;
}

static int insert_entry(const struct store *s, const struct store_entry *e, struct err *err)
{
	sqlite3_stmt *statement =
		prepare_of(s, "INSERT INTO entry SELECT ?1, ?2, coalesce(max(added), 0) + 1, ?3, ?4 FROM entry",
	                   e->kind, e->name, err);
	if (!statement)
		return -1;
	if (e->has_time)
		sqlite3_bind_int64(statement, 3, e->time);
	sqlite3_bind_text(statement, 4, e->machine, -1, SQLITE_STATIC);
	return finish(s, statement, err);
}

/* Not where the same bytes are there already. */
static int insert_part(const struct store *s, const struct store_entry *e, const struct store_part *part,
                       struct err *err)
{
	sqlite3_stmt *statement = prepare_of(
		s,
		"INSERT INTO part SELECT ?1, ?2, (SELECT coalesce(max(place), 0) + 1 FROM part WHERE kind = ?1 AND "
		"name = "
		"?2), ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM part WHERE kind = ?1 AND name = ?2 AND digest = ?5)",
		e->kind, e->name, err);
	if (!statement)
		return -1;
	sqlite3_bind_text(statement, 3, part->file, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 4, part->folder);
	if (sqlite3_bind_blob64(statement, 5, part->digest, part->n, SQLITE_STATIC) != SQLITE_OK) {
		fail(s, err);
		sqlite3_finalize(statement);
		return -1;
	}
	return finish(s, statement, err);
}

static enum store_done put(const struct store *s, const struct store_entry *e, enum store_rule rule, size_t *n_new,
                           struct err *err)
{
	int64_t time;
	bool has_time;
	int there = find(s, e, &has_time, &time, err);
	if (there > 0 && rule == STORE_REFUSE)
		return STORE_EXISTS;
	if (there > 0 && rule == STORE_REPLACE)
		there = remove_entry(s, e, err);
	if (there > 0 && (has_time != e->has_time || time != e->time))
		there = err_set(err, "%s: %s is in it with another time; --force replaces it", s->path, e->name);
	if (there == 0)
		there = (e->kind == STORE_COMMIT && check_times(s, e, err)) || insert_entry(s, e, err) ? -1 : 1;
	for (size_t i = 0; i < e->n && there > 0; i++) {
		if (insert_part(s, e, &e->parts[i], err))
			return STORE_FAILED;
		*n_new += sqlite3_changes(s->db) > 0;
	}
	return there < 0 ? STORE_FAILED : STORE_SAVED;
}

enum store_done store_put(struct store *s, const struct store_entry *e, enum store_rule rule, size_t *n_new,
                          struct err *err)
{
	size_t added = 0;
	if (run(s, "BEGIN IMMEDIATE", err))
		return STORE_FAILED;
	enum store_done done = put(s, e, rule, &added, err);
	if (done == STORE_SAVED && run(s, "COMMIT", err))
		done = STORE_FAILED;
	if (done != STORE_SAVED)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	if (n_new)
		*n_new = done == STORE_SAVED ? added : 0;
	return done;
}

/* ---- reading ---- */

int store_has(struct store *s, enum store_kind kind, const char *name, struct err *err)
{
	const struct store_entry e = {.kind = kind, .name = name};
	int64_t time;
	bool has_time;
	return find(s, &e, &has_time, &time, err);
}

/* UTF-8 without control characters, as names in a trace and what a user may give are. */
static bool is_text(const char *text)
{
	size_t skip, n = strlen(text);
	uint32_t code;
	for (size_t length; n; text += length, n -= length) {
		length = utf8_next((const unsigned char *)text, n, &code, &skip);
		if (!length || code < 0x20)
			return false;
	}
	return true;
}

static const char *text_of(sqlite3_stmt *statement, int column, struct arena *arena)
{
	if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
		return NULL;
	const char *text = (const char *)sqlite3_column_text(statement, column);
	return text && is_text(text) ? arena_copy(arena, text, strlen(text)) : NULL;
}

static int not_ours(const struct store *s, struct err *err)
{
	return err_set_id(err, ERR_DAMAGED, "%s: is damaged: it holds something else than gapline writes", s->path);
}

static int read_parts(const struct store *s, bool digests, struct arena *arena, struct store_entry *e, struct err *err)
{
	sqlite3_stmt *statement =
		prepare_of(s,
	                   digests ? "SELECT file, folder, length(digest), digest FROM part WHERE kind "
	                             "= ?1 AND name = ?2 ORDER BY place"
	                           : "SELECT file, folder, length(digest) FROM part WHERE kind = ?1 "
	                             "AND name = ?2 ORDER BY place",
	                   e->kind, e->name, err);
	int more = -1;
	while (statement && (more = step(s, statement, err)) > 0) {
		struct store_part part = {text_of(statement, 0, arena), sqlite3_column_int64(statement, 1), NULL,
		                          (size_t)sqlite3_column_int64(statement, 2)};
		bool wrong = !part.file || part.folder < -1 || part.folder >= INT32_MAX || !part.n;
		if (!wrong && digests) {
			const void *bytes = sqlite3_column_blob(statement, 3);
			part.n = (size_t)sqlite3_column_bytes(statement, 3);
			wrong = !bytes || sqlite3_column_type(statement, 3) != SQLITE_BLOB;
			part.digest = wrong ? NULL : (const unsigned char *)arena_copy(arena, bytes, part.n);
		}
		if (wrong) {
			more = not_ours(s, err);
			break;
		}
		e->parts = arena_grow(arena, e->parts, e->n, e->n + 1, sizeof *e->parts);
		e->parts[e->n++] = part;
	}
	sqlite3_finalize(statement);
	return more == 0 && !e->n ? not_ours(s, err) : more;
}

/* Columns name, time, machine. */
static int read_entry(const struct store *s, sqlite3_stmt *statement, enum store_kind kind, bool digests,
                      struct arena *arena, struct store_entry *e, struct err *err)
{
	*e = (struct store_entry){.kind = kind,
	                          .name = text_of(statement, 0, arena),
	                          .has_time = sqlite3_column_type(statement, 1) == SQLITE_INTEGER,
	                          .time = sqlite3_column_int64(statement, 1),
	                          .machine = text_of(statement, 2, arena)};
	if (!e->name || !store_name_ok(e->name) || !e->machine)
		return not_ours(s, err);
	return read_parts(s, digests, arena, e, err);
}

int store_get(struct store *s, enum store_kind kind, const char *name, struct arena *arena, struct store_entry *entry,
              struct err *err)
{
	if (run(s, "BEGIN", err))
		return -1;
	sqlite3_stmt *statement =
		prepare_of(s, "SELECT name, time, machine FROM entry WHERE kind = ?1 AND name = ?2", kind, name, err);
	int row = statement ? step(s, statement, err) : -1;
	int result = row < 0 ? -1 : row == 0 ? 1 : read_entry(s, statement, kind, true, arena, entry, err);
	sqlite3_finalize(statement);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return result;
}

int store_list(struct store *s, enum store_kind kind, struct arena *arena, struct store_entry **list, size_t *n,
               struct err *err)
{
	*list = NULL;
	*n = 0;
	if (run(s, "BEGIN", err))
		return -1;
	sqlite3_stmt *statement =
		prepare(s, "SELECT name, time, machine FROM entry WHERE kind = ?1 ORDER BY time, added, name", err);
	if (statement)
		sqlite3_bind_int(statement, 1, (int)kind);
	int more = -1;
	while (statement && (more = step(s, statement, err)) > 0) {
		*list = arena_grow(arena, *list, *n, *n + 1, sizeof **list);
		if (read_entry(s, statement, kind, false, arena, &(*list)[(*n)++], err)) {
			more = -1;
			break;
		}
	}
	sqlite3_finalize(statement);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return more;
}
