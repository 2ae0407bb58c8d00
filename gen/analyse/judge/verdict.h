/* The speedup verdict: pure functions on step periods. The method is section 5 of the design: natural logs of step
 * periods, warm-up by despiked MSER-1, a 10 % trimmed mean, a long-run variance from equal-weighted cosines on the
 * winsorised series, Student t, an equivalence margin, and floors for what one run cannot see. docs/verdict.md explains
 * it for readers of a report. */
#ifndef GAPLINE_ANALYSE_JUDGE_VERDICT_H
#define GAPLINE_ANALYSE_JUDGE_VERDICT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of a side as it is measured: `n` step periods in nanoseconds, each > 0 (N steps give N − 1), or, for a run
 * without steps, n = 1 and the span of the run. */
struct verdict_run {
	const int64_t *period;
	size_t n;
};

struct verdict_side {
	const struct verdict_run *runs;
	size_t n_runs; /* >= 1 */
	bool steps;    /* false: spans of whole runs */
};

/* What a run's series gives. Filled by verdict_series. */
struct series {
	size_t cut;        /* leading periods left out as warm-up */
	size_t m;          /* periods measured: n − cut */
	double location;   /* T: 10 % trimmed mean of ln(period in ns) */
	double variance;   /* V: long-run variance of T */
	double tau;        /* 1 + 2 Σ r_k; m / tau is the number of independent steps */
	int dof;           /* B */
	bool drift;        /* the halves differ by more than chance allows */
	double drift_size; /* |w1 − w2|, the distance of the halves' means (logs); 0 when `drift` is false */
};

/* Statistics of one run. `warmup` >= 0: that many leading *steps* are left out (at least one, so warmup 0 and 1 both
 * keep every period, and warmup W drops W − 1 periods); < 0: found automatically. At least one period is kept. */
void verdict_series(const struct verdict_run *run, int warmup, struct series *out);

/* A speedup nearer to 1 than this counts as none; docs/verdict.md says why. */
#define VERDICT_MARGIN 0.02

enum verdict_result { VERDICT_INCONCLUSIVE, VERDICT_FASTER, VERDICT_SLOWER, VERDICT_UNCHANGED };
const char *verdict_result_name(enum verdict_result result); /* "inconclusive", … as in the JSON */

struct verdict_options {
	double min_speedup;    /* gate L >= X; 0: not asked for */
	double max_regression; /* in percent; gate: failed when U < 1/(1 + pct/100); < 0: not asked for */
	int warmup;            /* as in verdict_series, for every run of both sides */
	bool descriptive;      /* the sides cannot be compared (see `descriptive_reason`): result is inconclusive */
	const char *descriptive_reason;
	bool unprofiled;  /* the same programs were measured without a profiler, too: */
	double known[2];  /* logs: the 95 % interval of their speedup; mirrored when the sides are swapped */
	double beyond[2]; /* logs: how much lower (<= 0) and higher (>= 0) the speedup may be than the series show, for
	                   * what recording did to them (recording.c); mirrored when the sides are swapped */
};

enum gate { GATE_NONE, GATE_PASSED, GATE_FAILED, GATE_INCONCLUSIVE };

struct verdict {
	enum verdict_result result;
	double speedup; /* S = exp(T_baseline − T_fixed) */
	double lo, hi;  /* 95 % interval of S; equal to S when no interval can be given (`has_interval` false) */
	double outer_lo, outer_hi; /* the interval, widened by `beyond`, and so that it holds `known`: what the result
	                            * and the gates go by */
	bool has_interval;         /* false: descriptive only (fewer than 8 steps, or one run a side without steps) */
	double half_width;         /* in logs, as printed (after doubling for short captures) */
	double location[2];        /* mean over runs of T; exp of it is the headline period in ns */
	bool short_capture, one_run;
	int64_t more_steps;   /* at least about so many steps a side would be needed; 0: not applicable */
	int64_t more_runs;    /* the same in runs a side */
	enum gate gate;       /* of min_speedup and max_regression together: failed wins, then inconclusive */
	const char **reasons; /* whole sentences for a reader, most important first; arena text */
	size_t n_reasons;
	const struct series *series[2]; /* n_runs each, arena */
};

/* The whole verdict of two sides (index 0 baseline, 1 fixed). Never fails: too little data gives `inconclusive` with
 * the reason and with what it would take. Swapping the sides gives 1/S exactly mirrored. */
void verdict_judge(const struct verdict_side side[2], const struct verdict_options *options, struct arena *arena,
                   struct verdict *out);

#endif
