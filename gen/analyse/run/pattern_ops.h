/* The GPU ops of a process as a sequence in which to look for what repeats. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_OPS_H
#define GAPLINE_ANALYSE_RUN_PATTERN_OPS_H

#include "analyse/run/pattern.h"
#include "analyse/run/spans.h"
#include "trace/trace.h"

enum pattern_order {
	PATTERN_BY_LAUNCH, /* in order of the calls that launched them; a thread is a lane. Ops without one are left out
	                    */
	PATTERN_BY_START   /* in order of their start; a stream is a lane, a device's copies one together */
};

struct pattern_ops {
	struct pattern_sequence sequence;
	uint32_t *op;   /* by place in the sequence: the op of the trace */
	uint32_t *name; /* by token */
	size_t room;    /* ops for which there are columns */
};

/* The sequence of a process. Migrations of managed memory are left out: no call launches them, and which page is moved
 * when is a matter of chance; so is what was launched in `without`, which is joined and may be NULL. Everything is in
 * `arena`. `out` is zeroed, or an earlier sequence of the same trace in the same arena that is not needed any more. */
void pattern_ops_collect(const struct trace *trace, uint32_t process, enum pattern_order order,
                         const struct spans *without, struct arena *arena, struct pattern_ops *out);

/* The share of the process's ops, migrations left out, of which the profile has the call that launched them. */
double pattern_launched_share(const struct trace *trace, uint32_t process);

#endif
