#include "stats/sheet.h"

#include "base/format.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_ROOM = 400 }; /* the longest double with its decimals, and commas */

struct sheet_cell *sheet_add(struct sheet *sheet)
{
	if (sheet->n_rows == sheet->room) {
		size_t room = list_more(sheet->room);
		sheet->cells = arena_grow(sheet->arena, sheet->cells, sheet->room * sheet->n_columns,
		                          room * sheet->n_columns, sizeof *sheet->cells);
		sheet->room = room;
	}
	return sheet->cells + sheet->n_rows++ * sheet->n_columns;
}

/* ---- order ---- */

struct sorting {
	const struct sheet *sheet;
	const struct sheet_order *by;
	size_t n;
};

static int compare_cells(const struct sheet_cell *a, const struct sheet_cell *b, enum sheet_kind kind)
{
	if (kind == SHEET_TEXT)
		return strcmp(a->text, b->text);
	return kind == SHEET_WHOLE ? ASCENDING(a->whole, b->whole) : ASCENDING(a->number, b->number);
}

static int compare_rows(const void *x, const void *y, void *context)
{
	const struct sorting *s = context;
	size_t row[] = {*(const size_t *)x, *(const size_t *)y}, width = s->sheet->n_columns;
	for (size_t i = 0; i < s->n; i++) {
		size_t c = s->by[i].column;
		int order = compare_cells(&s->sheet->cells[row[0] * width + c], &s->sheet->cells[row[1] * width + c],
		                          s->sheet->columns[c].kind);
		if (order)
			return s->by[i].descending ? -order : order;
	}
	return (row[0] > row[1]) - (row[0] < row[1]);
}

void sheet_sort(struct sheet *sheet, const struct sheet_order *by, size_t n)
{
	struct sorting sorting = {sheet, by, n};
	ARENA_LOCAL(arena);
	size_t *row = ARENA_NEW(&arena, sheet->n_rows, size_t), width = sheet->n_columns;
	struct sheet_cell *sorted = ARENA_NEW(sheet->arena, sheet->n_rows * width, struct sheet_cell);
	for (size_t i = 0; i < sheet->n_rows; i++)
		row[i] = i;
	SORT_BY(row, sheet->n_rows, compare_rows, &sorting);
	for (size_t i = 0; i < sheet->n_rows; i++)
		memcpy(sorted + i * width, sheet->cells + row[i] * width, width * sizeof *sorted);
	sheet->cells = sorted;
	sheet->room = sheet->n_rows;
}

/* Makes the decimal number in `text` one unit of its last digit larger in magnitude. */
static void increment(char *text)
{
	size_t n = strlen(text), first = *text == '-';
	while (n-- > first) {
		if (text[n] == '.')
			continue;
		if (text[n]++ != '9')
			return;
		text[n] = '0';
	}
	memmove(text + first + 1, text + first, strlen(text + first) + 1);
	text[first] = '1';
}

void sheet_decimal(double value, int decimals, char *text, size_t room)
{
	/* printf takes a value halfway to the even neighbour. Halfway, and exactly so in binary, lies what is an odd
	 * number of 2^-(decimals + 1); its next decimal, the last one, is a 5. */
	double parts = ldexp(value, decimals + 1);
	bool halfway = fmod(parts, 2) != 0 && parts == floor(parts);
	snprintf(text, room, "%.*f", halfway ? decimals + 1 : decimals, value);
	size_t n = strlen(text);
	if (halfway && text[n - 1] == '5') {
		text[n - 1] = 0;
		increment(text);
	}
}

/* A cell that is a number, as text. */
static void number_text(const struct sheet_cell *cell, enum sheet_kind kind, char *text, size_t room)
{
	if (kind == SHEET_WHOLE)
		snprintf(text, room, "%lld", (long long)cell->whole);
	else
		sheet_decimal(cell->number, kind == SHEET_TENTHS ? 1 : 3, text, room);
}

/* ---- CSV ---- */

/* Whether a spreadsheet takes a cell of this text for a formula: OWASP's list, with the wide forms that some take for
 * the narrow ones. Blanks in front count as nothing, as some spreadsheets cut them. */
