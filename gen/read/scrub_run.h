/* A copy of run.json (`gapline run`) that can be shared: what was run and how long it took stays, and of commands,
 * variables, paths and messages what they tell about a machine and its people goes. */
#ifndef GAPLINE_READ_SCRUB_RUN_H
#define GAPLINE_READ_SCRUB_RUN_H

#include "base/arena.h"
#include "base/err.h"
#include "read/scrub.h"
#include "read/scrub_text.h"
#include "read/source.h"

/* 1: the copy is in `copy`; 0: the file is no run.json, and nothing was done; -1 with `err`. */
int scrub_run(const struct source *source, struct scrub_text *text, struct arena *arena, struct scrub_copy *copy,
              struct err *err);

/* What is looked at before a profile is copied: a copy is a new database, sound in itself, so whatever is wrong with
 * the original has to be said now. */

/* Reads a database, unpacked where it was packed, as reports and tables of nsys's do, and forgets it. 0, or -1 with the
 * `err` that they fail with; a profile without GPU work is none. SQLite meets some damage only on its way to certain
 * columns, so that a copy, which asks for others, could come out whole from an original that no report reads. */
int scrub_original_check(struct source *source, struct err *err);

/* Says what a file is that is no database, in the words of the reader. Returns -1. */
int scrub_original_refuse(const struct source *source, struct arena *arena, struct err *err);

#endif
