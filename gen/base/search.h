/* Binary search. */
#ifndef GAPLINE_BASE_SEARCH_H
#define GAPLINE_BASE_SEARCH_H

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

#endif
