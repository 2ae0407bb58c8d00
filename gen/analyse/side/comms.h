/* What ranks say to each other: one row for each operation of each communicator. */
#ifndef GAPLINE_ANALYSE_SIDE_COMMS_H
#define GAPLINE_ANALYSE_SIDE_COMMS_H

#include "analyse/run/waiting.h"
#include "analyse/side_result.h"

struct side_comms {
	struct comm_result *list; /* by exposed + hidden descending, at most COMMS_MOST, in the arena */
	uint32_t n, left_out;
};

/* Of the side's median run. */
struct side_comms comms_build(const struct run *run, const struct waiting *waiting, struct arena *arena);

#endif
