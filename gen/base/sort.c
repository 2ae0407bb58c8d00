#include "base/sort.h"

#include <stdlib.h>

/* An order and a sort for one kind of number. */
#define SORT(name, type)                                                                                               \
	static int compare_##name(const void *a, const void *b)                                                        \
	{                                                                                                              \
		type x = *(const type *)a, y = *(const type *)b;                                                       \
		return (x > y) - (x < y);                                                                              \
	}                                                                                                              \
	void sort_##name(type *list, size_t n)                                                                         \
	{                                                                                                              \
		if (n > 1)                                                                                             \
			qsort(list, n, sizeof *list, compare_##name);                                                  \
	}

SORT(doubles, double)
SORT(floats, float)
SORT(times, int64_t)
SORT(counts, uint32_t)
SORT(hashes, uint64_t)
