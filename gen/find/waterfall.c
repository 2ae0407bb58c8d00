#include "find/waterfall.h"
#include "base/sort.h"

#include "base/list.h"
#include "find/bound.h"
#include "find/columns.h"
#include "same/renames.h"
#include "verdict/evidence.h"
#include "verdict/row.h"

#include <math.h>
#include <string.h>

struct parts {
	struct arena *arena;
	struct waterfall_part *list;
	uint32_t n, room;
};

static void add_part(struct parts *p, struct waterfall_part part)
{
	LIST_ADD(p->arena, p->list, p->n, p->room, part);
}

static const double ROUNDING = 1e-12; /* of a step */

/* What a side's parts add up to, ns a step, or an item. */
static double time_of(const struct side *side)
{
	return side->headline.step / side_items(side);
}

static void add_pair(struct parts *p, enum part_kind kind, double baseline, double fixed)
{
	if (baseline != 0 || fixed != 0)
		add_part(p, (struct waterfall_part){.kind = kind, .baseline = baseline, .fixed = fixed});
}

SORT_ORDER(compare_keys, struct idle_row, ASCENDING(x->cause, y->cause) ?: ASCENDING(x->phase, y->phase))

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
	SORT(list, b->n_rows, compare_keys);
	for (uint32_t i = 0; i < b->n_rows; i++) {
		list[i].per_step /= side_items(of);
		if (n && compare_keys(&list[n - 1], &list[i]) == 0)
			list[n - 1].per_step += list[i].per_step;
		else
			list[n++] = list[i];
	}
	*rows = list;
	return n;
}

/* The largest change first; ids of names depend on the order in which files were read, so ties go by text. */
SORT_ORDER_BY(compare_parts, struct waterfall_part, names,
              DESCENDING(fabs(x->delta), fabs(y->delta)) ?: ASCENDING(x->kind, y->kind)
              ?: ASCENDING(x->cause, y->cause) ?: strcmp(names_text(names, x->phase), names_text(names, y->phase)))

/* Idle time like a part's: of its cause in every phase, in its phase of every cause, or all. */
static struct waterfall_part idle_like(const struct waterfall *w, const struct waterfall_part *part, bool every_phase,
                                       bool every_cause)
{
	struct waterfall_part all = *part;
	all.baseline = all.fixed = all.delta = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct waterfall_part *p = &w->part[i];
		if (p->kind != PART_IDLE || (!every_phase && p->phase != part->phase) ||
		    (!every_cause && p->cause != part->cause))
			continue;
		all.baseline += p->baseline;
		all.fixed += p->fixed;
		all.delta += p->delta;
	}
	return all;
}

static const double MOVED = 0.2; /* of a change: where so much of it came back elsewhere, it has not gone */

/* How far idle time like a part's reaches: itself, its cause in every phase, its phase of every cause, all of it. */
enum { REACHES = 4, ITS_PLACE = 2 };
static const struct {
	bool every_phase, every_cause;
} reach[REACHES] = {{false, false}, {true, false}, {false, true}, {true, true}};

/* Waiting that went from one phase into another, or from one cause to another, is not gone. What counts is the smallest
 * reach, from `take` on, whose change the larger ones bear out; `place` gets what it is in: its phase, or all. */
static struct reason netted(const struct waterfall *w, const struct waterfall_part *part, double sign, int take,
                            struct reason *place)
{
	struct waterfall_part like[REACHES];
	double least[REACHES];
	for (int i = 0; i < REACHES; i++) {
		like[i] = idle_like(w, part, reach[i].every_phase, reach[i].every_cause);
		least[i] = sign * like[i].delta * (1 - MOVED);
	}
	const double all = sign * like[REACHES - 1].delta;
	const bool holds[REACHES] = {sign * like[1].delta >= least[0] && sign * like[2].delta >= least[0] &&
	                                     all >= least[0],
	                             all >= least[1], all >= least[2], true};
	while (!holds[take])
		take++;
	const int in = reach[take].every_phase ? REACHES - 1 : ITS_PLACE;
	*place = (struct reason){
		.part = like[in], .every_phase = reach[in].every_phase, .every_cause = reach[in].every_cause};
	return (struct reason){
		.part = like[take], .every_phase = reach[take].every_phase, .every_cause = reach[take].every_cause};
}

/* ---- why ---- */

/* A step's kernels, summed, ns a GPU. */
static double kernels_of(const struct side *side)
{
	double sum = 0;
	for (uint32_t i = 0; i < side->n_kernels; i++)
		sum += side->kernels[i].comm ? 0 : side->kernels[i].per_step;
	return sum / fmax(1, side->n_devices);
}

double waterfall_at_once(const struct side *side)
{
	return side->budget.compute > 0 ? kernels_of(side) / side->budget.compute : 0;
}

/* The GPU computes for less time, or more, though kernels take as long: more of them run at once, or fewer. */
static void find_overlap(const struct side side[2], double sign, struct reason *r)
{
	double kernels = kernels_of(&side[1]) / side_items(&side[1]) - kernels_of(&side[0]) / side_items(&side[0]);
	if (r->part.kind == PART_COMPUTE && sign * kernels < MOVED * sign * r->part.delta)
		for (int s = 0; s < 2; s++)
			r->at_once[s] = waterfall_at_once(&side[s]);
}

