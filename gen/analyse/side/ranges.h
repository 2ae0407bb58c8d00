/* NVTX ranges of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_RANGES_H
#define GAPLINE_ANALYSE_SIDE_RANGES_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct side_ranges {
	struct range_result *list; /* by host descending */
	uint32_t n;
};

/* The NVTX ranges of `n` runs, in `arena`: added as in tables.h. */
struct ranges_builder *ranges_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena);
void ranges_add(struct ranges_builder *builder, const struct run *part);
void ranges_end_run(struct ranges_builder *builder, const struct run *run);
struct side_ranges ranges_end(struct ranges_builder *builder);

#endif
