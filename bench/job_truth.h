/* One rank of a made-up job while it runs, and what it adds to the truth. */
#ifndef GAPLINE_BENCH_JOB_TRUTH_H
#define GAPLINE_BENCH_JOB_TRUTH_H

#include "truth.h"

#include <stdbool.h>
#include <stddef.h>

/* What the host did; stretches follow each other without holes. */
struct stretch {
	int64_t start, end;
	enum why why;
	enum phase phase;
	bool sync; /* a call that synchronises */
};

struct op {
	int64_t start, end, launch_start, launch_end;
	enum work work;
	enum phase phase; /* in which it was launched */
	int step;
	uint32_t correlation;
};

/* Times go on from block to block; `stretches` and `ops` are those since the GPU was last waited for. */
struct rank {
	int index;
	int64_t process, thread;
	int64_t now; /* of the host */
	enum phase phase;
	int step;
	uint32_t correlation;
	int64_t stream_free[WORKS]; /* when the stream of this kind of work is free; 0: not used yet */
	struct stretch *stretch;
	size_t n_stretches, stretch_room;
	struct op *op;
	size_t n_ops, op_room;
	int64_t busy_until;      /* everything before is in the truth already */
	int64_t covered[PHASES]; /* the same for the union of each phase's ops */
};

void rank_begin(struct rank *r, int index, int64_t process, int64_t thread, int64_t now);
void rank_end(struct rank *r);
void rank_host(struct rank *r, int64_t until, enum why why, bool sync);
struct op *rank_add(struct rank *r, const struct op *op); /* borrowed until the next one */
int64_t rank_gpu_done(const struct rank *r);              /* when all that was launched has ended */

/* Adds steps [first, last) of all ranks, after which the GPU was waited for. */
void truth_add_block(struct truth *t, struct rank *ranks, int first, int last);

/* After the last block: ranks that were done before the window ended. */
void truth_finish(struct truth *t, struct rank *ranks);

#endif
