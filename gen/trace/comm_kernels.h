/* Communication kernels, one after the other: of a trace whose rows are there, or of one whose rows are not held, which
 * keeps of each what tells when it ran and was launched, and which one it is, in a fourth of what the columns would
 * take. */
#ifndef GAPLINE_TRACE_COMM_KERNELS_H
#define GAPLINE_TRACE_COMM_KERNELS_H

#include "trace/trace.h"

struct comm_kernel {
	int64_t start, end, launched; /* ns; launched: when its launch began, its own start where it has none */
	uint32_t op;                  /* index into trace.ops; where they are not held, which of its run's it is */
	uint32_t name, device, stream;
	uint32_t thread; /* that launched it alone; TRACE_NONE: not known, or it is a node of a graph */
};

/* Those of one file, packed: times as they are in the file, threads and devices as the file counts them. */
struct comm_kernels {
	const char *bytes;
	size_t n_bytes;
	uint32_t n, first;         /* first: its number in the run; trace_merge fills it */
	struct comm_kernel *kinds; /* what kernels have in common: all but their times */
	uint32_t n_kinds;
};

/* Of a trace whose rows are there. `out` lives in `arena`. */
void comm_kernels_pack(const struct trace *trace, struct arena *arena, struct comm_kernels *out);

/* In how many pieces a trace hands them out: its files (trace.again), 1 where its rows are there. */
uint32_t comm_kernels_pieces(const struct trace *trace);

/* How many there are. */
size_t comm_kernels_count(const struct trace *trace);

/* One piece, by device, start, end; in `arena`, n of them. */
struct comm_kernel *comm_kernels_of(const struct trace *trace, uint32_t piece, struct arena *arena, size_t *n);

#endif
