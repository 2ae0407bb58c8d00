#include "side/side_parts.h"

#include "base/sort.h"
#include "charge/rank_steps.h"

#include <math.h>

static const double LEAST = 0.01; /* of the mean own step: parts that are nowhere as long have no picture */

/* One step that took ten times as long would leave no colours for the others. */
static void find_range(struct rank_map *map)
{
	ARENA_LOCAL(scratch);
	size_t n = (size_t)map->rows * map->columns;
	float *sorted = ARENA_NEW(&scratch, n, float);
	size_t all = n;
	n = 0;
	for (size_t i = 0; i < all; i++)
		if (map->step[i] >= 0)
			sorted[n++] = map->step[i];
	if (!n) {
		*map = (struct rank_map){0};
		return;
	}
	sort_floats(sorted, n);
	double median = sorted[n / 2];
	map->low = fmax(sorted[0], median / 2);
	map->high = median > 0 ? fmin(sorted[n - 1], 2 * median) : sorted[n - 1];
}

static float *begin(const struct run *run, uint32_t n_places, uint32_t rows, uint32_t columns, struct arena *arena,
                    struct rank_map *out)
{
	*out = (struct rank_map){.ranks_a_row = (n_places + rows - 1) / rows,
	                         .steps_a_column = (run->window.n_steps + columns - 1) / columns,
	                         .first_step = run->window.warmup};
	out->rows = (n_places + out->ranks_a_row - 1) / out->ranks_a_row;
	out->columns = (run->window.n_steps + out->steps_a_column - 1) / out->steps_a_column;
	float *cells = ARENA_NEW(arena, (size_t)out->rows * out->columns, float);
	for (size_t i = 0; i < (size_t)out->rows * out->columns; i++)
		cells[i] = -1;
	out->step = cells;
	return cells;
}

static void add_rank(const struct run *run, const struct rank_map *map, float *cells, uint32_t place,
                     const double *step)
{
	float *row = &cells[(size_t)(place / map->ranks_a_row) * map->columns];
	for (uint32_t k = 0; k < run->window.n_steps; k++) {
		float *cell = &row[k / map->steps_a_column];
		*cell = fmaxf(*cell, (float)step[k]);
	}
}

/* The parts of a device's steps. Its own step is known to be without what it waited. */
static void find_parts(const struct run *run, uint32_t at, const double *own, int64_t *end, double *const *part)
{
	rank_steps_kept(run, &run->charge->devices[at], end, part);
	for (uint32_t i = 0; i < run->window.n_steps; i++) {
		uint32_t k = run->window.warmup + i;
		double step = (double)(end[k] - end[k - 1]), moving = part[RANK_MOVING][i];
		part[RANK_IDLE][i] = step - part[RANK_COMPUTE][i] - moving - part[RANK_COPY][i];
		part[RANK_WAITING][i] = step - own[i];
		part[RANK_MOVING][i] = fmax(0, moving - part[RANK_WAITING][i]);
	}
}

struct rank_maps rank_maps_build(const struct run *run, const struct waiting *waiting, uint32_t n_places,
                                 struct arena *arena)
{
	struct rank_maps out = {0};
	ARENA_LOCAL(scratch);
	float *own, *cells[RANK_PARTS];
	double *part[RANK_PARTS], mean = 0, known = 0;
	if (!run->steps.found || n_places < 2)
		return out;
	int64_t *end = ARENA_TAKE(&scratch, run->steps.n, int64_t);
	own = begin(run, n_places, RANK_MAP_ROWS, RANK_MAP_COLUMNS, arena, &out.own);
	for (int p = 0; p < RANK_PARTS; p++) {
		cells[p] = begin(run, n_places, RANK_PART_ROWS, RANK_PART_COLUMNS, arena, &out.parts[p]);
		part[p] = ARENA_NEW(&scratch, run->window.n_steps, double);
	}
	for (uint32_t at = 0; at < run->charge->n_devices; at++) {
		const struct device_waiting *device = &waiting->device[at];
		if (!rank_steps_marked(run, at))
			continue;
		add_rank(run, &out.own, own, run->charge->place[at], device->step);
		find_parts(run, at, device->step, end, part);
		for (int p = 0; p < RANK_PARTS; p++)
			add_rank(run, &out.parts[p], cells[p], run->charge->place[at], part[p]);
		mean += device->own;
		known++;
	}
	mean = known > 0 ? mean / known : 0;
	find_range(&out.own);
	for (int p = 0; p < RANK_PARTS; p++) {
		struct rank_map *map = &out.parts[p];
		find_range(map);
		if (map->high < LEAST * mean)
			*map = (struct rank_map){0};
	}
	return out;
}
