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

/* The phases of all runs. What rows say of them is added first, part by part (run/parts.h); `mean` is the budget of the
 * side, whose idle rows are added up by phase.
 */
struct phases {
	struct side_phases out;
	uint32_t *slot;
	size_t n_runs;
};
struct phases phases_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena);
void phases_add(struct phases *phases, struct run *run, struct run *part);
struct side_phases phases_end(struct phases *phases, const struct run *runs, const struct budget *mean, bool memory);

#endif
