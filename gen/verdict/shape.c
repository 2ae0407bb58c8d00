/* Why a typical step says something else than the throughput (docs/method/verdict.md, "The typical step"). */
#include "verdict/proof.h"

#include <math.h>

/* The run of side i that stands for it in a sentence: the first with slow steps or a pattern, else the first. */
static const struct series *telling(const struct proof *p, const struct verdict *v, int i)
{
	for (size_t r = 0; r < p->runs[i]; r++)
		if (v->series[i][r].pattern || v->series[i][r].slow.n)
			return &v->series[i][r];
	return &v->series[i][0];
}

/* How far apart steps come that take longer: of a pattern with one long phase, or of regular slow steps; else 0. */
static size_t every(const struct series *s)
{
	if (s->slow.regular)
		return s->slow.spacing;
	return s->pattern > 4 ? s->pattern : 0;
}

/* Whether they come at distances that differ a little. */
static bool about(const struct series *s)
{
	return s->slow.regular && !s->slow.equal;
}

/* What they take longer, ns. */
static double excess(const struct series *s)
{
	double longest = 0, others = 0;
	if (s->slow.n)
		return s->slow.excess;
	for (size_t f = 0; f < s->pattern; f++) {
		longest = fmax(longest, s->phase[f]);
		others += s->phase[f] / (double)(s->pattern - 1);
	}
	return longest - (others - longest / (double)(s->pattern - 1));
}

/* Short patterns, and long ones in which every second step is slow, are cycles and no slow steps. */
static bool is_cycle(const struct series *s)
{
	return s->pattern && (s->pattern <= 4 || 2 * s->slow.n >= s->m);
}

static const struct fact *of_slow_steps(const struct series *s[2], const struct verdict *v, struct arena *arena)
{
	size_t each[2] = {is_cycle(s[0]) ? 0 : every(s[0]), is_cycle(s[1]) ? 0 : every(s[1])};
	if (each[0] && each[1])
		return FACT_NEW(arena, slow_step_both, FACT_NO_SIDE, .every = (int64_t)each[0],
		                .fixed_every = each[1] != each[0] ? (int64_t)each[1] : FACT_UNKNOWN,
		                .about = about(s[0]) || about(s[1]), .baseline = excess(s[0]), .fixed = excess(s[1]));
	int i = each[1] ? 1 : 0;
	if (!each[i])
		return NULL;
	bool unchanged = v->typical.lo > 1 / (1 + VERDICT_MARGIN) && v->typical.hi < 1 + VERDICT_MARGIN;
	const double of_all = s[i]->slow.n ? (double)s[i]->slow.n / (double)s[i]->m : 1 / (double)each[i];
	return FACT_NEW(arena, slow_step, i, .every = (int64_t)each[i], .about = about(s[i]), .unchanged = unchanged,
	                .longer = excess(s[i]), .time = excess(s[i]) * of_all / s[i]->mean);
}

static const struct fact *of_cycles(const struct series *s[2], struct arena *arena)
{
	enum { SHOWN = 8 };
	bool cycle[2] = {is_cycle(s[0]), is_cycle(s[1])};
	int i = cycle[0] && cycle[1] ? excess(s[1]) / s[1]->mean > excess(s[0]) / s[0]->mean : cycle[1];
	if (!cycle[i])
		return NULL;
	struct facts *times = ARENA_NEW(arena, 1, struct facts);
	for (size_t f = 0; f < s[i]->pattern && f < SHOWN; f++)
		FACT_ADD(times, arena, cycle_step, FACT_NO_SIDE, .time = s[i]->phase[f]);
	return FACT_NEW(arena, cycle, i, .steps = (int64_t)s[i]->pattern, .times = times,
	                .more = s[i]->pattern > SHOWN);
}

static const struct fact *of_rare_steps(const struct proof *p, const struct series *s[2], struct arena *arena)
{
	double share[2];
	for (int i = 0; i < 2; i++)
		share[i] = s[i]->slow.n ? s[i]->slow.excess * (double)s[i]->slow.n / ((double)s[i]->m * s[i]->mean) : 0;
	int i = share[1] >= share[0];
	const struct slow_steps *slow = &s[i]->slow;
	if (!slow->n || slow->regular)
		return NULL;
	if (slow->n * 4 > s[i]->m) /* these are no rare ones */
		return FACT_NEW(arena, steps_of_two_lengths, i, .slow = (int64_t)slow->n, .of = (int64_t)s[i]->m,
		                .runs = p->runs[i] > 1, .least = slow->least, .most = slow->most);
	return FACT_NEW(arena, slow_steps, i, .slow = (int64_t)slow->n, .of = (int64_t)s[i]->m, .runs = p->runs[i] > 1,
	                .least = slow->least, .most = slow->most, .time = share[i]);
}

/* Standard deviation of a step, relative, from its 10 % trimmed mean's side: what T's variance times m would be for
 * independent steps. */
static double spread(const struct series *s)
{
	return sqrt(s->variance * (double)s->m);
}

static const struct fact *of_spread(const struct series *s[2], struct arena *arena)
{
	int i = spread(s[1]) >= spread(s[0]);
	return FACT_NEW(arena, steps_spread, i, .spread = spread(s[i]), .other = spread(s[1 - i]),
	                .most = s[i]->below > 0.5 ? "shorter" : "longer");
}

/* Where runs of a side are further apart than their steps: the typical step is a mean of logarithms. */
static const struct fact *of_runs(const struct proof *p, const struct series *s[2], struct arena *arena)
{
	double least[2], most[2], apart[2];
	for (int i = 0; i < 2; i++) {
		least[i] = most[i] = p->mean[i][0];
		for (size_t r = 1; r < p->runs[i]; r++) {
			least[i] = fmin(least[i], p->mean[i][r]);
			most[i] = fmax(most[i], p->mean[i][r]);
		}
		apart[i] = most[i] / least[i];
	}
	const int i = apart[1] >= apart[0];
	if (log(apart[i]) <= fmax(spread(s[0]), spread(s[1])))
		return NULL;
	return FACT_NEW(arena, runs_apart, i, .least = least[i], .most = most[i]);
}

const struct fact *shape_why(const struct proof *p, const struct verdict *v, struct arena *arena)
{
	if (!v->typical.has_interval)
		return NULL;
	bool apart = fabs(p->change - log(v->typical.speedup)) > LN_MARGIN;
	bool disjoint = v->typical.lo > v->recorded.hi || v->typical.hi < v->recorded.lo;
	if (!apart && !disjoint)
		return NULL;
	const struct series *s[2] = {telling(p, v, 0), telling(p, v, 1)};
	const struct fact *why = of_slow_steps(s, v, arena);
	if (!why)
		why = of_cycles(s, arena);
	if (!why)
		why = of_rare_steps(p, s, arena);
	if (!why)
		why = of_runs(p, s, arena);
	return why ? why : of_spread(s, arena);
}
