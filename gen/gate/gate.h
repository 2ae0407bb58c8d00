/* What `--gate` takes: one number of the fixed side and a limit (docs/reference/gates.md).
 *
 *     METRIC OPERATOR LIMIT      idle<5%    phase:"data load".cost<0.5ms    kernels_per_step<=+0%    speedup>=1.1
 *
 * A pure parser; gate_metric.c says what a profile answers. */
#ifndef GAPLINE_GATE_GATE_H
#define GAPLINE_GATE_GATE_H

#include "base/arena.h"
#include "base/err.h"
#include "result/latency_result.h"
#include "result/pair_result.h"
#include "result/side_result.h"
#include "result/words.h"
#include "verdict/verdict.h"

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

/* Gates: what was asked for, what was found, and which condition failed (docs/method/verdict.md, "Gates"). */

enum gate_result { GATE_NONE, GATE_PASSED, GATE_FAILED, GATE_INCONCLUSIVE };
const char *gate_result_name(enum gate_result result); /* "none", "passed", "failed", "inconclusive" */

/* What a user asked for. */
struct gates_asked {
	double min_speedup;    /* 0: not asked for */
	double max_regression; /* percent; < 0: not asked for */
	bool require_comparable;
	const struct gate_expression *expressions; /* --gate, in their order; borrowed */
	size_t n_expressions;
};

enum gate_kind { GATE_MIN_SPEEDUP, GATE_MAX_REGRESSION, GATE_REQUIRE_COMPARABLE, GATE_EXPRESSION };

struct columns;
struct comparison;

struct gate {
	enum gate_kind kind;
	const char *name; /* "min_speedup", "max_regression", "require_comparable"; an expression as it was given */
	enum gate_result result;
	double asked;        /* a speedup; a regression in percent; nothing (0) for require_comparable;
	                      * an expression's limit in its unit, times in ns */
	enum gate_unit unit; /* of an expression's numbers; GATE_TIMES and GATE_CHANGE for the first two kinds */
	bool has_found;
	double found; /* the speedup; the regression in percent, 100 (1/S − 1); an expression's number, in its unit; not
	               * for require_comparable */
	bool has_interval; /* … and [lo, hi] is more than the number */
	double lo, hi; /* the ends of its 95 % interval, by which the gate is judged; of an expression whose number is
	                * known in part, the least and the most that it can be */
	enum same_work work;     /* what require_comparable found … */
	bool conditions;         /* … and whether another GPU, driver, clock or way of recording on one side */
	const struct fact *fact; /* what was asked, what was found, and the condition that failed */
};

struct gates {
	struct gate *gate; /* in the order of enum gate_kind, expressions as given; arena */
	size_t n;
	enum gate_result result; /* of all together: failed before inconclusive before passed; none without gates */
};

/* min_speedup X: passed when the interval is at X or above, and, for X > 1, only with the result `faster`; failed when
 * it is below X. max_regression P: failed when the interval is below 1/(1 + P/100), else passed; inconclusive where
 * only the recorded programs show it. Both are inconclusive where the data give no
 * verdict. require_comparable: passed for the same work or job, failed for different work, inconclusive where it is
 * unknown. */
struct gates gates_judge(const struct verdict *verdict, const struct comparison *comparison,
                         const struct gates_asked *asked, struct arena *arena);

/* Appends a gate, and says what all together come to. */
void gates_add(struct gates *gates, const struct gate *gate, struct arena *arena);

/* The ends of the speedup's interval that gates go by. */
double gates_lo(const struct verdict *verdict);
double gates_hi(const struct verdict *verdict);

/* Judges a speedup that has to be at least gate->asked, by [gate->lo, gate->hi]. */
void gates_judge_speedup(const struct verdict *verdict, struct arena *arena, struct gate *gate);

/* Where the data give no verdict (`judged` is false). `found`: of the number that was asked for, or NULL. */
const struct fact *gates_no_verdict(const struct verdict *verdict, const struct fact *asked, const struct fact *found,
                                    struct arena *arena);

/* As many digits as it takes to tell a number from the one asked for, two decimals at least. */
const char *gates_apart(struct arena *arena, double value, double asked);

/* A speedup that was asked for, as a reader sees it: "1.50×", "1.025×"; arena text. */
const char *gates_times(struct arena *arena, double asked);

/* What min_speedup asks for; 0: nothing. */
double gates_asked_speedup(const struct gates *gates);

/* Gates by expression, answered by an analysis. */

/* Where answers come from: sides with their headlines, whose lists are not cut yet. */
struct gate_source {
	const struct names *names;
	const struct side *side; /* both */
	const struct verdict *verdict;
	const struct renames *renames;
	const struct quantile_change (*quantile)[QUANTILES]; /* LATENCIES */
	const struct energy_change *energy;
	const struct columns *columns; /* by the step: how sure parts of the budget are */
};

/* The gates of `others`, and behind them one for each expression that was asked for, in their order. A number that is
 * not there, or a verdict that the data do not give, leaves a gate inconclusive; `speedup>=X` is judged as min_speedup
 * X, and a step's change by the interval of the speedup. Texts come from `arena`. */
struct gates gate_metric_judge(const struct gates *others, const struct gates_asked *asked,
                               const struct gate_source *source, struct arena *arena);

#endif
