/* Which calls of NCCL a communication kernel was launched for. Pure. */
#ifndef GAPLINE_TRACE_COMM_CALLS_H
#define GAPLINE_TRACE_COMM_CALLS_H

#include "trace/trace.h"

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

#endif
