/* What varies from step to step in a way that comes back: slow steps, and patterns (docs/method/verdict.md, "Rhythm").
 */
#ifndef GAPLINE_ANALYSE_JUDGE_RHYTHM_H
#define GAPLINE_ANALYSE_JUDGE_RHYTHM_H

#include <stdbool.h>
#include <stddef.h>

/* Steps above median + max(5 · 1.4826 · MAD, 10 % of the median). */
struct slow_steps {
	size_t n;
	double excess;      /* mean over them of what they take beyond the median, in the unit of x; 0 without any */
	double least, most; /* the shortest and the longest of them, as multiples of the median; 0 without any */
	bool regular;       /* at least three, equally far apart, to 1 and a tenth of the distance, and no
	                     * further from the first and last of all */
	bool equal;         /* regular, and all distances are the same */
	size_t spacing;     /* the mean distance, rounded; 0 when not regular */
};
/* `scratch` has room for m. */
struct slow_steps rhythm_slow_steps(const double *x, size_t m, double *scratch);

/* The period of a pattern that explains what varies: the smallest p with R²_adj >= 0.75 and within 0.05 of the best,
 *
 *   R²_adj(p) = 1 − (Σ (x_i − mean of its phase)² / (m − p)) / (Σ (x_i − mean)² / (m − 1)),
 *
 * over p = 2 … min(64, ⌊(m + 2)/3⌋) and `spacing`, if it is not 0. 0: there is none. */
size_t rhythm_pattern(const double *x, size_t m, size_t spacing);

/* Takes a pattern of period p out of x in place, x_i − phase mean + mean, and returns the mean of a whole cycle: the
 * average of the p phase means, which the capture's last, cut cycle does not move. `scratch` has room for p. */
double rhythm_take_out(double *x, size_t m, size_t p, double *scratch);

#endif
