/* Two sides' series -> the speedup, its interval and the result. */
#include "verdict/verdict.h"
#include "base/format.h"

#include "base/sort.h"
#include "verdict/evidence.h"
#include "verdict/exchange.h"
#include "verdict/proof.h"
#include "verdict/stats.h"

#include <math.h>

WORD_OF(verdict_result_name, verdict_result, "inconclusive", "faster", "slower", "unchanged")

const char *verdict_measure_name(enum verdict_measure measure)
{
	return measure == VERDICT_STOPWATCH ? "stopwatch" : "recorded";
}

/* ---- the runs of a side ---- */

/* With an even number of runs the smaller of the two in the middle: a side is judged by what it surely has. */
static size_t median_of(double *values, size_t n)
{
	sort_doubles(values, n);
	return (size_t)values[(n - 1) / 2];
}

/* Means, counts and flags of side i. */
static void sum_up(const struct series *series, size_t n, int i, struct arena *arena, struct proof *p,
                   struct verdict *v)
{
	double *mean = ARENA_NEW(arena, n, double), *scratch = ARENA_NEW(arena, n, double);
	double cycle = 0, counted = 0, typical = 0;
	size_t warming = 0;
	p->runs[i] = n;
	v->aside[i] = 0;
	for (size_t r = 0; r < n; r++) {
		mean[r] = series[r].mean;
		cycle += series[r].cycle;
		counted += series[r].counted;
		typical += series[r].typical;
		v->aside[i] += series[r].aside;
		v->level_start = v->level_start || series[r].level_start;
		warming += series[r].warming;
		p->empty = p->empty || series[r].m == 0;
		scratch[r] = (double)series[r].m;
		p->all[i] += series[r].m;
	}
	/* of several runs most: that one of them never settled is in their spread */
	v->warming = v->warming || 2 * warming > n;
	p->mean[i] = mean;
	p->side_mean[i] = stats_mean(mean, n);
	p->cycle[i] = cycle / (double)n;
	p->counted[i] = counted / (double)n;
	p->m[i] = median_of(scratch, n);
	for (size_t r = 0; r < n; r++)
		scratch[r] = (double)series[r].cut;
	p->cut[i] = median_of(scratch, n);
	v->step[i] = p->side_mean[i];
	v->step_counted[i] = p->counted[i];
	v->step_typical[i] = exp(typical / (double)n);
}

/* ---- what varies within the runs ---- */

/* Adds run r of side i. `doubled`: its core's standard error counts twice, the slow steps' part once. */
static void add_run(const struct series *s, double weight, bool doubled, int i, struct proof *p)
{
	double square = weight * weight, v = square * (s->variance + (doubled ? 3 * s->core : 0));
	double plain = square * s->variance;
	p->variance[i] += v;
	p->plain_variance[i] += plain;
	if (s->dof > 0) {
		p->spread[i] += v * v / s->dof;
		p->plain_spread[i] += plain * plain / s->dof;
	}
	p->more[i] += square * s->more;
	p->tau[i] = fmax(p->tau[i], s->tau);
	p->drift[i] += s->drift / (double)p->runs[i];
	p->drifting[i] += s->drift > 0;
	if (p->one_run)
		p->level[i] = fmax(p->level[i], s->level);
}

static void clear_spread(struct proof *p)
{
	for (int i = 0; i < 2; i++) {
		p->variance[i] = p->spread[i] = p->more[i] = p->plain_variance[i] = p->plain_spread[i] = 0;
		p->drift[i] = p->level[i] = 0;
		p->tau[i] = 1;
		p->drifting[i] = 0;
	}
}

static void add_sides(const struct verdict *v, bool doubled, struct proof *p)
{
	clear_spread(p);
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i]; r++) {
			const struct series *s = &v->series[i][r];
			add_run(s, s->mean / (p->side_mean[i] * (double)p->runs[i]), doubled, i, p);
		}
}

/* Both sides do the same thing at the same steps in every run: then what varies is their difference, and the spread of
 * neither side by itself. It is kept as that of the first side. */
static bool add_pairs(const struct verdict_side side[2], const struct verdict *v, bool doubled, struct proof *p)
{
	size_t n = p->runs[0], both = 0;
	ARENA_LOCAL(work);
	struct series *pair = ARENA_NEW(&work, n, struct series);
	while (p->runs[1] == n && both < n &&
	       series_pair(&side[0].runs[both], &v->series[0][both], &side[1].runs[both], &v->series[1][both], doubled,
	                   &pair[both]))
		both++;
	if (both == n) {
		clear_spread(p);
		for (size_t r = 0; r < n; r++)
			add_run(&pair[r], 1 / (double)n, doubled, 0, p);
		p->tau[1] = p->tau[0];
	}
	return both == n;
}

