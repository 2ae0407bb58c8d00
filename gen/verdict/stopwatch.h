/* The verdict of timed runs: programs that ran without a profiler, each run one number (docs/method/verdict.md,
 * "Timed runs"). */
#ifndef GAPLINE_VERDICT_STOPWATCH_H
#define GAPLINE_VERDICT_STOPWATCH_H

#include "verdict/verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum { STOPWATCH_LEAST_RUNS = 2 }; /* of a side, for them to decide */

struct stopwatch_run {
	double step; /* ns: the time between the two waits over the steps between them, or, without steps, the process's
	              * time from start to exit; > 0 */
	int64_t steps; /* steps between the waits; 0: the whole process is one measurement */
	int64_t start; /* when the run began, ns since any epoch that all runs share; 0: not known */
	double energy; /* J a step, > 0; else one of trace.h's ENERGY_… */
	bool looked;   /* how many runs there are was decided by looking at them */
	struct exchange_place place;
};

struct stopwatch_side {
	const struct stopwatch_run *runs; /* those that can be used */
	size_t n_runs;
	uint32_t n_unused;                 /* those that cannot, … */
	const char *unused;                /* … and why, of the first of them: a clause; NULL without one */
	const struct stopwatch_run *whole; /* those that timed the whole process although there are steps */
	size_t n_whole;
	double items;    /* that a step works on, by which the sides are compared; 0 on both: by the step */
	bool other_gpus; /* as the verdict's conditions have it */
};

/* The verdict of timed runs, index 0 baseline, 1 fixed: S is the ratio of the sides' mean runs, the interval is
 * Welch's t on the run means, widened where the runs were not made in turns. With one run on a side the result is
 * `inconclusive`, without one there is no speedup. `recorded` is what the recorded runs say, as verdict_judge returned
 * it; it goes into `recorded` and `typical` of the result with its series, and decides nothing; may be NULL.
 * Its `measured` is VERDICT_STOPWATCH. */
struct verdict verdict_stopwatch(const struct stopwatch_side side[2], const struct verdict *recorded,
                                 struct arena *arena);

/* Joules per step of timed runs: the fixed side's over the baseline's, 1.1 is 10 % more. */
struct energy_change {
	const char *why; /* a key of the words `energy`, why it is not known; NULL: it is, or nothing was timed … */
	int side;        /* … on this side */
	bool known, has_interval; /* an interval needs three runs of each side */
	double joule[2];          /* of a step, the mean over runs */
	double ratio, lo, hi;     /* both `ratio` without an interval */
};

/* J a step of timed runs, the mean; 0: it is not known of all of them. */
double stopwatch_joule(const struct stopwatch_side *side);

/* How the energy per step changed in timed runs, beside the verdict that says what may be compared. */
struct energy_change stopwatch_energy(const struct stopwatch_side side[2], const struct verdict *verdict);

/* As many runs as it takes: what several looks at runs, while they are made, leave of their evidence
 * (docs/method/verdict.md, "As many runs as it takes"). Runs were made in turns, one number each. Logs. */

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
