/* The middle of many integers, without sorting them. */
#ifndef GAPLINE_ANALYSE_MIDDLE_H
#define GAPLINE_ANALYSE_MIDDLE_H

#include <stddef.h>
#include <stdint.h>

/* The two middle values of `list` (n > 0; equal to each other when n is odd), which is reordered. Expected O(n). */
void middle_of(int64_t *list, size_t n, int64_t *low, int64_t *high);

/* The median as a mean of the two; 0 for an empty list. */
double middle_median(int64_t *list, size_t n);

#endif