/* ---- the interval ---- */

/* One run per side that is too short, or hangs together too much, for its own variance to be known. By the median run
 * and the largest τ. */
static bool is_short(const struct proof *p)
{
	for (int i = 0; i < 2; i++)
		if (p->m[i] < SERIES_SHORT || (double)p->m[i] / p->tau[i] < SERIES_INDEPENDENT)
			return true;
	return false;
}

/* A warm-up that eats into a short series leaves a remainder that may still be warming up, however many runs agree. */
static bool short_after_warmup(const struct proof *p)
{
	for (int i = 0; i < 2; i++)
		if (p->cut[i] > 0 && p->m[i] < SERIES_SHORT)
			return true;
	return false;
}

/* Student's t times √VV, with `more` under the root: the degrees of freedom stay those of VV. */
static double half_within(const struct proof *p, double more)
{
	double variance = p->variance[0] + p->variance[1], spread = p->spread[0] + p->spread[1];
	double half = between_half_width(variance, spread);
	if (!(more > 0))
		return half;
	return half > 0 ? half * sqrt((variance + more) / variance) : 0;
}

static struct exchange judge_exchange(const struct verdict_side side[2], const struct proof *p,
                                      const struct verdict_conditions *conditions, struct arena *arena)
{
	struct exchange_run *run[2];
	for (int i = 0; i < 2; i++) {
		run[i] = ARENA_NEW(arena, p->runs[i], struct exchange_run);
		for (size_t r = 0; r < p->runs[i]; r++) {
			const struct verdict_run *of = &side[i].runs[r];
			double mean = conditions->other_gpus || p->few ? 0 : p->mean[i][r];
			run[i][r] = (struct exchange_run){of->start, of->end, of->place, mean};
		}
	}
	struct exchange out = exchange_judge((const struct exchange_run *const *)run, p->runs);
	exchange_add_state(&out, p->runs, conditions->controls);
	if (conditions->doubt) /* then nobody asked what is in common */
		out.unseen = 0;
	return out;
}

void proof_relative(const struct proof *p, struct arena *arena, const double *x[2])
{
	for (int i = 0; i < 2; i++) {
		double *of = ARENA_NEW(arena, p->runs[i], double);
		for (size_t r = 0; r < p->runs[i]; r++)
			of[r] = p->mean[i][r] / p->side_mean[i];
		x[i] = of;
	}
}

static void find_interval(struct proof *p, const struct verdict *v, struct arena *arena)
{
	const double *relative[2];
	double drift = p->drift[0] + p->drift[1];
	proof_relative(p, arena, relative);
	p->between = between_runs(relative, p->runs);
	p->within = half_within(p, 0);
	/* Rare slow steps are skewed: seen k times, they may be k + 2. They make their side slower than it was seen. */
	double lower = fmax(half_within(p, 2 * p->more[1]), p->between) + drift;
	double upper = fmax(half_within(p, 2 * p->more[0]), p->between) + drift;
	double plain = between_half_width(p->plain_variance[0] + p->plain_variance[1],
	                                  p->plain_spread[0] + p->plain_spread[1]);
	p->plain = fmax(plain, p->between);
	double cycles = p->paired ? p->change : p->change_cycles; /* the window may cut a cycle */
	p->lo = fmin(p->change, cycles) - lower;
	p->hi = fmax(p->change, cycles) + upper;
	if (v->aside[0] + v->aside[1] > 0) { /* it has to hold with them and without */
		p->lo = fmin(p->lo, p->change_counted - lower);
		p->hi = fmax(p->hi, p->change_counted + upper);
	}
	double half[2] = {p->change - p->lo, p->hi - p->change};
	for (int end = 0; end < 2; end++)
		p->widened[end] = exchange_widen(&p->exchange, half[end], end) - half[end];
	p->lo -= p->widened[0];
	p->hi += p->widened[1];
}

