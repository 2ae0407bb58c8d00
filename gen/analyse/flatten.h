/* Intervals with priorities -> a piecewise constant track: at every instant the value of the strongest open interval.
 */
#ifndef GAPLINE_ANALYSE_FLATTEN_H
#define GAPLINE_ANALYSE_FLATTEN_H

#include "base/arena.h"

#include <stdint.h>

struct layer {
	int64_t start, end;
	uint32_t rank;  /* the smallest open rank wins; ties go to the interval that comes first in the list */
	uint32_t value; /* must not be 0, which stands for "nothing open" */
};

/* `layers` must be sorted by start; empty ones are passed over. Returns the number of pieces in *start and *value
 * (arena memory): piece i holds from start[i] to start[i + 1]; the first starts at INT64_MIN, neighbours differ in
 * value. O(n log depth). */
uint32_t flatten(const struct layer *layers, size_t n, struct arena *arena, int64_t **start, uint32_t **value);

#endif
