#include "trace/order.h"

#include "base/search.h"

#include <string.h>

/* Whether row a may stand before row b of the same group: a <= b. */
static bool in_order(const struct order *o, size_t a, size_t b)
{
	if (o->start && o->start[a] != o->start[b])
		return o->start[a] < o->start[b];
	if (o->end && o->end[a] != o->end[b])
		return (o->end[a] < o->end[b]) != o->end_descending;
	if (o->tie && o->tie[a] != o->tie[b])
		return o->tie[a] < o->tie[b];
	return !o->compare || o->compare(o->context, a, b) <= 0;
}

static uint32_t group_of(const struct order *o, size_t row)
{
	return o->group ? o->group[row] : 0;
}

static bool sorted(const struct order *o)
{
	const uint32_t *const of = o->group;
	const int64_t *const start = o->start;
	for (size_t i = 1; i < o->n; i++) {
		if (start && start[i - 1] < start[i] && (!of || of[i - 1] == of[i])) /* nearly all */
			continue;
		uint32_t before = group_of(o, i - 1), group = group_of(o, i);
		if (before > group || (before == group && !in_order(o, i - 1, i)))
			return false;
	}
	return true;
}

/* The end of those rows of [from, to), which are sorted, that go before `row`: before all that it may stand before, or,
 * with `equal`, also before those that may as well stand behind it. Looks ahead in steps that double: of thousands of
 * kernels between two copies it looks at a dozen. */
static size_t end_before(const struct order *o, const uint32_t *rows, size_t from, size_t to, uint32_t row, bool equal)
{
#define GOES_BEFORE(i) (equal ? in_order(o, rows[i], row) : !in_order(o, row, rows[i]))
	size_t step = 1, i = from;
	while (step <= to - i && GOES_BEFORE(i + step - 1)) {
		i += step;
		step *= 2;
	}
	size_t end = step <= to - i ? i + step - 1 : to;
	SEARCH(i, end, GOES_BEFORE(i));
#undef GOES_BEFORE
	return i;
}

/* Merges the neighbouring sorted stretches [from, middle) and [middle, to) of `rows` into `out`; stable. */
static void merge(const struct order *o, const uint32_t *rows, size_t from, size_t middle, size_t to, uint32_t *out)
{
	size_t a = from, b = middle, at = from;
	while (a < middle && b < to) {
		size_t end = end_before(o, rows, a, middle, rows[b], true);
		memcpy(out + at, rows + a, (end - a) * sizeof *rows);
		at += end - a;
		a = end;
		end = a < middle ? end_before(o, rows, b, to, rows[a], false) : b;
		memcpy(out + at, rows + b, (end - b) * sizeof *rows);
		at += end - b;
		b = end;
	}
	memcpy(out + at, rows + a, (middle - a) * sizeof *rows);
	memcpy(out + at + (middle - a), rows + b, (to - b) * sizeof *rows);
}

/* Natural merge sort of rows[from, to). `other` is as long as rows; `ends` has room for to - from + 1 run ends. */
static void sort_group(const struct order *o, uint32_t *rows, uint32_t *other, uint32_t *ends, size_t from, size_t to)
{
	size_t runs = 0;
	for (size_t i = from + 1; i < to; i++)
		if (!in_order(o, rows[i - 1], rows[i]))
			ends[runs++] = (uint32_t)i;
	ends[runs++] = (uint32_t)to;
	uint32_t *source = rows, *target = other;
	while (runs > 1) {
		/* Of an odd number the first one waits: where tables were read one after the other it is the longest.
		 */
		size_t left = 0, begin = from;
		for (size_t i = 0, last; i < runs; i = last + 1) {
			last = i == 0 && runs % 2 ? 0 : i + 1;
			merge(o, source, begin, ends[i], ends[last], target);
			begin = ends[left++] = ends[last];
		}
		runs = left;
		uint32_t *swap = source;
		source = target;
		target = swap;
	}
	if (source != rows)
		memcpy(rows + from, source + from, (to - from) * sizeof *rows);
}

uint32_t *order_rows(const struct order *o, struct arena *arena)
{
	if (sorted(o))
		return NULL;
	uint32_t *first = ARENA_NEW(arena, (size_t)o->n_groups + 1, uint32_t);
	first[0] = (uint32_t)o->n;
	if (o->n_groups > 1) {
		first[0] = 0;
		for (size_t i = 0; i < o->n; i++)
			first[o->group[i]]++;
	}
	uint32_t sum = 0;
	for (uint32_t g = 0; g <= o->n_groups; g++) {
		uint32_t count = first[g];
		first[g] = sum;
		sum += count;
	}
	uint32_t *rows = ARENA_TAKE(arena, o->n, uint32_t);
	for (size_t i = 0; i < o->n; i++)
		rows[first[group_of(o, i)]++] = (uint32_t)i;
	ARENA_LOCAL(scratch);
	uint32_t *other = ARENA_TAKE(&scratch, o->n, uint32_t), *ends = ARENA_TAKE(&scratch, o->n + 1, uint32_t);
	size_t from = 0;
	for (uint32_t g = 0; g < o->n_groups; g++) { /* first[g] is now the end of group g */
		if (first[g] - from > 1)
			sort_group(o, rows, other, ends, from, first[g]);
		from = first[g];
	}
	return rows;
}

/* Rows of sixteen bytes. */
struct pair {
	uint64_t of[2];
};

/* `to` gets n items of `size` (1, 4 or 8) bytes of a column: those of `rows`, in that order. */
static void take(void *to, const void *column, size_t size, size_t n, const uint32_t *rows)
{
	if (size == 8)
		for (size_t i = 0; i < n; i++)
			((uint64_t *)to)[i] = ((const uint64_t *)column)[rows[i]];
	else if (size == 16)
		for (size_t i = 0; i < n; i++)
			((struct pair *)to)[i] = ((const struct pair *)column)[rows[i]];
	else if (size == 4)
		for (size_t i = 0; i < n; i++)
			((uint32_t *)to)[i] = ((const uint32_t *)column)[rows[i]];
	else
		for (size_t i = 0; i < n; i++)
			((uint8_t *)to)[i] = ((const uint8_t *)column)[rows[i]];
}

void order_column(void *column, size_t size, size_t n, const uint32_t *permutation, void *scratch)
{
	take(scratch, column, size, n, permutation);
	memcpy(column, scratch, n * size);
}
