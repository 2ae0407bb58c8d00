/* What samplers and the scheduler say of threads, while a trace is built and read. */
#ifndef GAPLINE_TRACE_SAMPLES_H
#define GAPLINE_TRACE_SAMPLES_H

#include "base/keymap.h"
#include "trace/trace.h"

/* Sampled stacks -> one tree of frames (struct trace_stacks), however many samples there are. */

/* Samples while a trace is built: names are indices of the builder's strings, threads of its list. */
struct stack_samples {
	struct arena *arena;
	struct keymap functions; /* by name << 32 | module; without a symbol the name is TRACE_NONE */
	struct keymap frames;    /* by parent << 32 | function; the index is the frame's, less one */
	size_t n, room;
	int64_t *time;
	uint32_t *thread, *stack;
	int64_t cut; /* as in struct trace_stacks */
};

void stack_samples_init(struct stack_samples *samples, struct arena *arena);

/* Makes `frame` (0: the root) that of a function which it calls; without a symbol, `name` is TRACE_NONE, and where the
 * caller is of the same module and has none either, it stays the caller's. False: there are too many frames, which is
 * counted in `cut`. */
bool stack_samples_enter(struct stack_samples *samples, uint32_t *frame, uint32_t name, uint32_t module);

/* A sample whose innermost frame is `stack`. */
void stack_samples_note(struct stack_samples *samples, int64_t time, uint32_t thread, uint32_t stack);

/* Takes over those of another builder; string[i] and thread[i] are here what is i there, and what the result, of
 * `scratch`, says for frame i. */
const uint32_t *stack_samples_join(struct stack_samples *samples, const struct stack_samples *from,
                                   const uint32_t *string, const uint32_t *thread, struct arena *scratch);

/* Functions and frames, where string i means the name text[i]. */
void stack_samples_list(const struct stack_samples *samples, const uint32_t *text, struct names *names,
                        struct trace_stacks *stacks, struct arena *arena);

/* The samples, in the order in which they came: of thread i becomes of thread[i], or is left out where that is
 * TRACE_NONE. None where there is not one stack: when threads ran is not what they did. */
void stack_samples_give(const struct stack_samples *samples, const uint32_t *thread, struct arena *arena,
                        struct trace_samples *out);

/* Who samples at known distances whatever the thread does, as gapline's own sampler, and is late where the machine has
 * no processor for it, has each sample stand for half the way to its neighbours: else what keeps processors busy would
 * count for less than what sleeps. Longer gaps are no lateness. In ns, of a trace whose source says sample_ns. */
double stack_samples_stand_for(const struct trace *trace, size_t sample);

/* Adds the frames of another trace; what is frame i there is here frame result[i], from `scratch`. */
const uint32_t *stacks_join(struct trace_stacks *stacks, const struct trace_stacks *from, struct arena *arena,
                            struct arena *scratch);

/* Samples that say whether a thread waited for the global interpreter lock -> stretches of time in which it did, and
 * those in which nobody looked. */

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
