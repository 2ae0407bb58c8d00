/* Rows in groups: which group a row belongs to, and what the values of a group come to. Memory comes from the arena
 * given; a table's work is released with it.
 *
 *	struct tally tally;
 *	tally_init(&tally, 2, arena);
 *	for each row i:
 *		group[i] = tally_group(&tally, (uint32_t[]){thread, name});
 *	struct tally_values values;
 *	tally_spans(&tally, group, start, end, n, &values);
 *	struct summary s = tally_summary(&values, g);
 */
#ifndef GAPLINE_STATS_TALLY_H
#define GAPLINE_STATS_TALLY_H

#include "base/keymap.h"

#include <stddef.h>
#include <stdint.h>

enum { TALLY_NO_GROUP = UINT32_MAX };

enum { TALLY_WIDEST = 4 };

struct tally {
	struct arena *arena;
	uint32_t width; /* numbers a key has */
	uint32_t *keys; /* of group g: keys[g * width] … */
	uint32_t n, room;
	struct keymap
		begun[TALLY_WIDEST]; /* by place in a key: the numbers up to there, of the last place the groups */
};

void tally_init(struct tally *tally, uint32_t width, struct arena *arena);

/* The group of a key, a new one if it has none; groups are numbered in order of appearance. */
uint32_t tally_group(struct tally *tally, const uint32_t *key);

static inline const uint32_t *tally_key(const struct tally *tally, uint32_t group)
{
	return tally->keys + (size_t)group * tally->width;
}

/* The values of all groups, those of group g at values[first[g]] … values[first[g + 1] - 1]. */
struct tally_values {
	int64_t *values;
	size_t *first;
};

/* Values end - start of n rows; those of group TALLY_NO_GROUP are left out. `start` NULL: zeros. */
void tally_spans(const struct tally *tally, const uint32_t *group, const int64_t *start, const int64_t *end, size_t n,
                 struct tally_values *out);

/* What a group's values come to. A sum beyond int64 stays at its limit. */
struct summary {
	size_t n;
	int64_t total, least, most;
	double mean;
	double median;    /* the middle value, or the mean of the two middle values */
	double deviation; /* of a sample: the sum of squares is divided by n - 1; 0 for a single value */
};

/* All zero for n = 0. */
struct summary summary_of(const int64_t *values, size_t n);

static inline struct summary tally_summary(const struct tally_values *values, uint32_t group)
{
	return summary_of(values->values + values->first[group], values->first[group + 1] - values->first[group]);
}

#endif
