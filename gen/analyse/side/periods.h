/* How long the steps of a side are. */
#ifndef GAPLINE_ANALYSE_SIDE_PERIODS_H
#define GAPLINE_ANALYSE_SIDE_PERIODS_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct side_periods {
	struct run_result *runs; /* without `series` */
	uint32_t n_runs;
	uint32_t median_run; /* in the middle by its mean period: its timeline stands for the side */
	struct side_steps steps;
};

/* The periods of all runs, and what they are together. `files` are the inputs' names, by run. */
struct side_periods periods_build(const struct run *runs, size_t n, const char *const *files, struct arena *arena);

#endif
