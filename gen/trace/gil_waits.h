/* Samples that say whether a thread waited for the global interpreter lock -> stretches of time in which it did. */
#ifndef GAPLINE_TRACE_GIL_WAITS_H
#define GAPLINE_TRACE_GIL_WAITS_H

#include "trace/trace.h"

/* Looks at threads, those of a thread in order of time. Threads are indices of the builder's list while a trace is
 * built. */
struct gil_looks {
	size_t n, room;
	int64_t *time;
	uint32_t *thread, *holder; /* holder: TRACE_NONE where it is not known */
	uint32_t *stack;           /* the holder's innermost frame, 0: not known */
	uint8_t *waits;
};

struct gil_look {
	int64_t time;
	uint32_t thread, holder, stack;
	bool waits;
};

/* Adds one; memory from `arena`. */
void gil_note(struct gil_looks *looks, struct arena *arena, const struct gil_look *look);

/* Fills trace.gil as trace.h describes it, of a trace whose calls are in order. Thread i becomes thread[i]; looks at a
 * thread that is TRACE_NONE there are left out. `distance`: ns between two looks that were asked for; samples that are
 * a hundred times as far apart agree on nothing, and without a distance (0) none do. */
void gil_build(const struct gil_looks *looks, const uint32_t *thread, int64_t distance, struct arena *arena,
               struct trace *trace);

#endif
