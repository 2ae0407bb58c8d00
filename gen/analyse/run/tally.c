#include "analyse/run/tally.h"

#include "base/sort.h"

static void count(struct tally *t, struct arena *arena, int64_t value)
{
	uint32_t at = keymap_add(&t->values, (uint64_t)value);
	LIST_GROW(arena, t->count, at, t->count_room);
	t->count[at]++;
}

void tally_count(struct tally *t, struct arena *arena, int64_t value)
{
	if (!t->many) {
		t->many = true;
		keymap_init(&t->values, arena);
		for (size_t i = 0; i < t->n; i++)
			count(t, arena, (int64_t)t->list[i]);
	}
	count(t, arena, value);
}

static int by_value(const void *a, const void *b, void *context)
{
	const struct tally *t = context;
	int64_t x = (int64_t)t->values.keys[*(const uint32_t *)a], y = (int64_t)t->values.keys[*(const uint32_t *)b];
	return x < y ? -1 : x > y;
}

static double median_of_many(const struct tally *t)
{
	ARENA_LOCAL(scratch);
	uint32_t *order = ARENA_NEW(&scratch, t->values.n, uint32_t);
	uint64_t all = 0, before = 0;
	double sum = 0;
	for (uint32_t i = 0; i < t->values.n; i++) {
		order[i] = i;
		all += t->count[i];
	}
	SORT_BY(order, t->values.n, by_value, t);
	for (uint32_t i = 0; i < t->values.n; i++) {
		double value = (double)(int64_t)t->values.keys[order[i]];
		uint64_t until = before + t->count[order[i]];
		sum += before <= (all - 1) / 2 && (all - 1) / 2 < until ? value : 0;
		sum += before <= all / 2 && all / 2 < until ? value : 0;
		before = until;
	}
	return sum / 2;
}

double tally_median(struct tally *t)
{
	return t->many ? median_of_many(t) : sort_median(t->list, t->n);
}

double tally_excess(const struct tally *t, double above, double less)
{
	double sum = 0;
	for (size_t i = 0; i < t->n && !t->many; i++)
		sum += t->list[i] > above ? t->list[i] - less : 0;
	for (uint32_t i = 0; i < t->values.n; i++) {
		double value = (double)(int64_t)t->values.keys[i];
		sum += value > above ? (value - less) * (double)t->count[i] : 0;
	}
	return sum;
}
