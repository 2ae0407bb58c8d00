#include "analyse/run/tally.h"

#include "base/list.h"

#include <stdlib.h>

void tally_add(struct tally *t, struct arena *arena, int64_t value)
{
	if (!t->arena) {
		t->arena = arena;
		keymap_init(&t->values, arena);
	}
	uint32_t at = keymap_add(&t->values, (uint64_t)value);
	if (at >= t->room) {
		uint32_t more = (uint32_t)list_more(t->room);
		t->count = arena_grow(arena, t->count, t->room, more, sizeof *t->count);
		t->room = more;
	}
	t->count[at]++;
}

static int by_value(const void *a, const void *b, void *context)
{
	const struct tally *t = context;
	int64_t x = (int64_t)t->values.keys[*(const uint32_t *)a], y = (int64_t)t->values.keys[*(const uint32_t *)b];
	return x < y ? -1 : x > y;
}

double tally_median(const struct tally *t)
{
	struct arena scratch = {0};
	uint32_t *order = ARENA_NEW(&scratch, t->values.n, uint32_t);
	uint64_t all = 0, before = 0;
	double sum = 0;
	for (uint32_t i = 0; i < t->values.n; i++) {
		order[i] = i;
		all += t->count[i];
	}
	if (all)
		qsort_r(order, t->values.n, sizeof *order, by_value, (void *)t);
	for (uint32_t i = 0; i < t->values.n && all; i++) {
		double value = (double)(int64_t)t->values.keys[order[i]];
		uint64_t until = before + t->count[order[i]];
		sum += before <= (all - 1) / 2 && (all - 1) / 2 < until ? value : 0;
		sum += before <= all / 2 && all / 2 < until ? value : 0;
		before = until;
	}
	arena_release(&scratch);
	return sum / 2;
}
