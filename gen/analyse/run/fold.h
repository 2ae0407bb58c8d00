/* Normalised range names (docs/analysis.md, Names): counters fold, so that step_0, step_1, … are one range `step_#`,
 * and names whose digits mean something stay: h2d, layer_1, layer_2.
 *
 * A number in a name is masked only when the names that are equal up to it occur about once each, or about once a step.
 * Trailing lists of the kind ", seq = 2868, op_id = 28669" are cut. A number right after '#' is dropped: iter#12 is
 * iter#, and step_12 is step_#. */
#ifndef GAPLINE_ANALYSE_RUN_FOLD_H
#define GAPLINE_ANALYSE_RUN_FOLD_H

#include "trace/trace.h"

struct fold {
	uint32_t *of; /* normalised name of a range's name, indexed by name id; valid for names of ranges */
	uint32_t n;   /* ids below this are covered */
};

/* `steps`: the number of steps when known (then counters that occur about once a step fold too), else 0. New names go
 * into trace->names. */
void fold_names(const struct trace *trace, size_t steps, struct arena *arena, struct fold *out);

#endif
