/* The numbers behind a verdict: what its files share. Others use verdict/verdict.h. */
#ifndef GAPLINE_VERDICT_PROOF_H
#define GAPLINE_VERDICT_PROOF_H

#include "verdict/evidence.h"
#include "verdict/exchange.h"
#include "verdict/verdict.h"

#include <math.h>

/* ln of how many times as much a step of the baseline does, where both are compared by what they do. */
static inline double proof_unit(double baseline_items, double fixed_items)
{
	return baseline_items > 0 && fixed_items > 0 ? log(baseline_items) - log(fixed_items) : 0;
}

enum {
	DESCRIPTIVE_STEPS = 8, /* a side with fewer measured steps, of all runs together, … */
	DESCRIPTIVE_RUNS = 3,  /* … and fewer runs gets numbers, but no interval */
	PLAN_LIMIT = 1000000,  /* nobody is told to capture more steps or runs than this */
	LEAST_RUNS = 3         /* runs per side that a verdict on several needs */
};

#define LN_MARGIN log(1 + VERDICT_MARGIN) /* differences within it are "unchanged" */

/* Two sides as they are measured; by side where there are two. Half-widths and distances are logs. */
struct proof {
	bool steps;               /* both sides have steps */
	bool stepped[2];          /* the side has steps */
	bool empty;               /* a side measured nothing */
	size_t runs[2];           /* runs */
	size_t all[2];            /* measured periods of all runs */
	bool opened[2];           /* the first period is the first step's: as many are left out as are cut */
	size_t m[2];              /* median over runs of the measured periods */
	size_t cut[2];            /* median over runs of the periods left out as warm-up */
	double tau[2];            /* largest over runs */
	const double *mean[2];    /* run means, ns … */
	double side_mean[2];      /* … M, their mean */
	double cycle[2];          /* mean of the runs' means of whole cycles */
	double counted[2];        /* M with everything as it was measured */
	double variance[2];       /* of ln M, within runs: Σ v (μ_r/(M R))² */
	double spread[2];         /* Σ of the squares of those over their degrees of freedom */
	double more[2];           /* of ln M, what one more slow step would add */
	double plain_variance[2]; /* as `variance` and `spread`, before a short capture is doubled */
	double plain_spread[2];
	double drift[2];    /* mean over runs */
	size_t drifting[2]; /* runs that drift */
	double level[2];    /* largest over runs; only with one run per side */
	bool paired;
	bool one_run, few, short_capture;
	struct exchange exchange;
	double widened[2];      /* how much further out the low and the high end of the interval lie for it */
	double between;         /* half-width from the runs' spread; 0 with one run per side */
	double within;          /* half-width from the steps' spread */
	double plain;           /* half-width before doubling, drift and hulls */
	double unit;            /* proof_unit of the sides */
	double change;          /* c = ln S */
	double change_cycles;   /* the same of whole cycles */
	double change_counted;  /* the same with everything counted */
	size_t common, longest; /* periods of the shortest and the longest run, where they differ; else 0 */
	double change_common;   /* ln S of the first `common` periods of each run */
	bool lengths_open;      /* without those there would be a result */
	size_t warmup_common;   /* a warm-up of both sides that was found on one (measured_common_warmup); else 0 */
	double change_warm;     /* ln S without it */
	bool warmup_flat;       /* one side's may be none (measured_flat_warmup) … */
	double change_flat;     /* … ln S with it */
	double queue[2];        /* as the conditions say */
	bool queue_opens;       /* without that there would be a result */
	double rhythm;          /* of timed runs: what whole cycles of a rhythm may add */
	bool moved;             /* of runs without steps: what lies before them grew instead */
	bool rhythm_opens;      /* without that there would be a result */
	bool looked;            /* timed runs were looked at while they were made, … */
	double sure;            /* … as the verdict's */
	double lo, hi;          /* the interval of ln S as counted, and with the queues */
	double floor;           /* the near end of the interval must lie beyond it for a direction */
	enum verdict_result counted_result; /* what the interval as counted gives */
};

/* The run means of both sides, each relative to its side's. */
void proof_relative(const struct proof *p, struct arena *arena, const double *x[2]);

/* The result of an interval of ln S: unchanged within the margin, a direction beyond the floor. */
enum verdict_result proof_decide(double lo, double hi, double floor);

/* How many steps, or runs, a side in all would make an inconclusive verdict sure, at least: into v->more_steps and
 * v->more_runs (plan.c). */
void plan_more(const struct proof *p, struct verdict *v);

/* Steps in which a run's one or two slow steps, which are no rhythm yet, would be three, which may be one; 0: it has
 * other numbers of them. */
double plan_rhythm(const struct series *series);

/* Runs for an interval that is to become as narrow as `distance` (logs); 0: hopeless. */
int64_t plan_runs(const struct proof *p, double distance);

/* Fills v->reasons and v->typical_why (reasons.c, shape.c). */
void reasons_find(const struct proof *p, const struct verdict_conditions *conditions, int warmup, struct arena *arena,
                  struct verdict *v);

/* What an inconclusive verdict's runs could have shown, into v->could (plan.c). `conditions`: NULL for timed runs. */
void plan_could(const struct proof *p, const struct verdict_conditions *conditions, struct arena *arena,
                struct verdict *v);

/* Where F widens the interval: why, how far, and what to do; else NULL. */
const struct fact *reasons_apart(const struct verdict *v, struct arena *arena);

/* Where nothing tells the state that few runs were made in; `runs`: "timed" or "recorded"; else NULL. */
const struct fact *reasons_unseen(const struct proof *p, const char *runs, struct arena *arena);

/* Why the typical step says something else than the throughput; NULL: it does not. */
const struct fact *shape_why(const struct proof *p, const struct verdict *v, struct arena *arena);

/* What of two sides' steps is measured: warm-ups are cut off, extreme steps set aside. */

/* Fills the series of all runs. `warmup`: as of series_cut. */
void measured_sides(const struct verdict_side side[2], int warmup, struct arena *arena, struct series *series[2]);

/* The same of a side of short captures, with what was set aside before. */
void measured_short(const struct verdict_side *side, struct arena *arena, struct series *series);

/* Where the warm-up that was found on one side is longer, and the other side's steps up to there are slow, too: so many
 * leading steps, as of --warmup, to be left out of all runs; 0: that is not so, or a run would lose more than half. */
size_t measured_common_warmup(const struct verdict_side side[2], const struct series *const series[2]);

/* What one side's warm-up leaves out may be no warm-up: many steps that get no faster as they go, and of the other side
 * less than half as many are left out. The leading steps, as of --warmup, to be left out of all runs, then: the other
 * side's; 0: that is not so. */
size_t measured_flat_warmup(const struct verdict_side side[2], const struct series *const series[2]);

#endif
