#include "side/side.h"

#include "base/sort.h"

#include <string.h>

enum { MOST = 4000 };               /* so many at most: the largest */
static const double LITTLE = 0.05;  /* of its time: a place with less is left out … */
static const double HARDLY = 0.001; /* … and idle time that is so little of a step */

static void add(struct launch_places *to, uint64_t key, const struct place_sum *sum, double weight)
{
	const uint32_t i = KEYMAP_ADD(to->keys.arena, &to->keys, key, to->place);
	struct launch_place *place = &to->place[i];
	place->per_step += (double)sum->ns * weight;
	place->samples += sum->samples;
	place->depth = sum->depth > place->depth ? sum->depth : place->depth;
}

void launch_places_add(struct launch_places *to, const struct place_sums *sums, double weight)
{
	for (uint32_t k = 0; k < sums->keys.n; k++)
		add(to, sums->keys.keys[k], &sums->sum[k], weight);
}

/* The idle fact that a cell went into. */
static uint32_t fact_of(struct cells *facts, const struct run *run, const struct cell *cell)
{
	struct cell_key key = cell->key;
	key.phase = run->phases.by_work ? 0 : run->phases.names[key.phase];
	return cells_add(facts, &key, 0);
}

/* What one device of one run has, by idle fact. */
static void add_device(const struct run *run, uint32_t at, double weight, struct cells *facts, uint32_t n_facts,
                       struct launch_places *to, struct arena *scratch)
{
	const struct device_run *d = &run->charge->devices[at];
	uint32_t *fact = ARENA_NEW(scratch, d->cells.n, uint32_t);
	for (uint32_t c = 0; c < d->cells.n; c++)
		fact[c] = fact_of(facts, run, &d->cells.cell[c]);
	for (uint32_t k = 0; k < d->places.keys.n; k++) {
		const uint64_t key = d->places.keys.keys[k], of = fact[place_key_of(key)];
		if (of < n_facts)
			add(to, of << 32 | (key & UINT32_MAX), &d->places.sum[k], weight);
	}
}

static void add_idle(const struct run *runs, const struct side *side, const struct side_facts *facts,
                     struct launch_places *to, struct arena *scratch)
{
	struct cells cells = {.arena = scratch};
	for (uint32_t i = 0; i < facts->n_idle; i++)
		cells_add(&cells, &facts->idle[i].key, 0);
	for (uint32_t d = 0; d < side->n_devices; d++) {
		const double in_runs = side->devices[d].n_runs;
		for (size_t r = 0; r < side->n_runs; r++)
			if (runs[r].charge->device_at[d] != TRACE_NONE)
				add_device(&runs[r], runs[r].charge->device_at[d],
				           1 / (in_runs * runs[r].window.n_steps * side->n_devices), &cells,
				           facts->n_idle, to, scratch);
	}
}

SORT_ORDER_BY(compare_facts, struct place_fact, names,
              ASCENDING(x->time, y->time) ?: ASCENDING(x->idle, y->idle) ?: ASCENDING(x->line, y->line)
              ?: strcmp(names_text(names, x->name), names_text(names, y->name)))

SORT_ORDER_BY(compare_times, struct place_fact, names,
              ASCENDING(x->name != 0, y->name != 0) ?: DESCENDING(x->per_step, y->per_step)
              ?: compare_facts(x, y, names))

static void take(struct place_facts *out, const struct launch_places *from, enum place_time time, double least,
                 const struct idle_fact *idle)
{
	for (uint32_t i = 0; i < from->keys.n; i++) {
		const uint64_t key = from->keys.keys[i];
		const uint32_t of = place_key_of(key);
		const struct place_fact fact = {.time = idle ? PLACE_IDLE : (enum place_time)of,
		                                .idle = idle ? of : 0,
		                                .line = place_key_line(key),
		                                .name = place_key_name(key),
		                                .depth = from->place[i].depth,
		                                .samples = from->place[i].samples,
		                                .per_step = from->place[i].per_step};
		const double all = idle ? idle[of].per_step : least;
		if (fact.time == time && fact.per_step >= LITTLE * all && (!idle || all >= least))
			out->list[out->n++] = fact;
	}
}

struct place_facts place_facts_build(const struct run *runs, const struct side *side, const struct side_facts *facts,
                                     const struct launch_places *launched, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct launch_places idle = {0};
	keymap_init(&idle.keys, &scratch);
	add_idle(runs, side, facts, &idle, &scratch);
	struct place_facts all = {.list = ARENA_NEW(&scratch, idle.keys.n + launched->keys.n, struct place_fact)};
	take(&all, &idle, PLACE_IDLE, HARDLY * side->budget.period, facts->idle);
	for (enum place_time time = PLACE_KERNELS; time < PLACE_TIMES; time++) {
		const uint32_t whole = keymap_find(&launched->keys, (uint64_t)time << 32);
		if (whole != UINT32_MAX)
			take(&all, launched, time, launched->place[whole].per_step, NULL);
	}
	SORT_BY(all.list, all.n, compare_times, runs[0].trace->names);
	all.n = all.n < MOST ? all.n : MOST;
	SORT_BY(all.list, all.n, compare_facts, runs[0].trace->names);
	return (struct place_facts){arena_keep(arena, all.list, all.n, sizeof *all.list), all.n};
}