/* A step of a side whose GPU works off a queue may be as long as it is between launches. */
static void add_queues(const struct verdict_conditions *conditions, const struct verdict *v, struct proof *p)
{
	bool without = v->judged && proof_decide(p->lo, p->hi, p->floor) != VERDICT_INCONCLUSIVE;
	for (int i = 0; i < 2; i++)
		p->queue[i] = conditions->queue[i];
	p->lo -= p->queue[1];
	p->hi += p->queue[0];
	p->queue_opens = without && proof_decide(p->lo, p->hi, p->floor) == VERDICT_INCONCLUSIVE;
}

/* Where steps vary much, a fixed floor is small beside the interval, and one in twenty pairs of the same program lies
 * outside of 95 %. What widened the interval already counts. */
static double find_surer(const struct proof *p)
{
	double half = fmin(p->change - p->lo, p->hi - p->change);
	return p->one_run && !p->few ? fmax((1 + EVIDENCE_SURER) * p->plain - half, 0) : 0;
}

static double find_floor(const struct proof *p)
{
	if (p->few)
		return 0;
	double floor = !exchange_floored(&p->exchange) ? 0 : p->one_run ? LN_FLOOR_ONE : LN_FLOOR_SEVERAL;
	if (p->short_capture || short_after_warmup(p))
		floor = LN_FLOOR_SHORT;
	return fmax(floor, fmax(p->level[0], p->level[1]));
}

/* All comparisons are made in logs, so that swapped sides give the mirrored result to the last bit. */
enum verdict_result proof_decide(double lo, double hi, double floor)
{
	if (lo > -LN_MARGIN && hi < LN_MARGIN)
		return VERDICT_UNCHANGED;
	double near = fmax(lo, -hi);
	if (near <= 0 || near < floor)
		return VERDICT_INCONCLUSIVE;
	return lo > 0 ? VERDICT_FASTER : VERDICT_SLOWER;
}

/* ---- the typical step ---- */

/* The cosines within runs, or Welch between them. Drift is not in it: the typical step describes. */
static struct verdict_estimate typical_step(const struct proof *p, const struct verdict *v, struct arena *arena)
{
	double variance[2] = {0}, spread[2] = {0}, *t[2];
	for (int i = 0; i < 2; i++) {
		double runs = (double)p->runs[i];
		t[i] = ARENA_NEW(arena, p->runs[i], double);
		for (size_t r = 0; r < p->runs[i]; r++) {
			const struct series *s = &v->series[i][r];
			double one = s->typical_variance / (runs * runs);
			t[i][r] = s->typical;
			variance[i] += one;
			spread[i] += s->dof > 0 ? one * one / s->dof : 0;
		}
	}
	double change = stats_mean(t[0], p->runs[0]) - stats_mean(t[1], p->runs[1]) - p->unit;
	double half = fmax(between_half_width(variance[0] + variance[1], spread[0] + spread[1]),
	                   between_welch((const double *const *)t, p->runs));
	half = v->has_interval ? (p->short_capture ? 2 : 1) * half : 0;
	return (struct verdict_estimate){true, v->has_interval, exp(change), exp(change - half), exp(change + half)};
}

/* ---- all of it ---- */

static void set_interval(const struct proof *p, const struct verdict_conditions *conditions, struct verdict *v)
{
	/* what recording did is a part of the state that one or two runs are widened for */
	bool state = p->exchange.state > 0;
	double lo = p->lo + fmin(0, conditions->beyond[0] + (state ? p->widened[0] : 0));
	double hi = p->hi + fmax(0, conditions->beyond[1] - (state ? p->widened[1] : 0));
	/* … and so it is where nothing tells the state */
	lo = fmin(lo, p->change - hypot(p->change - p->lo, p->exchange.unseen));
	hi = fmax(hi, p->change + hypot(p->hi - p->change, p->exchange.unseen));
	v->half_width = (p->hi - p->lo) / 2;
	v->recorded = (struct verdict_estimate){true, true, v->speedup, exp(p->lo), exp(p->hi)};
	v->lo = exp(lo);
	v->hi = exp(hi);
	if (v->judged)
		v->result = proof_decide(lo, hi, p->floor);
}

