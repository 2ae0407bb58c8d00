/* What stands in a digest: its tables of rows, and how each column is made small. Inside gen/digest only; what it means
 * to whoever reads such a file is in docs/reference/digest.md. */
#ifndef GAPLINE_DIGEST_LAYOUT_H
#define GAPLINE_DIGEST_LAYOUT_H

#include "trace/columns.h"

static const char LAYOUT_MAGIC[] = "gapline digest ";

/* How the numbers of a column are written. Rows of one name hardly differ, so most of what is written is small. */
enum layout_how {
	LAYOUT_PLAIN,  /* as they are */
	LAYOUT_NEXT,   /* less the one before */
	LAYOUT_ALIKE,  /* less that of the last row of this name which followed a row of the same name as this one does
	                */
	LAYOUT_START,  /* a start less the end of the row before, of the same group; then as LAYOUT_ALIKE */
	LAYOUT_LENGTH, /* an end less the start; then as LAYOUT_ALIKE */
};

struct layout_column {
	const char *name; /* "ops.device" */
	size_t at;        /* of the pointer to its values in the struct of its rows */
	uint8_t size;     /* of a value: 1, 4 or 8 bytes */
	enum layout_how how;
	enum column_role role;
	uint64_t limit; /* of a COLUMN_VALUE: values are below it; 0: any that fits */
};

/* A table. The first column groups its rows (the second is their name, where `named`); then come the lengths, and then
 * the starts: read in this order, row after row, the end of the row before is known. */
struct layout_table {
	enum columns_of rows;
	bool named;
	const struct layout_column *column;
	size_t n;
};

enum { LAYOUT_TABLES = 10 };
extern const struct layout_table LAYOUT[LAYOUT_TABLES];

/* The value of row `i`, and another one. */
static inline int64_t layout_get(const void *values, uint8_t size, size_t i)
{
	return size == 8   ? ((const int64_t *)values)[i]
	       : size == 4 ? (int64_t)((const uint32_t *)values)[i]
	                   : (int64_t)((const uint8_t *)values)[i];
}

static inline void layout_set(void *values, uint8_t size, size_t i, int64_t value)
{
	if (size == 8)
		((int64_t *)values)[i] = value;
	else if (size == 4)
		((uint32_t *)values)[i] = (uint32_t)value;
	else
		((uint8_t *)values)[i] = (uint8_t)value;
}

/* What a digest calls kinds of rows, by enum row_kind; the sections of counters, by enum metric; those of parts of
 * peaks of device memory, by enum held_by. */
extern const char *const DIGEST_METRICS[METRIC_COUNT], *const DIGEST_HELD[HELD_BYS];

void *layout_values(const struct trace *trace, const struct layout_table *table, const struct layout_column *column);

/* What is taken off the values of a column before they are written, row after row. */
enum { LAYOUT_PLACES = 1 << 12 };
struct layout_guess {
	const struct layout_table *table;
	const struct layout_column *column;
	const void *group, *name;
	void *start, *end;
	const uint32_t *number; /* of a name in the digest, by what stands in the rows; NULL: it stands there itself */
	int64_t *last;          /* LAYOUT_PLACES of them */
};

/* `last` has to be empty where a row of this table will look. */
void layout_guess_begin(struct layout_guess *guess, const struct trace *trace, const struct layout_table *table,
                        const struct layout_column *column, const uint32_t *number, int64_t *last);

/* The guess for row `i` has two parts: what other columns say, and what is left of it in a row like this one; the
 * second stands where layout_guess_last says (NULL: nothing is taken off), and becomes what is left of row `i`. The
 * table's columns before this one have to be there, and of this one the rows before `i`. */
int64_t layout_guess_base(const struct layout_guess *guess, size_t i);
/* Where in `last` stands what a row of such a name, after one of that name, had. */
static inline uint32_t layout_place(uint32_t name, uint32_t before)
{
	return (name * 0x9e3779b1u ^ before * 0x85ebca6bu) >> 20;
}

int64_t *layout_guess_last(const struct layout_guess *guess, size_t i);

#endif
