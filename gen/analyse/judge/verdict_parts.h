/* What the files of the verdict share; others use analyse/verdict.h. */
#ifndef GAPLINE_ANALYSE_JUDGE_VERDICT_PARTS_H
#define GAPLINE_ANALYSE_JUDGE_VERDICT_PARTS_H

#include "analyse/judge/verdict.h"

enum {
	DESCRIPTIVE_STEPS = 8,  /* a side with fewer measured steps gets numbers, but no interval */
	SHORT_STEPS = 20,       /* one run with fewer is a short capture … */
	SHORT_INDEPENDENT = 12, /* … and so is one with fewer independent ones (m / tau) */
	SHORT_TERMS = 4,        /* cosines for short captures, and for the halves of the drift test */
	PLAN_LIMIT = 1000000,   /* nobody is told to capture more steps or runs than this */
	SPAN_RUNS = 3           /* runs a side that a verdict without steps needs */
};

#define LN_MARGIN log(1 + VERDICT_MARGIN)
#define LN_FLOOR_ONE log(1.03)   /* what one run a side must exceed for a direction */
#define LN_FLOOR_SHORT log(1.10) /* the same for a short capture */

/* verdict_series with at most `max_terms` cosines. */
void series_measure(const struct verdict_run *run, int warmup, int max_terms, struct series *out);

/* The numbers behind a verdict that its reasons tell about. By side where there are two. */
struct evidence {
	bool steps;                   /* both sides have steps */
	bool stepped[2];              /* the side has steps */
	bool empty;                   /* a side measured nothing */
	bool judged;                  /* there is an interval, and enough data for it to decide something */
	size_t runs[2];               /* runs */
	size_t m[2];                  /* median over runs of the measured periods */
	size_t cut[2];                /* median over runs of the periods left out as warm-up */
	double tau[2];                /* largest over runs */
	double variance[2];           /* V of the side's mean T, within runs */
	double between;               /* half-width from the runs' spread; 0 with one run a side */
	double within;                /* half-width from the steps' spread; 0 without steps */
	double drift[2];              /* mean over runs of drift_size */
	size_t drifting[2];           /* runs that drift */
	double plain;                 /* half-width before doubling for a short capture */
	enum verdict_result recorded; /* what the interval alone gives; `result` is that, or inconclusive */
	double floor;                 /* ln: the near end of the interval must lie beyond it for a direction */
	double tails;                 /* ln of (ratio of mean periods / S): how far unusual steps pull the mean */
};

/* Steps, or runs, a side (in all, not added) at which a half-width of `distance` (logs) can be expected; 0: hopeless.
 */
int64_t verdict_steps_needed(const struct evidence *e, double distance);
int64_t verdict_runs_needed(const struct evidence *e, double distance);

/* Whether more steps, rather than more runs, are what would make this pair surer. */
bool verdict_wants_steps(const struct evidence *e, const struct verdict *v);

/* Fills v->reasons. */
void verdict_explain(const struct evidence *e, const struct verdict_options *options, struct arena *arena,
                     struct verdict *v);

#endif
