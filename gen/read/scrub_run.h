/* A copy of run.json (`gapline run`) that can be shared: what was run and how long it took stays, and of commands,
 * variables, paths and messages what they tell about a machine and its people goes. */
#ifndef GAPLINE_READ_SCRUB_RUN_H
#define GAPLINE_READ_SCRUB_RUN_H

#include "read/scrub.h"
#include "read/scrub_text.h"
#include "read/source.h"

/* 1: the copy is in `copy`; 0: the file is no run.json, and nothing was done; -1 with `err`. */
int scrub_run(const struct source *source, struct scrub_text *text, struct arena *arena, struct scrub_copy *copy,
              struct err *err);

#endif
