#include "verdict/series_parts.h"

#include "base/arena.h"
#include "base/sort.h"
#include "verdict/stats.h"

#include <math.h>

/* ---- warm-up ---- */

enum {
	LEAST_SEARCHED = 6, /* periods */
	LEAST_FALLING = 6,  /* … of a half that is asked whether it falls */
	LEAST_LEFT = 8,     /* so many are left when slow steps at the start are skipped */
	FEWEST = 10,        /* parts of a cut: one of them, or of its slowness, is as good as nothing */
	LEAST_FLAT = 8      /* so many that are left out and get no faster are a level of their own */
};

#define LN_FALL log(1.02)
#define LN_MATERIAL log(1.005) /* less than this is no slow start, however quiet the rest */

static const double FALL_T = 5.04; /* Student's t of 8 degrees of freedom, two-sided 0.1 % */

/* The buffers of one search. */
struct search {
	const double *y, *grid;
	size_t n;
	double *sorted, *scratch;
};

/* Copies y with its isolated spikes clipped to a fence from its second half, which is steady if anything is. A spike
 * stands alone (its neighbours are below the fence); the first step never counts as one. */
static void despike(const struct search *s, double *out)
{
	const double *y = s->y, *half = s->y + s->n / 2;
	size_t n_half = s->n - s->n / 2;
	double median = stats_median_of(half, n_half, s->sorted);
	double fence = median + 3 * STATS_NORMAL_MAD * stats_mad(half, n_half, median, s->scratch);
	for (size_t i = 0; i < s->n; i++) {
		bool spike = i > 0 && y[i] > fence && y[i - 1] <= fence && (i + 1 == s->n || y[i + 1] <= fence);
		out[i] = spike ? fence : y[i];
	}
}

/* MSER-1 (White 1997): the cut d in 0 … n/2 with at least 5 left that minimises Σ_{i>d}(y_i − mean)² / (n − d)²; the
 * smallest such d. From the back, each d adds one value to a running mean and sum of squares (Welford). */
static size_t mser(const double *y, size_t n)
{
	double mean = 0, square = 0, best = INFINITY;
	size_t cut = 0;
	for (size_t d = n; d-- > 0;) {
		double left = (double)(n - d), off = y[d] - mean;
		mean += off / left;
		square += off * (y[d] - mean);
		if (d > n / 2 || (n - d < 5 && d > 0))
			continue;
		double value = square / (left * left);
		if (value <= best) {
			best = value;
			cut = d;
		}
	}
	return cut;
}

/* Whether what was cut is slower than the rest by more than its noise, and by more than half a percent: MSER alone cuts
 * something in a third of all steady series. The lower median, so that of two steps of which one is slow none is. */
static bool cut_is_material(const struct search *s, size_t cut)
{
	for (size_t i = 0; i < cut; i++)
		s->sorted[i] = s->y[i];
	sort_doubles(s->sorted, cut);
	double head = fmin(stats_mean(s->y, cut), s->sorted[(cut - 1) / 2]);
	double rest = stats_median_of(s->y + cut, s->n - cut, s->sorted);
	double noise = STATS_NORMAL_MAD * stats_mad(s->y + cut, s->n - cut, rest, s->scratch);
	return head - rest >= fmax(2 * noise, LN_MATERIAL);
}

/* A slow start of a step or two is too short for MSER: it cuts where the remainder is steadiest, among steps that are
 * steady already, and then what it would cut is not slow as a whole. So what leads and is slow goes, too: one step
 * after the other, as far as the first that lies below the fence of all that is left. At most a quarter, since more
 * than that is no start, and never so much that no interval is left. */
static size_t skip_slow_start(const struct search *s, size_t cut)
{
	size_t left = s->n - cut, most = left / 4;
	if (left <= LEAST_LEFT)
		return cut;
	if (most > left - LEAST_LEFT)
		most = left - LEAST_LEFT;
	double median = stats_median_of(s->y + cut, left, s->sorted);
	double noise = STATS_NORMAL_MAD * stats_mad(s->y + cut, left, median, s->scratch);
	double fence = median + fmax(3 * noise, LN_MATERIAL);
	size_t start = 0;
	while (start < most && s->y[cut + start] > fence)
		start++;
	return cut + start;
}

/* Of a cut, the leading steps that are longer by more than their larger kernels explain: these explain twice the share
 * by which they are larger. */
static size_t without_larger(const struct search *s, size_t cut)
{
	if (!s->grid || !cut)
		return cut;
	double rest = stats_median_of(s->y + cut, s->n - cut, s->sorted), sum = 0, most = 0;
	double usual = stats_median_of(s->grid + cut, s->n - cut, s->sorted);
	size_t kept = 0;
	for (size_t i = 0; i < cut; i++) {
		sum += s->y[i] - rest - 2 * fmax(s->grid[i] - usual, 0);
		if (sum > most) {
			most = sum;
			kept = i + 1;
		}
	}
	return kept;
}

