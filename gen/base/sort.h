/* Numbers in order. */
#ifndef GAPLINE_BASE_SORT_H
#define GAPLINE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the `n` items of a list, which may be NULL where there is none, in qsort's order `compare`, or in qsort_r's.
 * Those that are in order already, as what was read in some order mostly is, are only looked at. */
#define SORT(list, n, compare) sort_items((list), (n), sizeof *(list), (compare))
#define SORT_BY(list, n, compare, context)                                                                             \
	sort_items_by((list), (n), sizeof *(list), (compare), (void *)(uintptr_t)(context))
void sort_items(void *list, size_t n, size_t size, int (*compare)(const void *, const void *));
void sort_items_by(void *list, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
                   void *context);

/* Sorts `n` numbers, the smallest first; `list` may be NULL where there is none. No NaN among them. */
void sort_doubles(double *list, size_t n);
void sort_floats(float *list, size_t n);
void sort_times(int64_t *list, size_t n);
void sort_counts(uint32_t *list, size_t n);
void sort_hashes(uint64_t *list, size_t n);

/* The number that would stand at `k` (below n) if the list were sorted; the list is left in some order. No NaN. */
double sort_select(double *list, size_t n, size_t k);

/* The number in the middle, or of two the lower one, with the higher one in `high`. The same otherwise; n is not 0. */
double sort_middle(double *list, size_t n, double *high);

/* The mean of the two; 0 without numbers. */
double sort_median(double *list, size_t n);

/* For qsort's order, by one value after the other: return ASCENDING(x->start, y->start) ?: DESCENDING(x->end, y->end).
 */
#define ASCENDING(x, y) (((x) > (y)) - ((x) < (y)))
#define DESCENDING(x, y) ASCENDING(y, x)

/* Defines that order of `x` and `y`, two items of a type: SORT_ORDER(by_end, struct span, ASCENDING(x->end, y->end));
 * and qsort_r's, which has a context by the name given. */
#define SORT_ORDER(name, type, ...)                                                                                    \
	static int name(const void *sort_x, const void *sort_y)                                                        \
	{                                                                                                              \
		const type *x = sort_x, *y = sort_y;                                                                   \
		return __VA_ARGS__;                                                                                    \
	}
#define SORT_ORDER_BY(name, type, context, ...)                                                                        \
	static int name(const void *sort_x, const void *sort_y, void *context)                                         \
	{                                                                                                              \
		const type *x = sort_x, *y = sort_y;                                                                   \
		return __VA_ARGS__;                                                                                    \
	}

/* Of two intervals, for qsort's order: the one that starts first, then the one that ends last, so that an interval
 * comes before those inside it. 0 where they are the same. */
static inline int sort_nested(int64_t start_a, int64_t end_a, int64_t start_b, int64_t end_b)
{
	if (start_a != start_b)
		return start_a < start_b ? -1 : 1;
	return DESCENDING(end_a, end_b);
}

#endif
