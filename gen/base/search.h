/* Binary search, and search near a place. */
#ifndef GAPLINE_BASE_SEARCH_H
#define GAPLINE_BASE_SEARCH_H

#include <stdint.h>

/* Sets `i` to the first index of [i, end) for which `before`, an expression in `i`, does not hold, and to `end` when it
 * holds for all of them (also for none at all: i >= end leaves `i`). It must hold for the first ones and for none after
 * the first for which it does not; it is evaluated about log2(end - i) times.
 *
 *	size_t i = 0;
 *	SEARCH(i, n, start[i] < t);      the first that starts at t or later
 *	SEARCH(i, n, start[i] <= t);     the first that starts after t */
#define SEARCH(i, end, before)                                                                                         \
	do {                                                                                                           \
		__typeof__(i) search_low = (i), search_high = (end);                                                   \
		while (search_low < search_high) {                                                                     \
			(i) = search_low + (search_high - search_low) / 2;                                             \
			if (before)                                                                                    \
				search_low = (i) + 1;                                                                  \
			else                                                                                           \
				search_high = (i);                                                                     \
		}                                                                                                      \
		(i) = search_low;                                                                                      \
	} while (0)

/* How many of `n` sorted values are at most `t`. Looks first at `near`, at most n: the answer to a question before, and
 * from there on in steps that double, so that questions that come nearly in order cost next to nothing. */
static inline uint32_t search_after(const int64_t *value, uint32_t n, uint32_t near, int64_t t)
{
	uint32_t low = near, high = near, step = 1; /* the first `low` are at most t, all from `high` on are later */
	if (near < n && value[near] <= t) {
		for (low++; step <= n - low && value[low + step - 1] <= t; step *= 2)
			low += step;
		high = step <= n - low ? low + step - 1 : n;
	} else if (near && value[near - 1] > t) {
		for (high--; step <= high && value[high - step] > t; step *= 2)
			high -= step;
		low = step <= high ? high - step + 1 : 0;
	}
	SEARCH(low, high, value[low] <= t);
	return low;
}

#endif