static void measure(const struct verdict_side side[2], int warmup, struct arena *arena, struct proof *p,
                    struct verdict *v)
{
	struct series *series[2];
	for (int i = 0; i < 2; i++) {
		series[i] = ARENA_NEW(arena, side[i].n_runs, struct series);
		v->series[i] = series[i];
	}
	measured_sides(side, warmup, arena, series);
	for (int i = 0; i < 2; i++) {
		p->opened[i] = side[i].runs[0].opened;
		sum_up(series[i], side[i].n_runs, i, arena, p, v);
	}
	if (p->empty || p->stepped[0] != p->stepped[1])
		return;
	for (int i = 0; i < 2; i++)
		p->few = p->few || (p->all[i] < DESCRIPTIVE_STEPS && side[i].n_runs < DESCRIPTIVE_RUNS);
	if (!p->steps)
		return;
	add_sides(v, false, p);
	p->paired = add_pairs(side, v, false, p);
	p->short_capture = p->one_run && is_short(p);
	if (!p->short_capture)
		return;
	for (int i = 0; i < 2; i++)
		measured_short(&side[i], arena, series[i]);
	if (!p->paired || !add_pairs(side, v, true, p))
		add_sides(v, true, p);
}

static struct proof begin(const struct verdict_side side[2])
{
	return (struct proof){.steps = side[0].steps && side[1].steps,
	                      .stepped = {side[0].steps, side[1].steps},
	                      .one_run = side[0].n_runs == 1 || side[1].n_runs == 1,
	                      .tau = {1, 1}};
}

/* How much the sides differ over what was measured, and how sure that is: p's interval and floor. */
static void find_change(const struct verdict_side side[2], const struct verdict_conditions *conditions,
                        struct arena *arena, struct proof *p, struct verdict *v)
{
	p->unit = proof_unit(side[0].items, side[1].items);
	p->change = log(p->side_mean[0]) - log(p->side_mean[1]) - p->unit;
	p->change_cycles = log(p->cycle[0]) - log(p->cycle[1]) - p->unit;
	p->change_counted = log(p->counted[0]) - log(p->counted[1]) - p->unit;
	p->exchange = judge_exchange(side, p, conditions, arena);
	if (p->stepped[0] != p->stepped[1] || p->few)
		return;
	find_interval(p, v, arena);
	v->floor = find_floor(p);
	v->surer = find_surer(p);
	p->floor = fmax(v->floor, v->surer);
}

/* The interval also holds what is found over other parts of the runs, `cut` and `warmup`, and the larger of both floors
 * counts. Returns ln S of those. */
static double add_other_part(const struct verdict_side cut[2], int warmup, const struct verdict_conditions *conditions,
                             struct arena *arena, struct proof *p, struct verdict *v)
{
	struct proof common = begin(cut);
	struct verdict of_common = {0};
	measure(cut, warmup, arena, &common, &of_common);
	find_change(cut, conditions, arena, &common, &of_common);
	p->lo = fmin(p->lo, common.lo);
	p->hi = fmax(p->hi, common.hi);
	p->floor = fmax(p->floor, common.floor);
	v->floor = fmax(v->floor, of_common.floor);
	v->surer = fmax(v->surer, of_common.surer);
	return common.change;
}

/* Runs of other lengths meet other things, a checkpoint at step 50 say: the steps that all runs have. */
static void add_common_steps(const struct verdict_side side[2], int warmup, const struct verdict_conditions *conditions,
                             struct arena *arena, struct proof *p, struct verdict *v)
{
	size_t least = SIZE_MAX, most = 0;
	struct verdict_side cut[2];
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < side[i].n_runs; r++) {
			least = side[i].runs[r].n < least ? side[i].runs[r].n : least;
			most = side[i].runs[r].n > most ? side[i].runs[r].n : most;
		}
	if (least == most || least == 0)
		return;
	for (int i = 0; i < 2; i++) {
		struct verdict_run *run = ARENA_NEW(arena, side[i].n_runs, struct verdict_run);
		for (size_t r = 0; r < side[i].n_runs; r++) {
			run[r] = side[i].runs[r];
			run[r].n = least;
		}
		cut[i] = (struct verdict_side){run, side[i].n_runs, side[i].steps, side[i].items};
	}
	bool without = v->judged && proof_decide(p->lo, p->hi, p->floor) != VERDICT_INCONCLUSIVE;
	p->common = least;
	p->longest = most;
	p->change_common = add_other_part(cut, warmup, conditions, arena, p, v);
	v->lengths = p->change_common - p->change;
	p->lengths_open = without && proof_decide(p->lo, p->hi, p->floor) == VERDICT_INCONCLUSIVE;
}

/* A start that is slow on both sides, and was found in the data of one alone: what is left when it is left out of all.
 * One of one side that may be none: when it counts. */
