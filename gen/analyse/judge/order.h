/* Runs of several captures: Welch's interval, and what the order of the captures can have done (docs/verdict.md,
 * "Several runs" and "Order"). */
#ifndef GAPLINE_ANALYSE_JUDGE_ORDER_H
#define GAPLINE_ANALYSE_JUDGE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Student's t at 97.5 % times the standard error √variance; 0 when nothing varies. `spread` is Σ v²/dof over the
 * independent parts v that add up to `variance`, whose degrees of freedom are then variance²/spread (Welch 1947,
 * Satterthwaite 1946). */
double order_half_width(double variance, double spread);

/* Half-width of the 95 % interval for the difference of two sides' means, x[s] being n[s] >= 1 values of side s:
 * Welch's t. Where one side has a single value, the other's spread stands for both; where both have, it is 0. */
double order_welch(const double *const x[2], const size_t n[2]);

struct order {
	bool known;       /* all runs have a start time, and no two the same */
	bool interleaved; /* the order, if known, cannot pass for an effect: VIF <= 1.5 */
	bool judged;      /* not interleaved, at least two runs a side: what follows is there */
	double drift;     /* b: by so much (logs) a run takes longer than the one before, whichever side */
	double change;    /* ln of the speedup without that drift … */
	double half;      /* … and the half-width of its 95 % interval, by how far the runs lie off the line */
	double vif;       /* by so much larger is the variance of `change` than that of the means' difference */
	size_t first;     /* the side whose runs came first on average */
};

/* y[s] are the ln of the n[s] run means of side s, start[s] when the runs began. With the ranks t = 1 … N of all runs
 * by start,
 *
 *   VIF = Σ (t − t̄)² / Σ_s Σ (t − t̄_s)²;
 *
 * above 1.5 the line y = side + b t is fitted; its residuals have N − 3 degrees of freedom. Ranks, not times: a pause
 * between two runs is no drift. */
struct order order_judge(const double *const y[2], const int64_t *const start[2], const size_t n[2]);

#endif
