#include "capture/profile.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/list.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100, TEXT_MAX_BYTES = 1 << 20 }; /* longer texts are cut: nobody reads a name of a megabyte */

static void fail(struct profile *p, const char *problem)
{
	if (!p->failed)
		err_set(p->err, "%s: cannot be written: %s", p->output.path, problem);
	p->failed = true;
}

static void run(struct profile *p, const char *sql)
{
	if (!p->failed && sqlite3_exec(p->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(p, sqlite3_errmsg(p->db));
}

/* ---- the file ---- */

/* A file beside the target that nobody else has; its mode is the umask's, as for any new file. */
static int create_temporary(struct profile *p)
{
	const char *target = p->output.target, *name = file_name(target);
	for (int i = 0; i < TRIES; i++) {
		struct buf b = {0};
		if (target[0] != '/') /* lest SQLite take a name for something special */
			buf_text(&b, "./");
		buf_add(&b, target, (size_t)(name - target));
		buf_format(&b, ".%.200s.%ld-%d.tmp", name, (long)getpid(), i);
		int fd = open(b.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0) {
			p->temporary = b.data;
			if (p->output.exists && fchmod(fd, p->output.found.st_mode & 0777) != 0)
				fail(p, err_reason(errno));
			close(fd);
			return p->failed ? -1 : 0;
		}
		int problem = errno;
		buf_release(&b);
		if (problem != EEXIST) {
			fail(p, err_reason(problem));
			return -1;
		}
	}
	fail(p, "its folder is full of temporary files");
	return -1;
}

int profile_open(struct profile *p, const char *path, struct arena *arena, struct err *err)
{
	*p = (struct profile){.arena = arena, .err = err};
	keymap_init(&p->known, arena);
	if (output_prepare(&p->output, path, err) != 0)
		return -1;
	if (p->output.standard || p->output.stream)
		return err_set(err, "%s: a profile can only be written to a file", path);
	if (create_temporary(p) != 0)
		return -1;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(p->temporary, &p->db, flags, NULL) != SQLITE_OK)
		fail(p, p->db ? sqlite3_errmsg(p->db) : "out of memory");
	/* Nobody else knows the file yet, and a half-written one is thrown away: no journal, no waiting for the disk.
	 */
	run(p, "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
	       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; BEGIN");
	return p->failed ? -1 : 0;
}

static void close_database(struct profile *p)
{
	for (int i = 0; i < PROFILE_TABLES; i++) {
		sqlite3_finalize(p->insert[i]);
		p->insert[i] = NULL;
	}
	sqlite3_finalize(p->end_range);
	sqlite3_finalize(p->set_payload);
	p->end_range = p->set_payload = NULL;
	if (sqlite3_close(p->db) != SQLITE_OK)
		fail(p, "the database cannot be closed");
	p->db = NULL;
}

void profile_close(struct profile *p)
{
	close_database(p);
	if (p->temporary)
		unlink(p->temporary);
	free(p->temporary);
	output_release(&p->output);
	*p = (struct profile){0};
}

/* ---- rows ---- */

/* Creates the table and the statement that adds a row to it. */
static void begin_table(struct profile *p, enum profile_table table)
{
	const struct profile_layout *layout = &PROFILE_LAYOUTS[table];
	BUF_LOCAL(sql);
	buf_format(&sql, "CREATE TABLE %s (%s)", layout->name, layout->columns);
	run(p, sql.data);
	sql.n = 0;
	buf_format(&sql, "INSERT INTO %s VALUES (?", layout->name);
	p->columns[table] = 1;
	for (const char *comma = layout->columns; (comma = strchr(comma, ',')); comma++) {
		buf_text(&sql, ", ?");
		p->columns[table]++;
	}
	buf_text(&sql, ")");
	if (!p->failed &&
	    sqlite3_prepare_v3(p->db, sql.data, -1, SQLITE_PREPARE_PERSISTENT, &p->insert[table], NULL) != SQLITE_OK)
		fail(p, sqlite3_errmsg(p->db));
}

void profile_begin(struct profile *p, enum profile_table table)
{
	if (__builtin_expect(!p->insert[table] && !p->failed, 0))
		begin_table(p, table);
	p->table = table;
	p->at = 1;
}

void profile_end(struct profile *p)
{
	sqlite3_stmt *insert = p->insert[p->table];
	if (p->failed)
		return;
	if (p->at != p->columns[p->table] + 1) {
		fail(p, "a row does not have the columns of its table"); /* a mistake in our own code */
		return;
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		fail(p, sqlite3_errmsg(p->db));
	sqlite3_reset(insert);
}

void profile_null(struct profile *p, int n)
{
	while (n-- > 0)
		sqlite3_bind_null(p->insert[p->table], p->at++);
}

/* Whether the text can be taken as it is; cuts it at a NUL and at its longest. */
static bool plain(const char *text, size_t *n)
{
	const char *nul = *n ? memchr(text, 0, *n) : NULL;
	*n = nul ? (size_t)(nul - text) : *n;
	*n = *n < TEXT_MAX_BYTES ? *n : TEXT_MAX_BYTES;
	for (size_t i = 0; i < *n; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void make_utf8(const char *text, size_t n, struct buf *out)
{
	const unsigned char *s = (const unsigned char *)text;
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t skip, length = utf8_next(s + i, n - i, &code, &skip);
		buf_add(out, length ? text + i : "\xEF\xBF\xBD", length ? length : 3);
		i += length ? length : skip;
	}
}

static void bind_text(struct profile *p, const char *text, size_t n)
{
	sqlite3_bind_text(p->insert[p->table], p->at++, n ? text : "", (int)n, SQLITE_TRANSIENT);
}

void profile_text(struct profile *p, const char *text, size_t n)
{
	if (plain(text, &n)) {
		bind_text(p, text, n);
		return;
	}
	BUF_LOCAL(clean);
	make_utf8(text, n, &clean);
	bind_text(p, clean.data, clean.n);
}

int64_t profile_last_row(const struct profile *p)
{
	return p->failed ? 0 : sqlite3_last_insert_rowid(p->db);
}

/* A statement that changes a row of NVTX_EVENTS, prepared when it is first needed. */
static bool prepare(struct profile *p, sqlite3_stmt **statement, const char *sql)
{
	if (!p->failed && !*statement &&
	    sqlite3_prepare_v3(p->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
		fail(p, sqlite3_errmsg(p->db));
	return !p->failed;
}

static void step(struct profile *p, sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		fail(p, sqlite3_errmsg(p->db));
	sqlite3_reset(statement);
}

void profile_end_range(struct profile *p, int64_t row, int64_t end, int64_t global_tid)
{
	if (!prepare(p, &p->end_range, "UPDATE NVTX_EVENTS SET end = ?, endGlobalTid = ? WHERE rowid = ?"))
		return;
	sqlite3_bind_int64(p->end_range, 1, end);
	if (global_tid)
		sqlite3_bind_int64(p->end_range, 2, global_tid);
	else
		sqlite3_bind_null(p->end_range, 2);
	sqlite3_bind_int64(p->end_range, 3, row);
	step(p, p->end_range);
}

bool profile_set_payload(struct profile *p, int64_t row, const void *bytes, size_t n)
{
	if (!prepare(p, &p->set_payload,
	             "UPDATE NVTX_EVENTS SET binaryData = ? WHERE rowid = ? AND binaryData IS NULL"))
		return false;
	sqlite3_bind_blob64(p->set_payload, 1, bytes, n, SQLITE_STATIC);
	sqlite3_bind_int64(p->set_payload, 2, row);
	step(p, p->set_payload);
	sqlite3_clear_bindings(p->set_payload);
	return !p->failed && sqlite3_changes(p->db) > 0;
}

/* ---- StringIds ---- */

static uint32_t add_string(struct profile *p, const char *text, size_t n)
{
	for (uint64_t key = keymap_text(text, n);; key++) {
		uint32_t i = keymap_add(&p->known, key);
		if (i == p->n_strings)
			break;
		if (p->string_bytes[i] == n && memcmp(p->string[i], text, n) == 0)
			return i + 1;
	}
	if (p->n_strings == p->string_room) {
		uint32_t room = (uint32_t)list_more(p->string_room);
		p->string = arena_grow(p->arena, p->string, p->string_room, room, sizeof *p->string);
		p->string_bytes = arena_grow(p->arena, p->string_bytes, p->string_room, room, sizeof *p->string_bytes);
		p->string_room = room;
	}
	p->string[p->n_strings] = arena_copy(p->arena, text, n);
	p->string_bytes[p->n_strings] = n;
	uint32_t id = ++p->n_strings;
	/* A string is asked for while the row that needs it is still being written. */
	enum profile_table table = p->table;
	int column = p->at;
	profile_begin(p, PROFILE_STRINGS);
	profile_int(p, id);
	bind_text(p, text, n);
	profile_end(p);
	p->table = table;
	p->at = column;
	return id;
}

int64_t profile_string(struct profile *p, const char *text, size_t n)
{
	if (plain(text, &n))
		return add_string(p, n ? text : "", n);
	BUF_LOCAL(clean);
	make_utf8(text, n, &clean);
	uint32_t id = add_string(p, clean.data, clean.n);
	return id;
}

/* ---- the end ---- */

static void write_enums(struct profile *p)
{
	sqlite3_stmt *insert = NULL;
	BUF_LOCAL(sql);
	for (size_t i = 0; i < PROFILE_N_ENUMS && !p->failed; i++) {
		const struct profile_enum *e = &PROFILE_ENUMS[i];
		if (i == 0 || strcmp(e->table, e[-1].table) != 0) {
			sqlite3_finalize(insert);
			insert = NULL;
			sql.n = 0;
			buf_format(&sql, "CREATE TABLE %s (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)",
			           e->table);
			run(p, sql.data);
			sql.n = 0;
			buf_format(&sql, "INSERT INTO %s VALUES (?, ?, ?)", e->table);
			if (!p->failed && sqlite3_prepare_v2(p->db, sql.data, -1, &insert, NULL) != SQLITE_OK)
				fail(p, sqlite3_errmsg(p->db));
		}
		sqlite3_bind_int(insert, 1, e->id);
		sqlite3_bind_text(insert, 2, e->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 3, e->label, -1, SQLITE_STATIC);
		if (!p->failed && sqlite3_step(insert) != SQLITE_DONE)
			fail(p, sqlite3_errmsg(p->db));
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
}

int profile_finish(struct profile *p, struct err *err)
{
	write_enums(p);
	run(p, "COMMIT");
	close_database(p);
	if (!p->failed && rename(p->temporary, p->output.target) != 0)
		fail(p, err_reason(errno));
	if (p->failed) {
		if (err != p->err)
			*err = *p->err;
		return -1;
	}
	free(p->temporary);
	p->temporary = NULL;
	return 0;
}
