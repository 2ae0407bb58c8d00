/* Gates by expression (gate_expression.h), answered by an analysis. */
#ifndef GAPLINE_ANALYSE_JUDGE_GATE_METRIC_H
#define GAPLINE_ANALYSE_JUDGE_GATE_METRIC_H

#include "analyse/pair_result.h"
#include "analyse/side_result.h"

/* Where answers come from: sides with their headlines, whose lists are not cut yet. */
struct gate_source {
	const struct names *names;
	const struct side *side; /* both */
	const struct verdict *verdict;
	const struct renames *renames;
	const struct quantile_change (*quantile)[QUANTILES]; /* LATENCIES */
	const struct energy_change *energy;
};

/* The gates of `others`, and behind them one for each expression that was asked for, in their order. A number that is
 * not there, or a verdict that the data do not give, leaves a gate inconclusive; `speedup>=X` is judged as min_speedup
 * X, and a step's change by the interval of the speedup. Texts come from `arena`. */
struct gates gate_metric_judge(const struct gates *others, const struct gates_asked *asked,
                               const struct gate_source *source, struct arena *arena);

#endif
