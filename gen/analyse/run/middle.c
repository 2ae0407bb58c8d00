#include "analyse/run/middle.h"

#include <string.h>

enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS };

/* How many values there are of each size: those below 2 << MIDDLE_BITS each by itself, above in 1 << MIDDLE_BITS
 * classes for each power of two. Negative ones are mirrored: -1 stands before 0 as 0 behind it. Zero-initialise. */
enum { MIDDLE_BITS = 6, MIDDLE_CLASSES = (65 - MIDDLE_BITS) << MIDDLE_BITS };
struct middle {
	size_t n, count[2 * MIDDLE_CLASSES];
};

static void count_value(struct middle *m, int64_t value)
{
	uint64_t size = value < 0 ? ~(uint64_t)value : (uint64_t)value;
	int shift = size < 2 << MIDDLE_BITS ? 0 : 63 - MIDDLE_BITS - __builtin_clzll(size);
	int class = (shift << MIDDLE_BITS) + (int)(size >> shift);
	m->count[value < 0 ? MIDDLE_CLASSES - 1 - class : MIDDLE_CLASSES + class]++;
	m->n++;
}

/* A value with `rank` smaller or equal ones before it, found by its digits, the highest first: each pass counts the
 * values that share the digits found so far by their next one. */
struct selection {
	uint64_t value; /* less `least` */
	uint64_t
		next; /* the value of the following rank, if `has_next`: it may lie beyond what the last pass counted */
	bool has_next;
};

/* Among the values from `least` on; the one that is looked for is less than 1 << bits above it. */
static struct selection select_rank(const struct middle_values *values, size_t rank, int64_t least, int bits)
{
	size_t count[DIGITS] = {0}, digit = 0;
	uint64_t prefix = 0;
	int shift = (bits + DIGIT_BITS - 1) / DIGIT_BITS * DIGIT_BITS;
	do {
		int64_t v;
		shift = shift ? shift - DIGIT_BITS : 0;
		memset(count, 0, sizeof count);
		for (size_t i = 0; i < values->n; i++)
			if (values->value(values->context, i, &v) && v >= least) {
				uint64_t key = ((uint64_t)v - (uint64_t)least) >> shift;
				if (key >> DIGIT_BITS == prefix)
					count[key & (DIGITS - 1)]++;
			}
		for (digit = 0; rank >= count[digit]; digit++)
			rank -= count[digit];
		prefix = prefix << DIGIT_BITS | digit;
	} while (shift > 0);
	size_t next = digit;
	if (rank + 1 >= count[digit])
		for (next++; next < DIGITS && !count[next];)
			next++;
	return (struct selection){prefix, prefix - digit + next, next < DIGITS};
}

/* The smallest value that is larger than `than`; there is one. */
static int64_t next_above(const struct middle_values *values, int64_t than)
{
	int64_t v, next = INT64_MAX;
	for (size_t i = 0; i < values->n; i++)
		if (values->value(values->context, i, &v) && v > than && v < next)
			next = v;
	return next;
}

static size_t find(const struct middle *counted, const struct middle_values *values, int64_t *low, int64_t *high)
{
	if (!counted->n)
		return 0;
	size_t rank = (counted->n - 1) / 2;
	int class = 0;
	for (; rank >= counted->count[class]; class ++)
		rank -= counted->count[class];
	int size = class < MIDDLE_CLASSES ? MIDDLE_CLASSES - 1 - class : class - MIDDLE_CLASSES;
	int bits = size < 2 << MIDDLE_BITS ? 0 : (size >> MIDDLE_BITS) - 1; /* how wide the class is */
	uint64_t least = (uint64_t)(size - (bits << MIDDLE_BITS)) << bits;
	if (class < MIDDLE_CLASSES) /* mirrored: its smallest value is the largest one's */
		least = ~(least + ((uint64_t)1 << bits) - 1);
	struct selection found = select_rank(values, rank, (int64_t)least, bits);
	*low = *high = (int64_t)(found.value + least);
	if (counted->n % 2 == 0)
		*high = found.has_next ? (int64_t)(found.next + least) : next_above(values, *low);
	return counted->n;
}

size_t middle_of(const struct middle_values *values, int64_t *low, int64_t *high)
{
	struct middle counted = {0};
	int64_t v;
	for (size_t i = 0; i < values->n; i++)
		if (values->value(values->context, i, &v))
			count_value(&counted, v);
	return find(&counted, values, low, high);
}

/* The median as a mean of the two; 0 without values. */
static double middle_median(const struct middle_values *values)
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
