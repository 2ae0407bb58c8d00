#include "find/quantiles.h"

#include "base/sort.h"
#include "verdict/stats.h"

#include <math.h>
#include <stdlib.h>

static const double which[QUANTILES] = {.5, .9, .95, .99};

/* Independent steps that a run must have, by the steps themselves; and of the rarer of above and below the quantile, by
 * the series of who is above it, and by the steps. */
static const double LEAST_STEPS = 40, LEAST_BEYOND = 5, LEAST_BEYOND_STEPS = 2;
static const double NORMAL_975 = 1.959963984540054;
enum { MAX_LAG = 1000, CLIPPED = 10 /* of so many steps one at each end */ };

/* A run's quantile in logs: where it is, and how much lower and higher it may be. */
struct found {
	double at, down, up;
};

static double tau_of(const double *x, size_t n)
{
	return fmax(stats_autocorrelation_time(x, n, n / 3 < MAX_LAG ? n / 3 : MAX_LAG), 1);
}

/* The order statistics about the quantile that hold it in 95 %: ranks from 1; false where there are none. */
static bool ranks_of(size_t n, double p, double tau, size_t *low, size_t *high)
{
	double d = NORMAL_975 * sqrt((double)n * p * (1 - p) * tau);
	double r = floor((double)n * p - d + .5), s = floor((double)n * p + d + .5) + 1;
	if (r < 1 || s > (double)n)
		return false;
	*low = (size_t)r;
	*high = (size_t)s;
	return true;
}

static struct quantile quantile_of(const double *x, const double *sorted, size_t n, double p, double tau,
                                   double *scratch)
{
	size_t rank = (size_t)ceil((double)n * p - 1e-9), low, high;
	double v = sorted[(rank ? rank : 1) - 1], rarer = fmin(p, 1 - p);
	for (size_t i = 0; i < n; i++)
		scratch[i] = x[i] > v;
	double above = tau_of(scratch, n), steps = (double)n;
	struct quantile q = {.p = p, .known = true, .at = v, .lo = v, .hi = v};
	q.independent = steps / fmax(tau, above);
	q.needed = fmax(LEAST_STEPS, LEAST_BEYOND / rarer);
	q.has_interval = steps / tau >= LEAST_STEPS && steps * rarer / above >= LEAST_BEYOND &&
	                 steps * rarer / tau >= LEAST_BEYOND_STEPS && ranks_of(n, p, above, &low, &high);
	if (q.has_interval) {
		q.lo = sorted[low - 1];
		q.hi = sorted[high - 1];
	}
	return q;
}

void quantiles_of_run(const int64_t *periods, size_t n, struct quantile out[QUANTILES])
{
	ARENA_LOCAL(work);
	double *x = ARENA_NEW(&work, n, double), *sorted = ARENA_NEW(&work, n, double);
	double *scratch = ARENA_NEW(&work, n, double);
	for (size_t i = 0; i < n; i++)
		scratch[i] = sorted[i] = x[i] = (double)periods[i];
	sort_doubles(sorted, n);
	if (n)
		stats_clamp(scratch, n, sorted[n / CLIPPED], sorted[n - 1 - n / CLIPPED]);
	double tau = n ? tau_of(scratch, n) : 1;
	for (int k = 0; k < QUANTILES; k++)
		out[k] = n ? quantile_of(x, sorted, n, which[k], tau, scratch) : (struct quantile){.p = which[k]};
}

/* The quantiles of a side's runs, the first `common` periods of each. */
static struct quantile (*runs_of(const struct verdict_side *side, const struct series *series, size_t common,
                                 struct arena *arena))[QUANTILES]
{
	struct quantile(*of)[QUANTILES] =
		(struct quantile(*)[QUANTILES])ARENA_NEW(arena, side->n_runs * QUANTILES, struct quantile);
	for (size_t r = 0; r < side->n_runs; r++) {
		const struct verdict_run *run = &side->runs[r];
		size_t n = run->n < common ? run->n : common, cut = series[r].cut < n ? series[r].cut : n;
		if (n)
			quantiles_of_run(run->period + cut, n - cut, of[r]);
		else
			quantiles_of_run(NULL, 0, of[r]);
	}
	return of;
}

