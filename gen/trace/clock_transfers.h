/* What sends and receives between two hosts say of their clocks. */
#ifndef GAPLINE_TRACE_CLOCK_TRANSFERS_H
#define GAPLINE_TRACE_CLOCK_TRANSFERS_H

#include "trace/clock_offset.h"
#include "trace/comm_calls.h"

/* A send or receive whose NCCL call is recorded: of rank `from` to rank `to` of a communicator. */
struct clock_transfer {
	int64_t comm;
	uint32_t from, to;
	bool send;
	uint32_t host; /* on whose clock the times are */
	int64_t launched, start, end;
};

struct clock_transfers {
	struct clock_transfer *list;
	size_t n, room;
};

/* Adds what kernel `op` of the trace was launched for. `launched`, `start` and `end`: its times. */
void clock_transfers_add(struct clock_transfers *transfers, const struct trace *trace, const struct comm_calls *calls,
                         const struct comm_op *op, uint32_t host, int64_t launched, int64_t start, int64_t end,
                         struct arena *arena);

/* Pairs of a transfer from host a to host b and one back, of the same two ranks: nothing has arrived before its sending
 * began, so a pair bounds the offset from both sides as a collective does: a send stands for entering, the receive it
 * is of for leaving. Which is which is told by their order, where both hosts have as many. Sorts the transfers; fills
 * `out`, from `arena`, and returns how many pairs there are. */
size_t clock_transfers_pair(struct clock_transfers *transfers, uint32_t a, uint32_t b, struct arena *arena,
                            struct clock_collective **out);

#endif
