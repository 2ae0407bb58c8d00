/* Two sides' series -> the speedup, its interval, the result and the gates (docs/verdict.md). */
#include "analyse/judge/stats.h"
#include "analyse/judge/verdict_parts.h"

#include <limits.h>
#include <math.h>

const char *verdict_result_name(enum verdict_result result)
{
	static const char *const names[] = {"inconclusive", "faster", "slower", "unchanged"};
	return names[result];
}

/* With an even number of runs the smaller of the two in the middle: a side is judged by what it surely has. */
static size_t median_of(const double *sorted, size_t n)
{
	return (size_t)sorted[(n - 1) / 2];
}

static void measure_side(const struct verdict_side *side, int warmup, int max_terms, struct series *series)
{
	for (size_t r = 0; r < side->n_runs; r++)
		series_measure(&side->runs[r], warmup, max_terms, &series[r]);
}

/* ln of the mean over runs of the runs' mean periods: what a stopwatch around the measured steps says. */
static double ln_mean_period(const struct verdict_side *side, const struct series *series)
{
	double sum = 0;
	for (size_t r = 0; r < side->n_runs; r++) {
		double run = 0;
		for (size_t i = series[r].cut; i < side->runs[r].n; i++)
			run += (double)side->runs[r].period[i];
		sum += run / (double)series[r].m;
	}
	return log(sum / (double)side->n_runs);
}

/* What a side's runs say together: side i of `e` and of `v`. Returns the variance of T between runs, s². */
static double sum_up(const struct verdict_side *side, const struct series *series, struct arena *arena, int i,
                     struct evidence *e, struct verdict *v)
{
	size_t n = side->n_runs;
	double *sorted = ARENA_NEW(arena, n, double), variance = 0, drift = 0;
	e->runs[i] = n;
	e->tau[i] = 1;
	e->drifting[i] = 0;
	for (size_t r = 0; r < n; r++) {
		variance += series[r].variance;
		drift += series[r].drift_size;
		e->tau[i] = fmax(e->tau[i], series[r].tau);
		e->drifting[i] += series[r].drift;
		e->empty = e->empty || series[r].m == 0;
		sorted[r] = (double)series[r].m;
	}
	e->variance[i] = variance / ((double)n * (double)n);
	e->drift[i] = drift / (double)n;
	stats_sort(sorted, n);
	e->m[i] = median_of(sorted, n);
	for (size_t r = 0; r < n; r++)
		sorted[r] = (double)series[r].cut;
	stats_sort(sorted, n);
	e->cut[i] = median_of(sorted, n);
	for (size_t r = 0; r < n; r++)
		sorted[r] = series[r].location;
	v->location[i] = stats_mean(sorted, n);
	return stats_variance(sorted, n);
}

/* Student's t times the standard error; 0 when nothing varies. `spread` is Σ v²/dof over the independent parts v that
 * add up to `variance` (Welch, Satterthwaite). */
static double half_width(double variance, double spread)
{
	if (!(variance > 0) || !(spread > 0))
		return 0;
	return stats_t_quantile(0.975, variance * variance / spread) * sqrt(variance);
}

static double within_runs(const struct evidence *e, const struct series *const series[2])
{
	double spread[2] = {0};
	for (int i = 0; i < 2; i++) {
		double runs = (double)e->runs[i];
		for (size_t r = 0; r < e->runs[i]; r++)
			if (series[i][r].dof > 0) {
				double v = series[i][r].variance / (runs * runs);
				spread[i] += v * v / series[i][r].dof;
			}
	}
	return half_width(e->variance[0] + e->variance[1], spread[0] + spread[1]);
}

/* Welch's interval for the runs' locations. Where only one side was repeated, its spread must do for both: the other
 * side's single run varies as much as we know. */
static double between_runs(const struct evidence *e, const double square[2])
{
	double ra = (double)e->runs[0], rb = (double)e->runs[1];
	if (e->runs[0] > 1 && e->runs[1] > 1) {
		double a = square[0] / ra, b = square[1] / rb;
		return half_width(a + b, a * a / (ra - 1) + b * b / (rb - 1));
	}
	if (e->runs[0] == 1 && e->runs[1] == 1)
		return 0;
	double v = (square[0] + square[1]) * (1 / ra + 1 / rb);
	return half_width(v, v * v / (fmax(ra, rb) - 1));
}

