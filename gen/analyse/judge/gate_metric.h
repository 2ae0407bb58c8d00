/* Gates by expression (gate_expression.h), answered by an analysis. */
#ifndef GAPLINE_ANALYSE_JUDGE_GATE_METRIC_H
#define GAPLINE_ANALYSE_JUDGE_GATE_METRIC_H

#include "analyse/analysis.h"

/* Adds a gate for each expression that was asked for to `out->gates`, in their order, after the verdict, the sides and
 * their headlines are complete and before their lists are cut. A number that is not there, or a verdict that the data
 * do not give, leaves a gate inconclusive; `speedup>=X` is judged as min_speedup X, and a step's change by the interval
 * of the speedup. Texts come from `arena`. */
void gate_metric_judge(const struct gates_asked *asked, struct arena *arena, struct analysis *out);

#endif
