/* The throughput verdict: pure functions on step periods. The speedup is the ratio of the mean times per step,
 * everything measured counted; its 95 % interval allows for steps that depend on each other, for slow steps that come
 * back, and, with several runs, for differences between runs. "Faster" or "slower" needs the whole interval on one
 * side, "unchanged" needs it within 2 %; anything else is inconclusive, and says what it would take.
 * docs/method/verdict.md defines it all and says how often it is wrong.
 *
 * Everything is closed form, deterministic, scale free, and mirrored when the sides are swapped. */
#ifndef GAPLINE_VERDICT_VERDICT_H
#define GAPLINE_VERDICT_VERDICT_H

#include "base/arena.h"
#include "fact/fact.h"
#include "verdict/exchange.h"
#include "verdict/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One side, index 0 baseline, 1 fixed. */
struct verdict_side {
	const struct verdict_run *runs;
	size_t n_runs; /* >= 1 */
	bool steps;    /* false: a run's one period is its span: three runs and more have an interval */
	double items;  /* that a step works on, by which the sides are compared; 0 on both: by the step */
};

/* A speedup nearer to 1 than this counts as none; docs/method/verdict.md says why. */
#define VERDICT_MARGIN 0.02

enum verdict_result { VERDICT_INCONCLUSIVE, VERDICT_FASTER, VERDICT_SLOWER, VERDICT_UNCHANGED };
const char *verdict_result_name(enum verdict_result result); /* "inconclusive", … as in the JSON */

enum verdict_measure { VERDICT_RECORDED, VERDICT_STOPWATCH };
const char *verdict_measure_name(enum verdict_measure measure); /* "recorded", "stopwatch" */

/* What is known of the two sides besides their periods, and was not asked for by anybody. */
struct verdict_conditions {
	const struct fact *nothing; /* there is nothing to compare, and no number; else NULL */
	const struct fact *doubt;   /* there are numbers, and they prove nothing; else NULL */
	const struct fact *rest;    /* the same, or NULL, of what was left out or lost (nothing_but_rest) */
	double beyond[2]; /* logs: how much lower (<= 0) and higher (>= 0) the speedup may be than the series show, for
	                   * what recording did to them (recording.c); mirrored when the sides are swapped */
	struct controls *controls; /* what did not change, for one or two runs per side; NULL: it is not known */
	double kernels[2];         /* by side: variation_of_kernels */
	bool other_unit;           /* the doubt is that steps hold different amounts of work */
	bool other_gpus; /* of another model on one side, or in one run: what sessions differ by is of no use */
	double queue[2]; /* logs, >= 0, by side: how much longer its step is between launches than between ends, where
	                  * its GPU was working off a queue (charge/backlog.h) */
};

/* A speedup and its 95 % interval; lo = hi = speedup where there is no interval. */
struct verdict_estimate {
	bool known, has_interval;
	double speedup, lo, hi;
};

struct verdict {
	enum verdict_result result;
	enum verdict_measure measured;
	bool has_speedup; /* false: nothing to compare; then `speedup` and its ends are 1 and mean nothing */
	double speedup;   /* S: the baseline's time per step, or item, over the fixed side's */
	double lo, hi; /* the 95 % interval that result and gates go by, widened where recording is not measured; equal
	                * to S when no interval can be given */
	bool has_interval; /* false: descriptive only (fewer than 8 steps, or spans, and than three runs) */
	bool judged;       /* the interval may decide: no doubt, and enough data */
	struct verdict_estimate recorded; /* of the recorded runs, as counted; unknown where those do not say */
	struct verdict_estimate typical;  /* the typical step: 10 % trimmed mean of the logs; decides nothing */
	const struct fact *typical_why;   /* where the typical step says something else than the speedup; else NULL */
	const struct fact *typical_line;  /* the reason with its estimate before that, one of `reasons`; NULL: none */
	double counted;                   /* S with the steps counted that were set aside */
	double step[2];         /* time per step of a side, ns; steps set aside count as the mean of the others */
	double step_counted[2]; /* the same with everything as it was measured */
	double step_typical[2]; /* ns */
	double cycle[2]; /* ln: how much longer a step is in whole cycles of its side's rhythm; 0: no rhythm, or paired
	                  */
	double lengths;  /* ln: how much higher the speedup is over the steps that all runs have, where their lengths
	                  * differ; else 0 */
	size_t n_steps[2]; /* measured steps of a run of the side, at the median */
	size_t aside[2];   /* steps set aside, over all runs of the side */
	double half_width; /* of ln S as counted, towards the nearer proof: half of ln(hi/lo), without recording */
	double floor;      /* ln: the near end of the interval must lie beyond it for a direction … */
	double surer; /* … and beyond this, where steps vary much: it makes about 99 % of the 95 %; 0: it is less */
	double sure;  /* ln: gates go by ends that lie so much further out than those of the interval, where runs were
	               * looked at while they were made (`floor` has it for a direction); else 0 */
	bool early; /* the runs ended when this direction was shown: what is promised is the near end of the interval */
	bool short_capture, one_run;
	bool few;                 /* fewer than 8 measured steps */
	bool paired;              /* both sides do the same at the same steps: compared step by step */
	bool warming;             /* most runs of a side */
	bool level_start;         /* a run of either side */
	bool drifting, level;     /* on either side; `level` with one run per side only */
	struct exchange exchange; /* which runs are exchangeable, and what is added where they are not */
	struct controls controls;
	const struct fact *state_line;  /* what they show, one of `reasons`; NULL: more runs */
	const struct fact *elsewhere;   /* what parts the sides, which share no session; else NULL */
	int64_t more_steps;             /* at least about so many steps per side would be needed; 0: not applicable */
	int64_t more_runs;              /* the same in runs per side */
	const struct fact *could;       /* of an inconclusive result: what change these runs could have shown, and
	                                 * how many would halve that, or by how much they differ; else NULL */
	double could_have_seen;         /* … that change, a share; 0 without */
	bool unsteady;                  /* … and it says that they differ */
	struct facts reasons;           /* the most important first */
	const struct series *series[2]; /* n_runs each, arena; NULL for timed runs */
};

/* Whether anybody is told to record v->more_steps: not where they are many times those of the longer side. */
bool verdict_steps_worthwhile(const struct verdict *v);

/* The whole verdict of two sides. `warmup` is as in series_cut, for every run of both. Never fails: too little data
 * gives `inconclusive` with the reason and with what it would take. */
struct verdict verdict_judge(const struct verdict_side side[2], int warmup, const struct verdict_conditions *conditions,
                             struct arena *arena);

#endif
