/* The facts beside a verdict: what was shown, what was not, what it would take, and what this data cannot show, the
 * most important first. The words are in say/verdict.txt. */
#include "verdict/evidence.h"
#include "verdict/proof.h"

#include <math.h>

struct list {
	struct arena *arena;
	struct verdict *verdict;
	bool aside_said[2]; /* that steps of a side which were set aside leave it open */
};

/* Adds a fact of a side (or FACT_NO_SIDE) with its parameters. */
#define ADD(to, ...) FACT_ADD(&(to)->verdict->reasons, (to)->arena, __VA_ARGS__)

enum { RARE_STEPS = 9 }; /* of fewer steps it goes without saying what is rare */

/* ---- what it would take ---- */

static void add_plan(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	facts_add(&list->verdict->reasons, list->arena, v->could);
	if (v->more_runs > 0 && v->exchange.apart > 0) {
		const int64_t runs = v->more_runs <= EVIDENCE_WORTHWHILE ? v->more_runs : 0;
		if (runs || v->exchange.measured.n) /* else reasons_apart says it */
			ADD(list, measure_in_turns, FACT_NO_SIDE, .runs = runs);
	} else if (verdict_steps_worthwhile(v))
		ADD(list, more_steps, FACT_NO_SIDE, .steps = v->more_steps,
		    .each = p->runs[0] > 1 || p->runs[1] > 1 ? "run" : "side", .baseline = (int64_t)p->m[0],
		    .fixed = (int64_t)p->m[1]);
	else if (v->more_runs > 0 && v->one_run)
		ADD(list, more_runs, FACT_NO_SIDE, .least = LEAST_RUNS,
		    .now = p->runs[0] != p->runs[1] ? "unequal"
		           : p->runs[0] == 1        ? "one"
		                                    : "equal",
		    .baseline = (int64_t)p->runs[0], .fixed = (int64_t)p->runs[1]);
}

/* ---- why it is open, the first that applies ---- */

static void add_too_little(struct list *list, const struct proof *p)
{
	if (p->empty)
		ADD(list, nothing_measured, p->m[0] == 0 ? 0 : 1, .steps = SERIES_SHORT);
	else if (p->steps)
		ADD(list, too_few_steps, FACT_NO_SIDE, .baseline = (int64_t)p->all[0], .fixed = (int64_t)p->all[1],
		    .steps = DESCRIPTIVE_STEPS, .good = SERIES_SHORT, .runs = DESCRIPTIVE_RUNS);
	else
		ADD(list, too_few_spans, FACT_NO_SIDE, .runs = DESCRIPTIVE_RUNS);
}

/* The longest step that was set aside, and whose. */
static int aside_side(const struct proof *p, const struct verdict *v, double *longest)
{
	int side = 0;
	*longest = 0;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].aside_longest > *longest) {
				*longest = v->series[i][r].aside_longest;
				side = i;
			}
	return side;
}

static bool open_without_aside(const struct proof *p, const struct verdict *v)
{
	double half = fmax(p->change - p->lo, p->hi - p->change);
	half = fmin(half, p->plain);
	return v->aside[0] + v->aside[1] > 0 &&
	       proof_decide(p->change - half, p->change + half, p->floor) != VERDICT_INCONCLUSIVE;
}

static bool add_aside(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	double longest;
	int i = aside_side(p, v, &longest);
	if (!open_without_aside(p, v))
		return false;
	ADD(list, undecided_by_aside, i, .steps = (int64_t)v->aside[i], .longest = longest,
	    .others = longest / v->step[i], .without = v->speedup, .counted = v->counted, .both = v->aside[!i] > 0);
	list->aside_said[i] = true;
	return true;
}

/* Most of the interval is what F made it: what is said of that (say_apart) is why it is open. */
static bool open_for_apart(const struct proof *p)
{
	return p->exchange.apart > 0 && fmax(p->change - p->lo, p->hi - p->change) <= 2 * exchange_apart(&p->exchange);
}

static bool add_warming(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (!v->warming)
		return false;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].warming) {
				ADD(list, still_warming, i,
				    .steps = (int64_t)(v->series[i][r].cut + v->series[i][r].m + 1));
				return true;
			}
	return true;
}

static const struct series *changing(const struct proof *p, const struct verdict *v, int *side)
{
	*side = p->level[1] > p->level[0];
	for (size_t r = 0; r < p->runs[*side]; r++)
		if (v->series[*side][r].level >= p->level[*side])
			return &v->series[*side][r];
	return &v->series[*side][0];
}

