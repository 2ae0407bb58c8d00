/* The way from the baseline's step to the fixed one's, part by part, exact. */
#include "analyse/judge/compare.h"
#include "analyse/judge/renames.h"
#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct waterfall {
	struct arena *arena;
	struct analysis *out;
	uint32_t room;
};

static void add_part(struct waterfall *w, struct waterfall_part part)
{
	struct analysis *out = w->out;
	LIST_GROW(w->arena, out->waterfall, out->n_waterfall, w->room);
	out->waterfall[out->n_waterfall++] = part;
}

static const double ROUNDING = 1e-12; /* of a step */

static void add_pair(struct waterfall *w, enum part_kind kind, double baseline, double fixed)
{
	if (baseline != 0 || fixed != 0)
		add_part(w, (struct waterfall_part){.kind = kind, .baseline = baseline, .fixed = fixed});
}

static int compare_keys(const void *a, const void *b)
{
	const struct idle_row *x = a, *y = b;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->phase < y->phase ? -1 : x->phase > y->phase;
}

/* The rows of a side's budget by (cause, phase); phases have the baseline's names. */
static struct idle_row *by_key(const struct analysis *a, int side, const struct renames *renames, struct arena *arena)
{
	const struct budget *b = &a->side[side].budget;
	struct idle_row *list = ARENA_NEW(arena, b->n_rows + 1, struct idle_row);
	for (uint32_t i = 0; i < b->n_rows; i++) {
		list[i] = b->rows[i];
		list[i].phase = side ? renames_baseline(renames, b->rows[i].phase) : b->rows[i].phase;
	}
	if (b->n_rows)
		qsort(list, b->n_rows, sizeof *list, compare_keys);
	return list;
}

/* The largest change first; ids of names depend on the order in which files were read, so ties go by text. */
static int compare_parts(const void *a, const void *b, void *names)
{
	const struct waterfall_part *x = a, *y = b;
	if (fabs(x->delta) != fabs(y->delta))
		return fabs(x->delta) > fabs(y->delta) ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return strcmp(names_text(names, x->phase), names_text(names, y->phase));
}

/* What changed most: of work and of waiting, not of how it was measured. */
static void find_change(struct analysis *out)
{
	double sign = out->verdict.result == VERDICT_FASTER   ? -1
	              : out->verdict.result == VERDICT_SLOWER ? 1
	                                                      : 0,
	       most = 0;
	for (uint32_t i = 0; i < out->n_waterfall; i++) {
		const struct waterfall_part *p = &out->waterfall[i];
		if (sign * p->delta <= most || p->kind == PART_UNUSUAL || p->kind == PART_RECORDING ||
		    p->kind == PART_OUTSIDE)
			continue;
		most = sign * p->delta;
		out->change = *p;
		out->has_change = true;
	}
}

void waterfall_build(struct arena *arena, struct analysis *out)
{
	struct waterfall w = {.arena = arena, .out = out};
	const struct budget *a = &out->side[0].budget, *b = &out->side[1].budget;
	add_pair(&w, PART_COMPUTE, a->compute, b->compute);
	add_pair(&w, PART_COMM, a->comm_exposed, b->comm_exposed);
	add_pair(&w, PART_COPY, a->copy_exposed, b->copy_exposed);
	const struct renames renames = {out->renames, out->n_renames};
	struct arena scratch = {0};
	const struct idle_row *rows_a = by_key(out, 0, &renames, &scratch),
			      *rows_b = by_key(out, 1, &renames, &scratch);
	for (uint32_t i = 0, j = 0; i < a->n_rows || j < b->n_rows;) {
		int order = i == a->n_rows ? 1 : j == b->n_rows ? -1 : compare_keys(&rows_a[i], &rows_b[j]);
		const struct idle_row *row = order <= 0 ? &rows_a[i] : &rows_b[j];
		uint32_t renamed = renames_fixed(&renames, row->phase);
		add_part(&w, (struct waterfall_part){.kind = PART_IDLE,
		                                     .cause = row->cause,
		                                     .phase = row->phase,
		                                     .renamed = renamed == row->phase ? 0 : renamed,
		                                     .baseline = order <= 0 ? rows_a[i].per_step : 0,
		                                     .fixed = order >= 0 ? rows_b[j].per_step : 0});
		i += order <= 0;
		j += order >= 0;
	}
	arena_release(&scratch);
	double rest[2] = {out->side[0].time_per_step - a->period, out->side[1].time_per_step - b->period};
	for (int s = 0; s < 2; s++) /* what only double rounding leaves is no part */
		if (fabs(rest[s]) < ROUNDING * out->side[s].time_per_step)
			rest[s] = 0;
	add_pair(&w,
	         out->verdict.measured != VERDICT_STOPWATCH ? PART_UNUSUAL
	         : out->side[0].steps_found                 ? PART_RECORDING
	                                                    : PART_OUTSIDE,
	         rest[0], rest[1]);
	bool differs = false;
	for (uint32_t i = 0; i < out->n_waterfall; i++) {
		out->waterfall[i].delta = out->waterfall[i].fixed - out->waterfall[i].baseline;
		differs = differs || out->waterfall[i].delta != 0;
	}
	if (!differs)
		out->n_waterfall = 0;
	else
		qsort_r(out->waterfall, out->n_waterfall, sizeof *out->waterfall, compare_parts,
		        (struct names *)(uintptr_t)out->names);
	find_change(out);
}