/* Quantile k of all runs together, in logs. */
static struct found together(struct quantile (*run)[QUANTILES], size_t n, int k, struct quantile *out)
{
	struct found f = {0};
	*out = (struct quantile){.p = which[k], .known = true, .has_interval = true, .independent = INFINITY};
	for (size_t r = 0; r < n; r++) {
		const struct quantile *q = &run[r][k];
		if (!q->known) {
			out->known = out->has_interval = false;
			return f;
		}
		f.at += log(q->at) / (double)n;
		f.down += pow(log(q->at / q->lo) / (double)n, 2);
		f.up += pow(log(q->hi / q->at) / (double)n, 2);
		out->has_interval = out->has_interval && q->has_interval;
		out->independent = fmin(out->independent, q->independent);
		out->needed = q->needed;
	}
	f.down = sqrt(f.down);
	f.up = sqrt(f.up);
	return f;
}

/* The runs' own quantile k, each relative to `of`, a log. */
static double *values(struct quantile (*run)[QUANTILES], size_t n, int k, double of, struct arena *arena)
{
	double *x = ARENA_NEW(arena, n, double);
	for (size_t r = 0; r < n; r++)
		x[r] = run[r][k].known ? exp(log(run[r][k].at) - of) : 1;
	return x;
}

/* By how much runs differ, Student's t on their mean. */
static double half_of_runs(const double *x, size_t n)
{
	return n > 1 ? stats_t_quantile(.975, (double)n - 1) * sqrt(stats_variance(x, n) / (double)n) : 0;
}

void quantiles_of_side(const struct verdict_side *side, const struct series *series, struct quantile out[QUANTILES])
{
	ARENA_LOCAL(work);
	struct quantile(*run)[QUANTILES] = side->steps ? runs_of(side, series, SIZE_MAX, &work) : NULL;
	for (int k = 0; k < QUANTILES; k++) {
		if (!run) {
			out[k] = (struct quantile){.p = which[k]};
			continue;
		}
		struct found f = together(run, side->n_runs, k, &out[k]);
		if (!out[k].known)
			continue;
		double runs = half_of_runs(values(run, side->n_runs, k, f.at, &work), side->n_runs);
		out[k].at = exp(f.at);
		out[k].lo = out[k].has_interval ? exp(f.at - fmax(f.down, runs)) : out[k].at;
		out[k].hi = out[k].has_interval ? exp(f.at + fmax(f.up, runs)) : out[k].at;
	}
}

static void change_of(const struct verdict_side side[2], const struct verdict *verdict, size_t common,
                      struct quantile_change out[QUANTILES])
{
	ARENA_LOCAL(work);
	const size_t n[2] = {side[0].n_runs, side[1].n_runs};
	struct quantile(*run[2])[QUANTILES];
	for (int s = 0; s < 2; s++)
		run[s] = runs_of(&side[s], verdict->series[s], common, &work);
	for (int k = 0; k < QUANTILES; k++) {
		struct quantile of[2];
		struct found f[2];
		const double *x[2];
		for (int s = 0; s < 2; s++) {
			f[s] = together(run[s], n[s], k, &of[s]);
			x[s] = values(run[s], n[s], k, f[s].at, &work);
		}
		double change = f[1].at - f[0].at, runs = between_runs(x, n);
		double down = hypot(fmax(hypot(f[1].down, f[0].up), runs), verdict->exchange.apart);
		double up = hypot(fmax(hypot(f[1].up, f[0].down), runs), verdict->exchange.apart);
		out[k].p = which[k];
		out[k].known = of[0].known && of[1].known;
		out[k].has_interval = of[0].has_interval && of[1].has_interval;
		out[k].ratio = out[k].known ? exp(change) : 1;
		out[k].lo = out[k].has_interval ? exp(change - down) : out[k].ratio;
		out[k].hi = out[k].has_interval ? exp(change + up) : out[k].ratio;
	}
}