/* The size of the level, not of a pair's difference, and only where it is what hinders. */
static bool add_level(struct list *list, const struct proof *p)
{
	int i;
	double level = fmax(p->level[0], p->level[1]);
	const double near = fmax(p->lo, -p->hi);
	const bool hinders = near > 0 ? near < level : fabs(p->change) <= level + p->plain;
	if (p->paired || level <= LN_FLOOR_ONE || !hinders)
		return false;
	const struct series *s = changing(p, list->verdict, &i);
	int64_t step = (int64_t)(s->cut + s->level_at + 1);
	if (s->level_of_few)
		ADD(list, mean_shifts, i, .step = step, .change = expm1(level), .slow = (int64_t)s->slow.n,
		    .of = (int64_t)s->m, .least = s->slow.least, .most = s->slow.most);
	else
		ADD(list, speed_changes, i, .step = step, .change = expm1(level));
	return true;
}

static bool add_few_slow(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 1; i >= 0 && v->more_steps > 0 && !p->paired; i--)
		for (size_t r = 0; r < p->runs[i]; r++) {
			const struct series *s = &v->series[i][r];
			const int64_t steps = (int64_t)ceil(plan_rhythm(s));
			if (!steps)
				continue;
			ADD(list, no_rhythm_yet, i, .slow = (int64_t)s->slow.n, .of = (int64_t)s->m, .steps = steps);
			return true;
		}
	return false;
}

static bool add_short_capture(struct list *list, const struct proof *p)
{
	if (!p->short_capture)
		return false;
	ADD(list, short_captures, FACT_NO_SIDE, .baseline = (int64_t)p->m[0], .fixed = (int64_t)p->m[1],
	    .baseline_independent = (double)p->m[0] / p->tau[0], .fixed_independent = (double)p->m[1] / p->tau[1],
	    .floor = expm1(LN_FLOOR_SHORT));
	return true;
}

/* The interval does not hold 1, and only that it is wide is in the way. */
static bool add_surer(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (!(v->surer > 0) || proof_decide(p->lo, p->hi, v->floor) == VERDICT_INCONCLUSIVE)
		return false;
	ADD(list, steps_vary, FACT_NO_SIDE, .floor = expm1(p->floor));
	return true;
}

static bool add_one_run(struct list *list, const struct proof *p)
{
	if (!p->one_run || !(p->lo > 0 || p->hi < 0))
		return false;
	ADD(list, one_run_floor, FACT_NO_SIDE, .floor = expm1(LN_FLOOR_ONE));
	return true;
}

static void add_queues(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 0; i < 2; i++)
		if (p->queue[i] > 0)
			ADD(list, queue_grows, i, .ended = v->step[i], .launched = v->step[i] * exp(p->queue[i]));
}

static void add_lengths(struct list *list, const struct proof *p)
{
	if (p->common && (p->lengths_open || fabs(p->change_common - p->change) > LN_FLOOR_SEVERAL))
		ADD(list, lengths_differ, FACT_NO_SIDE, .shortest = (int64_t)p->common + 1,
		    .longest = (int64_t)p->longest + 1, .common = exp(p->change_common));
}

static void add_warmups(struct list *list, const struct proof *p)
{
	const bool both = p->warmup_common && fabs(p->change_warm - p->change) > LN_FLOOR_SEVERAL;
	if (both)
		ADD(list, warmups_differ, p->cut[0] > p->cut[1] ? 0 : 1, .steps = (int64_t)p->warmup_common,
		    .common = exp(p->change_warm));
	int side = p->cut[1] > p->cut[0];
	if (!both && p->warmup_flat && fabs(p->change_flat - p->change) > LN_FLOOR_SEVERAL)
		ADD(list, warmup_flat, side, .steps = (int64_t)p->cut[side] + 1, .common = exp(p->change_flat));
}

static void add_open(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (p->queue_opens) {
		add_queues(list, p);
		return;
	}
	if (p->lengths_open) {
		add_lengths(list, p);
		ADD(list, runs_as_long, FACT_NO_SIDE, .steps = v->more_steps);
		return;
	}
	bool said = add_aside(list, p) || open_for_apart(p) || add_warming(list, p) || add_surer(list, p) ||
	            add_level(list, p) || add_few_slow(list, p) || add_short_capture(list, p) || add_one_run(list, p);
	if (!said && v->recorded.lo <= 1 && v->recorded.hi >= 1)
		ADD(list, interval_holds_one, FACT_NO_SIDE, .margin = VERDICT_MARGIN);
	else if (!said)
		ADD(list, interval_near_one, FACT_NO_SIDE, .where = v->recorded.lo > 1 ? "above" : "below",
		    .floor = expm1(p->floor));
	add_plan(list, p);
}

