/* A run of a side event by event, with what analysis says of each: for those who look at it in a tool of their own.
 * Only made when it is asked for (struct analyse_options). */
#ifndef GAPLINE_RESULT_EVENTS_RESULT_H
#define GAPLINE_RESULT_EVENTS_RESULT_H

#include "base/spans.h"
#include "result/words.h"
#include "trace/trace.h"

/* A part of a gap, of one cause. */
struct idle_event {
	int64_t start, end;
	enum cause cause;
	uint32_t phase; /* 0: between phases */
	uint32_t call;  /* CAUSE_HOST_BLOCKED: the OS call; else 0 */
};

struct device_events {
	uint32_t device; /* index into trace.devices */
	uint32_t id;     /* index into side.devices */
	struct idle_event *idle;
	size_t n_idle; /* in order; disjoint, within the window, and together the idle time of the device's budget,
	                * cause by cause, to the nanosecond */
};

/* Phases of a thread that makes steps, in order, disjoint, of the whole run. */
struct phase_event {
	int64_t start, end;
	uint32_t phase;
};
struct phase_events {
	uint32_t thread; /* index into trace.threads */
	struct phase_event *list;
	size_t n;
};

/* Times are the trace's. */
struct events {
	const struct trace *trace; /* of the side's median run; borrowed */
	int64_t window_start, window_end;
	uint32_t step_name;        /* 0: there are no steps */
	const int64_t *step_end;   /* of each step; the window begins with one of them */
	const int64_t *step_start; /* likewise, but of the first: the end before it, or of the pause behind that */
	uint32_t n_steps;
	const uint32_t *op_phase; /* by op: a name, 0: between phases */
	const bool *op_measured;  /* by op: it counts in the side's tables */
	const struct spans *host; /* by process: calls and ranges that begin in this time count there */
	const uint32_t *folded;   /* by name of a range: normalised, "step_#" */
	struct phase_events *phases;
	uint32_t n_phases; /* threads; none where phases are kinds of GPU work */
	struct device_events *devices;
	uint32_t n_devices;
};

#endif
