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
	/* Kernels of one side's steps take another time from a step on, and never again what they took before: that is
	 * a change and no chance, so it is left out above. */
	int turns;         /* that side; FACT_NO_SIDE: neither does, or both */
	uint32_t turn[2];  /* its steps before and after */
	double turn_ns[2]; /* what kernels take in one of them, of a device */
};

/* `steps`: of the shorter side. */
struct variation variation_of(const struct side_facts facts[2], double steps);

/* The share of what a side's steps vary by in time that is kernels' own: the slope of their time over the step's, block
 * by block, the mean of its runs. 0: the steps are too few, or do not vary. */
double variation_of_kernels(const struct side_facts *facts);

#endif
