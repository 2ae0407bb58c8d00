/* Databases for tests, made from SQL texts in a folder of their own that disappears with the test. */
#ifndef GAPLINE_TESTS_SUPPORT_SQLITE_H
#define GAPLINE_TESTS_SUPPORT_SQLITE_H

#include "base/buf.h"
#include "base/unpack.h"
#include "read/read.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A trace read from a test's file, with everything that keeps it alive. */
struct support {
	char folder[64];
	struct arena arena;
	struct names names;
	struct trace trace;
	struct err err;
};

static inline void support_die(const char *what)
{
	fprintf(stderr, "test support: %s\n", what);
	abort();
}

static inline int support_setup(void **state)
{
	struct support *s = calloc(1, sizeof *s);
	snprintf(s->folder, sizeof s->folder, "/tmp/gapline-test-XXXXXX");
	if (!mkdtemp(s->folder))
		support_die("no temporary folder");
	names_init(&s->names, &s->arena);
	*state = s;
	return 0;
}

/* Unpacks what a test finds packed. */
static inline void support_unpack(struct support *s, const char *packed, const char *plain)
{
	char piece[65536];
	struct unpack *from = unpack_open(packed, -1, &s->err);
	FILE *to = fopen(plain, "wb");
	ssize_t n = 0;
	while (from && to && (n = unpack_read(from, piece, sizeof piece, &s->err)) > 0)
		fwrite(piece, 1, (size_t)n, to);
	unpack_close(from);
	if (!from || n < 0 || !to || fclose(to) != 0)
		support_die(s->err.text);
}

static inline int support_teardown(void **state)
{
	struct support *s = *state;
	chmod(s->folder, 0700);
	DIR *dir = opendir(s->folder);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", s->folder, e->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(s->folder);
	arena_release(&s->arena);
	free(s);
	return 0;
}

/* Path of a file in the test's folder; valid until the test ends. */
static inline const char *support_path(struct support *s, const char *name)
{
	return arena_format(&s->arena, "%s/%s", s->folder, name);
}

/* The text of tests/read/profiles/NAME. */
static inline const char *support_sql(struct support *s, const char *name)
{
	FILE *f = fopen(arena_format(&s->arena, TESTS_DIR "/read/profiles/%s", name), "rb");
	if (!f)
		support_die(name);
	struct buf text = {0};
	char chunk[4096];
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
		buf_add(&text, chunk, n);
	fclose(f);
	const char *copy = arena_copy(&s->arena, text.data, text.n);
	buf_release(&text);
	return copy;
}

static inline void support_run(const char *path, const char *sql)
{
	sqlite3 *db;
	char *message = NULL;
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", path, message ? message : sqlite3_errmsg(db));
		support_die("SQL failed");
	}
	sqlite3_close(db);
}

/* A database of one of the layouts with the common events; more SQL may follow. */
static inline const char *support_profile(struct support *s, const char *layout, const char *more)
{
	const char *path = support_path(s, "profile.sqlite");
	support_run(path, support_sql(s, layout));
	support_run(path, support_sql(s, "events.sql"));
	if (more)
		support_run(path, more);
	return path;
}

static inline int support_read(struct support *s, const char *path)
{
	s->err.text[0] = 0;
	return read_profile(path, &s->names, &s->arena, &s->trace, &s->err);
}

static inline const char *support_name(const struct support *s, uint32_t id)
{
	return names_text(&s->names, id);
}

static inline void support_write(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
		support_die(path);
}

/* Contents of a file, in the test's arena. */
static inline unsigned char *support_load(struct support *s, const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	if (!f || fstat(fileno(f), &st) != 0)
		support_die(path);
	unsigned char *data = arena_alloc(&s->arena, (size_t)st.st_size + 1, 1);
	*n = fread(data, 1, (size_t)st.st_size, f);
	fclose(f);
	return data;
}

static inline void support_gzip(const char *path, const void *data, size_t n, const char *mode)
{
	gzFile gz = gzopen(path, mode);
	if (!gz || (n && gzwrite(gz, data, (unsigned)n) != (int)n) || gzclose(gz) != Z_OK)
		support_die(path);
}

#endif
