/* How much one row of a step changed, and how sure that is: the verdict's own rule applied to a column of the step
 * table (docs/method/verdict.md, "Parts"). */
#ifndef GAPLINE_VERDICT_ROW_H
#define GAPLINE_VERDICT_ROW_H

#include <stdbool.h>
#include <stddef.h>

/* One run of a side: what the row takes of each step, or of each block of as many steps, ns. */
struct row_run {
	const double *x;
	size_t n;    /* > 0 */
	double mean; /* of its steps */
};
struct row_side {
	const struct row_run *runs;
	size_t n_runs; /* > 0 */
	bool small;    /* below a thousandth of a step: its steps count as independent of each other */
};

/* ns a step: half-widths of the 95 % interval of fixed − baseline. */
struct row_interval {
	bool known;    /* false: a run of either side has no two steps, and there are no two runs of each */
	double within; /* by what varies within the runs, or between several */
	double half;   /* that and what one run per side cannot show, or sides that share no session */
};

/* `apart`: exchange.apart, also where sessions are measured, which they are by whole steps; `single`: what may move the
 * row between two single runs, of the row. */
struct row_interval row_judge(const struct row_side side[2], double apart, double single);

/* The same of one side's mean. */
struct row_interval row_judge_one(const struct row_side *side, double single);

/* b(q): by how many half-widths a row must have changed to be named as a reason, where `rows` rows could be. */
double row_clear(size_t rows);

#endif
