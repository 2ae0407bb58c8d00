#include "stats/reports.h"

#include "base/list.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

void tally_init(struct tally *tally, uint32_t width, struct arena *arena)
{
	*tally = (struct tally){.arena = arena, .width = width};
	for (uint32_t i = 0; i < width; i++)
		keymap_init(&tally->begun[i], arena);
}

uint32_t tally_group(struct tally *t, const uint32_t *key)
{
	uint32_t g = 0;
	for (uint32_t i = 0; i < t->width; i++)
		g = keymap_add(&t->begun[i], (uint64_t)g << 32 | key[i]);
	if (g < t->n)
		return g;
	if (t->n == t->room) {
		size_t room = list_more(t->room);
		t->keys = arena_grow(t->arena, t->keys, (size_t)t->room * t->width, room * t->width, sizeof *t->keys);
		t->room = (uint32_t)room;
	}
	memcpy(t->keys + (size_t)t->n++ * t->width, key, t->width * sizeof *key);
	return g;
}

void tally_spans(const struct tally *tally, const uint32_t *group, const int64_t *start, const int64_t *end, size_t n,
                 struct tally_values *out)
{
	size_t *first = ARENA_NEW(tally->arena, (size_t)tally->n + 2, size_t), members = 0;
	for (size_t i = 0; i < n; i++)
		if (group[i] != TALLY_NO_GROUP) {
			first[group[i] + 2]++;
			members++;
		}
	for (uint32_t g = 2; g < tally->n + 2; g++)
		first[g] += first[g - 1];
	/* first[g + 1] is where group g's next value goes, and in the end where the next group begins. */
	out->values = ARENA_NEW(tally->arena, members, int64_t);
	for (size_t i = 0; i < n; i++)
		if (group[i] != TALLY_NO_GROUP)
			out->values[first[group[i] + 1]++] = end[i] - (start ? start[i] : 0);
	out->first = first;
}

/* ---- summaries ---- */

struct summary summary_of(const int64_t *values, size_t n)
{
	struct summary s = {.n = n};
	ARENA_LOCAL(scratch);
	if (n == 0)
		return s;
	s.least = s.most = values[0];
	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(s.total, values[i], &s.total))
			s.total = values[i] < 0 ? INT64_MIN : INT64_MAX;
		s.least = values[i] < s.least ? values[i] : s.least;
		s.most = values[i] > s.most ? values[i] : s.most;
	}
	s.mean = (double)s.total / (double)n;
	double squares = 0, *sorted = ARENA_NEW(&scratch, n, double);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = (double)values[i];
		double away = sorted[i] - s.mean;
		squares += away * away;
	}
	s.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	s.median = sort_median(sorted, n);
	return s;
}
