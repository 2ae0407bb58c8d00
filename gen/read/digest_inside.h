/* Inside gen/digest only. */
#ifndef GAPLINE_READ_DIGEST_INSIDE_H
#define GAPLINE_READ_DIGEST_INSIDE_H

#include "base/numbers.h"
#include "read/digest.h"
#include "trace/again.h"
#include "trace/columns.h"
#include "trace/trace.h"

/* What stands in a digest: its tables of rows, and how each column is made small. Inside gen/digest only; what it means
 * to whoever reads such a file is in docs/reference/digest.md. */

static const char LAYOUT_MAGIC[] = "gapline digest ";

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

/* Whether digests have rows of this kind, and whether these have names. */
static inline bool layout_has(enum columns_of rows)
{
	return COLUMNS[rows].column->kept;
}

static inline bool layout_named(enum columns_of rows)
{
	return COLUMNS[rows].column[1].role == COLUMN_NAME;
}

/* What is taken off the values of a column before they are written, row after row. */
enum { LAYOUT_PLACES = 1 << 12 };
struct layout_guess {
	enum column_how how;
	uint8_t group_size;
	const void *group, *name;
	void *start, *end;
	const uint32_t *number; /* of a name in the digest, by what stands in the rows; NULL: it stands there itself */
	int64_t *last;          /* LAYOUT_PLACES of them */
};

/* `last` has to be empty where a row of this table will look. */
void layout_guess_begin(struct layout_guess *guess, const struct trace *trace, enum columns_of rows,
                        enum column_how how, const uint32_t *number, int64_t *last);

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

/* A digest that is being read: what its two halves share. Inside gen/digest only. */

enum { SECTIONS_MAX = 256 };
static const int64_t FAR = (int64_t)1 << 60; /* ns; no time is so far from the start of a capture */

struct section {
	const char *name;
	size_t name_n;
	const unsigned char *data;
	size_t n;
};

struct decoder {
	const char *path;
	struct err *err;
	struct names *names;
	struct arena *arena; /* of what is no row … */
	struct arena *rows;  /* … and of the rows */
	struct arena scratch;
	struct trace *trace;
	struct section section[SECTIONS_MAX];
	size_t n_sections;
	bool known;          /* the same columns were decoded before: what they say is not looked at again */
	uint32_t *id, *told; /* of a name, by its number in the digest; what was told of it (classify_rows) */
	uint32_t n_names;
	int64_t *last;   /* by number of a place */
	uint16_t *place; /* by row of the table at hand, with room for so many: decode.c … */
	size_t room;
	uint16_t number[LAYOUT_PLACES]; /* … each of them that a row has, from 1 on; 0: none has it */
	uint16_t n_used;
};

/* The inside of a section; empty where there is none of this name. */
struct taken decoder_section(const struct decoder *d, const char *name);

/* -1, with the error that a section's numbers make no sense. */
int decoder_damaged(const struct decoder *d, const char *where);

/* Whether there is more to take. */
static inline bool taken_more(const struct taken *from)
{
	return !from->bad && from->at < from->end;
}

/* As many bytes as the number before them says; borrowed, not terminated. */
const char *taken_bytes(struct taken *from, size_t *n);

/* Everything that is no row (decode_things.c), or of that what rows refer to, with names that are known. 0, or -1 with
 * the error. */
int decoder_take_things(struct decoder *d);
int decoder_take_places(struct decoder *d);

/* A digest that is kept in memory, packed, so that its rows can be made again whenever they are asked for.
 * Inside gen/digest only. */

/* digest_decode, leaving only the rows that trace/again.h says. */
int keep_decode(const char *path, const struct buf *contents, struct names *names, struct arena *arena,
                struct trace *trace, struct err *err);

#endif