/* By a side's median run. */
static bool fewer_steps(const struct evidence *e, size_t steps)
{
	return e->m[0] < steps || e->m[1] < steps;
}

static bool is_short(const struct evidence *e)
{
	for (int i = 0; i < 2; i++)
		if (e->m[i] < SHORT_STEPS || (double)e->m[i] / e->tau[i] < SHORT_INDEPENDENT)
			return true;
	return false;
}

/* A warm-up that eats into a short series leaves a remainder that may still be warming up, however many runs agree. */
static bool short_after_warmup(const struct evidence *e)
{
	for (int i = 0; i < 2; i++)
		if (e->cut[i] > 0 && e->m[i] < SHORT_STEPS)
			return true;
	return false;
}

/* All comparisons are made in logs, so that swapped sides give the mirrored result to the last bit. */
static enum verdict_result decide(double lo, double hi, double floor)
{
	if (lo > -LN_MARGIN && hi < LN_MARGIN)
		return VERDICT_UNCHANGED;
	double near = fmax(lo, -hi);
	if (near <= 0 || near < floor)
		return VERDICT_INCONCLUSIVE;
	return lo > 0 ? VERDICT_FASTER : VERDICT_SLOWER;
}

static int64_t round_up(double x)
{
	double unit = x < 100 ? 1 : pow(10, floor(log10(x)) - 1); /* two digits: it is an estimate */
	return (int64_t)(ceil(x / unit - 1e-9) * unit);
}

/* The half-width shrinks with the root of the steps; twice that many leave room for bad luck. Counted in the steps of
 * the side that varies more. */
static double growth(const struct evidence *e, double distance)
{
	return distance > 0 ? 2 * (e->plain / distance) * (e->plain / distance) : INFINITY;
}

int64_t verdict_steps_needed(const struct evidence *e, double distance)
{
	int noisy = e->variance[1] > e->variance[0] || (e->variance[1] == e->variance[0] && e->m[1] < e->m[0]);
	double independent = SHORT_INDEPENDENT * fmax(e->tau[0], e->tau[1]);
	double steps = fmax(fmax(SHORT_STEPS, independent), growth(e, distance) * (double)e->m[noisy]);
	return steps <= PLAN_LIMIT ? round_up(steps) : 0;
}

int64_t verdict_runs_needed(const struct evidence *e, double distance)
{
	double runs =
		fmax(SPAN_RUNS, growth(e, distance) * (double)(e->runs[0] > e->runs[1] ? e->runs[0] : e->runs[1]));
	return runs <= PLAN_LIMIT ? round_up(runs) : 0;
}

/* One run a side, and its own steps are what leaves it unsure. */
bool verdict_wants_steps(const struct evidence *e, const struct verdict *v)
{
	return e->steps && v->one_run && e->between <= e->within;
}

/* The distance that the half-width has to shrink to is at first the kinder one. Where that asks for no more
 * than there is, it must shrink to the nearer of the two proofs: a direction, or `unchanged`. */
static void plan(const struct evidence *e, struct verdict *v)
{
	bool by_steps = verdict_wants_steps(e, v);
	double size = fabs(v->location[0] - v->location[1]), beyond = size - (by_steps ? LN_FLOOR_ONE : 0);
	double kind = fmax(beyond, LN_MARGIN), strict = fmax(beyond, LN_MARGIN - size);
	if (!e->judged) {
		v->more_steps = e->steps ? SHORT_STEPS : 0;
		v->more_runs = e->steps ? 0 : SPAN_RUNS;
	} else if (by_steps) {
		size_t least = e->m[0] < e->m[1] ? e->m[0] : e->m[1];
		v->more_steps = verdict_steps_needed(e, kind);
		if (v->more_steps <= (int64_t)least)
			v->more_steps = verdict_steps_needed(e, strict);
		v->more_runs = v->more_steps > 0 ? 0 : SPAN_RUNS;
	} else if (!v->one_run && e->floor > 0 && size > v->half_width) {
		v->more_steps = SHORT_STEPS; /* only the floor for few steps after warm-up is in the way */
	} else {
		size_t least = e->runs[0] < e->runs[1] ? e->runs[0] : e->runs[1];
		v->more_runs = verdict_runs_needed(e, kind);
		if (v->more_runs <= (int64_t)least)
			v->more_runs = verdict_runs_needed(e, strict);
	}
}

