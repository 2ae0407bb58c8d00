#include "analyse/shown.h"

#include "base/sort.h"
#include "steps/op_names.h"

#include <math.h>
#include <string.h>

static const double NOTICED = 0.005; /* what gains less is no advice */
static const double WAITS = 0.03;    /* share of a step: a GPU that waits less is busy */
static const double NOT_MORE = 1.1;  /* share of a change: what has more of it was made up for by others */
static const double REPLACED = 0.2;  /* of a kernel's time: others that take so much may be in its place */
static const double AS_OFTEN = 0.01; /* launches a step that differ by less are as many */
static const double MANY_MORE = 1.5; /* times as many steps: no mere difference of how long was captured */
static const double MOST_OF = 0.5;   /* share of a change: what has that much of it is named as its reason */

/* Fixed alone, a finding takes, unless it has the rest get faster, at most its cost out of the fixed side's step. Where
 * only that side shows it, its ceiling is of that step, and may be lower. */
static double speedup_of(const struct analysis *a, const struct finding *f)
{
	double step = a->side[1].budget.period, left = step - f->per_step[1];
	if (f->status == FINDING_RESOLVED || !f->has_ceiling || (f->side == 0 && !f->both))
		return 1;
	if (f->ceiling_least > 0)
		left = f->side == 1 ? f->ceiling_least : step - a->side[1].budget.idle;
	else if (f->side == 1)
		return f->ceiling_speedup;
	left = fmax(left, f->floor);
	return left > 0 ? step / left : 1;
}

static void choose_next(const struct analysis *a, struct card *card)
{
	card->next_speedup = 1;
	for (uint32_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.list[i];
		double speedup = speedup_of(a, f);
		if (speedup <= card->next_speedup + NOTICED)
			continue;
		card->next = f;
		card->next_speedup = speedup;
		card->next_phase = f->phase[1];
	}
}

static void choose_left(const struct analysis *a, struct card *card)
{
	const struct budget *b = &a->side[1].budget;
	if (card->next || !b->n_rows || b->idle <= WAITS * b->period)
		return;
	card->left = &b->rows[0];
	card->next_speedup = b->period / (b->period - b->idle);
}

static void choose_longer(const struct analysis *a, struct card *card)
{
	if (a->verdict.result != VERDICT_SLOWER || !a->waterfall.n_reasons ||
	    a->waterfall.reason[0].part.kind == PART_IDLE || a->side[0].phases_by_work)
		return;
	ARENA_LOCAL(work);
	const struct table t = table_make(a, TABLE_PHASES, &work);
	double most = MOST_OF * a->waterfall.reason[0].part.delta;
	for (uint32_t i = 0; i < t.n; i++) {
		double gpu[2] = {0};
		for (int s = 0; s < 2; s++)
			if (t.row[i].at[s] >= 0)
				gpu[s] = a->side[s].phases[t.row[i].at[s]].gpu / side_items(&a->side[s]);
		if (gpu[1] - gpu[0] < most)
			continue;
		most = gpu[1] - gpu[0];
		card->longer_phase = (uint32_t)t.row[i].key;
	}
}

static void choose_straggler(const struct analysis *a, struct card *card)
{
	const struct waterfall_part *part = NULL;
	for (uint32_t i = 0; i < a->waterfall.n_reasons; i++)
		if (a->waterfall.reason[i].part.kind == PART_COMM)
			part = &a->waterfall.reason[i].part;
	for (uint32_t i = 0; part && i < a->findings.n; i++) {
		const struct finding *f = &a->findings.list[i];
		double change = f->per_step[1] / side_items(&a->side[1]) - f->per_step[0] / side_items(&a->side[0]);
		if (strcmp(f->id, "straggler") == 0 && change / part->delta >= MOST_OF)
			card->straggler = f;
	}
}

/* A kernel that runs on one side only takes the place of the one of the other side that runs as often and is nearest in
 * time: `with` is by row, and itself where there is none. */
