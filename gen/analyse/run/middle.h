/* The middle of many integers, without a copy of them. */
#ifndef GAPLINE_ANALYSE_RUN_MIDDLE_H
#define GAPLINE_ANALYSE_RUN_MIDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Integers that are computed when asked for: value i of n, or false when i has none. The same every time. */
struct middle_values {
	bool (*value)(const void *context, size_t i, int64_t *out);
	const void *context;
	size_t n;
};

/* The two middle values (equal to each other when their number is odd); returns how many values there are. Nothing is
 * written when there are none. O(n), whatever the values: a few passes over them. */
size_t middle_of(const struct middle_values *values, int64_t *low, int64_t *high);

/* The same for a list. */
double middle_median_of_list(const int64_t *list, size_t n);

#endif
