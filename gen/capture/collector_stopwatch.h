/* Timed runs as a collector, which records nothing. */
#ifndef GAPLINE_CAPTURE_COLLECTOR_STOPWATCH_H
#define GAPLINE_CAPTURE_COLLECTOR_STOPWATCH_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

/* Whether timed runs of programs with steps can be made here: the library that counts ranges, or launches, is
 * there, and no other tool in its place. -1 with `err`. */
int stopwatch_check(bool launches, struct arena *arena, struct err *err);

#endif