static bool is_formula(const char *text)
{
	static const char *const first[] = {"=",  "+",      "-",      "@",      "\t",    "\r",
	                                    "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
	text += strspn(text, " ");
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (!strncmp(text, first[i], strlen(first[i])))
			return true;
	return false;
}

/* A cell that stays text in a spreadsheet: in quotes whatever it holds, and with an apostrophe before what would begin
 * a formula, also where one begins that splits lines at semicolons or tabs and does not see quotes amid a line. */
static void csv_safe_field(const char *text, struct buf *out)
{
	bool begins = true;
	buf_add(out, "\"", 1);
	for (; *text; text++) {
		buf_text(out, begins && is_formula(text) ? "'" : "");
		buf_add(out, text, 1);
		buf_text(out, *text == '"' ? "\"" : "");
		begins = strchr(";\t\r\n", *text);
	}
	buf_add(out, "\"", 1);
}

static void csv_field(const char *text, bool safe, struct buf *out)
{
	if (safe) {
		csv_safe_field(text, out);
		return;
	}
	if (!text[strcspn(text, ",\"\r\n")]) {
		buf_text(out, text);
		return;
	}
	buf_add(out, "\"", 1);
	for (;;) {
		size_t n = strcspn(text, "\"");
		buf_add(out, text, n);
		text += n;
		if (!*text++)
			break;
		buf_add(out, "\"\"", 2);
	}
	buf_add(out, "\"", 1);
}

void sheet_csv(const struct sheet *sheet, bool safe, struct buf *out)
{
	if (sheet->n_rows == 0)
		return;
	for (size_t c = 0; c < sheet->n_columns; c++) {
		buf_text(out, c ? "," : "");
		csv_field(sheet->columns[c].title, safe, out);
	}
	buf_add(out, "\n", 1);
	const struct sheet_cell *cell = sheet->cells;
	for (size_t r = 0; r < sheet->n_rows; r++) {
		for (size_t c = 0; c < sheet->n_columns; c++, cell++) {
			char number[NUMBER_ROOM];
			enum sheet_kind kind = sheet->columns[c].kind;
			buf_text(out, c ? "," : "");
			if (cell->none)
				continue;
			if (kind == SHEET_TEXT) {
				csv_field(cell->text, safe, out);
			} else {
				number_text(cell, kind, number, sizeof number);
				buf_text(out, number);
			}
		}
		buf_add(out, "\n", 1);
	}
}

/* ---- aligned columns ---- */

/* Commas between groups of three digits before the point. */
static void separate(const char *plain, char *text)
{
	size_t sign = *plain == '-', digits = strcspn(plain + sign, ".");
	if (sign)
		*text++ = *plain++;
	for (size_t i = 0; i < digits; i++) {
		if (i && (digits - i) % 3 == 0)
			*text++ = ',';
		*text++ = plain[i];
	}
	strcpy(text, plain + digits);
}

static const char *aligned_text(const struct sheet_cell *cell, enum sheet_kind kind, char *room)
{
	char plain[NUMBER_ROOM];
	if (cell->none)
		return "";
	if (kind == SHEET_TEXT)
		return cell->text;
	number_text(cell, kind, plain, sizeof plain);
	separate(plain, room);
	return room;
}

static void pad(struct buf *out, unsigned n, char with)
{
	while (n-- > 0)
		buf_add(out, &with, 1);
}

void sheet_aligned(const struct sheet *sheet, struct buf *out)
{
	char number[2 * NUMBER_ROOM];
	ARENA_LOCAL(arena);
	unsigned *width = ARENA_NEW(&arena, sheet->n_columns, unsigned);
	const struct sheet_cell *cell = sheet->cells;
	for (size_t c = 0; c < sheet->n_columns; c++)
		width[c] = format_length(sheet->columns[c].title);
	for (size_t r = 0; r < sheet->n_rows; r++)
		for (size_t c = 0; c < sheet->n_columns; c++, cell++) {
			unsigned n = format_length(aligned_text(cell, sheet->columns[c].kind, number));
			width[c] = n > width[c] ? n : width[c];
		}
	buf_format(out, " ** %s (%s):\n\n", sheet->title, sheet->name);
	if (sheet->n_rows == 0)
		buf_text(out, " no rows\n");
	/* Two lines before the rows: titles and a rule. The last column has nothing to be padded for. */
	for (int64_t line = sheet->n_rows ? -2 : 0; line < (int64_t)sheet->n_rows; line++) {
		for (size_t c = 0; c < sheet->n_columns; c++) {
			enum sheet_kind kind = sheet->columns[c].kind;
			bool last = c + 1 == sheet->n_columns;
			const char *text = line == -2 ? sheet->columns[c].title
			                   : line == -1
			                           ? ""
			                           : aligned_text(&sheet->cells[(size_t)line * sheet->n_columns + c],
			                                          kind, number);
			unsigned blank = line == -1 ? 0 : width[c] - format_length(text);
			pad(out, c ? 2 : 1, ' ');
			if (line == -1)
				pad(out, last && kind == SHEET_TEXT ? format_length(sheet->columns[c].title) : width[c],
				    '-');
			if (kind != SHEET_TEXT)
				pad(out, blank, ' ');
			buf_text(out, text);
			if (kind == SHEET_TEXT && !last)
				pad(out, blank, ' ');
		}
		buf_add(out, "\n", 1);
	}
}

/* ---- JSON ---- */

void sheet_rows(const struct sheet *sheet, const char *key, struct json *json)
{
	const struct sheet_cell *cell = sheet->cells;
	for (size_t r = json_list(json, key); json_item(json, r, sheet->n_rows); r++) {
		for (size_t c = 0; c < sheet->n_columns; c++, cell++) {
			char number[NUMBER_ROOM];
			const struct sheet_column *column = &sheet->columns[c];
			if (cell->none) {
				json_null(json, column->title);
			} else if (column->kind == SHEET_TEXT) {
				json_text(json, column->title, cell->text);
			} else if (column->kind == SHEET_WHOLE) {
				json_integer(json, column->title, cell->whole);
			} else { /* rounded as in the other formats */
				number_text(cell, column->kind, number, sizeof number);
				json_number(json, column->title, strtod(number, NULL));
			}
		}
	}
}

int sheet_json(const struct sheet *sheets, size_t n, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	if (n == 1) {
		sheet_rows(sheets, NULL, &json);
	} else {
		json_object(&json, NULL);
		for (size_t i = 0; i < n; i++)
			sheet_rows(&sheets[i], sheets[i].name, &json);
		json_end_object(&json);
	}
	return json_finish(&json, err);
}
