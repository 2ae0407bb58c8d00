/* The yardstick of the reader's speed: the least that any program can do to see the events of an nsys export. */
#ifndef GAPLINE_BENCH_BARE_LOOP_H
#define GAPLINE_BENCH_BARE_LOOP_H

#include <stdint.h>

/* Steps with SQLite over every row of every event table of the file and fetches the columns that gapline reads; keeps
 * nothing but a sum, so that no fetch can be left out. Returns the number of rows, -1 with a message on standard error
 * if the file cannot be read. */
int64_t bare_loop(const char *path, uint64_t *sum);

#endif
