/* How sure a part of a step is, or idle time added up over causes or phases, by the columns of the runs' step tables.
 */
#ifndef GAPLINE_FIND_COLUMNS_H
#define GAPLINE_FIND_COLUMNS_H

#include "result/pair_result.h"
#include "side/side.h"
#include "verdict/row.h"

/* What the step tables are read with: runs of both sides, and what one side's phases are called on the other. */
struct columns {
	const struct side_facts *facts; /* NULL: there are none */
	const struct side *side;
	double items[2]; /* that a step is divided by, by side: 1 where what is asked is of a step */
	const struct renames *renames;
	double apart; /* exchange.apart */
};

/* The interval of reason->part, in ns a step (or item), into `has_interval`, `within` and `half`; `baseline` and
 * `fixed` are filled. Not known where a run has no columns, or the part is none of the budget. */
void columns_interval(const struct columns *columns, struct reason *reason);

/* Half-width of the 95 % interval of the part on side `s` alone, ns a step (or item); NAN: not known. */
double columns_half(const struct columns *columns, int s, const struct reason *reason);

/* The part in each block of a run's steps, ns a step (or item), mean over its devices; in `arena`. */
struct row_run columns_of_run(const struct columns *columns, int s, const struct run_table *run,
                              const struct reason *reason, struct arena *arena);

/* By how much a part may have changed beside what is seen: half of its interval, or where it has none what may move it
 * between two single runs. */
double columns_slack(const struct waterfall_part *part);

#endif
