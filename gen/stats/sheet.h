/* A table of results, as `nsys stats` prints them: columns with titles, rows of typed cells, and its text as CSV, as
 * aligned columns or as JSON. Texts in it are names of a trace (trace/names.h), harmless already; cells and texts live
 * in an arena. */
#ifndef GAPLINE_STATS_SHEET_H
#define GAPLINE_STATS_SHEET_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sheet_kind {
	SHEET_TEXT,
	SHEET_WHOLE,
	SHEET_TENTHS,     /* one decimal */
	SHEET_THOUSANDTHS /* three */
};

struct sheet_column {
	const char *title;
	enum sheet_kind kind;
};

struct sheet_cell {
	union {
		const char *text; /* SHEET_TEXT */
		int64_t whole;    /* SHEET_WHOLE */
		double number;    /* SHEET_TENTHS, SHEET_THOUSANDTHS */
	};
	bool none; /* there is no such value: an empty field */
};

struct sheet {
	const char *name;  /* "cuda_gpu_kern_sum" */
	const char *title; /* "CUDA GPU Kernel Summary" */
	const char *note;  /* what the table leaves out of this profile and why that matters; NULL: nothing */
	const struct sheet_column *columns;
	size_t n_columns;
	struct sheet_cell *cells; /* row by row */
	size_t n_rows, room;
	struct arena *arena;
};

/* Room for one more row, with cells that are zero; the pointer holds until the next row is added. */
struct sheet_cell *sheet_add(struct sheet *sheet);

/* A column to sort by. */
struct sheet_order {
	size_t column;
	bool descending;
};

/* Sorts the rows by the columns given, the first one first; texts by their bytes. Rows equal in all of them keep their
 * order. */
void sheet_sort(struct sheet *sheet, const struct sheet_order *by, size_t n);

/* Cells by their kind, and some of them from `cell` on: SHEET_CELLS(cell, sheet_text("a"), sheet_whole(12)). */
#define SHEET_CELLS(cell, ...)                                                                                         \
	memcpy((cell), (const struct sheet_cell[]){__VA_ARGS__}, sizeof((const struct sheet_cell[]){__VA_ARGS__}))
static inline struct sheet_cell sheet_text(const char *text)
{
	return (struct sheet_cell){.text = text};
}
static inline struct sheet_cell sheet_whole(int64_t value)
{
	return (struct sheet_cell){.whole = value};
}
static inline struct sheet_cell sheet_number(double value)
{
	return (struct sheet_cell){.number = value};
}
static inline struct sheet_cell sheet_none(void)
{
	return (struct sheet_cell){.none = true};
}

/* `value` with that many decimals, at least one; a value halfway between two goes away from zero, as SQLite's round()
 * has it. The value is taken for what the double is: 0.05 lies above the middle, 0.15 below. */
void sheet_decimal(double value, int decimals, char *text, size_t room);

/* Comma-separated with one line of titles, quoted only where it must be (RFC 4180), lines ending with "\n" alone; a
 * table without rows is no text at all, not even titles: nsys prints none.
 * `safe`: texts, titles too, are all quoted, and what a spreadsheet would take for the beginning of a formula (= + - @
 * tab CR LF, and the first four in their wide forms) gets an apostrophe in front, as OWASP's page on CSV injection has
 * it. Numbers stay numbers. */
void sheet_csv(const struct sheet *sheet, bool safe, struct buf *out);

/* Columns in line, numbers with thousands separated, under the table's title. */
void sheet_aligned(const struct sheet *sheet, struct buf *out);

/* The array of one sheet below, under `key`. */
void sheet_rows(const struct sheet *sheet, const char *key, struct json *json);

/* An array with one object a row, keys being the columns' titles; an empty field is null. `n` sheets: one object with
 * an array under each name, unless n is 1. -1 with `err`: out of the writer's bounds. */
int sheet_json(const struct sheet *sheets, size_t n, struct buf *out, struct err *err);

#endif
