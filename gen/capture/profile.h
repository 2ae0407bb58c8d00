/* A profile that is being written: an SQLite file with the tables of an nsys export (the layout of nsys 2025.3, schema
 * 3.20), made as nsys makes them: only those that have rows. It grows under a temporary name beside its target and
 * takes the target's name when it is complete.
 *
 * A row is written column by column, in the order of the table's columns:
 *
 *	profile_begin(p, PROFILE_GPU);
 *	PROFILE_INTS(p, id, bytes, PROFILE_NULL);
 *	profile_text(p, name, n);
 *	…
 *	profile_end(p);
 *
 * The first failure is kept in `err`; from then on nothing more is written. profile_failed says so; nobody needs to
 * ask after every row. */
#ifndef GAPLINE_CAPTURE_PROFILE_H
#define GAPLINE_CAPTURE_PROFILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/keymap.h"
#include "base/output.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_table {
	PROFILE_STRINGS,
	PROFILE_KERNEL,
	PROFILE_COPY,
	PROFILE_MEMSET,
	PROFILE_GRAPH,
	PROFILE_GRAPH_NODE,
	PROFILE_CALL,
	PROFILE_SYNC,
	PROFILE_MEMORY,
	PROFILE_OVERHEAD,
	PROFILE_NVTX,
	PROFILE_SCHEMA,
	PROFILE_SCHEMA_ENTRY,
	PROFILE_OSRT,
	PROFILE_SAMPLE,
	PROFILE_STACK,
	PROFILE_CALLCHAIN,
	PROFILE_GIL,
	PROFILE_THREAD_NAMES,
	PROFILE_PROCESSES,
	PROFILE_RANK,
	PROFILE_GPU,
	PROFILE_CUDA_DEVICE,
	PROFILE_SYSTEM,
	PROFILE_START_TIME,
	PROFILE_ANALYSIS,
	PROFILE_DIAGNOSTIC,
	PROFILE_CAPTURE_DATA,
	PROFILE_EXPORT_DATA,
	PROFILE_TABLES
};

struct profile {
	sqlite3 *db;
	sqlite3_stmt *insert[PROFILE_TABLES]; /* NULL: the table does not exist yet */
	int columns[PROFILE_TABLES];
	sqlite3_stmt *end_range, *set_payload; /* NULL: not needed yet */
	enum profile_table table;              /* of the row that is being written */
	int at;                                /* its next column, from 1 */

	struct arena *arena; /* of the strings */
	const char **string; /* by id − 1 */
	size_t *string_bytes;
	uint32_t n_strings, string_room;
	struct keymap known;

	struct output output; /* what it is to become */
	char *temporary;      /* what it is called until then */
	struct err *err;
	bool failed;
};

/* Creates the temporary file. -1 with `err`. Call profile_close in any case. */
int profile_open(struct profile *p, const char *path, struct arena *arena, struct err *err);

void profile_begin(struct profile *p, enum profile_table table);
void profile_end(struct profile *p);

/* The next columns of the row. Text: any bytes; what is no UTF-8 becomes U+FFFD, and a NUL ends it. */
void profile_text(struct profile *p, const char *text, size_t n);
void profile_null(struct profile *p, int n);

static inline void profile_int(struct profile *p, int64_t value)
{
	sqlite3_bind_int64(p->insert[p->table], p->at++, value);
}

static inline void profile_real(struct profile *p, double value)
{
	sqlite3_bind_double(p->insert[p->table], p->at++, value);
}

static inline void profile_int_or_null(struct profile *p, bool has, int64_t value)
{
	if (has)
		profile_int(p, value);
	else
		profile_null(p, 1);
}

/* The next columns, all of them integers or PROFILE_NULL, which is no number that CUPTI says; and a row of such
 * columns. */
#define PROFILE_NULL INT64_MIN
#define PROFILE_INTS(p, ...)                                                                                           \
	profile_ints((p), (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define PROFILE_ROW(p, table, ...)                                                                                     \
	do {                                                                                                           \
		profile_begin((p), (table));                                                                           \
		PROFILE_INTS(p, __VA_ARGS__);                                                                          \
		profile_end(p);                                                                                        \
	} while (0)

static inline void profile_ints(struct profile *p, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		profile_int_or_null(p, values[i] != PROFILE_NULL, values[i]);
}

/* A number that is not said where it is 0. */
static inline int64_t profile_said(int64_t value)
{
	return value ? value : PROFILE_NULL;
}

/* The number of the row that was written last. */
int64_t profile_last_row(const struct profile *p);

/* Gives the NVTX row its end; `global_tid`: the thread that ended it, if that is another one, else 0. */
void profile_end_range(struct profile *p, int64_t row, int64_t end, int64_t global_tid);

/* Gives the NVTX row its payloads, in nsys's form (read/nsys.h). False: it had some, or nothing is written any
 * more. */
bool profile_set_payload(struct profile *p, int64_t row, const void *bytes, size_t n);

/* The id of a text in StringIds, a new row if it has none. Any bytes, as in profile_text. */
int64_t profile_string(struct profile *p, const char *text, size_t n);

static inline bool profile_failed(const struct profile *p)
{
	return p->failed;
}

/* Adds the tables that explain numbers (ENUM_*), and gives the profile its name. 0, or -1 with `err`: then whatever
 * stood at the target is as it was. */
int profile_finish(struct profile *p, struct err *err);

/* Removes what is not finished. */
void profile_close(struct profile *p);

/* ---- profile_tables.c ---- */

struct profile_layout {
	const char *name, *columns; /* as in CREATE TABLE name (columns) */
};
extern const struct profile_layout PROFILE_LAYOUTS[PROFILE_TABLES];

struct profile_enum {
	const char *table;
	int id;
	const char *name, *label;
};
extern const struct profile_enum PROFILE_ENUMS[];
extern const size_t PROFILE_N_ENUMS;

#endif