static void match_kernels(const struct table *t, uint32_t *with)
{
	for (uint32_t i = 0; i < t->kept; i++)
		with[i] = i;
	for (uint32_t i = 0; i < t->kept; i++) {
		const struct table_row *new = &t->row[i];
		uint32_t best = i;
		double nearest = INFINITY;
		if (new->at[0] >= 0)
			continue;
		for (uint32_t k = 0; k < t->kept; k++) {
			const struct table_row *old = &t->row[k];
			if (old->at[1] >= 0 || with[k] != k ||
			    fabs(old->count[0] - new->count[1]) > AS_OFTEN * old->count[0])
				continue;
			double apart = fabs(log(old->time[0] / new->time[1]));
			if (apart < nearest) {
				nearest = apart;
				best = k;
			}
		}
		with[best] = i;
		with[i] = best;
	}
}

/* Whether kernels that only the other side runs, and that take no one's place, may have this one's: it became several.
 */
static bool may_be_replaced(const struct table *t, const uint32_t *with, uint32_t i)
{
	int there = t->row[i].at[0] < 0;
	double others = 0;
	if (with[i] != i || t->row[i].at[1 - there] >= 0)
		return false;
	for (uint32_t k = 0; k < t->kept; k++)
		if (with[k] == k && t->row[k].at[there] < 0)
			others += t->row[k].time[1 - there];
	return others > REPLACED * t->row[i].time[there];
}

/* What changed, of which GPUs and how many items. */
struct changed {
	const struct analysis *a;
	const struct waterfall_part *part;
	struct arena *arena;
};

/* Per GPU: a budget is the mean of its GPUs, tables are summed over them. */
static double per_gpu(const struct analysis *a, int side, double sum)
{
	return sum / side_items(&a->side[side]) / fmax(a->side[side].n_devices, 1);
}

/* Kernels but communication, which is a part of its own. */
static struct table work_kernels(const struct changed *c)
{
	struct table t = table_make(c->a, TABLE_KERNELS, c->arena);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < t.kept; i++) {
		const int side = t.row[i].at[0] < 0;
		if (!c->a->side[side].kernels[t.row[i].at[side]].comm)
			t.row[kept++] = t.row[i];
	}
	t.kept = kept;
	return t;
}

/* What kernels that one side alone runs, and that take no one's place, change by together, but for one of them. */
static double others_change(const struct changed *c, const struct table *t, const uint32_t *with, uint32_t but)
{
	double change = 0;
	for (uint32_t k = 0; k < t->kept; k++) {
		const int there = t->row[k].at[0] < 0;
		if (k != but && with[k] == k && t->row[k].at[1 - there] < 0)
			change += (there ? 1 : -1) * per_gpu(c->a, there, t->row[k].time[there]);
	}
	return change;
}

/* Names none where other kernels came, went, or became others, and that changed more. */
static void find_kernel(const struct changed *c, bool owned, struct card_work *found)
{
	struct table t = work_kernels(c);
	double most = MOST_OF;
	uint32_t *with = ARENA_NEW(c->arena, t.kept, uint32_t);
	match_kernels(&t, with);
	for (uint32_t i = 0; i < t.kept; i++) {
		const struct table_row *row = &t.row[i], *other = &t.row[with[i]];
		double before = per_gpu(c->a, 0, fmax(row->time[0], other->time[0]));
		double after = per_gpu(c->a, 1, fmax(row->time[1], other->time[1]));
		double share = (after - before) / c->part->delta;
		bool other_name = owned ? row->at[0] < 0 || row->at[1] < 0 : row != other && row->at[0] < 0;
		if (share < most || share > NOT_MORE || other_name || may_be_replaced(&t, with, i))
			continue;
		most = share;
		/* of one that took another's place: the name on the side where there is more of it */
		found->kernel = (uint32_t)(c->part->delta > 0 && other->at[1] >= 0 ? other->key : row->key);
		if (others_change(c, &t, with, i) / c->part->delta > share)
			found->kernel = 0;
	}
}

