/* Hardware counters that the GPUs were sampled with, over the parts of what was measured (docs/method/analysis.md,
 * Hardware counters): what a busy GPU was busy with. All means are over time, in percent: a sample counts for as much
 * of its time as lies in a part, so that busy time and gaps together give the whole. */
#ifndef GAPLINE_RESULT_METRICS_RESULT_H
#define GAPLINE_RESULT_METRICS_RESULT_H

#include "trace/trace.h"

/* Means of every counter; −1: no sample tells. */
struct metric_means {
	double mean[METRIC_COUNT];
};

struct metric_phase {
	uint32_t name;             /* 0: between phases */
	double ns;                 /* a step, in which GPU work of the phase ran and samples tell of it */
	struct metric_means means; /* in that time */
};

struct metrics {
	uint32_t samples; /* in the measured windows of all runs; 0: nothing was sampled, and all else is empty */
	double interval;  /* ns between two samples of which none between them is missing, the median */
	double known;     /* share of the windows that samples tell of, of the counter that has the fewest; 0 to 1 */
	bool before;      /* a sample counts what was before its time; else, as in most profiles, what came after it */
	bool has[METRIC_COUNT];
	double busy_ns,
		busy_share; /* of the sampled runs: how long the device was busy a step; of the window, 0 to 1 */
	struct metric_means busy, idle, window; /* while something ran on the device; nothing did; both */
	struct metric_phase *phases;            /* by ns descending, at most METRIC_PHASES */
	uint32_t n_phases;
};
enum { METRIC_PHASES = 12 };

/* A counter over the steps that the timeline shows. */
struct metric_span {
	int64_t start, end; /* relative, as the timeline's */
	double percent;
};
struct metric_lane {
	enum metric metric;
	struct metric_span *spans; /* at most METRIC_SPANS, of many samples their means; none where they are missing */
	uint32_t n;
	double known; /* share of the time shown that samples tell of, 0 to 1 */
};
enum { METRIC_SPANS = 600 };

const char *metric_name(enum metric metric);  /* "sm_active" */
const char *metric_label(enum metric metric); /* "SMs active" */

#endif
