#include "charge/idle.h"

#include "base/sort.h"

/* Whether a thread works, sleeps or waits for another one differs from step to step. */
static enum cause kind_of(const struct once_candidate *c)
{
	return cause_is_host(c->cause) ? CAUSE_HOST_CODE : c->cause;
}

static bool is_same_kind(const struct once_candidate *a, const struct once_candidate *b)
{
	return kind_of(a) == kind_of(b) && a->phase == b->phase;
}

/* By kind and phase, the longest first. */
SORT_ORDER(compare_candidates, struct once_candidate,
           ASCENDING(kind_of(x), kind_of(y)) ?: ASCENDING(x->phase, y->phase) ?: DESCENDING(x->length, y->length)
           ?: ASCENDING(x->gap, y->gap))

SORT_ORDER(compare_gaps, struct once_candidate, ASCENDING(x->gap, y->gap))

size_t once_select(struct once_candidate *list, size_t n, uint32_t n_steps)
{
	const bool few = n_steps && n_steps < ONCE_STEPS;
	size_t kept = 0, enough = few                          ? n_steps <= 2 ? 1 : 2
	                          : n_steps > 100 * ONCE_ALIKE ? (n_steps + 99) / 100
	                                                       : ONCE_ALIKE;
	enough = enough < ONCE_MOST ? enough : ONCE_MOST;
	SORT(list, n, compare_candidates);
	for (size_t i = 0, first = 0, end = 0; i < n; i++) {
		if (!is_same_kind(&list[i], &list[first]))
			first = i;
		if (end < i)
			end = i;
		while (end < n && is_same_kind(&list[end], &list[i]) && (few || 2 * list[end].length >= list[i].length))
			end++;
		struct once_candidate c = list[i];
		if (end - first < enough)
			list[kept++] = c; /* in front of i, or in its place, among its kind: never ahead of it */
	}
	SORT(list, kept, compare_gaps);
	return kept;
}
