#include "analyse/judge/series_parts.h"

#include "analyse/judge/stats.h"
#include "base/arena.h"

#include <math.h>

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
