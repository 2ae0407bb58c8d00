/* How many leading step periods of a run are warm-up (docs/method/verdict.md, "Warm-up"). */
#ifndef GAPLINE_VERDICT_SERIES_PARTS_H
#define GAPLINE_VERDICT_SERIES_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct warmup {
	size_t cut; /* leading periods left out */
	bool flat;  /* … many, which get no faster as they go: another state of the machine looks like that, too */
	bool level_start; /* a longer stretch at the beginning was kept: it does not decay into the rest */
	size_t level;     /* … so many periods */
	double excess;    /* … and by so much they are longer than the rest (logs) */
	bool to_the_half; /* the cut took all it may take, or the second half still falls: no steady level was reached
	                   */
};

/* Searches the natural logs `y` of `n` periods. With fewer than 6 nothing is searched for. `grid`: likewise, how large
 * the kernels of each were; NULL: alike, or not known. Steps that take longer because their kernels are larger are no
 * warm-up (inputs that are sorted by length). */
struct warmup warmup_find(const double *y, const double *grid, size_t n);

/* What varies from step to step in a way that comes back: slow steps, and patterns (docs/method/verdict.md, "Rhythm").
 */

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