/* Of modules that hold each other the one with the longest path. */
static void find_owner(const struct changed *c, bool modules, struct card_work *found)
{
	struct table t = table_make(c->a, modules ? TABLE_MODULES : TABLE_OUTERMOST, c->arena);
	double best = 0;
	for (uint32_t i = 0; i < t.kept; i++) {
		const struct table_row *row = &t.row[i];
		const struct card_work w = {
			.owner = (uint32_t)row->key,
			.module = modules,
			.time = {per_gpu(c->a, 0, row->time[0]), per_gpu(c->a, 1, row->time[1])},
			.count = {per_gpu(c->a, 0, row->count[0]), per_gpu(c->a, 1, row->count[1])}};
		double share = (w.time[1] - w.time[0]) / c->part->delta;
		double better = modules ? (double)strlen(names_text(c->a->names, w.owner)) : share;
		if (!w.owner || row->at[0] < 0 || row->at[1] < 0 || share < MOST_OF || share > NOT_MORE ||
		    better <= best)
			continue;
		best = better;
		*found = w;
	}
}

/* Without operators and without ranges modules are known of some kernels alone (read/nsys_kernels.c), and not of the
 * same on both sides. */
static bool has_modules(const struct side *side)
{
	return side->n_modules && (side->n_operators || side->modules_by_ranges);
}

struct card_work card_work(const struct analysis *a, struct arena *arena)
{
	struct card_work found = {0};
	struct changed c = {.a = a, .arena = arena};
	for (uint32_t i = 0; i < a->waterfall.n_reasons; i++)
		if (a->waterfall.reason[i].part.kind == PART_COMPUTE)
			c.part = &a->waterfall.reason[i].part;
	if (!c.part)
		return found;
	bool operators = a->side[0].n_outermost && a->side[1].n_outermost;
	bool modules = true;
	for (int s = 0; s < 2; s++)
		modules = modules && has_modules(&a->side[s]);
	find_kernel(&c, operators || modules, &found);
	if (operators && !found.kernel)
		find_owner(&c, false, &found);
	if (modules && !found.kernel && !found.owner)
		find_owner(&c, true, &found);
	return found;
}

/* The interval leaves 1 out, and does not clear the change that so few steps have to show. */
static bool open_for_few(const struct verdict *v)
{
	return v->has_interval && (v->short_capture || v->surer > 0) && v->result == VERDICT_INCONCLUSIVE &&
	       (v->lo > 1 || v->hi < 1);
}

static bool may_be_larger(const struct analysis *a)
{
	const double baseline = a->side[0].steps.measured, fixed = a->side[1].steps.measured;
	return a->verdict.has_interval && a->verdict.result == VERDICT_INCONCLUSIVE && a->side[0].items <= 0 &&
	       a->comparison.same_work != SAME_WORK_SAME && fmax(baseline, fixed) >= MANY_MORE * fmin(baseline, fixed);
}

