/* How much what steps have to do varies, and whether it varies alike on both sides. Part of the same-work guard
 * (compare.h). */
#ifndef GAPLINE_ANALYSE_JUDGE_VARIATION_H
#define GAPLINE_ANALYSE_JUDGE_VARIATION_H

#include "analyse/side/side.h"

struct variation {
	double seen;   /* so many steps of the shorter side tell independently of each other what a step has to do */
	double varies; /* standard error, as a share, of what the kernels of a step take together, of both sides */
	/* Where steps do more and less alike on both sides (their data grow, say), chance has less to do with what
	 * they differ by than with what they vary by. */
	bool alike;
	double together; /* standard deviation of a step's kernels' time, as a share of it, … */
	double apart;    /* … and standard error of what of it is not alike, … */
	double dof;      /* … with so many degrees of freedom */
	bool wanders; /* they do not, vary much, and few are independent: chance may have made any amount that varies */
};

/* `steps`: of the shorter side. */
struct variation variation_of(const struct side_facts facts[2], double steps);

/* The share of what a side's steps vary by in time that is kernels' own: the slope of their time over the step's, block
 * by block, the mean of its runs. 0: the steps are too few, or do not vary. */
double variation_of_kernels(const struct side_facts *facts);

#endif
