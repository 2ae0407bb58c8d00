#include "analyse/judge/renames.h"

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

static const struct phase_result *phase_of(const struct side *side, uint32_t name)
{
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name == name)
			return &side->phases[i];
	return NULL;
}

/* The phases that the timeline shows, in order of their first appearance. */
static struct order order_of(const struct side *side, const struct side *other, struct arena *arena)
{
	struct order o = {ARENA_NEW(arena, side->n_phases + 1, struct place), 0};
	for (uint32_t i = 0; i < side->timeline.n_phases; i++) {
		uint32_t name = side->timeline.phases[i].name, k = 0;
		const struct phase_result *phase = phase_of(side, name);
		while (k < o.n && o.place[k].name != name)
			k++;
		if (!name || !phase || k < o.n)
			continue;
		o.place[o.n++] = (struct place){
			.name = name, .shared = phase_of(other, name) != NULL, .instances = phase->instances};
	}
	return o;
}

/* Steps follow each other, so what stands first comes after what stands last. */
static void find_neighbours(struct order *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		struct place *p = &o->place[i];
		uint32_t back = 0, ahead = 0;
		while (back + 1 < o->n && !o->place[(i + o->n - back - 1) % o->n].shared)
			back++;
		while (ahead + 1 < o->n && !o->place[(i + ahead + 1) % o->n].shared)
			ahead++;
		p->before = o->place[(i + o->n - back - 1) % o->n].name;
		p->after = o->place[(i + ahead + 1) % o->n].name;
		p->index = back;
		p->length = back + 1 + ahead;
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
	struct order b = order_of(&side[0], &side[1], arena), f = order_of(&side[1], &side[0], arena);
	struct phase_rename *list = ARENA_NEW(arena, b.n + 1, struct phase_rename);
	*out = (struct renames){list, 0};
	if (side[0].phases_by_work || side[1].phases_by_work || !has_anchor(&b) || !has_anchor(&f))
		return;
	find_neighbours(&b);
	find_neighbours(&f);
	for (uint32_t i = 0; i < b.n; i++)
		for (uint32_t k = 0; k < f.n; k++)
			if (is_same_place(&b.place[i], &f.place[k]))
				list[out->n++] = (struct phase_rename){b.place[i].name, f.place[k].name};
}

uint32_t renames_fixed(const struct renames *renames, uint32_t baseline)
{
	for (uint32_t i = 0; i < renames->n; i++)
		if (renames->list[i].from == baseline)
			return renames->list[i].to;
	return baseline;
}

uint32_t renames_baseline(const struct renames *renames, uint32_t fixed)
{
	for (uint32_t i = 0; i < renames->n; i++)
		if (renames->list[i].to == fixed)
			return renames->list[i].from;
	return fixed;
}
