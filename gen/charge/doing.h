/* What threads did. */
#ifndef GAPLINE_CHARGE_DOING_H
#define GAPLINE_CHARGE_DOING_H

#include "base/arena.h"
#include "result/words.h"
#include "steps/fold.h"
#include "steps/steps.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Intervals with priorities -> a piecewise constant track: at every instant the value of the strongest open interval.
 */

struct layer {
	int64_t start, end;
	uint32_t rank;  /* the smallest open rank wins; ties go to the interval that comes first */
	uint32_t value; /* must not be 0, which stands for "nothing open" */
};

/* Asks `next` for layers, sorted by start, until it returns false; empty ones are passed over. Returns the number of
 * pieces in *start and *value (arena memory): piece i holds from start[i] to start[i + 1]; the first starts at
 * INT64_MIN, neighbours differ in value. O(n log depth), and memory for what is open at the same time only.
 * `layers`: about how many there are; 0: nobody knows. */
uint32_t flatten(bool (*next)(void *context, struct layer *layer), void *context, size_t layers, struct arena *arena,
                 int64_t **start, uint32_t **value);

/* What a host thread was doing at every instant, and which phase it was in (docs/method/analysis.md, Causes and Phase):
 * two flattened tracks per thread, made when first asked for. */

/* A piecewise constant function of time: value i holds from start[i] to start[i + 1]; start[0] is INT64_MIN. */
struct track {
	uint32_t n;
	int64_t *start;
	uint32_t *value;
	uint32_t hint; /* where the last look-up ended: look-ups come mostly in order */
};

/* Working state of one process's threads while a run is analysed. */
struct activity {
	const struct trace *trace;
	const struct fold *fold;
	const struct steps *steps;
	struct arena *arena;
	struct track *doing;      /* by thread; n = 0: not made yet. Values: see below */
	struct track *phases;     /* by thread */
	bool *no_phase;           /* by name of a range, or of its domain: where no range is a step it is none */
	bool by_work;             /* these are given: of what a thread launches next (work_phases.h), not of ranges */
	struct track *waits;      /* by thread: 0 no waiting call is open, else enum wait */
	bool *launches;           /* by thread: it launched at least one GPU op */
	uint32_t *launchers;      /* the launching threads, by process, the step thread first */
	uint32_t *first_launcher; /* of process p: launchers [first_launcher[p], first_launcher[p + 1]) */
};

/* Whether a call that waits for the GPU is open: by an asynchronous copy that blocks all the same, or by a
 * synchronising call, which is what the launch-latency rule asks for. */
enum wait { WAIT_NONE, WAIT_COPY, WAIT_SYNC };

/* One stretch of a thread's time. */
struct doing {
	int64_t start, end;
	enum cause cause;
	uint32_t call; /* CAUSE_HOST_BLOCKED: name of the call, else 0 … */
	enum os_class of_call;
	bool waits;      /* the thread waits: in such a call, or in an OS call */
	uint32_t phase;  /* normalised name, 0: none */
	uint32_t thread; /* the one that did it; TRACE_NONE: no thread's doing is the reason … */
	int64_t earlier; /* … and so many ns before `start`: of a gap's pieces (gaps.c), else 0 */
};

void activity_init(struct activity *a, const struct trace *trace, const struct fold *fold, const struct steps *steps,
                   struct arena *arena);

/* Calls `visit` for the stretches of [start, end) on `thread`, in order, covering it exactly. A thread that waits for
 * another launching thread of its process is charged with what that one does. */
void activity_walk(struct activity *a, uint32_t thread, int64_t start, int64_t end,
                   void (*visit)(void *context, const struct doing *stretch), void *context);

/* The same, but that no stretch has a phase: none is divided where phases change. */
void activity_walk_whole(struct activity *a, uint32_t thread, int64_t start, int64_t end,
                         void (*visit)(void *context, const struct doing *stretch), void *context);

/* The strongest wait that is open on the thread itself at `t`, whatever else is open too. */
enum wait activity_wait_at(struct activity *a, uint32_t thread, int64_t t);

/* Phase of an instant on a thread: a normalised name, 0 for none. */
uint32_t activity_phase(struct activity *a, uint32_t thread, int64_t t);

/* The step thread's phase track of a member (or, for a process without steps, the thread's own outermost ranges). */
struct track *activity_phases(struct activity *a, uint32_t thread);

/* Index of the value that holds at `t`. */
uint32_t track_find(struct track *track, int64_t t);

#endif
