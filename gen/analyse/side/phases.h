/* What the phases of a side cost. */
#ifndef GAPLINE_ANALYSE_SIDE_PHASES_H
#define GAPLINE_ANALYSE_SIDE_PHASES_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct side_phases {
	struct phase_result *list; /* by rank */
	uint32_t n;
	bool by_work; /* nobody marked them: they are kinds of GPU work, each with the host's time before it */
};

/* The phases of all runs; `mean` is the budget of the side, whose idle rows are added up by phase. */
struct side_phases phases_build(struct run *runs, size_t n, const struct budget *mean, struct arena *arena);

#endif
