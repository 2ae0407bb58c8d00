/* What the ranks of a run wait for each other: its collectives, how each device's communication divides into waiting
 * for the last rank and moving data, and how long each rank's steps are without that waiting. */
#ifndef GAPLINE_ANALYSE_RUN_WAITING_H
#define GAPLINE_ANALYSE_RUN_WAITING_H

#include "analyse/run/blame.h"
#include "analyse/run/comm_ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One device of the run. A rank's step k lasts from the end of its last GPU op of the steps up to k − 1 to that of the
 * steps up to k. */
struct device_waiting {
	struct comm_parts parts; /* of the window; waiting + moving + unmatched is the budget's exposed communication,
	                          * bubbles are idle time */
	struct bubble *bubbles;  /* in order of time */
	size_t n_bubbles;
	double *step;      /* by measured step, n_steps of them: its length without exposed waiting and bubbles, ns */
	double own;        /* their mean; of a run without steps the window without them */
	double waited_for; /* ns of the window that all other ranks waited for this one in collectives, exposed
	                      (below) */
	uint32_t partner;  /* the device that it waits for most in sends and receives; TRACE_NONE: for none */
	uint32_t last;     /* collectives of the window in which it came last */
};

struct waiting {
	struct device_waiting *device; /* by index into run.devices */
	int64_t tolerance; /* ns: what two ranks' times may be apart although they are the same; negative: they are of
	                    * several hosts, and say nothing of each other */
	uint32_t n_collectives; /* of the window */
	struct comm_row *rows;
	uint32_t n_rows;
};

/* The devices are charged already (run_devices). Everything lives in `arena`. */
void waiting_find(const struct run *run, struct arena *arena, struct waiting *out);

#endif
