/* Statistics on arrays of doubles: pure functions, no memory of their own, no knowledge of profiles. Arrays hold finite
 * numbers; `n` is at least 1 unless said otherwise. Sources are named where the formula is not in every textbook. */
#ifndef GAPLINE_ANALYSE_JUDGE_STATS_H
#define GAPLINE_ANALYSE_JUDGE_STATS_H

#include <stddef.h>

/* The median of absolute deviations times this estimates the standard deviation of a normal distribution. */
#define STATS_NORMAL_MAD 1.4826

/* The middle value, or the mean of the two middle values. */
double stats_median(const double *sorted, size_t n);

/* Median of |x_i − centre|, unscaled (× 1.4826 estimates a normal standard deviation). `scratch` has room for n. */
double stats_mad(const double *x, size_t n, double centre, double *scratch);

/* Median of values in any order. `scratch` has room for n; it may be x itself, which is left in
 * some order then. */
double stats_median_of(const double *x, size_t n, double *scratch);

double stats_mean(const double *x, size_t n);

/* Sum of squared deviations from the mean, divided by n − 1; 0 for n = 1. */
double stats_variance(const double *x, size_t n);

/* Mean of what is left after the `trim` smallest and the `trim` largest values are dropped; 2 · trim < n. */
double stats_trimmed_mean(const double *sorted, size_t n, size_t trim);

/* Values below `lo` become lo, above `hi` hi. Winsorised at g a tail: lo = sorted[g], hi = sorted[n − 1 − g]. */
void stats_clamp(double *x, size_t n, double lo, double hi);

struct stats_weighed {
	double value, weight;
};

/* The value below which `share` of the weight lies, or the middle of the two that it lies between: turned round, the
 * list has it at 1 − share. Sorts the list; n >= 1. */
double stats_weighed_quantile(struct stats_weighed *list, size_t n, double share);

/* The mean of the values between that quantile of `trim` < 1/2 and that of 1 − trim, by weight. Sorts the list. */
double stats_weighed_middle(struct stats_weighed *list, size_t n, double trim);

/* Long-run variance Ω of a stationary series from `terms` equal-weighted cosines; Ω / n is the variance of its mean,
 * with `terms` degrees of freedom. 1 <= terms < n.
 *
 *   Λ_j = √(2/n) Σ_i (x_i − mean) cos(π j (i − ½) / n),  i = 1 … n;   Ω = (1/terms) Σ_j Λ_j²
 *
 * Lazarus, Lewis, Stock, Watson: HAR Inference: Recommendations for Practice, JBES 36(4), 2018, 541-559. */
double stats_cosine_variance(const double *x, size_t n, int terms);

/* τ = 1 + 2 Σ r_k over the autocorrelations r_1, r_2, … up to the first that is not positive, at most `max_lag` of
 * them: n / τ steps of this series tell as much as independent ones. 1 for a constant series. */
double stats_autocorrelation_time(const double *x, size_t n, size_t max_lag);

/* The t at which Student's distribution with `dof` > 0 degrees of freedom (need not be whole) has probability
 * 0 < p < 1 below it. Correct to 1e-9 (absolute, or relative where |t| > 1). */
double stats_t_quantile(double p, double dof);

/* P(T > t) for t >= 0, dof > 0. */
double stats_t_tail(double t, double dof);

#endif