void quantiles_changes(const struct verdict_side side[2], const struct verdict *verdict,
                       struct quantile_change out[QUANTILES])
{
	size_t least = SIZE_MAX, most = 0;
	for (int k = 0; k < QUANTILES; k++)
		out[k] = (struct quantile_change){.p = which[k], .ratio = 1, .lo = 1, .hi = 1};
	if (!verdict->has_speedup || !side[0].steps || !side[1].steps)
		return;
	change_of(side, verdict, SIZE_MAX, out);
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++) {
			least = side[s].runs[r].n < least ? side[s].runs[r].n : least;
			most = side[s].runs[r].n > most ? side[s].runs[r].n : most;
		}
	if (least == most)
		return;
	struct quantile_change common[QUANTILES];
	change_of(side, verdict, least, common);
	for (int k = 0; k < QUANTILES; k++) {
		out[k].has_interval = out[k].has_interval && common[k].has_interval;
		out[k].lo = out[k].has_interval ? fmin(out[k].lo, common[k].lo) : out[k].ratio;
		out[k].hi = out[k].has_interval ? fmax(out[k].hi, common[k].hi) : out[k].ratio;
	}
}

/* ---- requests, and the tokens in them ---- */

static const int64_t *list_of(const struct run_table *run, enum latency_of of)
{
	const int64_t *const list[LATENCIES] = {run->n_requests ? run->request : NULL, run->n_first ? run->first : NULL,
	                                        run->n_each ? run->each : NULL};
	return list[of];
}

static bool all_have(const struct verdict_side *steps, const struct side_facts *facts, int n_sides, enum latency_of of)
{
	bool all = true;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			all = all && steps[s].steps && list_of(&facts[s].runs[r], of);
	return all;
}

/* A run's times behind those of the warm-up, without steps that have none. */
static struct verdict_run times_of(const struct verdict_run *steps, const int64_t *list, size_t cut, bool tokens,
                                   struct arena *arena)
{
	struct verdict_run out = *steps;
	int64_t *known = ARENA_NEW(arena, steps->n, int64_t);
	out.period = known;
	out.n = 0;
	for (size_t i = 0; i < steps->n; i++)
		if (i < cut || !tokens || list[i] > 0)
			known[out.n++] = list[i];
	return out;
}

void latencies_find(const struct verdict_side *steps, const struct side_facts *facts,
                    const struct series *const series[], int n_sides, struct arena *arena, struct latencies *out)
{
	*out = (struct latencies){.requests = all_have(steps, facts, n_sides, LATENCY_STEP)};
	for (int s = 0; s < n_sides; s++)
		out->of[LATENCY_STEP][s] = steps[s];
	for (enum latency_of of = LATENCY_STEP; of < LATENCIES; of++)
		for (int s = 0; all_have(steps, facts, n_sides, of) && s < n_sides; s++) {
			struct verdict_run *list = ARENA_NEW(arena, steps[s].n_runs, struct verdict_run);
			for (size_t r = 0; r < steps[s].n_runs; r++)
				list[r] = times_of(&steps[s].runs[r], list_of(&facts[s].runs[r], of), series[s][r].cut,
				                   of != LATENCY_STEP, arena);
			out->of[of][s] = steps[s];
			out->of[of][s].runs = list;
		}
}

void latencies_of_side(const struct latencies *times, int side, const struct series *series,
                       struct latency out[LATENCIES])
{
	for (enum latency_of of = LATENCY_STEP; of < LATENCIES; of++) {
		const struct verdict_side *runs = &times->of[of][side], *all = &times->of[LATENCY_STEP][side];
		struct latency *l = &out[of];
		*l = (struct latency){.longest = 0};
		quantiles_of_side(runs, series, l->quantile);
		for (size_t r = 0; runs->steps && r < runs->n_runs; r++) {
			size_t cut = series[r].cut;
			l->n += runs->runs[r].n > cut ? runs->runs[r].n - cut : 0;
			l->of += all->runs[r].n > cut ? all->runs[r].n - cut : 0;
			for (size_t i = cut; (times->requests || of != LATENCY_STEP) && i < runs->runs[r].n; i++)
				l->longest = fmax(l->longest, (double)runs->runs[r].period[i]);
		}
	}
}

/* ---- where the slowest wait ---- */

static bool has_groups(const struct run_table *run)
{
	return run->group_steps[GROUP_SLOW] > 0 && run->group_steps[GROUP_USUAL] > 1;
}

