/* Sampled stacks -> one tree of frames (struct trace_stacks), however many samples there are. */
#ifndef GAPLINE_TRACE_STACKS_H
#define GAPLINE_TRACE_STACKS_H

#include "base/keymap.h"
#include "trace/trace.h"

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

#endif
