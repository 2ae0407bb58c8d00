/* One run's step periods -> its location, and how sure that is (docs/verdict.md: warm-up, independent steps, drift). */
#include "analyse/judge/stats.h"
#include "analyse/judge/verdict_parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const double NORMAL_MAD = 1.4826; /* MAD × this estimates a normal standard deviation */

/* Beyond so many lags the sum of autocorrelations is cut off, so that a series of a million steps stays affordable. */
enum { MAX_LAG = 10000 };

/* Copies y with its isolated spikes clipped to a fence from its second half, which is steady if anything is. A spike
 * stands alone (its neighbours are below the fence); the first step never counts as one. */
static void despike(const double *y, size_t n, double *out, double *scratch)
{
	const double *half = y + n / 2;
	size_t n_half = n - n / 2;
	for (size_t i = 0; i < n_half; i++)
		out[i] = half[i];
	stats_sort(out, n_half);
	double median = stats_median(out, n_half);
	double fence = median + 3 * NORMAL_MAD * stats_mad(half, n_half, median, scratch);
	for (size_t i = 0; i < n; i++) {
		bool spike = i > 0 && y[i] > fence && y[i - 1] <= fence && (i + 1 == n || y[i + 1] <= fence);
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

/* Whether what was cut differs from the rest by more than its noise, and by more than half a percent: MSER alone cuts
 * something in a third of all steady series. */
static bool cut_is_material(const double *y, size_t n, size_t cut, double *sorted, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = y[i];
	stats_sort(sorted, cut);
	double head = fmin(stats_mean(y, cut), stats_median(sorted, cut));
	stats_sort(sorted + cut, n - cut);
	double rest = stats_median(sorted + cut, n - cut);
	double noise = NORMAL_MAD * stats_mad(y + cut, n - cut, rest, scratch);
	return head - rest >= fmax(2 * noise, log(1.005));
}

/* A slow start of a step or two is too short for MSER: it cuts where the remainder is steadiest, among steps that are
 * steady already, and then what it would cut is not slow as a whole. So what leads and is slow goes, too: one step
 * after the other, as far as the first that lies below the fence of all that is left. At most a quarter, since more
 * than that is no start, and never so much that no interval is left. */
static size_t skip_slow_start(const double *y, size_t n, size_t cut, double *sorted, double *scratch)
{
	size_t left = n - cut, most = left / 4;
	if (left <= DESCRIPTIVE_STEPS)
		return cut;
	if (most > left - DESCRIPTIVE_STEPS)
		most = left - DESCRIPTIVE_STEPS;
	for (size_t i = 0; i < left; i++)
		sorted[i] = y[cut + i];
	stats_sort(sorted, left);
	double median = stats_median(sorted, left);
	double noise = NORMAL_MAD * stats_mad(y + cut, left, median, scratch);
	double fence = median + fmax(3 * noise, log(1.005));
	size_t start = 0;
	while (start < most && y[cut + start] > fence)
		start++;
	return cut + start;
}

static size_t find_warmup(const double *y, size_t n, double *a, double *b)
{
	despike(y, n, a, b);
	size_t cut = mser(a, n);
	cut = cut > 0 && cut_is_material(y, n, cut, a, b) ? cut : 0;
	return skip_slow_start(y, n, cut, a, b);
}

/* A steady run's halves differ by chance only: t with the 8 degrees of freedom of 4 cosines a half, two-sided 0.1 %. */
static void test_drift(const double *w, size_t m, struct series *out)
{
	if (m < DESCRIPTIVE_STEPS)
		return;
	size_t n[2] = {m / 2, m - m / 2};
	const double *half[2] = {w, w + n[0]};
	double mean[2], variance = 0;
	for (int i = 0; i < 2; i++) {
		int terms = n[i] - 1 < SHORT_TERMS ? (int)n[i] - 1 : SHORT_TERMS;
		mean[i] = stats_mean(half[i], n[i]);
		variance += stats_cosine_variance(half[i], n[i], terms) / (double)n[i];
	}
	double apart = fabs(mean[0] - mean[1]);
	out->drift = apart > 5.04 * sqrt(variance) && apart > LN_MARGIN;
	out->drift_size = out->drift ? apart : 0;
}

/* Enough cosines for the precision that the independent steps allow, few enough to keep clear of their correlation. */
static int term_count(size_t m, double tau, int max_terms)
{
	double terms = fmin(floor((double)m / (6 * tau)), floor(0.4 * pow((double)m, 2.0 / 3)));
	terms = fmin(fmax(terms, 4), max_terms);
	return (int)fmin(terms, (double)m - 1);
}

void series_measure(const struct verdict_run *run, int warmup, int max_terms, struct series *out)
{
	*out = (struct series){.tau = 1};
	size_t n = run->n;
	if (n == 0)
		return;
	struct arena work = {0};
	double *y = ARENA_NEW(&work, n, double), *a = ARENA_NEW(&work, n, double), *b = ARENA_NEW(&work, n, double);
	for (size_t i = 0; i < n; i++)
		y[i] = log((double)(run->period[i] > 0 ? run->period[i] : 1));
	if (warmup < 0)
		out->cut = find_warmup(y, n, a, b);
	else
		out->cut = warmup < 1 ? 0 : (size_t)warmup - 1 < n ? (size_t)warmup - 1 : n - 1;

	size_t m = out->m = n - out->cut, trim = m / 10;
	double *w = y + out->cut, *sorted = a;
	for (size_t i = 0; i < m; i++)
		sorted[i] = w[i];
	stats_sort(sorted, m);
	out->location = stats_trimmed_mean(sorted, m, trim);
	stats_clamp(w, m, sorted[trim], sorted[m - 1 - trim]);
	out->tau = stats_autocorrelation_time(w, m, m / 3 < MAX_LAG ? m / 3 : MAX_LAG);
	out->dof = term_count(m, out->tau, max_terms);
	if (out->dof > 0) /* 0.64 = (1 − 2 · 10 %)²: the trimmed mean's variance from that of the winsorised values */
		out->variance = stats_cosine_variance(w, m, out->dof) / ((double)m * 0.64);
	test_drift(w, m, out);
	arena_release(&work);
}

void verdict_series(const struct verdict_run *run, int warmup, struct series *out)
{
	series_measure(run, warmup, INT_MAX, out);
}
