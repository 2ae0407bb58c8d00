/* The numbers in what a program printed, by a POSIX extended regular expression: what its first group matched, or
 * without a group the first number behind each match in its line, and behind "loss=" before the next name's. */
#ifndef GAPLINE_READ_PRINTED_H
#define GAPLINE_READ_PRINTED_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/printed.h"

#include <regex.h>

/* `out` needs regfree. -1 with `err`: `pattern` is no such expression, or matches where there is nothing. */
int printed_pattern(const char *pattern, regex_t *out, struct err *err);

/* Reads the file at `path` whole, every match of every line. Where a match has no number there is none: a heading.
 * "nan" and "inf" are numbers. `run->file` is left alone. -1 with `err`: it cannot be read. */
int printed_read(const char *path, const regex_t *pattern, struct arena *arena, struct printed_run *run,
                 struct err *err);

#endif