/* Whether a reason that was named has some of the same time. */
static bool is_named(const struct waterfall *w, const struct reason *is)
{
	for (uint32_t i = 0; i < w->n_reasons; i++) {
		const struct reason *r = &w->reason[i];
		bool phase = r->every_phase || is->every_phase || r->part.phase == is->part.phase;
		bool cause = r->every_cause || is->every_cause || r->part.cause == is->part.cause;
		if (r->part.kind == is->part.kind && (is->part.kind != PART_IDLE || (phase && cause)))
			return true;
	}
	return false;
}

/* Leaves so much of a change: the side that has less of it has what came in its stead, too. */
static void take_off(struct waterfall_part *part, double left)
{
	part->delta = left;
	*(part->baseline > part->fixed ? &part->fixed : &part->baseline) =
		part->baseline > part->fixed ? part->baseline + left : part->fixed - left;
}

/* No part of a place changed by more than the place did: what came in its stead, of whatever cause, is taken off. */
static void hold_to_place(const struct waterfall *w, double sign, const struct reason *place, struct reason *r)
{
	double left = place->part.delta;
	for (uint32_t i = 0; i < w->n_reasons; i++) {
		const struct reason *named = &w->reason[i];
		if (named->part.kind == PART_IDLE &&
		    (place->every_phase || (!named->every_phase && named->part.phase == place->part.phase)))
			left -= named->part.delta;
	}
	if (sign * r->part.delta > sign * left) {
		take_off(&r->part, left);
		r->held = true;
	}
}

/* By more than chance: clear of its interval by more, the more rows could have been named. */
static bool is_clear(const struct waterfall_part *p, bool one_run, double by)
{
	return fabs(p->delta) > columns_slack(p) &&
	       (!p->has_interval || fabs(p->delta) > by * (one_run ? p->within : p->half));
}

enum { SUMMED = 30 }; /* of the parts, the largest, so many are looked at for sums that they are in */

/* What a reason has to be: of the verdict's direction, a tenth of all, and by more than chance. */
struct naming {
	double sign, change, clear;
	bool one_run;
};

static bool is_large(const struct naming *n, const struct waterfall_part *part)
{
	return n->sign * part->delta >= EVIDENCE_ROW_PART * n->change;
}

static void add_reason(struct waterfall *w, const struct naming *n, const struct reason *r)
{
	w->reason[w->n_reasons++] = *r;
	w->explained += n->sign * r->part.delta / n->change;
}

/* Names the part, or idle time like it as far as `from` reaches. */
static void name_part(struct waterfall *w, const struct columns *t, const struct naming *n,
                      const struct waterfall_part *part, int from)
{
	struct reason r = {.part = *part}, place;
	if (part->kind == PART_IDLE) {
		r = netted(w, part, n->sign, from, &place);
		if (!is_large(n, &r.part) || is_named(w, &r))
			return;
		if (r.every_phase || r.every_cause)
			columns_interval(t, &r);
		hold_to_place(w, n->sign, &place, &r);
	}
	if (!is_large(n, &r.part) || !is_clear(&r.part, n->one_run, n->clear))
		return;
	find_overlap(t->side, n->sign, &r);
	add_reason(w, n, &r);
}

/* Copies that go one way, as the step tables have them, with their interval. */
static struct reason copies_of(const struct columns *t, uint32_t way)
{
	struct reason r = {.part.kind = PART_COPY, .one_way = true, .way = way};
	struct arena scratch = {0};
	double *mean[2] = {&r.part.baseline, &r.part.fixed};
	for (int s = 0; s < 2; s++)
		for (size_t k = 0; k < t->facts[s].n_runs; k++)
			if (t->facts[s].runs[k].n_columns)
				*mean[s] += columns_of_run(t, s, &t->facts[s].runs[k], &r, &scratch).mean /
				            (double)t->facts[s].n_runs;
	arena_release(&scratch);
	r.part.delta = r.part.fixed - r.part.baseline;
	columns_interval(t, &r);
	return r;
}

/* Names copies by the way they go, those that changed most first, as far as all copies together changed: what is
 * copied back in another way, or beside others now, has not gone. Returns whether any is named. */
static bool name_ways(struct waterfall *w, const struct columns *t, const struct naming *n,
                      const struct waterfall_part *all)
{
	double left = all->delta;
	struct reason way[COPY_WAYS];
	uint32_t before = w->n_reasons;
	for (uint32_t k = COPY_H2D; k < COPY_WAYS && t->facts; k++)
		way[k] = copies_of(t, k);
	while (t->facts && w->n_reasons < REASONS_MOST && w->explained < EVIDENCE_ROW_ENOUGH) {
		struct reason *r = &way[COPY_H2D];
		for (uint32_t k = COPY_H2D; k < COPY_WAYS; k++)
			if (n->sign * way[k].part.delta > n->sign * r->part.delta)
				r = &way[k];
		if (n->sign * left < n->sign * r->part.delta * (1 - MOVED) || !is_large(n, &r->part) ||
		    !is_clear(&r->part, n->one_run, n->clear))
			break;
		if (n->sign * r->part.delta > n->sign * left) {
			take_off(&r->part, left);
			r->held = true;
		}
		left -= r->part.delta;
		add_reason(w, n, r);
		r->part.delta = 0;
	}
	return w->n_reasons > before;
}