struct card card_make(const struct analysis *a)
{
	const struct verdict *v = &a->verdict;
	const bool several = v->has_interval && !v->one_run;
	const bool holds[DOUBT_COUNT] = {
		[DOUBT_DATA] = a->conditions.doubt != NULL,
		[DOUBT_WORK] =
			a->comparison.same_work == SAME_WORK_DIFFERENT || a->comparison.same_work == SAME_WORK_UNKNOWN,
		[DOUBT_CONDITIONS] = a->comparison.other_conditions,
		[DOUBT_WARMING] = v->warming,
		[DOUBT_ONE_RUN] = v->one_run && v->has_speedup,
		[DOUBT_SESSION] = v->elsewhere != NULL,
		[DOUBT_ORDER] = several && v->exchange.known && !v->exchange.in_turns,
		[DOUBT_NO_ORDER] = several && !v->exchange.known,
		[DOUBT_ASIDE] = v->aside[0] + v->aside[1] > 0,
		[DOUBT_RECORDING] = a->while_recorded,
		[DOUBT_OPPOSITE] = a->turning.opposite != NULL,
		[DOUBT_HELD_BACK] = a->turning.held_back != NULL,
		[DOUBT_BROKEN_OFF] = a->turning.broken_off != NULL,
		[DOUBT_SHARED] = a->turning.shared != NULL,
		[DOUBT_SHORT] = open_for_few(v),
	};
	struct card card = {0};
	choose_next(a, &card);
	choose_left(a, &card);
	choose_straggler(a, &card);
	choose_longer(a, &card);
	card.by_item = may_be_larger(a);
	for (int d = 0; d < DOUBT_COUNT; d++)
		if (holds[d])
			card.doubt[card.n_doubts++] = (enum doubt)d;
	for (int s = 0; s < 2; s++) {
		const struct side *side = &a->side[s];
		if (side->steps.found && side->headline.step > 0) {
			card.steps_per_second[s] = 1e9 / side->headline.step;
			card.items_per_second[s] = side->items * card.steps_per_second[s];
		}
		if (side->budget.period > 0) {
			card.busy_share[s] = 1 - side->budget.idle / side->budget.period;
			card.comm_share[s] = side->budget.comm_exposed / side->budget.period;
		}
	}
	return card;
}

const struct card_once *card_once(const struct analysis *a, struct arena *arena, uint32_t *n)
{
	*n = 0;
	if (a->n_sides < 2 || !a->verdict.has_speedup || a->side[0].steps.found || a->side[1].steps.found)
		return NULL;
	const struct table table = table_make(a, TABLE_KERNELS, arena);
	struct card_once *list = ARENA_NEW(arena, table.n, struct card_once);
	for (uint32_t i = 0; i < table.n; i++) {
		const struct table_row *row = &table.row[i];
		if (row->at[0] >= 0 && row->at[1] >= 0 && row->time[0] > 0 && row->time[1] > 0)
			list[(*n)++] = (struct card_once){.name = (uint32_t)row->key,
			                                  .time = {row->time[0], row->time[1]},
			                                  .count = {row->count[0], row->count[1]}};
	}
	return list;
}

SORT_ORDER(by_time, struct card_slope,
           DESCENDING(fmax(x->time[0], x->time[1]), fmax(y->time[0], y->time[1])) ?: strcmp(x->name, y->name))

static bool launches(const struct side *side, uint32_t outermost)
{
	uint32_t i = 0;
	while (i < side->n_outermost && side->outermost[i].name != outermost)
		i++;
	return i < side->n_outermost;
}

const struct card_slope *card_slopes(const struct analysis *a, uint32_t most, struct arena *arena, uint32_t *n)
{
	const struct table table = table_make(a, TABLE_KERNELS, arena);
	struct card_slope *list = ARENA_NEW(arena, table.n, struct card_slope);
	uint32_t whole = 0;
	*n = 0;
	for (int pass = 0; pass < 2; pass++) /* those with a name of their own come first, and no family joins them */
		for (uint32_t i = 0; i < table.n; i++) {
			const struct table_row *row = &table.row[i];
			const bool both = row->at[0] >= 0 && row->at[1] >= 0;
			const char *name = names_text(a->names, (uint32_t)row->key);
			if (both != !pass)
				continue;
			const uint32_t side = row->at[0] < 0, of = a->side[side].kernels[row->at[side]].of;
			if (!both)
				name = of && launches(&a->side[!side], of) ? names_text(a->names, of)
				                                           : op_words_kernel(name, arena);
			uint32_t at = pass ? whole : *n;
			while (at < *n && strcmp(list[at].name, name) != 0)
				at++;
			*n += at == *n;
			struct card_slope *slope = &list[at];
			slope->name = name;
			slope->kernels++;
			for (int s = 0; s < 2; s++) {
				slope->time[s] += row->time[s];
				slope->count[s] += row->count[s];
			}
			whole = pass ? whole : *n;
		}
	SORT(list, *n, by_time);
	*n = *n < most ? *n : most;
	return list;
}
