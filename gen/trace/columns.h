/* The columns of a trace, as data: a table for each kind of rows. Whoever does something to all columns (make room, put
 * in order, number anew, merge) goes through these tables, so that a new column is a member in trace.h and a line in
 * columns.c. */
#ifndef GAPLINE_TRACE_COLUMNS_H
#define GAPLINE_TRACE_COLUMNS_H

#include "trace/trace.h"

/* What the values of a column are. */
enum column_role {
	COLUMN_VALUE,  /* a number that means the same in every trace */
	COLUMN_TIME,   /* ns on the trace's clock: a start, or an instant */
	COLUMN_END,    /* likewise */
	COLUMN_NAME,   /* a name */
	COLUMN_DOMAIN, /* a name too; while a trace is built, the number of a domain */
	COLUMN_THREAD, /* index into threads */
	COLUMN_DEVICE, /* index into devices */
	COLUMN_CALL,   /* index into calls, or TRACE_NONE */
	COLUMN_FRAME   /* index into stacks.frames */
};

enum column_origin {
	COLUMN_READ,      /* filled by whoever adds rows */
	COLUMN_REQUESTED, /* likewise, but only on request; else NULL */
	COLUMN_SOME,      /* likewise, but only where a row has a value that is not 0; else NULL: columns_note */
	COLUMN_LINKED     /* made by trace_link; NULL before */
};

/* How its numbers are written in a digest. Rows of one name hardly differ, so most of what is written is small. */
enum column_how {
	KEPT_PLAIN,  /* as they are */
	KEPT_NEXT,   /* less the one before */
	KEPT_ALIKE,  /* less that of the last row of this name which followed a row of the same name as this one does */
	KEPT_START,  /* a start less the end of the row before, of the same group; then as KEPT_ALIKE */
	KEPT_LENGTH, /* an end less the start; then as KEPT_ALIKE */
};

struct column {
	size_t at;    /* where the pointer to its values stands in the struct of its kind of rows */
	uint8_t size; /* of a value: 1, 4 or 8 bytes */
	uint8_t role, origin;
	uint8_t how;
	const char *kept; /* what a digest calls it, "ops.device"; NULL: it is in none */
	uint64_t limit;   /* of a COLUMN_VALUE in a digest: values are below it; 0: any that fits */
};

enum columns_of {
	ROWS_OF_OPS,
	ROWS_OF_CALLS,
	ROWS_OF_RANGES,
	ROWS_OF_OS_CALLS,
	ROWS_OF_OVERHEADS,
	ROWS_OF_SLICES,
	ROWS_OF_COMM_CALLS,
	ROWS_OF_SAMPLES,
	ROWS_OF_GIL,
	ROWS_OF_UNLOOKED,
	ROWS_OF_LEVELS,
	COLUMNS_OF
};

/* Of kinds that digests keep the first column groups the rows (the second is their name, if it has that role); then
 * come the ends, and then the starts: read in this order, row after row, the end of the row before is known. */
struct columns {
	size_t at; /* where the struct of this kind of rows, which begins with the number of rows, stands in a trace */
	size_t first; /* where the list of each thread's first row stands in a trace; 0: there is none */
	const struct column *column;
	size_t n;
};

extern const struct columns COLUMNS[COLUMNS_OF];

/* The number of rows. */
size_t *columns_rows(struct trace *trace, enum columns_of rows);

/* Sets a value of a COLUMN_SOME, which is made, for `room` rows, where the value is the first that is not 0. */
static inline void columns_note(uint32_t **values, size_t row, uint32_t value, size_t room, struct arena *arena)
{
	if (value && !*values)
		*values = ARENA_NEW(arena, room, uint32_t);
	if (*values)
		(*values)[row] = value;
}

static inline void columns_note_large(int64_t **values, size_t row, int64_t value, size_t room, struct arena *arena)
{
	if (value && !*values)
		*values = ARENA_NEW(arena, room, int64_t);
	if (*values)
		(*values)[row] = value;
}

/* The values of one column, NULL where it has none; and another place for them. */
void *columns_get(const struct trace *trace, enum columns_of rows, const struct column *column);
void columns_set(struct trace *trace, enum columns_of rows, const struct column *column, void *values);

/* Gives all columns that are read, and with `requested` those on request, room for `n` rows instead of `old`:
 * arena_grow where that is more, arena_trim where it is less. */
void columns_resize(struct trace *trace, enum columns_of rows, struct arena *arena, size_t old, size_t n,
                    bool requested);

/* Replaces every value v of the columns with this role by number[v]; TRACE_NONE stays. */
void columns_renumber(struct trace *trace, enum columns_of rows, enum column_role role, const uint32_t *number);

/* From one clock to another: a time t is t + offset + drift × (t − at). */
struct time_map {
	int64_t offset; /* ns */
	double drift;   /* ns per ns; 0: the clocks run alike */
	int64_t at;     /* ns; means nothing without drift */
};

/* Never turns the order of two times round. */
int64_t time_map_of(const struct time_map *map, int64_t time);

/* Maps every time. */
void columns_map_times(struct trace *trace, enum columns_of rows, const struct time_map *map);

/* Puts the rows in the order that trace.h documents for this kind, and makes the list of first rows, from `arena`. */
void columns_order(struct trace *trace, enum columns_of rows, struct arena *arena);

/* Moves the rows of `from` to `trace`, which has none of this kind; `from` has none then. */
void columns_take(struct trace *trace, struct trace *from, enum columns_of rows);

/* Appends the rows of `from` to those of `trace`, as they are: names, threads and devices have to mean the same in
 * both. A column that one of the two lacks is NULL after it, unless `trace` had no rows. Memory comes from `arena`.
 * `room`: for how many rows what `trace` has was made (columns_room); 0: for no more than there are. */
void columns_append(struct trace *trace, const struct trace *from, enum columns_of rows, size_t room,
                    struct arena *arena);

/* Gives every column that is there room for `room` rows, so that what is appended finds it. */
void columns_room(struct trace *trace, enum columns_of rows, size_t room, struct arena *arena);

#endif
