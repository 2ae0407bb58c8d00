#include "charge/tally.h"

#include "base/sort.h"

static void count(struct tally *t, struct arena *arena, int64_t value)
{
	if (value >= 0 && value < TALLY_SHORT) {
		uint64_t **page = &t->shorts[value / TALLY_PAGE];
		if (!*page)
			*page = ARENA_NEW(arena, TALLY_PAGE, uint64_t);
		(*page)[value % TALLY_PAGE]++;
		return;
	}
	uint32_t at = KEYMAP_ADD(arena, &t->values, (uint64_t)value, t->count);
	t->count[at]++;
}

void tally_count(struct tally *t, struct arena *arena, int64_t value)
{
	if (!t->many) {
		t->many = true;
		t->shorts = ARENA_NEW(arena, TALLY_SHORT / TALLY_PAGE, uint64_t *);
		keymap_init(&t->values, arena);
		for (size_t i = 0; i < t->n; i++)
			count(t, arena, (int64_t)t->list[i]);
	}
	count(t, arena, value);
}

/* A value, and how often it occurs. */
struct counted {
	int64_t value;
	uint64_t n;
};

SORT_ORDER(by_value, struct counted, ASCENDING(x->value, y->value))

/* Those of the shorts first, in order; `n`: how many there are. */
static struct counted *list_counted(const struct tally *t, struct arena *arena, size_t *n)
{
	struct counted *list = NULL;
	size_t room = 0;
	*n = 0;
	for (int64_t value = 0; value < TALLY_SHORT; value++) {
		const uint64_t *page = t->shorts[value / TALLY_PAGE];
		if (page && page[value % TALLY_PAGE])
			LIST_ADD(arena, list, *n, room, (struct counted){value, page[value % TALLY_PAGE]});
	}
	for (uint32_t i = 0; i < t->values.n; i++)
		LIST_ADD(arena, list, *n, room, (struct counted){(int64_t)t->values.keys[i], t->count[i]});
	return list;
}

static double median_of_many(const struct tally *t)
{
	ARENA_LOCAL(scratch);
	size_t n;
	struct counted *list = list_counted(t, &scratch, &n);
	uint64_t all = 0, before = 0;
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		all += list[i].n;
	SORT(list, n, by_value);
	for (size_t i = 0; i < n; i++) {
		double value = (double)list[i].value;
		uint64_t until = before + list[i].n;
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
	if (!t->many)
		return sum;
	ARENA_LOCAL(scratch);
	size_t n;
	struct counted *list = list_counted(t, &scratch, &n);
	for (size_t i = 0; i < n; i++) {
		double value = (double)list[i].value;
		sum += value > above ? (value - less) * (double)list[i].n : 0;
	}
	return sum;
}
