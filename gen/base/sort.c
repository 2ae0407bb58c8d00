#include "base/sort.h"

#include <stdlib.h>

void sort_items(void *list, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	const char *items = list;
	size_t i = 1;
	while (i < n && compare(items + (i - 1) * size, items + i * size) <= 0)
		i++;
	if (i < n)
		qsort(list, n, size, compare);
}

void sort_items_by(void *list, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *context)
{
	const char *items = list;
	size_t i = 1;
	while (i < n && compare(items + (i - 1) * size, items + i * size, context) <= 0)
		i++;
	if (i < n)
		qsort_r(list, n, size, compare, context);
}

/* An order and a sort for one kind of number. */
#define SORT_OF(name, type)                                                                                            \
	static int compare_##name(const void *a, const void *b)                                                        \
	{                                                                                                              \
		type x = *(const type *)a, y = *(const type *)b;                                                       \
		return (x > y) - (x < y);                                                                              \
	}                                                                                                              \
	void sort_##name(type *list, size_t n)                                                                         \
	{                                                                                                              \
		SORT(list, n, compare_##name);                                                                         \
	}

SORT_OF(doubles, double)
SORT_OF(floats, float)
SORT_OF(times, int64_t)
SORT_OF(counts, uint32_t)
SORT_OF(hashes, uint64_t)

static void swap(double *a, double *b)
{
	double t = *a;
	*a = *b;
	*b = t;
}

/* Hoare's selection. An order that makes halves uneven again and again is sorted: never quadratic. */
double sort_select(double *list, size_t n, size_t k)
{
	enum { FEW = 8 };
	size_t low = 0, high = n, left = 8 * n; /* what lies before `low` and from `high` on has its place */
	while (high - low > FEW) {
		size_t middle = low + (high - low) / 2, last = high - 1;
		if (left < high - low) /* some 3 n is usual */
			break;
		left -= high - low;
		if (list[middle] < list[low])
			swap(&list[middle], &list[low]);
		if (list[last] < list[middle])
			swap(&list[last], &list[middle]);
		if (list[middle] < list[low])
			swap(&list[middle], &list[low]);
		double pivot = list[middle];
		size_t i = low, j = last;
		for (;;) {
			while (list[i] < pivot)
				i++;
			while (pivot < list[j])
				j--;
			if (i >= j)
				break;
			swap(&list[i++], &list[j--]);
		}
		if (k <= j)
			high = j + 1;
		else
			low = j + 1;
	}
	sort_doubles(list + low, high - low);
	return list[k];
}

double sort_middle(double *list, size_t n, double *high)
{
	double low = sort_select(list, n, (n - 1) / 2);
	*high = n % 2 ? low : list[n / 2];
	for (size_t i = n / 2 + 1; i < n && n % 2 == 0; i++) /* those behind the lower one are no smaller */
		*high = list[i] < *high ? list[i] : *high;
	return low;
}

double sort_median(double *list, size_t n)
{
	double high = 0, low = n ? sort_middle(list, n, &high) : 0;
	return (low + high) / 2;
}
