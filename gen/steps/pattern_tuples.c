#include "steps/pattern_cycles.h"

#include "base/keymap.h"
#include "base/sort.h"

static size_t op_at(const struct pattern_tuples *t, size_t place)
{
	return t->row ? t->row[place] : place;
}

void pattern_tuples_init(struct pattern_tuples *t, const struct pattern_sequence *s, struct arena *arena)
{
	*t = (struct pattern_tuples){.sequence = s, .width = 1, .n_ids = s->n_tokens};
	t->id = ARENA_NEW(arena, s->n, uint32_t);
	if (s->n_lanes < 2) {
		for (size_t i = 0; i < s->n; i++)
			t->id[i] = s->token[i];
		return;
	}
	size_t *first = ARENA_NEW(arena, (size_t)s->n_lanes + 2, size_t);
	for (size_t i = 0; i < s->n; i++)
		first[s->lane[s->token[i]] + 2]++;
	for (uint32_t l = 2; l < s->n_lanes + 2; l++)
		first[l] += first[l - 1];
	t->row = ARENA_NEW(arena, s->n, uint32_t);
	for (size_t i = 0; i < s->n; i++) {
		size_t place = first[s->lane[s->token[i]] + 1]++;
		t->row[place] = (uint32_t)i;
		t->id[place] = s->token[i];
	}
}

bool pattern_tuples_widen(struct pattern_tuples *t)
{

	ARENA_LOCAL(scratch);
	struct keymap pairs;
	size_t n = t->sequence->n, whole = 0,
	       few = t->n_ids <= RULE_WIDEST && n >= (size_t)t->n_ids * t->n_ids ? t->n_ids : 0;
	uint32_t *known = ARENA_NEW(&scratch, few * few + 1, uint32_t); /* of few: 1 + the pair's number */
	keymap_init(&pairs, &scratch);
	bool recurs = true;
	for (size_t i = 0; i < n; i++) {
		uint32_t a = t->id[i], b = i + t->width < n ? t->id[i + t->width] : UINT32_MAX;
		bool crosses = b == UINT32_MAX || a == UINT32_MAX;
		if (t->row && !crosses)
			crosses = t->sequence->lane[t->sequence->token[t->row[i]]] !=
			          t->sequence->lane[t->sequence->token[t->row[i + t->width]]];
		whole += !crosses;
		if (crosses) {
			t->id[i] = UINT32_MAX;
		} else if (few) {
			uint32_t *pair = &known[a * few + b];
			if (!*pair)
				*pair = keymap_add(&pairs, (uint64_t)a << 32 | b) + 1;
			t->id[i] = *pair - 1;
		} else {
			t->id[i] = keymap_add(&pairs, (uint64_t)a << 32 | b);
		}
		/* nearly every tuple is a new one: that is no repetition, and naming them all would cost the most */
		if (whole > RULE_GLANCE && (double)pairs.n > RULE_HALF * (double)whole) {
			recurs = false;
			break;
		}
	}
	t->n_ids = pairs.n;
	t->width *= 2;
	return recurs && whole > 0;
}

/* What is known of a tuple while the places are gone through. */
struct recurrence {
	uint32_t n, even;         /* how often; of the distances between, how many are about as one before */
	uint32_t first, last;     /* places */
	uint32_t distance, other; /* the last one, and the last one before it that was not as that */
};

SORT_ORDER(compare_candidates, struct pattern_candidate, DESCENDING(x->n, y->n) ?: ASCENDING(x->first, y->first))

static size_t far(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether two candidates cut the same stretch into about as many cycles. */
static bool same_cuts(const struct pattern_candidate *a, const struct pattern_candidate *b)
{
	size_t cycle = (a->last - a->first) / (a->n - 1) + 1;
	return (double)far(a->n, b->n) <= RULE_LITTLE * a->n && far(a->first, b->first) <= cycle &&
	       far(a->last, b->last) <= cycle;
}

uint32_t pattern_candidates(const struct pattern_tuples *t, uint32_t least, struct pattern_candidate *out,
                            uint32_t room, struct arena *scratch)
{
	struct recurrence *all = ARENA_NEW(scratch, t->n_ids, struct recurrence);
	for (size_t i = 0; i < t->sequence->n; i++) {
		if (t->id[i] == UINT32_MAX)
			continue;
		struct recurrence *r = &all[t->id[i]];
		uint32_t distance = (uint32_t)i - r->last, near = (uint32_t)(RULE_NEAR * distance);
		if (!r->n++) {
			r->first = r->last = (uint32_t)i;
			continue;
		}
		/* an eighth: ops may be lost or added. Two distances: an optimizer behind some, and not behind others
		 */
		bool as_last = far(distance, r->distance) <= near, as_other = far(distance, r->other) <= near;
		r->even += as_last || as_other;
		r->other = as_last ? r->other : r->distance;
		r->distance = distance;
		r->last = (uint32_t)i;
	}
	struct pattern_candidate *list = ARENA_NEW(scratch, t->n_ids, struct pattern_candidate);
	size_t n = 0;
	for (uint32_t id = 0; id < t->n_ids; id++)
		if (all[id].n >= least && all[id].even + 1 >= RULE_HALF * (all[id].n - 1))
			list[n++] = (struct pattern_candidate){id, all[id].n, op_at(t, all[id].first),
			                                       op_at(t, all[id].last)};
	SORT(list, n, compare_candidates);
	uint32_t kept = 0;
	for (size_t i = 0; i < n && kept < room; i++) {
		bool said = false;
		for (uint32_t k = kept; k-- && !said && out[k].n <= list[i].n * (1 + RULE_NEAR);)
			said = same_cuts(&list[i], &out[k]);
		if (!said)
			out[kept++] = list[i];
	}
	return kept;
}

void pattern_occurrences(const struct pattern_tuples *t, uint32_t id, size_t *out)
{
	enum { AT_ONCE = 32 }; /* most of as many places hold none; the compiler compares them side by side */
	size_t n = 0, all = t->sequence->n, i = 0;
	while (i < all) {
		const uint32_t *ids = t->id + i;
		uint32_t here = 0;
		if (all - i >= AT_ONCE) {
			for (size_t k = 0; k < AT_ONCE; k++)
				here |= ids[k] == id;
			if (!here) {
				i += AT_ONCE;
				continue;
			}
		}
		for (size_t end = all - i >= AT_ONCE ? i + AT_ONCE : all; i < end; i++)
			if (t->id[i] == id)
				out[n++] = op_at(t, i);
	}
}
