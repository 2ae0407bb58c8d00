/* What is looked at before a profile is copied: a copy is a new database, sound in itself, so whatever is wrong with
 * the original has to be said now. */
#ifndef GAPLINE_READ_SCRUB_ORIGINAL_H
#define GAPLINE_READ_SCRUB_ORIGINAL_H

#include "base/arena.h"
#include "base/err.h"
#include "read/source.h"

/* Reads a database, unpacked where it was packed, as reports and tables of nsys's do, and forgets it. 0, or -1 with the
 * `err` that they fail with; a profile without GPU work is none. SQLite meets some damage only on its way to certain
 * columns, so that a copy, which asks for others, could come out whole from an original that no report reads. */
int scrub_original_check(struct source *source, struct err *err);

/* Says what a file is that is no database, in the words of the reader. Returns -1. */
int scrub_original_refuse(const struct source *source, struct arena *arena, struct err *err);

#endif
