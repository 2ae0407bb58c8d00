#include "analyse/judge/waterfall.h"

#include "analyse/judge/renames.h"
#include "base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parts {
	struct arena *arena;
	struct waterfall_part *list;
	uint32_t n, room;
};

static void add_part(struct parts *p, struct waterfall_part part)
{
	LIST_GROW(p->arena, p->list, p->n, p->room);
	p->list[p->n++] = part;
}

static const double ROUNDING = 1e-12; /* of a step */

static void add_pair(struct parts *p, enum part_kind kind, double baseline, double fixed)
{
	if (baseline != 0 || fixed != 0)
		add_part(p, (struct waterfall_part){.kind = kind, .baseline = baseline, .fixed = fixed});
}

static int compare_keys(const void *a, const void *b)
{
	const struct idle_row *x = a, *y = b;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->phase < y->phase ? -1 : x->phase > y->phase;
}

/* The rows of a side's budget by (cause, phase); phases have the baseline's names. Where nobody marked phases, by
 * cause: what a thread launches next changes with every fix, and idle time that moved from before one kernel to before
 * another is still there. Returns how many. */
static uint32_t by_key(const struct side *of, int side, const struct renames *renames, struct arena *arena,
                       struct idle_row **rows)
{
	const struct budget *b = &of->budget;
	uint32_t n = 0;
	struct idle_row *list = ARENA_NEW(arena, b->n_rows + 1, struct idle_row);
	for (uint32_t i = 0; i < b->n_rows; i++) {
		list[i] = b->rows[i];
		list[i].phase = of->phases_by_work ? 0
		                : side             ? renames_baseline(renames, b->rows[i].phase)
		                                   : b->rows[i].phase;
	}
	if (b->n_rows)
		qsort(list, b->n_rows, sizeof *list, compare_keys);
	for (uint32_t i = 0; i < b->n_rows; i++)
		if (n && compare_keys(&list[n - 1], &list[i]) == 0)
			list[n - 1].per_step += list[i].per_step;
		else
			list[n++] = list[i];
	*rows = list;
	return n;
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

/* All idle time of a part's cause. */
static struct waterfall_part whole_cause(const struct waterfall *w, const struct waterfall_part *part)
{
	struct waterfall_part all = {.kind = PART_IDLE, .cause = part->cause};
	for (uint32_t i = 0; i < w->n; i++)
		if (w->part[i].kind == PART_IDLE && w->part[i].cause == part->cause) {
			all.baseline += w->part[i].baseline;
			all.fixed += w->part[i].fixed;
			all.delta += w->part[i].delta;
		}
	return all;
}

/* What changed most: of work and of waiting, not of how it was measured. Waiting that went from one phase into another
 * is not gone: where a fifth of it and more came back elsewhere, what counts is all of its cause. */
static void find_change(struct waterfall *w, enum verdict_result result)
{
	const double moved = 0.2;
	double sign = result == VERDICT_FASTER ? -1 : result == VERDICT_SLOWER ? 1 : 0, most = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		struct waterfall_part p = w->part[i];
		if (sign * p.delta <= most || p.kind == PART_UNUSUAL || p.kind == PART_RECORDING ||
		    p.kind == PART_OUTSIDE)
			continue;
		bool everywhere = false;
		if (p.kind == PART_IDLE) {
			struct waterfall_part all = whole_cause(w, &p);
			everywhere = sign * all.delta < (1 - moved) * sign * p.delta;
			p = everywhere ? all : p;
		}
		if (sign * p.delta <= most)
			continue;
		most = sign * p.delta;
		w->change = p;
		w->change_everywhere = everywhere;
		w->has_change = true;
	}
}

static void add_idle(struct parts *p, const struct side *a, const struct side *b, const struct renames *renames)
{
	struct arena scratch = {0};
	struct idle_row *rows_a, *rows_b;
	uint32_t n_a = by_key(a, 0, renames, &scratch, &rows_a), n_b = by_key(b, 1, renames, &scratch, &rows_b);
	for (uint32_t i = 0, j = 0; i < n_a || j < n_b;) {
		int order = i == n_a ? 1 : j == n_b ? -1 : compare_keys(&rows_a[i], &rows_b[j]);
		const struct idle_row *row = order <= 0 ? &rows_a[i] : &rows_b[j];
		uint32_t renamed = renames_fixed(renames, row->phase);
		add_part(p, (struct waterfall_part){.kind = PART_IDLE,
		                                    .cause = row->cause,
		                                    .phase = row->phase,
		                                    .renamed = renamed == row->phase ? 0 : renamed,
		                                    .baseline = order <= 0 ? rows_a[i].per_step : 0,
		                                    .fixed = order >= 0 ? rows_b[j].per_step : 0});
		i += order <= 0;
		j += order >= 0;
	}
	arena_release(&scratch);
}

struct waterfall waterfall_build(const struct side side[2], const struct renames *renames,
                                 const struct verdict *verdict, const struct names *names, struct arena *arena)
{
	struct parts p = {.arena = arena};
	const struct budget *a = &side[0].budget, *b = &side[1].budget;
	add_pair(&p, PART_COMPUTE, a->compute, b->compute);
	add_pair(&p, PART_COMM, a->comm_exposed, b->comm_exposed);
	add_pair(&p, PART_COPY, a->copy_exposed, b->copy_exposed);
	add_idle(&p, &side[0], &side[1], renames);
	double rest[2] = {side[0].headline.step - a->period, side[1].headline.step - b->period};
	for (int s = 0; s < 2; s++) /* what only double rounding leaves is no part */
		if (fabs(rest[s]) < ROUNDING * side[s].headline.step)
			rest[s] = 0;
	add_pair(&p,
	         verdict->measured != VERDICT_STOPWATCH ? PART_UNUSUAL
	         : side[0].steps.found                  ? PART_RECORDING
	                                                : PART_OUTSIDE,
	         rest[0], rest[1]);
	bool differs = false;
	for (uint32_t i = 0; i < p.n; i++) {
		p.list[i].delta = p.list[i].fixed - p.list[i].baseline;
		differs = differs || p.list[i].delta != 0;
	}
	struct waterfall out = {.part = p.list, .n = differs ? p.n : 0};
	if (out.n)
		qsort_r(out.part, out.n, sizeof *out.part, compare_parts, (struct names *)(uintptr_t)names);
	find_change(&out, verdict->result);
	return out;
}
