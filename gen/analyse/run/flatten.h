/* Intervals with priorities -> a piecewise constant track: at every instant the value of the strongest open interval.
 */
#ifndef GAPLINE_ANALYSE_RUN_FLATTEN_H
#define GAPLINE_ANALYSE_RUN_FLATTEN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct layer {
	int64_t start, end;
	uint32_t rank;  /* the smallest open rank wins; ties go to the interval that comes first */
	uint32_t value; /* must not be 0, which stands for "nothing open" */
};

/* Asks `next` for layers, sorted by start, until it returns false; empty ones are passed over. Returns the number of
 * pieces in *start and *value (arena memory): piece i holds from start[i] to start[i + 1]; the first starts at
 * INT64_MIN, neighbours differ in value. O(n log depth), and memory for what is open at the same time only.
 * `layers`: about how many there are; 0: nobody knows. */
uint32_t flatten(bool (*next)(void *context, struct layer *layer), void *context, size_t layers, struct arena *arena,
                 int64_t **start, uint32_t **value);

#endif
