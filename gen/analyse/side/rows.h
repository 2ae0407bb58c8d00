/* What is asked of every row of a side's runs, in one going through them: this is the only time that all of them
 * are there, part by part (run/parts.h). */
#ifndef GAPLINE_ANALYSE_SIDE_ROWS_H
#define GAPLINE_ANALYSE_SIDE_ROWS_H

#include "analyse/side/phases.h"
#include "analyse/side/ranges.h"
#include "analyse/side/recording.h"
#include "analyse/side/tables.h"

struct side_rows {
	struct phases phases; /* phases_end is still to come */
	struct side_tables tables;
	struct side_ranges ranges;
	struct recording *recording; /* recording_end likewise */
	double host_work;            /* struct side_facts has the meaning */
};

/* Charges the devices of the runs, and fills their `kernels`. Results live in
 * `arena`, what is in between in `work`. */
struct side_rows rows_build(struct run *runs, size_t n, struct arena *work, struct arena *arena);

#endif
