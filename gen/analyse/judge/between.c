#include "analyse/judge/between.h"

#include "analyse/judge/evidence.h"
#include "analyse/judge/stats.h"

#include <math.h>

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
