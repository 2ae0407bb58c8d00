#include "verdict/stats.h"

#include "base/sort.h"
#include "verdict/evidence.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const double TIE = 1e-9; /* of all weight: as far apart rounding takes two sums that are one */

double stats_median(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

double stats_mad(const double *x, size_t n, double centre, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(x[i] - centre);
	return sort_median(scratch, n);
}

double stats_median_of(const double *x, size_t n, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = x[i];
	return sort_median(scratch, n);
}

/* Summed as distances from the first value: the mean of equal values is then exactly that value, and a constant series
 * has variance 0 and not a rounding error. */
double stats_mean(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 1; i < n; i++)
		sum += x[i] - x[0];
	return x[0] + sum / (double)n;
}

double stats_variance(const double *x, size_t n)
{
	if (n < 2)
		return 0;
	double mean = stats_mean(x, n), sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum / (double)(n - 1);
}

double stats_trimmed_mean(const double *sorted, size_t n, size_t trim)
{
	return stats_mean(sorted + trim, n - 2 * trim);
}

void stats_clamp(double *x, size_t n, double lo, double hi)
{
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
}

/* Equal values by weight: sums then do not depend on the order in which the list came. */
SORT_ORDER(by_value, struct stats_weighed, ASCENDING(x->value, y->value) ?: ASCENDING(x->weight, y->weight))

double stats_weighed_middle(struct stats_weighed *list, size_t n, double trim)
{
	double all = 0, at = 0, sum = 0;
	SORT(list, n, by_value);
	for (size_t k = 0; k < n; k++)
		all += list[k].weight;
	for (size_t i = 0; i < n; i++) {
		double from = fmax(at, trim * all);
		at += list[i].weight;
		sum += fmax(0, fmin(at, (1 - trim) * all) - from) * list[i].value;
	}
	return all > 0 ? sum / ((1 - 2 * trim) * all) : 0;
}

double stats_weighed_quantile(struct stats_weighed *list, size_t n, double share)
{
	double all = 0, below = 0;
	size_t low = 0, high = 0;
	SORT(list, n, by_value);
	for (size_t k = 0; k < n; k++)
		all += list[k].weight;
	for (size_t k = 0; k + 1 < n; k++) {
		below += list[k].weight;
		low += below < (share - TIE) * all;
		high += below <= (share + TIE) * all;
	}
	return (list[low].value + list[high].value) / 2;
}

double stats_cosine_variance(const double *x, size_t n, int terms)
{
	double mean = stats_mean(x, n), total = 0;
	for (int j = 1; j <= terms; j++) {
		/* the angle advances by a rotation: one multiplication instead of one cosine a step */
		double angle = PI * j / (double)n;
		double turn_c = cos(angle), turn_s = sin(angle);
		double c = cos(0.5 * angle), s = sin(0.5 * angle), sum = 0;
		for (size_t i = 0; i < n; i++) {
			sum += (x[i] - mean) * c;
			double next = c * turn_c - s * turn_s;
			s = s * turn_c + c * turn_s;
			c = next;
		}
		total += sum * sum;
	}
	return 2 * total / ((double)n * terms);
}

double stats_autocorrelation_time(const double *x, size_t n, size_t max_lag)
{
	double mean = stats_mean(x, n), square = 0, tau = 1;
	for (size_t i = 0; i < n; i++)
		square += (x[i] - mean) * (x[i] - mean);
	if (!(square > 0))
		return tau;
	for (size_t k = 1; k <= max_lag && k < n; k++) {
		double sum = 0;
		for (size_t i = 0; i + k < n; i++)
			sum += (x[i] - mean) * (x[i + k] - mean);
		if (sum <= 0)
			break;
		tau += 2 * sum / square;
	}
	return tau;
}

/* ln Γ(x + ½) − ln Γ(x). The difference of two lgamma loses digits as x grows, Stirling's series gains them
 * (coefficients: NIST Digital Library of Mathematical Functions, 5.11.8 with h = ½ and h = 0). */