/* What comes back later, for as long and at least half as slow, is the program and no start: a checkpoint at step 0,
 * 12,
 * 24. `rest` is the median of what is left. */
static bool comes_back(const struct search *s, size_t cut, double rest)
{
	double head = stats_mean(s->y, cut) - rest, sum = 0;
	for (size_t i = cut; i < s->n; i++) {
		sum += s->y[i] - rest;
		if (i >= 2 * cut)
			sum -= s->y[i - cut] - rest;
		if (i + 1 >= 2 * cut && sum / (double)cut >= head / 2)
			return true;
	}
	return false;
}

/* How much of a cut is slow: behind a sudden end it may go on, for steps that are hardly slower than the rest. */
static size_t slow_part(const struct search *s, size_t cut, double rest)
{
	const double first = stats_median_of(s->y, cut / 3, s->sorted) - rest;
	const size_t few = cut / FEWEST > 0 ? cut / FEWEST : 1;
	while (cut > 3 * few && stats_median_of(s->y + cut - few, few, s->sorted) - rest <= first / FEWEST)
		cut -= few;
	return cut;
}

/* A warm-up gets faster as it goes: the last third of a long one is at most half as slow as the first. */
static bool decays(const struct search *s, size_t slow, double rest)
{
	size_t third = slow / 3;
	double first = stats_median_of(s->y, third, s->sorted) - rest;
	double last = stats_median_of(s->y + slow - third, third, s->sorted) - rest;
	return last <= first / 2;
}

/* The least squares of one change of level, both levels at least two steps long. */
static double step_rest(const double *y, size_t n, double mean, double total)
{
	double left = 0, least = total;
	for (size_t i = 1; i + 2 <= n; i++) {
		left += y[i - 1] - mean;
		if (i >= 2)
			least = fmin(least, total - left * left * (1 / (double)i + 1 / (double)(n - i)));
	}
	return least;
}

/* Whether y falls all the way: along a line, by more than 2 % and by more than its noise, and more like a line than
 * like one change of level, which is another state of the machine and no start. */
static bool falls(const struct search *s, const double *y, size_t n)
{
	if (n < LEAST_FALLING)
		return false;
	double mean = stats_mean(y, n), middle = (double)(n - 1) / 2, tt = 0, ty = 0, total = 0, rest = 0;
	for (size_t i = 0; i < n; i++) {
		double t = (double)i - middle;
		tt += t * t;
		ty += t * (y[i] - mean);
		total += (y[i] - mean) * (y[i] - mean);
	}
	double slope = ty / tt;
	for (size_t i = 0; i < n; i++) {
		s->scratch[i] = y[i] - mean - slope * ((double)i - middle);
		rest += s->scratch[i] * s->scratch[i];
	}
	if (!(-slope * (double)(n - 1) > LN_FALL) || step_rest(y, n, mean, total) <= rest)
		return false;
	double tau = rest > 1e-24 * total ? stats_autocorrelation_time(s->scratch, n, n / 3) : 1;
	return -slope > FALL_T * sqrt(rest / (double)(n - 2) / tt * tau);
}

/* Whether y falls in [from, n), and not because the kernels get smaller. */
static bool falls_from(const struct search *s, double *y, size_t from)
{
	if (!falls(s, y + from, s->n - from))
		return false;
	for (size_t i = from; i < s->n && s->grid; i++)
		y[i] -= s->grid[i];
	return !s->grid || falls(s, y + from, s->n - from);
}

struct warmup warmup_find(const double *y, const double *grid, size_t n)
{
	struct warmup found = {0};
	ARENA_LOCAL(work);
	if (n < LEAST_SEARCHED)
		return found;
	struct search s = {y, grid, n, ARENA_NEW(&work, n, double), ARENA_NEW(&work, n, double)};
	double *clipped = ARENA_NEW(&work, n, double);
	despike(&s, clipped);
	size_t cut = mser(clipped, n);
	cut = skip_slow_start(&s, cut > 0 && cut_is_material(&s, cut) ? cut : 0);
	if (cut > 0) {
		double usual = stats_median_of(y + cut, n - cut, s.sorted);
		size_t slow = cut >= 3 ? slow_part(&s, cut, usual) : cut;
		if (comes_back(&s, cut, usual)) {
			cut = 0;
		} else if (slow > n / 4 && slow >= 3 && !decays(&s, slow, usual)) {
			found.level_start = true;
			found.level = cut = slow;
			found.excess = stats_mean(y, cut) - usual;
			cut = 0;
		}
	}
	found.cut = cut = without_larger(&s, cut);
	const double rest = stats_median_of(y + cut, n - cut, s.sorted);
	found.flat = cut >= LEAST_FLAT && !decays(&s, slow_part(&s, cut, rest), rest);
	size_t from = cut > n / 2 ? cut : n / 2;
	found.to_the_half = (cut > 0 && cut >= n / 2) || falls_from(&s, clipped, from);
	return found;
}

