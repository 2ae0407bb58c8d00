/* Where a process tries out kernels and takes the time of each: cuDNN's search, Triton's, TensorRT's. */
#ifndef GAPLINE_STEPS_TRIALS_H
#define GAPLINE_STEPS_TRIALS_H

#include "base/spans.h"
#include "trace/trace.h"

/* ns: trials go on after a shorter pause: the next candidate is compiled */
#define TRIALS_PAUSE 100000000

struct trials {
	/* in which a thread of the process asked for the time between two events at least three times; joined, in an
	 * arena */
	struct spans spans;
	size_t later;      /* how often it asked from `until` on */
	uint32_t launches; /* between two events of such a span: the median, of two in the middle the larger, of those
	                    * that have any; 0: none has */
};

/* Who tries out kernels takes the time of each between two events and asks for it; where the collector leaves that call
 * out (nsys does), the host waits for the second event. Finds where a thread of the process did so before `until`, from
 * the first event on. A program may as well take the time of its own steps: what is a search its reader decides. */
void trials_find(const struct trace *trace, uint32_t process, int64_t until, struct arena *arena, struct trials *out);

#endif
