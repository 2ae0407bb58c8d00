/* What both sides say about the same things, joined: the rows of the report's tables, in their order, and which of them
 * matter. Decided here once, so that every output shows the same rows; an output only formats them.
 *
 *     row[0 … shown)     what is shown at first: the longest, as far as they say something about a step
 *     row[shown … kept)  what a reader can open
 *     row[kept … n)      so many that only their sum is said
 */
#ifndef GAPLINE_ANALYSE_TABLE_H
#define GAPLINE_ANALYSE_TABLE_H

#include "analyse/analysis.h"

enum {
	TABLE_SHOWN = 30,  /* rows shown at first, with the one that sums up the others */
	TABLE_KEPT = 1000, /* rows that can be opened */
	TABLE_BRIEF = 10   /* rows, or sentences, of an output that has no room for more and opens none */
};

enum table_kind {
	TABLE_PHASES,    /* time: cost; key: name */
	TABLE_IDLE,      /* key: cause << 32 | phase */
	TABLE_KERNELS,   /* key: name; count: launches */
	TABLE_OPERATORS, /* key: name; count: GPU operations */
	TABLE_OUTERMOST, /* key: name; count: kernels */
	TABLE_MODULES,   /* key: name; time and count: with the modules in it; gpu: its own */
	TABLE_LINES,     /* likewise functions with the lines in them */
	TABLE_CALLS,     /* key: name; count: calls */
	TABLE_RANGES,    /* key: domain << 32 | name; time: of the host; gpu; count: instances */
	TABLE_COPIES,    /* key: of table_copy_key; count: copies; bytes */
	TABLE_STARTUP    /* key: enum startup_part */
};

/* By side; what a side does not have is 0. Times are ns a step. */
struct table_row {
	uint64_t key;
	double time[2], gpu[2], count[2], bytes[2];
	int64_t at[2]; /* index of the (first) row in the side's own list; −1: the side has none */
};

struct table {
	struct table_row *row;
	uint32_t n, kept, shown;
	double most;                   /* the longest time of all rows */
	struct table_row rest, beyond; /* sums of row[shown … n) and row[kept … n) */
};

/* Rows by the longer of their two times (of ranges: of the host's or the GPU's time) descending, ties as the sides
 * list them, which names decide and not their numbers. Everything comes from `arena`. */
struct table table_make(const struct analysis *analysis, enum table_kind kind, struct arena *arena);

/* The same for an output without room: `shown` is TABLE_BRIEF or all, and `rest` sums up what is left out. */
struct table table_brief(const struct analysis *analysis, enum table_kind kind, struct arena *arena);

/* Lowers `kept`, at least to `shown`: where an output has less room. */
void table_keep(struct table *table, uint32_t kept);

#endif