static double ln_gamma_half_step(double x)
{
	if (x < 20)
		return lgamma(x + 0.5) - lgamma(x);
	double r = 1 / x, r2 = r * r;
	return 0.5 * log(x) - r * (1.0 / 8 - r2 * (1.0 / 192 - r2 * (1.0 / 640 - r2 * (17.0 / 14336))));
}

/* Continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22); converges fast for
 * x < (a + 1)/(a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double f = d;
	for (int m = 1; m < 1000000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return f;
}

/* Above so many degrees of freedom Student's t is the normal distribution and the first term of its expansion in
 * 1/dof (Abramowitz and Stegun 26.7.8) to better than 1e-9. */
static const double NORMAL = 3e6;

static double density(double t, double dof)
{
	if (dof > NORMAL)
		return exp(-0.5 * t * t) / sqrt(2 * PI);
	double ln_peak = ln_gamma_half_step(dof / 2) - 0.5 * log(dof * PI);
	return exp(ln_peak - 0.5 * (dof + 1) * log1p(t * t / dof));
}

/* P(T > t) = ½ I_x(dof/2, ½) at x = dof/(dof + t²) (DLMF 8.17). The factor before the fraction,
 * x^a (1 − x)^b / B(a, b), is t · density(t). */
double stats_t_tail(double t, double dof)
{
	if (dof > NORMAL)
		return 0.5 * erfc(t / sqrt(2)) + density(t, dof) * (t + t * t * t) / (4 * dof);
	double a = dof / 2, rest = t * t / (dof + t * t), x = dof / (dof + t * t);
	double factor = t * density(t, dof);
	if (x < (a + 1) / (a + 2.5))
		return 0.5 * factor * beta_fraction(x, a, 0.5) / a;
	return 0.5 - factor * beta_fraction(rest, 0.5, a);
}

double stats_t_quantile(double p, double dof)
{
	if (p == 0.5)
		return 0;
	/* Newton on the logarithms of t and of the tail, in which heavy tails are straight lines; a bracket keeps it
	 * from leaving where the tail is flat. */
	double want = log(p < 0.5 ? p : 1 - p), lo = -60, hi = 1, u = 0;
	while (log(stats_t_tail(exp(hi), dof)) > want && hi < 700)
		hi *= 2;
	for (int i = 0; i < 200; i++) {
		double t = exp(u), tail = stats_t_tail(t, dof), error = log(tail) - want;
		if (error > 0)
			lo = u;
		else
			hi = u;
		double next = u + error * tail / (t * density(t, dof));
		if (!(next > lo && next < hi))
			next = 0.5 * (lo + hi);
		double moved = fabs(next - u);
		u = next;
		if (moved < 1e-14)
			break;
	}
	return p < 0.5 ? -exp(u) : exp(u);
}

double between_half_width(double variance, double spread)
{
	if (!(variance > 0) || !(spread > 0))
		return 0;
	return stats_t_quantile(0.975, variance * variance / spread) * sqrt(variance);
}

double between_welch(const double *const x[2], const size_t n[2])
{
	double square[2] = {stats_variance(x[0], n[0]), stats_variance(x[1], n[1])};
	double ra = (double)n[0], rb = (double)n[1];
	if (n[0] > 1 && n[1] > 1) {
		double a = square[0] / ra, b = square[1] / rb;
		return between_half_width(a + b, a * a / (ra - 1) + b * b / (rb - 1));
	}
	if (n[0] == 1 && n[1] == 1)
		return 0;
	double v = (square[0] + square[1]) * (1 / ra + 1 / rb);
	return between_half_width(v, v * v / (fmax(ra, rb) - 1));
}

double between_runs(const double *const x[2], const size_t n[2])
{
	double welch = between_welch(x, n), ra = (double)n[0], rb = (double)n[1];
	if (n[0] < EVIDENCE_SEVERAL || n[1] < EVIDENCE_SEVERAL)
		return welch;
	double larger = fmax(stats_variance(x[0], n[0]), stats_variance(x[1], n[1]));
	return fmax(welch, stats_t_quantile(0.975, ra + rb - 2) * sqrt(larger * (1 / ra + 1 / rb)));
}
