/* Sorting rows that live in columns: a permutation is computed from the keys, then every column is rearranged by it.
 * Profiles come almost sorted (by start over the whole table), so runs that are in order already are found and merged;
 * a column set in order costs one pass. */
#ifndef GAPLINE_TRACE_ORDER_H
#define GAPLINE_TRACE_ORDER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys of n rows: by group, then start, then end, then tie, then what `compare` says (< 0: row a comes first), then the
 * row's place. Each of start, end, tie and compare may be NULL: not a key. */
struct order {
	size_t n;
	const uint32_t *group; /* values below n_groups; NULL where that is 1 */
	uint32_t n_groups;
	const int64_t *start, *end;
	bool end_descending;
	const uint32_t *tie;
	int (*compare)(const void *context, size_t a, size_t b);
	const void *context;
};

/* The permutation that sorts: row i of the sorted set is row permutation[i]. NULL when the rows are in order. From the
 * arena; what it takes to find it is given back before. */
uint32_t *order_rows(const struct order *order, struct arena *arena);

/* Rearranges a column of n items of `size` (1, 4 or 8) bytes. `scratch` has room for n * size bytes. */
void order_column(void *column, size_t size, size_t n, const uint32_t *permutation, void *scratch);

#endif
