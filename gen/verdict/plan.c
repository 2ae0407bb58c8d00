/* How many steps or runs would make an inconclusive verdict sure (docs/method/verdict.md, "How many more"). */
#include "verdict/evidence.h"
#include "verdict/proof.h"
#include "verdict/stats.h"

#include <math.h>

/* A change beyond this is said as a factor: of a speedup of 2, "100 %" leaves open of what. */
static const double SAID_IN_PERCENT = 0.3;

/* Of what steps vary by: no quieter machine helps where it is kernels' own time. Of the interval: more steps do not
 * make the rest of it narrower. */
static const double MOST = 0.5;

/* The side whose runs vary more: the one that more steps help. */
static int noisy_side(const struct proof *p)
{
	if (p->paired || p->variance[0] == p->variance[1]) /* a pair's variance is of no side */
		return p->m[1] < p->m[0];
	return p->variance[1] > p->variance[0];
}

/* The half-width shrinks with the root of the steps; twice that many leave room for bad luck. */
static double growth(const struct proof *p, double distance)
{
	return distance > 0 ? 2 * (p->plain / distance) * (p->plain / distance) : INFINITY;
}

static int64_t round_up(double x)
{
	return x <= PLAN_LIMIT ? (int64_t)ceil(x - 1e-9) : 0;
}

static int64_t steps_for(const struct proof *p, double distance)
{
	double independent = SERIES_INDEPENDENT * fmax(p->tau[0], p->tau[1]);
	double grown = growth(p, distance) * (double)p->m[noisy_side(p)];
	return round_up(fmax(fmax(SERIES_SHORT, independent), grown));
}

int64_t plan_runs(const struct proof *p, double distance)
{
	size_t most = p->runs[0] > p->runs[1] ? p->runs[0] : p->runs[1];
	return round_up(fmax(LEAST_RUNS, growth(p, distance) * (double)most));
}

static const double RHYTHM = 3.2; /* slow steps, with room for one that comes late */

double plan_rhythm(const struct series *s)
{
	return s->slow.n == 1 || s->slow.n == 2 ? RHYTHM * (double)s->m / (double)s->slow.n : 0;
}

static double steps_for_rhythm(const struct verdict *v, const struct proof *p)
{
	double most = 0;
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < p->runs[i] && !p->paired; r++)
			most = fmax(most, plan_rhythm(&v->series[i][r]));
	return most;
}

static int64_t steps_in_all(const struct verdict *v, const struct proof *p, double distance)
{
	int64_t steps = steps_for(p, distance), rhythm = round_up(steps_for_rhythm(v, p));
	return steps > 0 && rhythm > steps ? rhythm : steps;
}

/* One run per side: more steps, unless only the floor is in the way, or accidents, or more steps than anyone captures.
 */
static void plan_one_run(const struct proof *p, struct verdict *v)
{
	double size = fabs(p->change), beyond = size - LN_FLOOR_ONE;
	int64_t least = (int64_t)(p->m[0] < p->m[1] ? p->m[0] : p->m[1]);
	int64_t steps = steps_in_all(v, p, fmax(beyond, LN_MARGIN));
	if (steps <= least) /* the kinder of the two proofs asks for no more than there is: the nearer one */
		steps = steps_in_all(v, p, fmax(beyond, LN_MARGIN - size));
	bool only_floor = !p->short_capture && !(v->surer > 0) && (p->lo > 0 || p->hi < 0);
	if (steps <= least || only_floor || v->aside[0] + v->aside[1] > 0 || p->between > p->within)
		v->more_runs = p->between > p->within ? plan_runs(p, fmax(beyond, LN_MARGIN)) : LEAST_RUNS;
	else
		v->more_steps = steps;
	if (!v->more_steps && !v->more_runs)
		v->more_runs = LEAST_RUNS;
}

