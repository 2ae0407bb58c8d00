/* Inside gen/table only. */
#ifndef GAPLINE_TABLE_INSIDE_H
#define GAPLINE_TABLE_INSIDE_H

#include "analyse/step_tables.h"

/* What the plain structs of a step table consist of, as data: whoever writes, reads or holds them goes through these
 * lists, so that a new member is a word here. Inside gen/table only. */

enum field_kind {
	FIELD_INT,   /* of 4 or 8 bytes; of 1 a bool */
	FIELD_ENUM,  /* the same, below `limit` */
	FIELD_REAL,  /* double, not infinite; with a `limit` NAN is one that is not known */
	FIELD_NAME,  /* uint32_t, an id of the names */
	FIELD_TEXT,  /* const char *, NULL among them */
	FIELD_FACT,  /* const struct fact *, likewise */
	FIELD_FACTS, /* struct facts */
	FIELD_PART,  /* a struct in the struct, */
	FIELD_LIST,  /* … or `n` of them elsewhere; in a list of numbers the struct is a number */
	FIELD_KINDS
};

struct record;
struct field {
	const char *name;
	enum field_kind kind;
	size_t at, size;     /* in the struct, of a value */
	size_t times;        /* so many one after the other: an array */
	size_t n_at, n_size; /* of a list: where it says how many, 4 or 8 bytes; 0: at most one, NULL for none */
	uint32_t limit;
	const struct record *of; /* of a part and a list */
};

struct record {
	size_t size;
	const struct field *field;
	size_t n;
};

/* What is written, in this order. */
struct table_part {
	const char *name;
	size_t at; /* in struct step_tables */
	const struct record *of;
};
enum { TABLE_PARTS = 7 };
extern const struct table_part TABLE_PART[TABLE_PARTS];

/* Of the files beside fields.c. */
extern const struct record RECORD_FUNCTIONS, RECORD_INSIDE, RECORD_RUN, RECORD_TIMED, RECORD_SOURCE, RECORD_DROPPED,
	RECORD_DIAGNOSTIC, RECORD_HOST_CLOCK, RECORD_NUMBERS, RECORD_NAMES, RECORD_FLAGS, RECORD_REALS;

/* How a list says how many it holds. */
size_t field_count(const struct field *field, const void *row);
void field_set_count(const struct field *field, void *row, size_t n);

/* For lists of fields; S is the struct. */
#define FIELD(m, is, ...)                                                                                              \
	{                                                                                                              \
		.name = #m, .kind = is, .at = offsetof(S, m), .size = sizeof((S *)0)->m, .times = 1, __VA_ARGS__       \
	}
#define FIELD_ARRAY(m, is, ...)                                                                                        \
	{                                                                                                              \
		.name = #m, .kind = is, .at = offsetof(S, m), .size = sizeof((S *)0)->m[0],                            \
		.times = sizeof((S *)0)->m / sizeof((S *)0)->m[0], __VA_ARGS__                                         \
	}
#define INT(m) FIELD(m, FIELD_INT)
#define INTS(m) FIELD_ARRAY(m, FIELD_INT)
#define ENUM(m, most) FIELD(m, FIELD_ENUM, .limit = most)
#define REAL(m) FIELD(m, FIELD_REAL)
#define REALS(m) FIELD_ARRAY(m, FIELD_REAL)
#define REAL_OR_NAN(m) FIELD(m, FIELD_REAL, .limit = 1)
#define REALS_OR_NAN(m) FIELD_ARRAY(m, FIELD_REAL, .limit = 1)
#define NAME(m) FIELD(m, FIELD_NAME)
#define NAMES(m) FIELD_ARRAY(m, FIELD_NAME)
#define TEXT(m) FIELD(m, FIELD_TEXT)
#define TEXTS(m) FIELD_ARRAY(m, FIELD_TEXT)
#define FACT_OF(m) FIELD(m, FIELD_FACT)
#define FACTS_OF(m) FIELD(m, FIELD_FACTS)
#define PART_OF(m, record) FIELD(m, FIELD_PART, .of = &record)
#define PARTS_OF(m, record) FIELD_ARRAY(m, FIELD_PART, .of = &record)
#define LIST_OF(m, count, record)                                                                                      \
	FIELD(m, FIELD_LIST, .of = &record, .n_at = offsetof(S, count), .n_size = sizeof((S *)0)->count)
/* A struct's list, by a name of its own; SHARED_RECORD: for other files. */
#define RECORD(id, ...) static SHARED_RECORD(id, __VA_ARGS__)
#define SHARED_RECORD(id, ...)                                                                                         \
	const struct record id = {sizeof(S), (const struct field[]){__VA_ARGS__},                                      \
	                          sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field)};

/* Whether what was read of a table can be judged: hostile bytes may be columns, and still say that device 7 of two is
 * the slowest. Inside gen/table only. */

/* Also fills what is not written: labels, what two structs share, maps of which no cell is known. What does not fit,
 * NULL: everything does. */
const char *table_check(struct step_tables *tables, struct arena *arena);

#endif
