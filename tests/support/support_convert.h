/* Spools in a test's folder, converted, and the profile asked with SQL. */
#ifndef GAPLINE_TESTS_SUPPORT_CONVERT_H
#define GAPLINE_TESTS_SUPPORT_CONVERT_H

#include "capture/convert.h"
#include "spool_maker.h"
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PID = 700, MAIN = 700, HELPER = 701, WRITER = 777 };
enum { START = 1000000 }; /* CLOCK_MONOTONIC of the profile's time 0 */

#define GLOBAL_PID ((int64_t)1 << 48 | (int64_t)PID << 24)

static inline struct convert_result convert(struct support *s, const char **profile)
{
	const struct convert_request request = {.spool = support_path(s, "."),
	                                        .profile = support_path(s, "out.sqlite"),
	                                        .start_ns = START,
	                                        .start_utc_ns = 1700000000000000000,
	                                        .stop_ns = START + 5000000,
	                                        .version = "0.1.0"};
	struct convert_result result;
	s->err.text[0] = 0;
	int failed = convert_spool(&request, &s->arena, &result, &s->err);
	if (failed)
		fail_msg("%s", s->err.text);
	*profile = request.profile;
	return result;
}

static inline const char *refusal(struct support *s)
{
	const struct convert_request request = {
		.spool = support_path(s, "."), .profile = support_path(s, "out.sqlite"), .version = "0.1.0"};
	struct convert_result result;
	s->err.text[0] = 0;
	assert_int_equal(convert_spool(&request, &s->arena, &result, &s->err), -1);
	assert_int_equal(access(request.profile, F_OK), -1);
	assert_true(s->err.text[0]);
	return s->err.text;
}

/* All rows of a query as one text: columns joined by '|', rows by '\n'; NULL is '-'. */
static inline const char *query(struct support *s, const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement = NULL;
	struct buf text = {0};
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (text.n)
			buf_text(&text, "\n");
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *value = (const char *)sqlite3_column_text(statement, i);
			buf_format(&text, "%s%s", i ? "|" : "", value ? value : "-");
		}
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	const char *copy = arena_copy(&s->arena, text.data ? text.data : "", text.n);
	buf_release(&text);
	return copy;
}

static inline void write_spool(struct support *s, struct spool_maker *m, const char *name)
{
	spool_write(m, support_path(s, name), SIZE_MAX);
	spool_discard(m);
}

/* A process with CUPTI 13.0.1's layouts, two kernels' names and three calls' names. */
static inline void begin_cuda(struct spool_maker *m, uint32_t pid)
{
	static const uint32_t sizes[][2] = {{1, 96},  {2, 88},  {4, 40},  {5, 40},  {10, 216}, {17, 56},
	                                    {22, 96}, {38, 56}, {51, 56}, {53, 56}, {9, 48}};
	spool_begin(m, pid, WRITER);
	spool_add_text(m, SPOOL_PROGRAM, 0, "trainer");
	spool_add_text(m, SPOOL_DRIVER, 0, "580.159.04");
	spool_add_cupti(m, 130001);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		spool_add_size(m, sizes[i][0], sizes[i][1]);
	spool_add_kernel_name(m, 0x7f0011, "_Z3addPfi");
	spool_add_kernel_name(m, 0x7f0022, "plain_kernel");
	spool_add_callback(m, 2, 211, "cudaLaunchKernel_v7000");
	spool_add_callback(m, 2, 41, "cudaMemcpyAsync_v3020");
	spool_add_callback(m, 1, 307, "cuLaunchKernel");
}

/* Unpacks tests/spools/NAME into a folder of the test's; the earliest time in it. */
static inline int64_t support_unpack_spools(struct support *s, const char *name, const char *folder)
{
	const char *packed = arena_format(&s->arena, TESTS_DIR "/capture/spools/%s", name);
	int64_t start = INT64_MAX;
	DIR *dir = opendir(packed);
	if (!dir)
		fail_msg("%s is missing", packed);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (const struct dirent *e; (e = readdir(dir));) {
		struct spool_header header;
		size_t n = strlen(e->d_name), bytes;
		if (e->d_name[0] == '.')
			continue;
		assert_true(n > 3);
		const char *plain = arena_format(&s->arena, "%s/%.*s", folder, (int)(n - 3), e->d_name);
		support_unpack(s, arena_format(&s->arena, "%s/%s", packed, e->d_name), plain);
		const unsigned char *data = support_load(s, plain, &bytes);
		assert_true(bytes >= sizeof header);
		memcpy(&header, data, sizeof header);
		start = header.monotonic_ns < start ? header.monotonic_ns : start;
	}
	closedir(dir);
	return start;
}

/* How to convert what was recorded: the program began at `start`. */
static inline struct convert_request support_recorded(struct support *s, const char *name, const char *folder,
                                                      int64_t start)
{
	return (struct convert_request){.spool = folder,
	                                .profile = support_path(s, arena_format(&s->arena, "%s.sqlite", name)),
	                                .start_ns = start,
	                                .start_utc_ns = 1700000000000000000,
	                                .stop_ns = start + 60000000000,
	                                .version = "0.1.0"};
}

#endif
