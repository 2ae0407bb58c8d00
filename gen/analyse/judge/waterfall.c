/* The way from the baseline's step to the fixed one's, part by part, exact. */
#include "analyse/judge/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct waterfall {
	struct arena *arena;
	struct analysis *out;
	uint32_t room;
};

static struct waterfall_part *add_part(struct waterfall *w, const char *part)
{
	struct analysis *out = w->out;
	if (out->n_waterfall == w->room) {
		uint32_t room = w->room ? 2 * w->room : 32;
		out->waterfall = arena_grow(w->arena, out->waterfall, w->room, room, sizeof *out->waterfall);
		w->room = room;
	}
	struct waterfall_part *p = &out->waterfall[out->n_waterfall++];
	*p = (struct waterfall_part){.part = part};
	return p;
}

static void add_pair(struct waterfall *w, const char *part, double baseline, double fixed)
{
	if (baseline == 0 && fixed == 0)
		return;
	struct waterfall_part *p = add_part(w, part);
	p->baseline = baseline;
	p->fixed = fixed;
}

static int compare_keys(const void *a, const void *b)
{
	const struct idle_row *x = *(const struct idle_row *const *)a, *y = *(const struct idle_row *const *)b;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->phase < y->phase ? -1 : x->phase > y->phase;
}

/* The rows of a budget by (cause, phase). */
static const struct idle_row **by_key(const struct budget *b, struct arena *arena)
{
	const struct idle_row **list = ARENA_NEW(arena, b->n_rows + 1, const struct idle_row *);
	for (uint32_t i = 0; i < b->n_rows; i++)
		list[i] = &b->rows[i];
	if (b->n_rows)
		qsort(list, b->n_rows, sizeof *list, compare_keys);
	return list;
}

static const char *idle_part(struct waterfall *w, const struct idle_row *row)
{
	const char *phase = names_text(w->out->names, row->phase);
	return row->phase ? arena_format(w->arena, "idle: %s in %s", cause_name(row->cause), phase)
	                  : arena_format(w->arena, "idle: %s (between phases)", cause_name(row->cause));
}

static int compare_parts(const void *a, const void *b)
{
	const struct waterfall_part *x = a, *y = b;
	if (fabs(x->delta) != fabs(y->delta))
		return fabs(x->delta) > fabs(y->delta) ? -1 : 1;
	return strcmp(x->part, y->part);
}

void waterfall_build(struct arena *arena, struct analysis *out)
{
	struct waterfall w = {.arena = arena, .out = out};
	const struct budget *a = &out->side[0].budget, *b = &out->side[1].budget;
	add_pair(&w, "compute", a->compute, b->compute);
	add_pair(&w, "comm_exposed", a->comm_exposed, b->comm_exposed);
	add_pair(&w, "copy_exposed", a->copy_exposed, b->copy_exposed);
	const struct idle_row **rows_a = by_key(a, arena), **rows_b = by_key(b, arena);
	for (uint32_t i = 0, j = 0; i < a->n_rows || j < b->n_rows;) {
		int order = i == a->n_rows ? 1 : j == b->n_rows ? -1 : compare_keys(&rows_a[i], &rows_b[j]);
		const char *part = idle_part(&w, order <= 0 ? rows_a[i] : rows_b[j]);
		add_pair(&w, part, order <= 0 ? rows_a[i]->per_step : 0, order >= 0 ? rows_b[j]->per_step : 0);
		i += order <= 0;
		j += order >= 0;
	}
	add_pair(&w, "unusual_steps", out->side[0].period_trimmed - a->period, out->side[1].period_trimmed - b->period);
	bool differs = false;
	for (uint32_t i = 0; i < out->n_waterfall; i++) {
		out->waterfall[i].delta = out->waterfall[i].fixed - out->waterfall[i].baseline;
		differs = differs || out->waterfall[i].delta != 0;
	}
	if (!differs)
		out->n_waterfall = 0;
	else
		qsort(out->waterfall, out->n_waterfall, sizeof *out->waterfall, compare_parts);
}
