/* Samples of a thread as slices of a track: a function is there as long as it is on the stack. */
#ifndef GAPLINE_RENDER_PERFETTO_STACKS_H
#define GAPLINE_RENDER_PERFETTO_STACKS_H

#include "trace/trace.h"

struct stack_slice {
	int64_t start, end;
	uint32_t frame; /* index into trace.stacks.frames */
};

/* From `from` on: sorted by start, callers before what they call, which lies within them. A sample stands for the time
 * until the next one, where that comes after about `interval` ns, else for so long; functions that stay go on. */
struct stack_slice *stack_slices(const struct trace *trace, uint32_t thread, int64_t from, int64_t interval,
                                 struct arena *arena, size_t *n);

#endif
