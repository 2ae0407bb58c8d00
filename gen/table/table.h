/* Step tables as bytes: the evidence that a report carries, and from which `gapline verify` says the report again
 * (docs/reference/table.md is the format).
 *
 * A line of text, then the columns of the engine's own structs (fields.c), deflated:
 *
 *     gapline table RULES VERSION LENGTH CRC
 *
 * RULES is the version of the rules that made the table and judged it, VERSION the gapline that did; LENGTH and CRC-32
 * are of what is unpacked. The same table is the same bytes. */
#ifndef GAPLINE_TABLE_TABLE_H
#define GAPLINE_TABLE_TABLE_H

#include "analyse/step_tables.h"
#include "base/buf.h"
#include "base/err.h"

/* Grows whenever a report of the same profiles could show another number, or its JSON have another member: what is a
 * step, who is charged with a gap, the verdict, same work, findings, digits. What only words say does not count.
 * Nowhere else is a version of rules; TABLE_RULES_SINCE in read.c says which gapline was the first with each. */
enum { TABLE_RULES = 1 };

enum {
	TABLE_MOST = 220 * 1024, /* bytes packed: all runs of a report */
	TABLE_LONGEST = 4 << 20  /* unpacked: no more is unpacked of what says that it is longer */
};

/* Appends the bytes of the tables, whose names are `names`. */
void table_write(const struct step_tables *tables, const struct names *names, struct buf *to);

/* Whether bytes begin as a table does. */
bool table_recognise(const void *bytes, size_t n);

/* Who made a table: its first line. */
struct table_maker {
	int rules;
	char version[24];
	size_t length, line; /* unpacked; of the line itself */
	uint32_t checksum;
};

/* Reads the first line: 0, or -1 with `err` where there is none. */
int table_maker(const void *bytes, size_t n, struct table_maker *out, struct err *err);

/* Whether a table was made by the rules `rules`; `since` are the versions of gapline that were the first with rules 1
 * to `rules`. -1 with `err`, which says what can judge the table. */
int table_rules_fit(const struct table_maker *maker, int rules, const char *const *since, struct err *err);

/* What a reader has to know about columns. */
struct table_columns {
	const char *unknown, *missing; /* the first that the bytes have and nobody here knows, and the other way round;
	                                * NULL: none */
	uint32_t n_unknown, n_missing;
};

/* Reads what table_write wrote: hostile bytes. Names go into `names`, all else lives in `arena`; whatever is an index
 * into something, or the length of it, fits. 0, or -1 with `err`: cut, damaged, of other rules, or nothing that could
 * have been written. Columns that nobody knows are passed over, and those that are missing are empty: `columns`. */
int table_read(const void *bytes, size_t n, struct names *names, struct arena *arena, struct step_tables *out,
               struct table_columns *columns, struct err *err);

#endif
