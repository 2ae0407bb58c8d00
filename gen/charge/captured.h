/* Graphs: which ranges their nodes were captured in (docs/method/analysis.md, Phase). A replay stands for the calls
 * that were captured: the ranges of a node are those open at the replay, and in them those that were opened since its
 * graph was begun and were open when the node was made. Ranges that held the whole capture say where the graph was
 * made, and nothing of what is in it. */
#ifndef GAPLINE_CHARGE_CAPTURED_H
#define GAPLINE_CHARGE_CAPTURED_H

#include "steps/fold.h"
#include "steps/steps.h"
#include "trace/trace.h"

#include <stdint.h>

struct captured {
	const struct trace *trace;
	uint32_t *around; /* by range: the last one before it on its thread that was open when it was; TRACE_NONE */
	struct graph_begun {
		int64_t start, end; /* end: INT64_MAX where no call ends it, as of cudaGraphCreate */
		size_t around;      /* the last one before it that had not ended; SIZE_MAX: none */
	} * begun;                  /* by process, in order of time … */
	size_t *first;              /* … those of process p: [first[p], first[p + 1]) */
};

/* NULL where no op is a node of which it is known who made it. In `arena`. */
struct captured *captured_find(const struct trace *trace, struct arena *arena);

/* The innermost range of `thread` that is open at `at`, and the one around it; TRACE_NONE: none. */
uint32_t captured_open(const struct captured *c, uint32_t thread, int64_t at);
uint32_t captured_outside(const struct captured *c, uint32_t range, int64_t at);

/* The innermost range of `thread` in which a call captured a node, and the one around it; TRACE_NONE: none. */
uint32_t captured_in(const struct captured *c, uint32_t thread, uint32_t call);
uint32_t captured_around(const struct captured *c, uint32_t range, uint32_t call);

/* The phase in which a call captured a node: the normalised name of the outermost such range that may be one, on the
 * step thread or, without, on the call's own; 0: none. `no_phase`: as in struct activity. */
uint32_t captured_phase(const struct captured *c, const struct fold *fold, const struct steps *steps,
                        const bool *no_phase, uint32_t call);

#endif
