/* Several variants of a program held against one baseline, with intervals that hold together: of all of them, in 95 %
 * each holds the truth (docs/method/verdict.md, "Several variants"). Each variant is also a pair of its own, whose
 * verdict this can only widen: a doubt about a pair is a doubt here. Variants are not held against each other. */
#ifndef GAPLINE_VERDICT_VARIANTS_H
#define GAPLINE_VERDICT_VARIANTS_H

#include "verdict/verdict.h"

enum { VARIANTS_MOST = 8, VARIANTS_LEAST_RUNS = 4 }; /* with the baseline; of each of them */

struct variant {
	const char *name;
	const char *value;  /* of the parameter that is swept; NULL: none is */
	const char *report; /* where its pair's own report lies, as the page links it; NULL: it is not written */
	double step;        /* ns, the time per step that its pair's report says */
	const double *run;  /* time per step of each run that decides, n of them, ns > 0 */
	size_t n;
	struct verdict pair; /* against the baseline; of the baseline itself nothing */
	/* What they are together, by variants_judge; nothing of the baseline: */
	bool has_interval;
	double speedup, lo,
		hi; /* the baseline's time per step over this one's; lo = hi = speedup without an interval */
	enum verdict_result result;
	const struct fact *why; /* why there is no interval; else NULL */
};

/* The first of `n` is the baseline; 2 <= n <= VARIANTS_MOST. */
void variants_judge(struct variant *list, size_t n, struct arena *arena);

/* Whether one of them has an interval, after variants_judge. */
bool variants_any_interval(const struct variant *list, size_t n);

/* Dunnett's two-sided quantile: with probability `share` the largest of k |t| is below it, where all k share the
 * baseline and the variance, of `dof` degrees of freedom, and have as many runs (C. W. Dunnett, A multiple comparison
 * procedure for comparing several treatments with a control, JASA 50, 1955). */
double variants_dunnett(double share, size_t k, double dof);

#endif
