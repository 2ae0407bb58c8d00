/* Counts the heap of this process exactly: the benchmark's own malloc, calloc, realloc and free stand before glibc's.
 */
#ifndef GAPLINE_BENCH_HEAP_H
#define GAPLINE_BENCH_HEAP_H

#include <stddef.h>

/* Most bytes that were allocated at once since heap_begin, beyond those that were allocated then. */
void heap_begin(void);
size_t heap_peak(void);

#endif
