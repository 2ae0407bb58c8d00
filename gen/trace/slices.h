/* The scheduler's events -> slices of time on a processor. */
#ifndef GAPLINE_TRACE_SLICES_H
#define GAPLINE_TRACE_SLICES_H

#include "trace/trace.h"

/* Points at which a thread was put on a processor or taken off it, in any order. */
struct slice_events {
	size_t n, room;
	int64_t *time;
	uint32_t *thread; /* index into trace.threads */
	uint8_t *in;      /* 1: put on, 0: taken off */
};

/* Adds one; memory from `arena`. */
void slices_note(struct slice_events *events, struct arena *arena, int64_t time, uint32_t thread, bool in);

/* Pairs the events of each thread and fills `slices` as trace.h describes it: what lies between two events counts as on
 * a processor unless the first took the thread off and the second put it on. Events at one time count in the order in
 * which they came. */
void slices_build(const struct slice_events *events, uint32_t n_threads, struct arena *arena,
                  struct trace_slices *slices);

#endif
