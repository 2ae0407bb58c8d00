/* NVTX ranges of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_RANGES_H
#define GAPLINE_ANALYSE_SIDE_RANGES_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct side_ranges {
	struct range_result *list; /* by host descending */
	uint32_t n;
};

/* The NVTX ranges of all runs, in `arena`. */
struct side_ranges ranges_build(const struct run *runs, size_t n, struct arena *arena);

#endif
