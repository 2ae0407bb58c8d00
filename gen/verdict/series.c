#include "verdict/series.h"

#include "base/sort.h"
#include "verdict/series_parts.h"
#include "verdict/stats.h"

#include <math.h>

enum {
	MAX_LAG = 1000,  /* autocorrelations added up for tau … */
	LONG = 2000,     /* … and, in series longer than this, … */
	MAX_TERMS = 64,  /* … cosines: a million steps stay affordable */
	DRIFT_TERMS = 4, /* cosines for either half */
	DRIFT_LEAST = 8, /* measured steps from which on halves are compared */
	PAIR_LEAST = 12  /* common steps from which on two runs are compared step by step */
};

static const double EXTREME = 10;       /* times the median */
static const double DRIFT_T = 5.04;     /* Student's t of 8 degrees of freedom, two-sided 0.1 % */
static const double DRIFT_SHARE = 0.02; /* less than that between the halves is no drift */
static const double LEVEL_SIGMAS = 5;
static const double ALIKE = 0.8;

/* ---- what is measured ---- */

static double *steps_of(const struct verdict_run *run, size_t cut, struct arena *arena)
{
	size_t m = run->n - cut;
	double *x = ARENA_NEW(arena, m, double);
	for (size_t i = 0; i < m; i++)
		x[i] = (double)(run->period[cut + i] > 0 ? run->period[cut + i] : 1);
	return x;
}

void series_cut(const struct verdict_run *run, int warmup, struct series *out)
{
	*out = (struct series){.tau = 1, .shrinks = run->shrinks};
	if (run->n == 0)
		return;
	if (warmup >= 0 && !run->shrinks) {
		size_t cut = (size_t)warmup + run->opened;
		out->cut = cut < 1 ? 0 : cut - 1 < run->n ? cut - 1 : run->n - 1;
	} else if (!run->shrinks) {
		ARENA_LOCAL(work);
		double *y = steps_of(run, 0, &work);
		for (size_t i = 0; i < run->n; i++)
			y[i] = log(y[i]);
		double *grid = run->grid ? ARENA_NEW(&work, run->n, double) : NULL;
		for (size_t i = 0; i < run->n && grid; i++)
			grid[i] = log((double)run->grid[i]);
		struct warmup found = warmup_find(y, grid, run->n);
		out->cut = found.cut;
		out->flat = found.flat;
		out->warming = found.to_the_half;
		out->level_start = found.level_start;
		out->level_n = found.level;
		out->level_excess = found.excess;
	}
	out->m = run->n - out->cut;
}

static double extreme_from(const double *x, size_t m, double *scratch)
{
	return EXTREME * stats_median_of(x, m, scratch);
}

size_t series_extremes(const struct verdict_run *run, const struct series *cut, double *excess)
{
	ARENA_LOCAL(work);
	size_t n = 0;
	if (cut->m > 0 && !run->shrinks) {
		double *x = steps_of(run, cut->cut, &work);
		double from = extreme_from(x, cut->m, ARENA_NEW(&work, cut->m, double));
		for (size_t i = 0; i < cut->m; i++)
			if (x[i] >= from) {
				n++;
				*excess = fmin(*excess, x[i] - from / EXTREME);
			}
	}
	return n;
}

size_t series_slow(const struct verdict_run *run, const struct series *cut, double excess)
{
	ARENA_LOCAL(work);
	size_t n = 0;
	if (cut->m > 0 && !run->shrinks) {
		double *x = steps_of(run, cut->cut, &work);
		double median = stats_median_of(x, cut->m, ARENA_NEW(&work, cut->m, double));
		for (size_t i = 0; i < cut->m; i++)
			n += x[i] >= median + fmax(median, excess);
	}
	return n;
}

static bool is_one_step(const struct verdict_run *run, const struct series *cut)
{
	double sum = 0, longest = 0;
	for (size_t i = cut->cut; i < run->n; i++) {
		double step = (double)run->period[i];
		sum += step;
		longest = fmax(longest, step);
	}
	return !run->shrinks && cut->m > 1 && longest > sum / 2;
}

bool series_are_one_step(const struct verdict_run *runs, const struct series *cut, size_t n)
{
	size_t ones = 0;
	for (size_t r = 0; r < n; r++)
		ones += is_one_step(&runs[r], &cut[r]);
	return ones > 0 && ones <= SERIES_ASIDE;
}

