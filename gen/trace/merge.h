/* Several traces of one run -> one trace. */
#ifndef GAPLINE_TRACE_MERGE_H
#define GAPLINE_TRACE_MERGE_H

#include "trace/columns.h"

/* One file of a run. */
struct merge_part {
	struct trace *trace; /* linked; its rows are moved and must not be used any more */
	struct time_map map; /* its times in the merged trace */
	struct arena
		*memory; /* what the trace lives in, given back when its rows are taken; NULL: the merged trace's */
};

/* Makes `out` the trace that one profile of the whole run would have given: processes in the order of the parts, then
 * of each part; threads and devices likewise. Nothing of two parts is taken for the same (process ids of two hosts may
 * be equal) but physical GPUs with the same identity (trace_gpu.id). All parts share one table of names; memory comes
 * from `arena`, which holds theirs, or takes it over, as far as the merged trace needs it. What the source says is the
 * first part's; where parts differ in what must be equal (host, job, how graphs were traced), it is unknown. `out` is
 * linked. n >= 1; one part is taken over as it is, shifted. */
void trace_merge(const struct merge_part *parts, size_t n, struct trace *out, struct arena *arena);

#endif