/* Sides that are not exchangeable: runs in turns are. */
static void plan_turns(const struct proof *p, struct verdict *v)
{
	v->more_runs = plan_runs(p, fmax(fabs(p->change), LN_MARGIN));
}

static void plan_runs_more(const struct proof *p, struct verdict *v)
{
	double size = fabs(p->change);
	int64_t least = (int64_t)(p->runs[0] < p->runs[1] ? p->runs[0] : p->runs[1]);
	if (p->floor > LN_FLOOR_SEVERAL && (p->lo > 0 || p->hi < 0)) {
		v->more_steps = SERIES_SHORT; /* only the floor for few steps after warm-up is in the way */
		return;
	}
	v->more_runs = plan_runs(p, fmax(size, LN_MARGIN));
	if (v->more_runs > 0 && v->more_runs <= least)
		v->more_runs = plan_runs(p, fmax(size - LN_FLOOR_SEVERAL, LN_MARGIN - size));
	if (v->more_runs > 0 && v->more_runs <= least)
		v->more_runs = least + 1;
}

void plan_more(const struct proof *p, struct verdict *v)
{
	if (!v->has_speedup || p->counted_result != VERDICT_INCONCLUSIVE || p->queue_opens)
		return;
	if (v->warming || v->few) {
		v->more_steps = p->steps ? SERIES_SHORT : 0;
		if (v->warming) /* as long again: what was not cut has to be steady for once */
			v->more_steps = (int64_t)(2 * (p->m[0] > p->m[1] ? p->m[0] + p->cut[0] : p->m[1] + p->cut[1]));
	} else if (!p->steps) {
		return;
	} else if (p->lengths_open) {
		v->more_steps = (int64_t)p->longest + 1; /* of each run, and nothing but that is in the way */
	} else if (v->judged && p->exchange.apart > 0) {
		plan_turns(p, v);
	} else if (v->judged && p->one_run) {
		plan_one_run(p, v);
	} else if (v->judged) {
		plan_runs_more(p, v);
	}
}

/* Runs of each side, `runs` now, that would make an interval half as wide, by Student's t; 0: more than anybody makes.
 */
static size_t halving(size_t runs)
{
	double now = stats_t_quantile(0.975, 2 * (double)runs - 2) / sqrt((double)runs);
	for (size_t n = runs + 1; n <= EVIDENCE_WORTHWHILE; n++)
		if (stats_t_quantile(0.975, 2 * (double)n - 2) / sqrt((double)n) <= now / 2)
			return n;
	return 0;
}

/* How much the runs of a side differ, the larger one, relative to their mean. */
static double spread(const struct proof *p)
{
	double most = 0;
	for (int s = 0; s < 2; s++)
		most = fmax(most, sqrt(stats_variance(p->mean[s], p->runs[s])) / p->side_mean[s]);
	return most;
}

void plan_could(const struct proof *p, const struct verdict_conditions *conditions, struct arena *arena,
                struct verdict *v)
{
	if (!v->judged || v->result != VERDICT_INCONCLUSIVE)
		return;
	size_t runs = p->runs[0] < p->runs[1] ? p->runs[0] : p->runs[1];
	bool several = runs > 1 && !(p->exchange.apart > 0) && !p->lengths_open && !p->rhythm_opens && !p->queue_opens;
	size_t half = several ? halving(runs) : 0;
	v->unsteady = several && !half;
	const double change = expm1(log(v->hi / v->lo) / 2 + fmax(v->floor, v->surer));
	v->could_have_seen = change;
	const bool by_steps = p->one_run && p->within > MOST * log(v->hi / v->lo) / 2;
	const bool kernels = by_steps && conditions && conditions->kernels[noisy_side(p)] > MOST;
	v->could = FACT_NEW(arena, could_have_shown, FACT_NO_SIDE, .change = change, .large = change > SAID_IN_PERCENT,
	                    .times = 1 + change, .halving = (int64_t)half,
	                    .spread = v->unsteady ? expm1(spread(p)) : NAN, .kernels = kernels);
}