/* Steps that have less and less to do: each relative to those around it. The mean stays what it is. */
static void take_out_trend(double *x, size_t m)
{
	enum { BLOCKS = 64, LEAST = 8 };
	double mean = stats_mean(x, m);
	size_t block = m / BLOCKS > LEAST ? m / BLOCKS : LEAST;
	for (size_t from = 0; from < m; from += block) {
		size_t n = m - from < block ? m - from : block;
		double here = stats_mean(x + from, n);
		for (size_t i = from; i < from + n; i++)
			x[i] *= mean / here;
	}
}

/* What the pace of a step's launches explains of how long it takes: not more than the pace itself, since a host that
 * is a tenth slower makes no step longer than by that, and nothing of too few steps. The mean stays what it is. */
static void take_out_pace(double *x, const int64_t *pace, size_t m)
{
	double mean = stats_mean(x, m), usual = 0, both = 0, square = 0;
	for (size_t i = 0; i < m; i++)
		usual += (double)pace[i] / (double)m;
	for (size_t i = 0; i < m; i++) {
		both += (x[i] - mean) * ((double)pace[i] - usual);
		square += ((double)pace[i] - usual) * ((double)pace[i] - usual);
	}
	double slope = m >= SERIES_SHORT && square > 0 ? fmin(fmax(both / square, 0), mean / 1000) : 0;
	for (size_t i = 0; i < m; i++)
		x[i] -= slope * ((double)pace[i] - usual);
}

/* Extreme steps become the mean of the others. */
static void set_steps_aside(double *x, size_t m, double *scratch, struct series *out)
{
	double from = extreme_from(x, m, scratch);
	size_t kept = 0;
	for (size_t i = 0; i < m; i++)
		if (x[i] < from)
			scratch[kept++] = x[i];
	double mean = stats_mean(scratch, kept); /* of at least half: the median is below `from` */
	for (size_t i = 0; i < m; i++)
		if (x[i] >= from) {
			out->aside++;
			out->aside_longest = fmax(out->aside_longest, x[i]);
			x[i] = mean;
		}
}

/* ---- how sure that is ---- */

/* Enough cosines for the precision that the independent steps allow, few enough to keep clear of their correlation and
 * below the frequency of what comes back. */
static int term_count(size_t m, double tau, const struct series *s, bool short_capture)
{
	double terms = fmin(floor((double)m / (6 * tau)), floor(0.4 * pow((double)m, 2.0 / 3)));
	if (m > LONG)
		terms = fmin(terms, MAX_TERMS);
	if (s->pattern)
		terms = fmin(terms, fmax(4, 2 * floor((double)(m + 2) / (double)s->pattern) - 2));
	else if (s->slow.regular)
		terms = fmin(terms, fmax(4, 2 * (double)s->slow.n - 2));
	terms = short_capture ? SERIES_SHORT_TERMS : fmax(terms, 4);
	return (int)fmin(terms, (double)m - 1);
}

/* A steady run's halves differ by chance only. Returns the second half's mean minus the first's where it is more than
 * chance allows, else 0. */
static double halves_apart(const double *w, size_t m)
{
	if (m < DRIFT_LEAST)
		return 0;
	size_t n[2] = {m / 2, m - m / 2};
	const double *half[2] = {w, w + n[0]};
	double mean[2], variance = 0;
	for (int i = 0; i < 2; i++) {
		int terms = n[i] - 1 < DRIFT_TERMS ? (int)n[i] - 1 : DRIFT_TERMS;
		mean[i] = stats_mean(half[i], n[i]);
		variance += stats_cosine_variance(half[i], n[i], terms) / (double)n[i];
	}
	double apart = mean[1] - mean[0];
	return fabs(apart) > DRIFT_T * sqrt(variance) ? apart : 0;
}

/* The largest change of the mean at one step of the run, if no noise from step to step makes it: over splits with both
 * parts at least max(5, m/8), x clipped to its median ± 5 standard deviations, though no tighter than `limit`. Returns
 * D, *at the split. */
