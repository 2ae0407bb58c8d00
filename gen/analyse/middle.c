#include "analyse/middle.h"

static void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;
	*a = *b;
	*b = t;
}

/* Reorders so that list[k] is what it would be if sorted, with nothing larger before and nothing smaller after it.
 * Three-way partition, so that many equal values, which launch times are full of, cost one pass. */
static void select_kth(int64_t *list, size_t n, size_t k)
{
	size_t first = 0, last = n; /* the k-th is in [first, last) */
	while (last - first > 1) {
		int64_t a = list[first], b = list[first + (last - first) / 2], c = list[last - 1];
		int64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t less = first, i = first, more = last;
		while (i < more) {
			if (list[i] < pivot)
				swap(&list[less++], &list[i++]);
			else if (list[i] > pivot)
				swap(&list[i], &list[--more]);
			else
				i++;
		}
		if (k < less)
			last = less;
		else if (k >= more)
			first = more;
		else
			return;
	}
}

void middle_of(int64_t *list, size_t n, int64_t *low, int64_t *high)
{
	select_kth(list, n, n / 2);
	*low = *high = list[n / 2];
	if (n % 2)
		return;
	*low = list[0];
	for (size_t i = 1; i < n / 2; i++)
		if (list[i] > *low)
			*low = list[i];
}

double middle_median(int64_t *list, size_t n)
{
	int64_t low, high;
	if (!n)
		return 0;
	middle_of(list, n, &low, &high);
	return ((double)low + (double)high) / 2;
}