static void add_common_warmup(const struct verdict_side side[2], int warmup,
                              const struct verdict_conditions *conditions, struct arena *arena, struct proof *p,
                              struct verdict *v)
{
	if (warmup >= 0 || !p->steps)
		return;
	p->warmup_common = measured_common_warmup(side, (const struct series *const *)v->series);
	if (p->warmup_common)
		p->change_warm = add_other_part(side, (int)p->warmup_common, conditions, arena, p, v);
	size_t other = measured_flat_warmup(side, (const struct series *const *)v->series);
	p->warmup_flat = other > 0;
	if (other)
		p->change_flat = add_other_part(side, (int)other, conditions, arena, p, v);
}

/* Of runs without steps: what lies before the shorter span grew by a tenth of what the span lost, or more. A kernel
 * that moved behind the reading of a file makes no program faster. */
static bool has_moved(const struct verdict_side side[2], const struct proof *p)
{
	const double much = 0.1;
	double before[2] = {0};
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < side[i].n_runs; r++)
			before[i] += side[i].runs[r].before / (double)side[i].n_runs;
	int shorter = p->side_mean[1] < p->side_mean[0];
	double gain = p->side_mean[!shorter] - p->side_mean[shorter];
	return !p->steps && gain > 0 && before[shorter] - before[!shorter] >= much * gain;
}

bool verdict_steps_worthwhile(const struct verdict *v)
{
	size_t most = v->n_steps[0] > v->n_steps[1] ? v->n_steps[0] : v->n_steps[1];
	return v->more_steps > 0 && (!v->judged || v->more_steps <= EVIDENCE_WORTHWHILE * (int64_t)most);
}

static void take_speedup(const struct verdict_side side[2], const struct verdict_conditions *conditions,
                         struct arena *arena, struct proof *p, struct verdict *v)
{
	find_change(side, conditions, arena, p, v);
	for (int i = 0; i < 2; i++) {
		v->cycle[i] = p->paired ? 0 : log(p->cycle[i]) - log(p->side_mean[i]);
		v->n_steps[i] = p->m[i];
	}
	v->speedup = v->lo = v->hi = exp(p->change);
	v->counted = exp(p->change_counted);
	v->recorded = (struct verdict_estimate){true, false, v->speedup, v->speedup, v->speedup};
	v->exchange = p->exchange;
	v->controls = conditions->controls ? *conditions->controls : (struct controls){0};
	v->elsewhere = exchange_where(&p->exchange, arena);
	v->drifting = p->drift[0] > 0 || p->drift[1] > 0;
	v->level = p->level[0] > 0 || p->level[1] > 0;
}

static void take_interval(const struct verdict_side side[2], int warmup, const struct verdict_conditions *conditions,
                          struct arena *arena, struct proof *p, struct verdict *v)
{
	add_common_steps(side, warmup, conditions, arena, p, v);
	add_common_warmup(side, warmup, conditions, arena, p, v);
	v->surer = v->surer > v->floor ? v->surer : 0;
	if (p->steps)
		add_queues(conditions, v, p);
	p->counted_result = v->judged ? proof_decide(p->lo, p->hi, p->floor) : VERDICT_INCONCLUSIVE;
	set_interval(p, conditions, v);
	if (v->exchange.state > 0 && v->controls.known)
		v->state_line = controls_say(&v->controls, arena);
}

struct verdict verdict_judge(const struct verdict_side side[2], int warmup, const struct verdict_conditions *conditions,
                             struct arena *arena)
{
	struct proof p = begin(side);
	struct verdict v = {.speedup = 1, .lo = 1, .hi = 1, .counted = 1, .one_run = p.one_run};
	measure(side, warmup, arena, &p, &v);
	v.has_speedup = !p.empty && p.stepped[0] == p.stepped[1] && !conditions->nothing;
	v.has_interval = v.has_speedup && !p.few;
	p.moved = v.has_interval && has_moved(side, &p);
	v.judged = v.has_interval && !conditions->doubt && !v.warming && !p.moved;
	v.few = p.few;
	v.short_capture = p.short_capture = p.short_capture && !p.few;
	v.paired = p.paired;
	if (v.has_speedup)
		take_speedup(side, conditions, arena, &p, &v);
	if (v.has_interval)
		take_interval(side, warmup, conditions, arena, &p, &v);
	if (v.has_speedup && p.steps && !conditions->other_unit)
		v.typical = typical_step(&p, &v, arena);
	plan_more(&p, &v);
	plan_could(&p, conditions, arena, &v);
	reasons_find(&p, conditions, warmup, arena, &v);
	return v;
}