/* ---- the result ---- */

const struct fact *reasons_apart(const struct verdict *v, struct arena *arena)
{
	const struct exchange_sessions *m = &v->exchange.measured;
	const double apart = expm1(v->exchange.apart);
	if (!(apart > 0))
		return NULL;
	if (m->n)
		return FACT_NEW(arena, sessions_measured, m->side, .elsewhere = v->elsewhere, .sessions = (int64_t)m->n,
		                .spread = expm1(m->spread), .allowed = expm1(m->half),
		                .besides = m->unlike ? "unlike"
		                           : m->far  ? "far"
		                                     : "none");
	return v->elsewhere ? FACT_NEW(arena, sessions_differ, FACT_NO_SIDE, .elsewhere = v->elsewhere, .apart = apart)
	                    : FACT_NEW(arena, not_in_turns, FACT_NO_SIDE, .apart = apart);
}

const struct fact *reasons_unseen(const struct proof *p, const char *runs, struct arena *arena)
{
	if (!(p->exchange.unseen > 0))
		return NULL;
	return FACT_NEW(arena, state_unseen, FACT_NO_SIDE, .runs = runs, .apart = expm1(p->exchange.unseen));
}

static const char *evidence_of(const struct proof *p, const struct verdict *v)
{
	const double level = fmax(p->level[0], p->level[1]);
	return v->surer > 0                                              ? "varied"
	       : p->one_run && level > LN_FLOOR_ONE && level >= p->floor ? "one_uneven"
	       : p->short_capture                                        ? "dependent"
	       : p->floor >= LN_FLOOR_SHORT                              ? "few"
	       : p->one_run                                              ? "one"
	                                                                 : "several";
}

static void add_result(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	if (v->result == VERDICT_UNCHANGED)
		ADD(list, within_margin, FACT_NO_SIDE, .margin = VERDICT_MARGIN, .differs = v->lo > 1 || v->hi < 1);
	else if (v->result != VERDICT_INCONCLUSIVE && p->floor > 0)
		ADD(list, beyond_floor, FACT_NO_SIDE, .evidence = evidence_of(p, v),
		    .floor = expm1(fmax(p->floor, p->exchange.unseen)));
	else if (v->result != VERDICT_INCONCLUSIVE)
		ADD(list, interval_clear, FACT_NO_SIDE, .evidence = evidence_of(p, v));
	else if (p->empty || p->few)
		add_too_little(list, p);
	else if (p->moved)
		ADD(list, work_moved, p->side_mean[1] < p->side_mean[0]);
	else if (p->counted_result != VERDICT_INCONCLUSIVE && v->lo <= 1 && v->hi >= 1)
		ADD(list, only_recorded, FACT_NO_SIDE, .result = verdict_result_name(p->counted_result), .low = v->lo,
		    .high = v->hi);
	else
		add_open(list, p);
}

/* The second line: what a typical step says, where that is something else. */
static void add_typical(struct list *list, const struct proof *p)
{
	struct verdict *v = list->verdict;
	const struct verdict_estimate *t = &v->typical;
	v->typical_why = shape_why(p, v, list->arena);
	if (!v->typical_why)
		return;
	v->typical_line = FACT_NEW(list->arena, typical_step, FACT_NO_SIDE, .speedup = t->speedup, .low = t->lo,
	                           .high = t->hi, .why = v->typical_why);
	facts_add(&v->reasons, list->arena, v->typical_line);
}

/* ---- what the numbers cannot show, or show only with a correction ---- */

static void add_runs(struct list *list, const struct proof *p)
{
	if (list->verdict->state_line)
		facts_add(&list->verdict->reasons, list->arena, list->verdict->state_line);
	if (list->verdict->has_interval)
		facts_add(&list->verdict->reasons, list->arena, reasons_unseen(p, "recorded", list->arena));
	if (p->runs[0] == 1 && p->runs[1] == 1)
		ADD(list, one_run_each, FACT_NO_SIDE);
	else if (p->one_run)
		ADD(list, one_run_of_side, p->runs[0] > 1);
	else if ((p->runs[0] == LEAST_RUNS || p->runs[1] == LEAST_RUNS) &&
	         (list->verdict->result == VERDICT_FASTER || list->verdict->result == VERDICT_SLOWER))
		ADD(list, three_runs, FACT_NO_SIDE);
	if (!p->one_run && !p->exchange.known)
		ADD(list, order_unknown, FACT_NO_SIDE, .how = "recorded");
}

