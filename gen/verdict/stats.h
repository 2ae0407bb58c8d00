/* Statistics on arrays of doubles: pure functions, no memory of their own, no knowledge of profiles. Arrays hold finite
 * numbers; `n` is at least 1 unless said otherwise. Sources are named where the formula is not in every textbook. */
#ifndef GAPLINE_VERDICT_STATS_H
#define GAPLINE_VERDICT_STATS_H

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

/* ---- what differs between runs: Welch's interval (docs/method/verdict.md, "Interval") ---- */

/* Student's t at 97.5 % times the standard error √variance; 0 when nothing varies. `spread` is Σ v²/dof over the
 * independent parts v that add up to `variance`, whose degrees of freedom are then variance²/spread (Welch 1947,
 * Satterthwaite 1946). */
double between_half_width(double variance, double spread);

/* Half-width of the 95 % interval for the difference of two sides' means, x[s] being n[s] >= 1 values of side s:
 * Welch's t. Where one side has a single value, the other's spread stands for both; where both have, it is 0. */
double between_welch(const double *const x[2], const size_t n[2]);

/* The same where it decides: from EVIDENCE_SEVERAL runs per side on not less than the larger of both variances, taken
 * for both, gives. */
double between_runs(const double *const x[2], const size_t n[2]);

#endif
