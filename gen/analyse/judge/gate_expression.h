/* What `--gate` takes: one number of the fixed side and a limit (docs/reference/gates.md).
 *
 *     METRIC OPERATOR LIMIT      idle<5%    phase:"data load".cost<0.5ms    kernels_per_step<=+0%    speedup>=1.1
 *
 * A pure parser; gate_metric.h says what a profile answers. */
#ifndef GAPLINE_ANALYSE_JUDGE_GATE_EXPRESSION_H
#define GAPLINE_ANALYSE_JUDGE_GATE_EXPRESSION_H

#include "analyse/latency_result.h"
#include "base/arena.h"
#include "base/err.h"

enum gate_metric {
	METRIC_SPEEDUP,
	METRIC_STEP, /* time per step, the headline */
	METRIC_P50,  /* quantiles of the recorded steps, as struct side has them … */
	METRIC_P90,
	METRIC_P95,
	METRIC_P99,
	METRIC_COMPUTE,
	METRIC_COMM,
	METRIC_COPY,
	METRIC_IDLE,
	METRIC_CAUSE, /* idle:CAUSE, idle time of one cause */
	METRIC_PHASE_COST,
	METRIC_PHASE_GPU,
	METRIC_PHASE_IDLE,
	METRIC_PHASE_HOST,
	METRIC_KERNELS, /* counts a step … */
	METRIC_GRAPHS,
	METRIC_COLLECTIVES,
	METRIC_COPIES,
	METRIC_SYNCS,
	METRIC_H2D, /* bytes a step … */
	METRIC_D2H,
	METRIC_D2D,
	METRIC_ENERGY, /* of timed runs: J a step, as a change */
	METRIC_MEMORY  /* peak of device memory, bytes: of the run */
};

enum gate_operator { GATE_LESS, GATE_AT_MOST, GATE_MORE, GATE_AT_LEAST };

/* What a limit is counted in. */
enum gate_unit {
	GATE_TIMES, /* a speedup */
	GATE_NS,    /* a step */
	GATE_SHARE, /* percent of a step */
	GATE_COUNT, /* a step */
	GATE_BYTES, /* a step; of METRIC_MEMORY at the peak */
	GATE_CHANGE /* percent, of the fixed side against the baseline */
};

struct gate_expression {
	const char *text; /* as given; borrowed */
	enum gate_metric metric;
	int cause;               /* of METRIC_CAUSE: an enum cause */
	enum latency_of latency; /* of METRIC_P50 and the other quantiles */
	const char *phase;       /* of METRIC_PHASE_…: its name, arena text; else NULL */
	enum gate_operator compare;
	enum gate_unit unit;
	double limit;
};

enum { GATE_EXPRESSION_MOST = 400 }; /* bytes of an expression */

/* Reads one expression. `text` must outlive `out`. 0, or -1 with `err`, which names the expression, the character
 * (counted from 1) and what was expected there. */
int gate_expression_parse(const char *text, struct arena *arena, struct gate_expression *out, struct err *err);

const char *gate_unit_name(enum gate_unit unit); /* as in the JSON: "times", "ms", "percent", … */

#endif
