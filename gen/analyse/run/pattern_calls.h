/* Loops that turn within calls of a model, or within one launch of a graph: its layers. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_CALLS_H
#define GAPLINE_ANALYSE_RUN_PATTERN_CALLS_H

#include "analyse/run/pattern_ops.h"

/* PyTorch's profiler notes, where it is asked for stacks or modules, when a model was called, and its backward pass:
 * one call of either is at most one step. Sets inside[1 + loop] of the loops of `found`, made of `ops`, of which at
 * least half of the cycles begin in the same call as the one before, or by the same launch. Where no calls were noted,
 * of PyTorch programs those of few passes, amid other kernels, with which the host has nothing to do. `inside` is
 * false, and has room for RULE_LOOPS + 1. */
void pattern_calls_inside(const struct trace *trace, const struct pattern_ops *ops, const struct pattern *found,
                          bool *inside);

#endif
