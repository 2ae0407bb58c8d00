/* As many runs as it takes: what several looks at runs, while they are made, leave of their evidence
 * (docs/method/verdict.md, "As many runs as it takes"). Runs were made in turns, one number each. Logs. */
#ifndef GAPLINE_ANALYSE_JUDGE_LOOKS_H
#define GAPLINE_ANALYSE_JUDGE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

/* Half-widths of the difference of two sides' means after n[s] runs of side s, whose relative deviations from their
 * side's mean are x[s]. */
struct looks {
	double shown; /* of the interval that is shown */
	double sure;  /* of the one that directions and gates go by, never smaller */
};

/* False: fewer runs than the first look takes, which nothing was spent on. */
bool looks_judge(const double *const x[2], const size_t n[2], struct looks *out);

/* Whether it can be foreseen that the last look will not settle what is still open: a distance of `change` from 0 that
 * has to become larger than its half-width and `floor`; and, where `margin` > 0, also that the whole interval will not
 * lie within it. */
bool looks_hopeless(const double *const x[2], const size_t n[2], double change, double floor, double margin);

#endif