static void add_steps_set_aside(struct list *list, const struct proof *p)
{
	const struct verdict *v = list->verdict;
	for (int i = 0; i < 2; i++)
		if (v->aside[i] > 0 && !list->aside_said[i])
			ADD(list, steps_set_aside, i, .steps = (int64_t)v->aside[i],
			    .time = fmax(1 - v->step[i] / v->step_counted[i], 0), .counted = v->counted);
	size_t most = p->m[0] < p->m[1] ? p->m[0] : p->m[1];
	bool irregular = false;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			irregular = irregular || (v->series[i][r].slow.n > 0 && !v->series[i][r].slow.regular);
	if (irregular && !p->paired && most >= RARE_STEPS)
		ADD(list, rare_steps_unseen, FACT_NO_SIDE, .every = (int64_t)most / 3, .steps = (int64_t)most);
}

static void add_warmup(struct list *list, const struct proof *p, int warmup)
{
	const struct verdict *v = list->verdict;
	const char *why = warmup < 0 ? "found" : "asked";
	const int64_t cut[2] = {(int64_t)(p->cut[0] + !p->opened[0]), (int64_t)(p->cut[1] + !p->opened[1])};
	if (p->cut[0] > 0 && p->cut[1] > 0)
		ADD(list, warmup_left_out, FACT_NO_SIDE, .why = why, .baseline = cut[0],
		    .baseline_runs = p->runs[0] > 1, .fixed = cut[1], .fixed_runs = p->runs[1] > 1);
	for (int i = 0; i < 2; i++)
		if (p->cut[i] > 0 && !p->cut[1 - i])
			ADD(list, warmup_of_side, i, .why = why, .steps = cut[i], .runs = p->runs[i] > 1);
	if (v->series[0][0].shrinks && v->series[1][0].shrinks && p->m[0] == p->m[1])
		ADD(list, steps_shrink, FACT_NO_SIDE);
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++)
			if (v->series[i][r].level_start) {
				ADD(list, slow_start_kept, i, .steps = (int64_t)v->series[i][r].level_n + 1,
				    .runs = p->runs[i] > 1, .longer = expm1(v->series[i][r].level_excess));
				break;
			}
}

static void add_limits(struct list *list, const struct proof *p, int warmup)
{
	const struct verdict *v = list->verdict;
	if (p->empty || (!p->steps && p->few))
		return;
	add_runs(list, p);
	if (!p->steps)
		return;
	if (v->has_interval && !p->queue_opens)
		add_queues(list, p);
	if (v->has_interval && !p->lengths_open)
		add_lengths(list, p);
	if (v->has_interval)
		add_warmups(list, p);
	if (v->result == VERDICT_UNCHANGED) /* a direction has said it, and that this one counts */
		add_short_capture(list, p);
	if (v->has_interval && p->paired)
		ADD(list, step_by_step, FACT_NO_SIDE);
	for (int i = 0; i < 2 && v->has_interval; i++)
		if (p->drifting[i] > 0)
			ADD(list, time_drifts, p->paired ? FACT_NO_SIDE : i, .paired = p->paired,
			    .halves = p->drift[i] * (double)p->runs[i] / (double)p->drifting[i]);
	if (v->has_interval)
		add_steps_set_aside(list, p);
	add_warmup(list, p, warmup);
}

void reasons_find(const struct proof *p, const struct verdict_conditions *conditions, int warmup, struct arena *arena,
                  struct verdict *v)
{
	struct list list = {.arena = arena, .verdict = v};
	if (conditions->nothing) {
		facts_add(&v->reasons, arena, conditions->nothing);
		return;
	}
	if (p->stepped[0] != p->stepped[1]) {
		ADD(&list, steps_on_one_side, p->stepped[1]);
		return;
	}
	if (conditions->doubt)
		facts_add(&v->reasons, arena, conditions->doubt);
	else
		add_result(&list, p);
	facts_add(&v->reasons, arena, v->has_interval || v->elsewhere ? reasons_apart(v, arena) : NULL);
	add_typical(&list, p);
	add_limits(&list, p, warmup);
}
