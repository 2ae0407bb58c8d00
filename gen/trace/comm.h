/* Communication: what NCCL says of its kernels, and these kernels one after the other. */
#ifndef GAPLINE_TRACE_COMM_H
#define GAPLINE_TRACE_COMM_H

#include "trace/trace.h"

/* Which calls of NCCL a communication kernel was launched for. Pure. */

/* A kernel (comm_kernel.op), and what it was launched for: calls[first] … calls[first + n − 1]. */
struct comm_op {
	uint32_t op, first, n;
};

/* A process as a communicator counts it. */
struct comm_member {
	int64_t comm;
	uint32_t process, rank, ranks; /* ranks: of the communicator */
};

struct comm_calls {
	uint32_t *calls;     /* indices into trace.comm_calls, by thread and start */
	struct comm_op *ops; /* by op; only those whose calls are known */
	size_t n_ops;
	struct comm_member *members; /* by communicator and process */
	size_t n_members;
};

/* A kernel that was launched inside a call is that call's. One that was launched outside is of the calls that its
 * thread made since the launch before: they were in a group, whose end launches for all of them. Where such calls are
 * of several communicators it is not known which is whose. */
void comm_calls_find(const struct trace *trace, struct arena *arena, struct comm_calls *out);

/* What `op` was launched for; NULL: not known. */
const struct comm_op *comm_calls_of(const struct comm_calls *calls, uint32_t op);

/* The process's place in a communicator; NULL: not known. And the process at a place; TRACE_NONE: likewise. */
const struct comm_member *comm_calls_member(const struct comm_calls *calls, int64_t comm, uint32_t process);
uint32_t comm_calls_process(const struct comm_calls *calls, int64_t comm, uint32_t rank);

/* Communication kernels, one after the other: of a trace whose rows are there, or of one whose rows are not held, which
 * keeps of each what tells when it ran and was launched, and which one it is, in a fourth of what the columns would
 * take. */

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