/* Of one column, or NULL: of some of the work, or REQUEST_WORKS: of the whole step, the mean of the runs that have
 * groups. Welch's interval of the two means, and not less than the runs differ by. */
static struct slowest_time time_of(const struct side_facts *facts, const struct table_column *like,
                                   enum request_work work)
{
	ARENA_LOCAL(scratch);
	struct slowest_time out = {0};
	double *more = ARENA_NEW(&scratch, facts->n_runs, double), variance = 0, spread = 0;
	size_t n = 0;
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		if (!has_groups(run))
			continue;
		const struct table_column *column = like ? run_table_like(run, like) : NULL;
		const double none[STEP_GROUPS] = {0}, *mean = column ? column->mean : none,
			     *own = column ? column->variance : none;
		if (!like) {
			mean = work < REQUEST_WORKS ? &run->work_mean[(size_t)work * STEP_GROUPS] : run->group_mean;
			own = work < REQUEST_WORKS ? &run->work_variance[(size_t)work * STEP_GROUPS]
			                           : run->group_variance;
		}
		const double per = like ? run->n_devices : 1;
		for (int g = 0; g < STEP_GROUPS && run->group_steps[g] > 1; g++) {
			double v = own[g] / (per * per) / run->group_steps[g];
			variance += v;
			spread += v * v / (run->group_steps[g] - 1);
		}
		out.usual += mean[GROUP_USUAL] / per;
		out.slow += mean[GROUP_SLOW] / per;
		more[n++] = (mean[GROUP_SLOW] - mean[GROUP_USUAL]) / per;
	}
	if (n) {
		out.usual /= (double)n;
		out.slow /= (double)n;
		out.half = fmax(between_half_width(variance, spread) / (double)n, half_of_runs(more, n));
	}
	out.more = out.slow - out.usual;
	return out;
}

static void add_part(struct slowest *out, const struct slowest_part *part)
{
	uint32_t at = out->n_parts;
	for (; at && out->part[at - 1].time.more < part->time.more; at--)
		if (at < SLOWEST_PARTS)
			out->part[at] = out->part[at - 1];
	if (at < SLOWEST_PARTS)
		out->part[at] = *part;
	out->n_parts += out->n_parts < SLOWEST_PARTS;
}

static void find_parts(const struct side_facts *facts, struct slowest *out)
{
	static const double TENTH = .1;
	for (size_t r = 0; r < facts->n_runs; r++)
		for (uint32_t c = 0; has_groups(&facts->runs[r]) && c < facts->runs[r].n_columns; c++) {
			const struct table_column *column = &facts->runs[r].column[c];
			bool seen = run_table_like(&facts->runs[r], column) != column;
			for (size_t k = 0; k < r; k++)
				seen = seen || (has_groups(&facts->runs[k]) && run_table_like(&facts->runs[k], column));
			if (seen)
				continue;
			const struct slowest_part part = {column->kind, column->cause, column->phase, column->way,
			                                  time_of(facts, column, REQUEST_WORKS)};
			if (part.time.more >= TENTH * out->all.more && part.time.more > part.time.half)
				add_part(out, &part);
		}
}

void slowest_of_side(const struct side_facts *facts, bool requests, struct slowest *out)
{
	bool known = true;
	*out = (struct slowest){.requests = requests};
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run_table *run = &facts->runs[r];
		known = known && run->found && (run->n_requests > 0) == requests;
		out->few += has_groups(run) ? (uint32_t)run->group_steps[GROUP_SLOW] : 0;
		out->of += run->found ? run->n_steps : 0;
	}
	if (!known)
		*out = (struct slowest){.requests = requests};
	if (out->few < SLOWEST_LEAST)
		return;
	out->all = time_of(facts, NULL, REQUEST_WORKS);
	if (out->all.more > out->all.half) {
		out->n = out->few;
		out->apart = requests;
		for (size_t r = 0; r < facts->n_runs; r++)
			out->apart = out->apart && (facts->runs[r].work_known || !has_groups(&facts->runs[r]));
		for (int w = 0; w < REQUEST_WORKS && out->apart; w++)
			out->work[w] = time_of(facts, NULL, (enum request_work)w);
		find_parts(facts, out);
	}
	out->few = 0;
}