static double change_of_level(const double *x, size_t m, const double limit[2], struct arena *work, size_t *at)
{
	size_t part = m / 8 > 5 ? m / 8 : 5;
	*at = 0;
	if (m < 2 * part)
		return 0;
	double *scratch = ARENA_NEW(work, m, double), *clipped = ARENA_NEW(work, m, double);
	double median = stats_median_of(x, m, scratch);
	double reach = 5 * STATS_NORMAL_MAD * stats_mad(x, m, median, scratch);
	for (size_t i = 0; i < m; i++)
		clipped[i] = x[i];
	stats_clamp(clipped, m, fmin(median - reach, limit[0]), fmax(median + reach, limit[1]));
	double *jump = ARENA_NEW(work, m, double);
	for (size_t i = 0; i + 1 < m; i++)
		jump[i] = x[i + 1] - x[i];
	double usual = stats_median_of(jump, m - 1, scratch);
	double sigma = STATS_NORMAL_MAD * stats_mad(jump, m - 1, usual, scratch) / sqrt(2);
	double mean = stats_mean(clipped, m), left = 0, best = 0, size = 0;
	for (size_t i = 1; i + part <= m; i++) {
		left += clipped[i - 1] - mean; /* what the right part lacks, the left part has */
		double parts = 1 / (double)i + 1 / (double)(m - i), apart = fabs(left) * parts;
		if (i < part || !(apart / sqrt(parts) > best))
			continue;
		best = apart / sqrt(parts);
		size = apart;
		*at = i;
	}
	return best > LEVEL_SIGMAS * sigma && size > 1e-12 * fabs(median) ? size : 0;
}

/* Whether the medians of the steps before and from `at` on differ by less than half of `size`. */
static bool is_of_few(const double *x, size_t m, size_t at, double size, double *scratch)
{
	double before = stats_median_of(x, at, scratch), after = stats_median_of(x + at, m - at, scratch);
	return fabs(after - before) < size / 2;
}

/* How sure the mean of x is, which counts as `mean`; and where it is clipped to, winsorised at a tenth:
 * returns that. */
static double *variance_of(double *x, size_t m, double mean, bool short_capture, bool with_core, struct arena *work,
                           double limit[2], struct series *out)
{
	double square = mean * mean * (double)m;
	double *w = ARENA_NEW(work, m, double), *scratch = ARENA_NEW(work, m, double);
	for (size_t i = 0; i < m; i++)
		w[i] = scratch[i] = x[i];
	limit[0] = sort_select(scratch, m, m / 10);
	limit[1] = sort_select(scratch, m, m - 1 - m / 10);
	stats_clamp(w, m, limit[0], limit[1]);
	out->tau = stats_autocorrelation_time(w, m, m / 3 < MAX_LAG ? m / 3 : MAX_LAG);
	out->dof = term_count(m, out->tau, out, short_capture);
	if (out->dof > 0) {
		out->variance = stats_cosine_variance(x, m, out->dof) / square;
		out->core = with_core ? stats_cosine_variance(w, m, out->dof) / square : 0;
	}
	return w;
}

/* Everything about the spread of x. Changes x. */
static void spread_of(double *x, size_t m, double mean, bool short_capture, struct arena *work, struct series *out)
{
	double limit[2];
	double *w = variance_of(x, m, mean, short_capture, true, work, limit, out);
	double apart = halves_apart(w, m) / mean;
	out->drift = fabs(apart) > DRIFT_SHARE ? fabs(apart) : 0;
	if (out->cut > 0 && apart < -DRIFT_SHARE)
		out->warming = true;
	double size = change_of_level(x, m, limit, work, &out->level_at);
	out->level = log1p(size / mean);
	out->level_of_few = size > 0 && is_of_few(x, m, out->level_at, size, ARENA_NEW(work, m, double));
}

/* The typical step: the trimmed mean of the logs w, with the cosines on the winsorised ones, as many as for the mean.
 * 0.64 = (1 − 2 · 10 %)² makes the trimmed mean's variance of theirs. */
static void typical_step(double *w, size_t m, double *sorted, struct series *out)
{
	for (size_t i = 0; i < m; i++)
		sorted[i] = w[i];
	sort_doubles(sorted, m);
	stats_clamp(w, m, sorted[m / 10], sorted[m - 1 - m / 10]);
	out->typical = stats_trimmed_mean(sorted, m, m / 10);
	if (out->dof > 0)
		out->typical_variance = stats_cosine_variance(w, m, out->dof) / ((double)m * 0.64);
}

