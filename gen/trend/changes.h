/* Where a series of measurements, one a commit, changed its level.
 *
 * The method is the change-point model of statistical process control with the rank-sum statistic (Hawkins and Deng,
 * "A nonparametric change-point control chart", Journal of Quality Technology 42, 2010; Ross, Tasoulis and Adams,
 * "Nonparametric monitoring of data streams for changes in location and scale", Technometrics 53, 2011): with every new
 * value all ways to split those since the last change into before and after are tried, and the most telling one counts
 * when it would come up by chance less often than CHANGES_CHANCE. Ranks make that the same for noise of every shape, so
 * outliers and heavy tails raise no alarm; it needs no noise to be known beforehand. What a value has in common with
 * the one before it is taken out, and where a line explains the values better than a step does, changes are those on
 * top of that line. Probabilities are exact where one of the parts is small, where it matters: four commits at a new
 * level are proven when 45 came before. */
#ifndef GAPLINE_TREND_CHANGES_H
#define GAPLINE_TREND_CHANGES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Of one split, in both directions. Some of the splits of a new value are nearly the same, and most values see few that
 * can be this rare: in quiet series about one alarm comes up in ten thousand values (tests/analyse/test_changes.c).
 */
#define CHANGES_CHANCE 1e-5

enum {
	CHANGES_WINDOW = 200, /* values of a part that are looked at: the ones next to the split */
	CHANGES_EXACT = 12    /* where the smaller part has at most so many, probabilities are counted */
};

/* What is too rare to be chance, for parts of every size; made once. */
struct changes_limits {
	/* by the smaller part's size and the larger one's: the rank-sum statistic's largest value that is too small
	 * (twice it, lest ties be cut); −1: none is */
	short twice[CHANGES_WINDOW + 1][CHANGES_WINDOW + 1];
};
void changes_limits_init(struct changes_limits *limits);

struct change {
	size_t at;     /* the first value of the new level */
	size_t found;  /* the value with which it was proven: later ones made it no alarm */
	size_t within; /* with 95 % confidence `at` is off by at most so many */
	double shift;  /* of the logarithms: the median of all differences between a value after and one before */
	double lo, hi; /* its 95 % interval, from the same ranks */
	double drift;  /* from one value to the next, which the shift is without; 0: none */
};

struct changes {
	struct change *list; /* in order; arena */
	size_t n;
	size_t alarms; /* also those that later values took back */
	double drift;  /* of the values since the last change, from one to the next; 0: none */
};

/* The changes of the logarithms value[0 … n) by `least` (> 0, of the logarithm) and more. `value` has no NAN. */
struct changes changes_find(const double *value, size_t n, double least, const struct changes_limits *limits,
                            struct arena *arena);

/* The spread of values about the levels between changes: 1.4826 times the median distance, which is the standard
 * deviation of normal noise; 0 for fewer than three. */
double changes_noise(const double *value, size_t n, const struct changes *changes, struct arena *arena);

/* The median of value[0 … n), n >= 1. */
double changes_level(const double *value, size_t n, struct arena *arena);

#endif