/* ---- rhythm ---- */

enum { LONGEST_PATTERN = 64 };

/* Noise alone never reaches it over three cycles; below it a pattern is small against the noise, and the cosines carry
 * it. */
static const double EXPLAINED = 0.75;
static const double NEARLY_BEST = 0.05;

struct slow_steps rhythm_slow_steps(const double *x, size_t m, double *scratch)
{
	struct slow_steps slow = {0};
	double median = stats_median_of(x, m, scratch);
	double noise = STATS_NORMAL_MAD * stats_mad(x, m, median, scratch);
	double fence = median + fmax(5 * noise, 0.1 * median), sum = 0;
	size_t last = 0, first = 0, nearest = m, farthest = 0;
	for (size_t i = 0; i < m; i++) {
		if (!(x[i] > fence))
			continue;
		if (slow.n > 0) {
			nearest = i - last < nearest ? i - last : nearest;
			farthest = i - last > farthest ? i - last : farthest;
		} else {
			first = i;
		}
		last = i;
		slow.n++;
		sum += x[i] - median;
		slow.least = slow.least > 0 ? fmin(slow.least, x[i] / median) : x[i] / median;
		slow.most = fmax(slow.most, x[i] / median);
	}
	if (slow.n > 0)
		slow.excess = sum / (double)slow.n;
	/* slow steps side by side are one slow stretch and no rhythm */
	slow.regular = slow.n >= 3 && nearest >= 2 && (double)(farthest - nearest) <= 1 + 0.1 * (double)farthest;
	/* three slow steps near each other in a hundred are three slow steps: a rhythm leaves out none, first or last
	 */
	double beyond = 1 + 1.1 * (double)farthest;
	slow.regular = slow.regular && (double)first <= beyond && (double)(m - 1 - last) <= beyond;
	slow.equal = slow.regular && nearest == farthest;
	if (slow.regular)
		slow.spacing = (size_t)lround((double)(last - first) / (double)(slow.n - 1));
	return slow;
}

/* The mean of each of the p phases. */
static void phase_means(const double *x, size_t m, size_t p, double *mean)
{
	for (size_t f = 0; f < p; f++) {
		double sum = 0;
		size_t n = 0;
		for (size_t i = f; i < m; i += p, n++)
			sum += x[i] - x[f];
		mean[f] = x[f] + sum / (double)n;
	}
}

static double explained(const double *x, size_t m, size_t p, double variance, double *mean)
{
	double rest = 0;
	phase_means(x, m, p, mean);
	for (size_t i = 0; i < m; i++)
		rest += (x[i] - mean[i % p]) * (x[i] - mean[i % p]);
	return 1 - rest / (double)(m - p) / variance;
}

size_t rhythm_pattern(const double *x, size_t m, size_t spacing)
{
	double share[LONGEST_PATTERN + 1], best = -INFINITY, variance = stats_variance(x, m), of_spacing = -INFINITY;
	size_t longest = (m + 2) / 3 < LONGEST_PATTERN ? (m + 2) / 3 : LONGEST_PATTERN;
	if (m < 4 || !(variance > 0))
		return 0;
	struct arena work = {0};
	size_t room = spacing > LONGEST_PATTERN ? spacing : LONGEST_PATTERN;
	double *mean = ARENA_NEW(&work, room, double);
	for (size_t p = 2; p <= longest; p++)
		best = fmax(best, share[p] = explained(x, m, p, variance, mean));
	if (spacing > longest && spacing < m)
		best = fmax(best, of_spacing = explained(x, m, spacing, variance, mean));
	arena_release(&work);
	double least = fmax(EXPLAINED, best - NEARLY_BEST);
	for (size_t p = 2; p <= longest; p++)
		if (share[p] >= least)
			return p;
	return of_spacing >= least ? spacing : 0;
}

double rhythm_take_out(double *x, size_t m, size_t p, double *scratch)
{
	double mean = stats_mean(x, m);
	phase_means(x, m, p, scratch);
	for (size_t i = 0; i < m; i++)
		x[i] += mean - scratch[i % p];
	return stats_mean(scratch, p);
}