void series_measure(const struct verdict_run *run, bool set_aside, bool short_capture, struct arena *arena,
                    struct series *out)
{
	size_t m = out->m;
	if (m == 0)
		return;
	ARENA_LOCAL(work);
	double *x = steps_of(run, out->cut, &work), *scratch = ARENA_NEW(&work, m, double);
	double *logs = ARENA_NEW(&work, m, double);
	out->counted = stats_mean(x, m);
	out->aside = 0;
	if (set_aside)
		set_steps_aside(x, m, scratch, out);
	out->mean = out->cycle = stats_mean(x, m);
	out->below = 0;
	for (size_t i = 0; i < m; i++)
		out->below += x[i] < out->mean ? 1 / (double)m : 0;
	if (run->shrinks)
		take_out_trend(x, m);
	for (size_t i = 0; i < m; i++)
		logs[i] = log(x[i]);
	out->slow = rhythm_slow_steps(x, m, scratch);
	out->pattern = rhythm_pattern(x, m, out->slow.spacing);
	if (out->pattern) {
		out->phase = ARENA_NEW(arena, out->pattern, double);
		out->cycle = rhythm_take_out(x, m, out->pattern, out->phase);
	}
	double one = out->slow.excess / ((double)m * out->mean);
	out->more = out->slow.n > 0 && !out->slow.regular && !out->pattern && !short_capture ? one * one : 0;
	spread_of(x, m, out->mean, short_capture, &work, out);
	typical_step(logs, m, scratch, out);
	if (run->pace && !run->shrinks) {
		double limit[2];
		take_out_pace(x, run->pace + out->cut, m);
		variance_of(x, m, out->mean, short_capture, true, &work, limit, out);
	}
}

void series_of_run(const struct verdict_run *run, int warmup, struct arena *arena, struct series *out)
{
	series_cut(run, warmup, out);
	double excess = INFINITY;
	size_t extremes = series_extremes(run, out, &excess);
	series_measure(run, extremes > 0 && extremes <= SERIES_ASIDE, false, arena, out);
}

void series_of_row(const double *row, size_t n, bool short_capture, struct series *out)
{
	*out = (struct series){.m = n, .tau = 1};
	if (n < 2)
		return;
	ARENA_LOCAL(work);
	double *x = ARENA_NEW(&work, n, double), *scratch = ARENA_NEW(&work, n, double), limit[2];
	for (size_t i = 0; i < n; i++)
		x[i] = row[i];
	out->slow = rhythm_slow_steps(x, n, scratch);
	out->pattern = rhythm_pattern(x, n, out->slow.spacing);
	if (out->pattern)
		rhythm_take_out(x, n, out->pattern, scratch);
	double one = out->slow.excess / (double)n;
	out->more = out->slow.n > 0 && !out->slow.regular && !out->pattern && !short_capture ? one * one : 0;
	variance_of(x, n, 1, short_capture, short_capture, &work, limit, out);
}

/* Whether rows of shares go up and down alike; a becomes how far they are apart. */
static bool vary_alike(double *a, const double *b, size_t n)
{
	double square = 0, common = 0;
	for (size_t i = 0; i < n; i++) {
		square += a[i] * a[i] + b[i] * b[i];
		common += a[i] * b[i];
		a[i] -= b[i];
	}
	return square > 0 && 2 * common >= ALIKE * square;
}

bool series_pair_rows(double *a, const double *b, size_t n, struct series *out)
{
	ARENA_LOCAL(work);
	if (n < PAIR_LEAST || !vary_alike(a, b, n))
		return false;
	*out = (struct series){.m = n, .tau = 1};
	spread_of(a, n, 1, false, &work, out);
	return true;
}

bool series_pair(const struct verdict_run *a, const struct series *of_a, const struct verdict_run *b,
                 const struct series *of_b, bool short_capture, struct series *out)
{
	const struct verdict_run *run[2] = {a, b};
	const struct series *of[2] = {of_a, of_b};
	size_t cut = of_a->cut > of_b->cut ? of_a->cut : of_b->cut, m = a->n - cut;
	if (a->n != b->n || a->n < cut + PAIR_LEAST || a->shrinks || b->shrinks)
		return false;
	ARENA_LOCAL(work);
	struct series unused = {0};
	double *x[2];
	for (int s = 0; s < 2; s++) {
		x[s] = steps_of(run[s], cut, &work);
		if (of[s]->aside)
			set_steps_aside(x[s], m, ARENA_NEW(&work, m, double), &unused);
		for (size_t i = 0; i < m; i++)
			x[s][i] = x[s][i] / of[s]->mean - 1;
	}
	if (!vary_alike(x[0], x[1], m))
		return false;
	*out = (struct series){.cut = cut, .m = m, .tau = 1};
	spread_of(x[0], m, 1, short_capture, &work, out);
	return true;
}
