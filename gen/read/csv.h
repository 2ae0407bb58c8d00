/* Comma-separated values (RFC 4180), streamed: a row at a time, whatever the size of the file. */
#ifndef GAPLINE_READ_CSV_H
#define GAPLINE_READ_CSV_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	CSV_FIELDS_MAX = 16384,    /* a row: what comes behind them is left out */
	CSV_FIELD_MAX = 64 * 1024, /* bytes of a field, likewise … */
	CSV_ROW_MAX = 16 << 20     /* … and of a row */
};

struct csv_field {
	const char *text; /* ends with NUL; NULs of the file are spaces */
	size_t n;
};

/* Returns whether to go on. Fields are borrowed until it returns. */
typedef bool csv_row(void *context, const struct csv_field *field, size_t n);

/* Hands every row of the file behind `fd`, from its beginning, to `visit`; empty lines are left out. -1 with `err`: it
 * cannot be read, or ends inside a quoted text. `path` is for messages. */
int csv_read(int fd, const char *path, csv_row *visit, void *context, struct err *err);

#endif
