/* Sends and receives of several ranks: which belong together, and how long each waited for its partner. Pure; works on
 * numbers alone. */
#ifndef GAPLINE_ANALYSE_RUN_POINT_TO_POINT_H
#define GAPLINE_ANALYSE_RUN_POINT_TO_POINT_H

#include "analyse/run/collectives.h"

/* One send or receive of a kernel, which may have several. */
struct transfer {
	int64_t comm;      /* the communicator */
	uint32_t from, to; /* ranks of the run */
	bool send;         /* the kernel's rank is `from` */
	uint32_t op;       /* index into the kernels */
	uint32_t place;    /* among the transfers of its kernel's calls, for the order of those of one kernel */

	uint32_t partner; /* filled: the other one's kernel, TRACE_NONE-like UINT32_MAX: none was found */
};

/* The k-th send from one rank to another in a communicator and a step is of the k-th receive. A kernel waits until the
 * last of its partners has started: that one's rank is its `partner`. A send whose kernel ended before its partner
 * started had room in NCCL's buffers and waited for nobody. A receive cannot end before its send began: with one that
 * does (by more than `tolerance`, ns) the kernel is not matched, and neither is one of which any transfer has no
 * partner. With a negative tolerance the
 * clocks say nothing, and a kernel waits for as long as it is longer than its partner's. `ops` have `matched` false and
 * `arrived` at their start; `transfers` are sorted by it. */
void point_to_point_match(struct collective_op *ops, size_t n, struct transfer *transfers, size_t n_transfers,
                          int64_t tolerance);

#endif
