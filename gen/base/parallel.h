/* Independent pieces of work on all processors. */
#ifndef GAPLINE_BASE_PARALLEL_H
#define GAPLINE_BASE_PARALLEL_H

#include <stddef.h>

/* Calls work(context, i) for every i below n, in no particular order, on as many threads as the process may use
 * processors (the caller's is one of them), and returns when all are done. Signals are left to the caller's thread.
 * Pieces share nothing that one of them changes: each has an arena, an err and a result of its own. */
void parallel_each(size_t n, void (*work)(void *context, size_t i), void *context);

/* How many threads parallel_each would use at most, here: pieces of work that are divided again share the processors
 * that there are. At least 1. */
size_t parallel_width(void);

/* One thread at a time is between these two: what needs much memory for a moment does not need it once a thread. */
void parallel_alone_begin(void);
void parallel_alone_end(void);

#endif
