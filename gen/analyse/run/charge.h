/* What time is charged with: what threads did; what else ran on a GPU; and the sums of it. */
#ifndef GAPLINE_ANALYSE_RUN_CHARGE_H
#define GAPLINE_ANALYSE_RUN_CHARGE_H

#include "analyse/analysis.h"
#include "analyse/run/collectives.h"
#include "analyse/run/fold.h"
#include "analyse/run/steps.h"
#include "base/arena.h"
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

/* When processes ran on a GPU that several of them use. One list serves all of them, so that a GPU with a thousand
 * processes costs no more than its ops. */

/* Stretches, sorted, disjoint, in each of which the same one process ran, or several did. */
struct sharing {
	size_t n;
	int64_t *start, *end;
	uint32_t *owner;     /* the process, or TRACE_NONE for several */
	int64_t *before;     /* length of all stretches before this one */
	uint32_t *own;       /* stretches by owner: those of p are own[first_own[p] .. first_own[p + 1]) … */
	int64_t *own_before; /* … and the length of its own ones before each */
	uint32_t *first_own;
};

/* n = 0 unless at least two processes ran something on the GPU (index into trace.gpus). */
void sharing_build(const struct trace *trace, uint32_t gpu, struct arena *arena, struct sharing *out);

/* How much of [start, end) other processes than `process` ran. */
int64_t sharing_time(const struct sharing *s, uint32_t process, int64_t start, int64_t end);

/* The first interval that ends after `t` in which others ran all the time: true, and *start and *end; false when none
 * follows. */
bool sharing_next(const struct sharing *s, uint32_t process, int64_t t, int64_t *start, int64_t *end);

/* What runs beside the communication kernels of a device. Pure. */

/* When the device computes, and copies, while it communicates: disjoint and in order. */
struct comm_beside {
	struct stretches compute, copies;
};

/* Of a device of the trace. Everything lives in `arena`. */
void beside_find(const struct trace *trace, uint32_t device, struct arena *arena, struct comm_beside *out);

/* Idle time by everything that findings ask of it. */

/* Idle time of one device in the window, by everything that findings ask of it. */
struct cell_key {
	enum cause cause;
	uint32_t phase;     /* index into run.phases */
	uint32_t call;      /* CAUSE_HOST_BLOCKED: name of the OS call; else 0 */
	enum opened opened; /* what opened the gap */
	bool mutex;         /* the OS call waits for a lock */
	bool blocked;       /* the launching thread made a blocking call in the gap */
	bool input;         /* the gap ended with a host-to-device copy of a good part of a step's input */
	bool returned; /* … or with one of what was read back before in the same step, or, unmarked, in the one before,
	                or came from a peer */
	bool pageable; /* the gap ended with a copy from or to pageable memory */
	bool lasting;  /* the gap is longer than any launch takes: LASTING_GAP */
	bool alloc;    /* after an allocation or free that waited for the GPU: it would have been hidden otherwise */
	bool once;     /* of a gap like which there are hardly any others: see once.c */
};
enum { LASTING_GAP = 1000 * 1000 }; /* ns */

/* A key as two numbers that say all of it and sort as keys do. */
struct cell_number {
	uint64_t high, low;
};

/* Sorts keys by cause, phase and call, then by the rest; 0: every field is the same. */
int cell_compare(const struct cell_key *a, const struct cell_key *b);

struct cell {
	struct cell_key key;
	struct cell_number number; /* the key's */
	int64_t ns;
	int64_t noted; /* of these, in the step table (step_table.h) */
};

/* Cells by key. */
struct cells {
	struct arena *arena;
	struct cell *cell;
	uint32_t n, room;
	uint32_t *slots, n_slots; /* open addressing: 1 + index */
};

/* Adds `ns` to the cell of `key`, whose index it returns: for good. */
uint32_t cells_add(struct cells *cells, const struct cell_key *key, int64_t ns);

#endif
