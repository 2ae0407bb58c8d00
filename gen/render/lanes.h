/* The lanes of a side's timeline, from the host down to what the GPU lacks: phases of the step thread, CUDA calls of
 * the launching threads, and for every GPU its streams, its copies by direction, its hardware counters where
 * they were sampled, and its idle time by cause. The
 * picture and the page's data (data.h) have the same lanes. */
#ifndef GAPLINE_RENDER_LANES_H
#define GAPLINE_RENDER_LANES_H

#include "analyse/analysis.h"
#include "render/lane.h"

enum {
	LANES_LABEL = 168,                /* pixels for a lane's label */
	LANES_DEVICES = TIMELINE_DEVICES, /* so many GPUs of a side are shown */
	LANES_CALLS = 3,
	LANES_STREAMS = 6, /* what has no room shares the last lane */
	LANES_MOST = 1 + LANES_CALLS + LANES_DEVICES * (LANES_STREAMS + 4 + METRIC_COUNT)
};

struct lanes {
	struct lane lane[LANES_MOST];
	uint32_t n;
};

/* Without y and height. */
void lanes_build(const struct analysis *analysis, int side, struct arena *arena, struct lanes *out);

/* What stands over shown step `i` of a side: "step 12: 24.22 ms", and where there is less room the time alone. */
struct step_label {
	const char *whole, *brief;
};
struct step_label lanes_step(const struct analysis *analysis, int side, uint32_t i, struct arena *arena);

/* "3 steps take 93.1 ms less": where both sides show as many steps; `side` is the shorter one. NULL where there is
 * nothing to compare. */
const char *lanes_saving(const struct analysis *analysis, int *side, struct arena *arena);

/* Which of many GPUs are drawn first, the slowest, the median and the fastest: "baseline: rank 5, rank 11, rank 6"; ""
 * where all are drawn, or nothing is known. */
const char *lanes_drawn(const struct side *side, struct arena *arena);

#endif
