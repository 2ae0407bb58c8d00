/* Samples that say whether a thread waited for the global interpreter lock -> stretches of time in which it did, and
 * those in which nobody looked. */
#ifndef GAPLINE_TRACE_GIL_WAITS_H
#define GAPLINE_TRACE_GIL_WAITS_H

#include "trace/trace.h"

/* A look at a thread. Threads are indices of the builder's list while a trace is built. */
struct gil_look {
	int64_t time;
	uint32_t thread, holder; /* holder: TRACE_NONE where it is not known */
	uint32_t stack;          /* the holder's innermost frame, 0: not known */
	uint64_t switches;       /* how often the lock had changed hands; 0: not known */
	bool waits;
};

/* Those of a thread in order of time. */
struct gil_looks {
	struct gil_look *list;
	size_t n, room;
};

/* Adds one; memory from `arena`. */
void gil_note(struct gil_looks *looks, struct arena *arena, const struct gil_look *look);

/* Fills trace.gil and trace.unlooked as sampled.h describes them, of a trace whose calls are in order and whose first
 * and last time are known. Thread i becomes thread[i]; looks at a thread that is TRACE_NONE there are left out.
 *
 * `distance`: ns between two looks that were asked for, 0: not known, and nothing is told. Two looks at a thread that
 * both find it waiting agree where they are at most four times as far apart, or where the lock did not change hands
 * between them: then it cannot have had it. Where they are farther apart, nothing is known of the time between them,
 * but for half a distance behind the one and before the other.
 *
 * A round of looks is of all threads of a process that Python knows, so a thread without a look in one of them is none
 * that could wait. Unlooked is, of threads that call CUDA, what lies between two rounds of their process that are
 * farther apart than that, before the first and after the last one; but for two looks at the thread that say the same,
 * and between which the lock did not change hands. */
void gil_build(const struct gil_looks *looks, const uint32_t *thread, int64_t distance, struct arena *arena,
               struct trace *trace);

/* The scheduler's events -> slices of time on a processor. */

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