/* max_regression only fails on proof, min_speedup only passes on proof. What only the recorded speedup fails is open.
 */
static enum gate judge_gates(const struct verdict_options *options, const struct evidence *e, const struct verdict *v)
{
	bool speedup = options->min_speedup > 0, regression = options->max_regression >= 0;
	if (!speedup && !regression)
		return GATE_NONE;
	if (!e->judged)
		return GATE_INCONCLUSIVE;
	double bound = 1 / (1 + options->max_regression / 100);
	if ((speedup && v->outer_hi < options->min_speedup) || (regression && v->outer_hi < bound))
		return GATE_FAILED;
	bool shown = v->hi < bound || (options->unprofiled && options->known[1] < log(bound));
	bool open = (speedup && v->outer_lo < options->min_speedup) || (regression && shown);
	return open ? GATE_INCONCLUSIVE : GATE_PASSED;
}

void verdict_judge(const struct verdict_side side[2], const struct verdict_options *options, struct arena *arena,
                   struct verdict *out)
{
	struct verdict *v = out;
	struct evidence e = {.steps = side[0].steps && side[1].steps, .stepped = {side[0].steps, side[1].steps}};
	struct series *series[2];
	double square[2];
	*v = (struct verdict){.one_run = side[0].n_runs == 1 || side[1].n_runs == 1};
	for (int i = 0; i < 2; i++) {
		series[i] = ARENA_NEW(arena, side[i].n_runs, struct series);
		v->series[i] = series[i];
		measure_side(&side[i], options->warmup, INT_MAX, series[i]);
		square[i] = sum_up(&side[i], series[i], arena, i, &e, v);
	}
	v->short_capture = e.steps && v->one_run && is_short(&e);
	for (int i = 0; i < 2 && v->short_capture; i++) {
		measure_side(&side[i], options->warmup, SHORT_TERMS, series[i]);
		square[i] = sum_up(&side[i], series[i], arena, i, &e, v);
	}

	bool known = !e.empty && e.stepped[0] == e.stepped[1];
	double ln_speedup = known ? v->location[0] - v->location[1] : 0, outer[2] = {ln_speedup, ln_speedup};
	v->speedup = v->lo = v->hi = v->outer_lo = v->outer_hi = exp(ln_speedup);
	v->has_interval = known && (e.steps ? !fewer_steps(&e, DESCRIPTIVE_STEPS) : !v->one_run);
	bool enough = e.steps || (e.runs[0] >= SPAN_RUNS && e.runs[1] >= SPAN_RUNS);
	e.judged = v->has_interval && enough && !options->descriptive;
	if (known && e.steps)
		e.tails = ln_mean_period(&side[0], series[0]) - ln_mean_period(&side[1], series[1]) - ln_speedup;

	if (v->has_interval) {
		e.between = between_runs(&e, square);
		e.within = e.steps ? within_runs(&e, v->series) : 0;
		double chance = fmax(e.between, e.within), drift = e.steps ? e.drift[0] + e.drift[1] : 0;
		e.plain = chance + drift;
		v->half_width = (v->short_capture ? 2 : 1) * chance + drift;
		v->lo = exp(ln_speedup - v->half_width);
		v->hi = exp(ln_speedup + v->half_width);
		outer[0] = ln_speedup - v->half_width + options->beyond[0];
		outer[1] = ln_speedup + v->half_width + options->beyond[1];
		if (options->unprofiled) {
			outer[0] = fmin(outer[0], options->known[0]);
			outer[1] = fmax(outer[1], options->known[1]);
		}
		v->outer_lo = exp(outer[0]);
		v->outer_hi = exp(outer[1]);
	}
	if (v->short_capture || (e.steps && short_after_warmup(&e)))
		e.floor = LN_FLOOR_SHORT;
	else if (v->one_run)
		e.floor = LN_FLOOR_ONE;
	if (e.judged) {
		e.recorded = decide(ln_speedup - v->half_width, ln_speedup + v->half_width, e.floor);
		if (decide(outer[0], outer[1], e.floor) == e.recorded)
			v->result = e.recorded;
	}
	v->gate = judge_gates(options, &e, v);
	if (e.recorded == VERDICT_INCONCLUSIVE && !options->descriptive)
		plan(&e, v);
	verdict_explain(&e, options, arena, v);
}
