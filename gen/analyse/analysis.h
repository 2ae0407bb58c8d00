/* What analysis says about a pair of profiles: plain data that the renderers (gen/render) and commands read. Nothing in
 * gen/render computes; every number on a page is here, in the JSON's meaning (docs/reference/gapline.schema.json).
 * What the words mean, and why: docs/method/analysis.md.
 *
 * Units: `…_ns` totals are integer nanoseconds; everything called *per step* is a double in nanoseconds: the window's
 * total over its steps, and the mean over runs when a side has several, and over devices where the text says so. For a
 * side without steps, "per step" means per run. Shares are 0 to 1. Names are ids of `names`. Everything lives in one
 * arena. Lists are sorted as documented, ties by name, so that output is deterministic. */
#ifndef GAPLINE_ANALYSE_ANALYSIS_H
#define GAPLINE_ANALYSE_ANALYSIS_H

#include "gate/gate.h"
#include "result/functions_result.h"
#include "result/kernels_result.h"
#include "result/pair_result.h"
#include "result/side_result.h"

struct analysis {
	const struct names *names;
	const char *title;      /* may be NULL */
	const char *items_name; /* "tokens", harmless: sides are compared by the item; NULL: by the step, or the run */
	uint32_t n_sides;       /* 2, or 1 for `gapline show` (then only side[0], findings and notes mean anything) */
	struct side side[2];
	bool all_ranks; /* a result lists all of them, however many there are (shown.h); whoever asked sets it */
	struct verdict verdict;
	struct energy_change energy;                           /* of timed runs */
	struct quantile_change quantile[LATENCIES][QUANTILES]; /* of the recorded steps */
	bool recorded_apart; /* the speedup is the stopwatch's, and a side's step as it was recorded, of which the parts
	                      * and findings are, is another one */
	bool while_recorded; /* the speedup is of recorded programs, and may be another by more than 5 % without */
	struct verdict_conditions conditions;
	struct gates gates;
	struct comparison comparison;
	struct turning turning;
	struct waterfall waterfall;
	struct findings findings;
	struct kernels_inside inside;
	struct functions functions;
	const struct step_tables *tables; /* of two sides: what all this was made of (step_tables.h) */
};

#endif
