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

/* How many values there are of each size: those below 2 << MIDDLE_BITS each by itself, above in 1 << MIDDLE_BITS
 * classes for each power of two. Negative ones are mirrored: -1 stands before 0 as 0 behind it. Zero-initialise. */
enum { MIDDLE_BITS = 6, MIDDLE_CLASSES = (65 - MIDDLE_BITS) << MIDDLE_BITS };
struct middle {
	size_t n, count[2 * MIDDLE_CLASSES];
};

static inline void middle_count(struct middle *m, int64_t value)
{
	uint64_t size = value < 0 ? ~(uint64_t)value : (uint64_t)value;
	int shift = size < 2 << MIDDLE_BITS ? 0 : 63 - MIDDLE_BITS - __builtin_clzll(size);
	int class = (shift << MIDDLE_BITS) + (int)(size >> shift);
	m->count[value < 0 ? MIDDLE_CLASSES - 1 - class : MIDDLE_CLASSES + class]++;
	m->n++;
}

/* What middle_of says of values that are all counted already: one pass less. */
size_t middle_find(const struct middle *counted, const struct middle_values *values, int64_t *low, int64_t *high);

/* The two middle values (equal to each other when their number is odd); returns how many values there are. Nothing is
 * written when there are none. O(n), whatever the values: a few passes over them. */
size_t middle_of(const struct middle_values *values, int64_t *low, int64_t *high);

/* The median as a mean of the two; 0 without values. */
double middle_median(const struct middle_values *values);

/* The same for a list. */
double middle_median_of_list(const int64_t *list, size_t n);

#endif
