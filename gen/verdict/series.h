/* One run's step periods -> what they say about its time per step, and how sure that is (docs/method/verdict.md).
 * Shares are relative to the run's mean period, so that nothing depends on the unit. */
#ifndef GAPLINE_VERDICT_SERIES_H
#define GAPLINE_VERDICT_SERIES_H

#include "base/arena.h"
#include "verdict/exchange.h"
#include "verdict/series_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of a side as it is measured: `n` step periods in nanoseconds, each > 0 (N steps give N − 1). Their sum is the
 * window and their number that of the step instances in it. */
struct verdict_run {
	const int64_t *period;
	size_t n;
	const int64_t *grid; /* beside each period: blocks of one of its kernels, the mean, > 0; NULL: alike in all of
	                      * them, or not known */
	const int64_t *pace; /* likewise: how many times as long as usual its launches took, thousandths of the ln; what
	                      * that explains is no spread. NULL: not known, or not to be asked */
	int64_t start, end;  /* when the run began and ended, ns since any epoch that both sides share; 0: not known */
	struct exchange_place place;
	double before; /* of a run without steps, ns from the first that was recorded to its span */
	bool opened;   /* period[0] is that of the first step: --warmup W leaves out W of them, else W − 1 */
	bool shrinks; /* each step has less to do than the one before it (a solver's iterations): all of them count, and
	               * that they get shorter is no warm-up and no noise */
};

struct series {
	size_t cut;       /* leading periods left out as warm-up */
	bool flat;        /* … which get no faster as they go (struct warmup) */
	size_t m;         /* periods measured: n − cut */
	bool level_start; /* the first `level` periods take longer by `excess` (logs), which does not decay: kept */
	size_t level_n;
	double level_excess;
	bool shrinks; /* as the run says */
	bool warming; /* the warm-up took all it may take, or the rest still falls: a level was never reached */

	double mean;          /* μ: window / m, ns; steps that are set aside count as the mean of the others */
	double below;         /* share of the steps that are shorter */
	double counted;       /* the same with everything as it was measured */
	size_t aside;         /* steps set aside … */
	double aside_longest; /* … and the longest of them, ns */

	struct slow_steps slow;
	size_t pattern;    /* period of the pattern; 0: none */
	double cycle;      /* mean of a whole cycle of it, ns; without one: `mean` */
	double *phase;     /* the `pattern` means of its phases, ns */
	double tau;        /* 1 + 2 Σ r_k; m / tau is the number of independent steps */
	int dof;           /* B: cosines, and degrees of freedom */
	double variance;   /* V: long-run variance of the mean, relative to its square */
	double core;       /* W: the same of the winsorised steps */
	double more;       /* the same that one more slow step than were seen would add; 0 where they are regular */
	double drift;      /* how far the halves are apart, relative, where that is more than chance and 2 %; else 0 */
	double level;      /* ln of the largest change of level inside the run that is no noise; else 0 */
	size_t level_at;   /* … and the step after which it comes, of the measured ones */
	bool level_of_few; /* … and the medians before and after it are not half as far apart: a few slow steps make it
	                    */

	double typical;          /* T: 10 % trimmed mean of ln(period in ns) */
	double typical_variance; /* long-run variance of T, with as many cosines */
};

enum {
	SERIES_SHORT = 20,       /* one run with fewer measured steps is a short capture, … */
	SERIES_INDEPENDENT = 12, /* … and so is one with fewer independent ones (m / tau) */
	SERIES_SHORT_TERMS = 4,  /* cosines for short captures */
	SERIES_ASIDE = 2         /* extreme steps of a side that may be set aside; more are the program's */
};

/* Finds the warm-up: `cut`, `m` and what goes with them. `warmup` >= 0: that many leading *steps* are left out (at
 * least one, so warmup 0 and 1 both keep every period, and warmup W drops W − 1 periods; of an opened run W); < 0:
 * found automatically. At least one period is kept. */
void series_cut(const struct verdict_run *run, int warmup, struct series *out);

/* How many of the measured periods are extreme: at least 10 times their median. The least by which one of them exceeds
 * it goes into *excess, ns, where that is less than what is there. */
size_t series_extremes(const struct verdict_run *run, const struct series *cut, double *excess);

/* How many of the measured periods are at least twice their median and exceed it by `excess` ns. */
size_t series_slow(const struct verdict_run *run, const struct series *cut, double excess);

/* Whether one step is more than half of all that was measured of a run, in one or two of a side's `n` runs: what was
 * there once is no evidence, however long it took. */
bool series_are_one_step(const struct verdict_run *runs, const struct series *cut, size_t n);

/* Measures what series_cut left. `set_aside`: extreme steps are. `short_capture`: four cosines, and no `more`, because
 * the doubling covers it. */
void series_measure(const struct verdict_run *run, bool set_aside, bool short_capture, struct arena *arena,
                    struct series *out);

/* All of it for a run by itself. */
void series_of_run(const struct verdict_run *run, int warmup, struct arena *arena, struct series *out);

/* One row of the steps, ns, which may be 0: m, tau, dof, and `variance`, `core` and `more` in ns², not relative to
 * anything. A pattern is taken out, nothing is set aside. `core` is known of a short
 * capture only. dof is 0 with fewer than two steps. */
void series_of_row(const double *row, size_t n, bool short_capture, struct series *out);

/* Two runs that do the same at the same steps, compared step by step: the variance, core, tau, dof, drift and level of
 * their difference p − q, p = x/μ − 1 of either, over the steps that both measured, into *out. False, and *out as it
 * was, where they do not: other lengths, fewer than 12 common steps, or 2 Σ pq < 0.8 (Σ p² + Σ q²). Both have been
 * measured. */
bool series_pair(const struct verdict_run *a, const struct series *of_a, const struct verdict_run *b,
                 const struct series *of_b, bool short_capture, struct series *out);

/* The same of two rows of n shares x/μ − 1. a becomes their difference. */
bool series_pair_rows(double *a, const double *b, size_t n, struct series *out);

#endif
