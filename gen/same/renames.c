#include "same/renames.h"

#include <math.h>

/* A phase in the cycle of a step's phases. */
struct place {
	uint32_t name;
	bool shared;            /* the other side has it too */
	uint32_t before, after; /* the next shared phases around it */
	uint32_t index, length; /* which one it is between them, and how many there are */
	double instances;       /* a step */
};

struct order {
	struct place *place;
	uint32_t n;
};

/* What is known by the number of a name. */
struct index {
	uint32_t n;
	uint32_t *phase[2]; /* by side: 1 + which phase, or 0 */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static struct index index_of(const struct side side[2], struct arena *arena)
{
	struct index x = {0};
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < side[s].n_phases; i++)
			x.n = larger(x.n, side[s].phases[i].name + 1);
		for (uint32_t i = 0; i < side[s].n_order; i++)
			x.n = larger(x.n, side[s].order[i] + 1);
	}
	for (int s = 0; s < 2; s++) {
		x.phase[s] = ARENA_NEW(arena, (size_t)x.n + 1, uint32_t);
		for (uint32_t i = side[s].n_phases; i-- > 0;)
			x.phase[s][side[s].phases[i].name] = i + 1;
	}
	return x;
}

/* The phases of a step of side `s`, in order of their first appearance. `at`, by name, receives 1 + where
 * they are in that order. */
static struct order order_of(const struct side *side, const struct index *x, int s, uint32_t *at, struct arena *arena)
{
	struct order o = {ARENA_NEW(arena, (size_t)side->n_phases + 1, struct place), 0};
	for (uint32_t i = 0; i < side->n_order; i++) {
		uint32_t name = side->order[i], phase = x->phase[s][name];
		if (!name || !phase || at[name])
			continue;
		at[name] = o.n + 1;
		o.place[o.n++] = (struct place){.name = name,
		                                .shared = x->phase[!s][name] != 0,
		                                .instances = side->phases[phase - 1].instances};
	}
	return o;
}

/* Steps follow each other, so what stands first comes after what stands last. One of the phases is shared at least. */
static void find_neighbours(struct order *o)
{
	uint32_t first = 0;
	while (!o->place[first].shared)
		first++;
	for (uint32_t i = first, next; i < first + o->n; i = next) {
		for (next = i + 1; !o->place[next % o->n].shared;)
			next++;
		for (uint32_t k = i + 1; k < next; k++) {
			struct place *p = &o->place[k % o->n];
			p->before = o->place[i % o->n].name;
			p->after = o->place[next % o->n].name;
			p->index = k - i - 1;
			p->length = next - i - 1;
		}
	}
}

static bool has_anchor(const struct order *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (o->place[i].shared)
			return true;
	return false;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
	double more = fmax(a->instances, b->instances);
	return !a->shared && !b->shared && a->before == b->before && a->after == b->after && a->index == b->index &&
	       a->length == b->length && fabs(a->instances - b->instances) <= 0.1 * more;
}

void renames_find(const struct side side[2], struct arena *arena, struct renames *out)
{
	struct arena scratch = {0};
	struct index x = index_of(side, &scratch);
	uint32_t *at[2] = {ARENA_NEW(&scratch, (size_t)x.n + 1, uint32_t),
	                   ARENA_NEW(&scratch, (size_t)x.n + 1, uint32_t)};
	struct order b = order_of(&side[0], &x, 0, at[0], &scratch), f = order_of(&side[1], &x, 1, at[1], &scratch);
	*out = (struct renames){0};
	if (side[0].phases_by_work || side[1].phases_by_work || !has_anchor(&b) || !has_anchor(&f))
		goto done;
	find_neighbours(&b);
	find_neighbours(&f);
	struct phase_rename *list = ARENA_NEW(arena, (size_t)b.n + 1, struct phase_rename);
	uint32_t *fixed = ARENA_NEW(arena, x.n, uint32_t), *baseline = ARENA_NEW(arena, x.n, uint32_t);
	*out = (struct renames){list, 0, fixed, baseline, x.n};
	for (uint32_t i = 0; i < b.n; i++) {
		const struct place *p = &b.place[i];
		uint32_t before = at[1][p->before]; /* which one place alone comes so far behind */
		if (p->shared || !before)
			continue;
		const struct place *q = &f.place[(before + p->index) % f.n];
		if (!is_same_place(p, q))
			continue;
		list[out->n++] = (struct phase_rename){p->name, q->name};
		fixed[p->name] = q->name;
		baseline[q->name] = p->name;
	}
done:
	arena_release(&scratch);
}

uint32_t *renames_only(const struct side side[2], const struct renames *renames, int s, double more,
                       struct arena *arena, uint32_t *n)
{
	ARENA_LOCAL(scratch);
	struct index x = index_of(side, &scratch);
	uint32_t *list = ARENA_NEW(arena, (size_t)side[s].n_phases + 1, uint32_t);
	*n = 0;
	for (uint32_t i = 0; i < side[s].n_phases; i++) {
		const struct phase_result *p = &side[s].phases[i];
		uint32_t there = s ? renames_baseline(renames, p->name) : renames_fixed(renames, p->name);
		if (p->name && !x.phase[!s][there] && p->instances > more)
			list[(*n)++] = p->name;
	}
	return list;
}
