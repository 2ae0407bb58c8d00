/* All that a judgement of two sides is made of: their step tables, and what was asked for. What analyse_tables says of
 * it is what analyse_pair says of the profiles, but for the pictures (struct timeline, the overview's bins, maps of
 * ranks), which decide nothing. Plain data; table/table.h has bytes for it. */
#ifndef GAPLINE_ANALYSE_STEP_TABLES_H
#define GAPLINE_ANALYSE_STEP_TABLES_H

#include "gate/gate.h"
#include "result/functions_result.h"
#include "result/kernels_result.h"
#include "side/side.h"
#include "trace/printed.h"

/* What changes the judgement, and is not in the tables: no paths, no commands, no titles. */
struct table_options {
	double items[2]; /* that a step of a side works on; 0: not told */
	const char *items_name;
	int warmup; /* --warmup N, or -1: found automatically */
	struct gates_asked gates;
	const struct printed *printed; /* what the programs printed; NULL: nothing was asked */
	const struct fact *nothing;    /* the files say that there is nothing to compare; else NULL */
};

struct step_tables {
	struct side side[2]; /* without headline, quantiles and series, which a judgement makes */
	struct side_facts facts[2];
	struct table_options options;
	/* What took rows again, with renames and findings of the judgement beside them: made where facts.rows are
	 * there, and carried where they are not. */
	struct functions functions;
	struct kernels_inside inside;
};

#endif
