#include "analyse/middle.h"

#include <string.h>

enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS };

/* The value with `rank` smaller or equal ones before it, by its digits, the highest first: each pass counts the values
 * that share the digits found so far by their next one. `least` is the smallest value, `bits` what the distance to the
 * largest takes. */
static uint64_t select_rank(const struct middle_values *values, size_t rank, int64_t least, int bits)
{
	size_t count[DIGITS];
	uint64_t prefix = 0;
	for (int shift = (bits + DIGIT_BITS - 1) / DIGIT_BITS * DIGIT_BITS; shift > 0;) {
		int64_t v;
		shift -= DIGIT_BITS;
		memset(count, 0, sizeof count);
		for (size_t i = 0; i < values->n; i++)
			if (values->value(values->context, i, &v)) {
				uint64_t key = ((uint64_t)v - (uint64_t)least) >> shift;
				if (key >> DIGIT_BITS == prefix)
					count[key & (DIGITS - 1)]++;
			}
		size_t digit = 0;
		for (; rank >= count[digit]; digit++)
			rank -= count[digit];
		prefix = prefix << DIGIT_BITS | digit;
	}
	return prefix;
}

size_t middle_of(const struct middle_values *values, int64_t *low, int64_t *high)
{
	int64_t v, least = INT64_MAX, most = INT64_MIN;
	size_t n = 0, up_to = 0;
	for (size_t i = 0; i < values->n; i++)
		if (values->value(values->context, i, &v)) {
			least = v < least ? v : least;
			most = v > most ? v : most;
			n++;
		}
	if (!n)
		return 0;
	uint64_t span = (uint64_t)most - (uint64_t)least;
	int bits = span ? 64 - __builtin_clzll(span) : 0;
	*low = *high = (int64_t)(select_rank(values, (n - 1) / 2, least, bits) + (uint64_t)least);
	if (n % 2)
		return n;
	int64_t next = INT64_MAX; /* the smallest that is larger than *low */
	for (size_t i = 0; i < values->n; i++)
		if (values->value(values->context, i, &v)) {
			up_to += v <= *low;
			next = v > *low && v < next ? v : next;
		}
	if (up_to <= n / 2)
		*high = next;
	return n;
}

double middle_median(const struct middle_values *values)
{
	int64_t low, high;
	return middle_of(values, &low, &high) ? ((double)low + (double)high) / 2 : 0;
}

static bool list_value(const void *context, size_t i, int64_t *out)
{
	*out = ((const int64_t *)context)[i];
	return true;
}

double middle_median_of_list(const int64_t *list, size_t n)
{
	return middle_median(&(struct middle_values){list_value, list, n});
}