/* Whether what is named has some of the part, or took it off. */
static bool is_accounted(const struct waterfall *w, const struct waterfall_part *part)
{
	const struct reason is = {.part = *part};
	bool held = false;
	for (uint32_t i = 0; i < w->n_reasons && part->kind == PART_IDLE; i++)
		held = held || (w->reason[i].held && w->reason[i].part.kind == PART_IDLE &&
		                (w->reason[i].every_phase || w->reason[i].part.phase == part->phase));
	return held || is_named(w, &is);
}

static void find_rest(struct waterfall *w, double change)
{
	for (uint32_t i = w->n; i-- > 0;) { /* the largest stand first */
		w->rest += w->part[i].delta;
		if (!is_accounted(w, &w->part[i])) /* what no part of the budget is, is no reason, and may be more */
			w->largest = w->part[i].kind <= PART_IDLE ? &w->part[i] : NULL;
	}
	for (uint32_t i = 0; i < w->n_reasons; i++)
		w->rest -= w->reason[i].part.delta;
	if (w->largest && fmax(fabs(w->rest), fabs(w->largest->delta)) < EVIDENCE_ROW_PART * change)
		w->largest = NULL;
}

static struct naming naming_of(const struct waterfall *w, const struct columns *t, enum verdict_result result)
{
	struct naming n = {.sign = result == VERDICT_FASTER ? -1 : result == VERDICT_SLOWER ? 1 : 0};
	size_t large = 0;
	n.one_run = t->facts && (t->facts[0].n_runs == 1 || t->facts[1].n_runs == 1);
	for (uint32_t i = 0; i < w->n; i++)
		n.change += n.sign * w->part[i].delta;
	for (uint32_t i = 0; i < w->n; i++)
		large += w->part[i].kind <= PART_IDLE && fabs(w->part[i].delta) >= EVIDENCE_ROW_PART * n.change;
	n.clear = row_clear(large);
	return n;
}

/* Of work and of waiting, not of how it was measured. Parts first; then what is large only as a sum over causes or
 * phases. */
static void find_reasons(struct waterfall *w, const struct columns *t, enum verdict_result result)
{
	const struct naming n = naming_of(w, t, result);
	const double step = fmax(time_of(&t->side[0]), time_of(&t->side[1]));
	if (n.change <= 0 || (n.one_run && n.change < EVIDENCE_ROW_CLOCK * step))
		return;
	static const int order[REACHES] = {0, ITS_PLACE, 1, REACHES - 1};
	for (int pass = 0; pass < REACHES; pass++)
		for (uint32_t i = 0; i < w->n && w->n_reasons < REASONS_MOST && w->explained < EVIDENCE_ROW_ENOUGH;
		     i++) {
			const struct waterfall_part *part = &w->part[i];
			bool fits = pass ? part->kind == PART_IDLE && i < SUMMED
			                 : part->kind <= PART_IDLE && is_large(&n, part);
			if (fits && !(part->kind == PART_COPY && name_ways(w, t, &n, part)))
				name_part(w, t, &n, part, order[pass]);
		}
	if (w->n_reasons)
		find_rest(w, n.change);
}

static void add_idle(struct parts *p, const struct side *a, const struct side *b, const struct renames *renames)
{
	ARENA_LOCAL(scratch);
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
}

struct waterfall waterfall_build(const struct side side[2], const struct side_facts *facts,
                                 const struct renames *renames, const struct verdict *verdict,
                                 const struct names *names, struct arena *arena)
{
	const struct columns tables = {
		facts, side, {side_items(&side[0]), side_items(&side[1])}, renames, verdict->exchange.apart};
	struct parts p = {.arena = arena};
	const struct budget *a = &side[0].budget, *b = &side[1].budget;
	const double *per = tables.items;
	add_pair(&p, PART_COMPUTE, a->compute / per[0], b->compute / per[1]);
	add_pair(&p, PART_COMM, a->comm_exposed / per[0], b->comm_exposed / per[1]);
	add_pair(&p, PART_COPY, a->copy_exposed / per[0], b->copy_exposed / per[1]);
	add_idle(&p, &side[0], &side[1], renames);
	double rest[2] = {time_of(&side[0]) - a->period / per[0], time_of(&side[1]) - b->period / per[1]};
	for (int s = 0; s < 2; s++) /* what only double rounding leaves is no part */
		if (fabs(rest[s]) < ROUNDING * time_of(&side[s]))
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
	SORT_BY(out.part, out.n, compare_parts, names);
	for (uint32_t i = 0; i < out.n && i < BOUND_ROWS; i++) {
		struct reason part = {.part = out.part[i]};
		columns_interval(&tables, &part);
		out.part[i] = part.part;
	}
	find_reasons(&out, &tables, verdict->result);
	return out;
}
