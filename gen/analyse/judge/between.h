/* What differs between runs: Welch's interval (docs/method/verdict.md, "Interval"). */
#ifndef GAPLINE_ANALYSE_JUDGE_BETWEEN_H
#define GAPLINE_ANALYSE_JUDGE_BETWEEN_H

#include <stddef.h>

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
