/* What repeats in a profile: the loops of all its processes, and which of their cycles an op belongs to. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_RUN_H
#define GAPLINE_ANALYSE_RUN_PATTERN_RUN_H

#include "trace/trace.h"

/* A kernel, copy or memset of a loop: `name` is there `n` times in a usual cycle and took `time` of the GPU in all. */
struct run_loop_op {
	uint32_t name;
	double n, time;
};

/* A loop: what repeats in one process, or the same in several (ranks). */
struct run_loop {
	const char *title;     /* its two kernels that weigh most: "gemm + softmax" */
	uint32_t name;         /* the title as an id of trace.names; 0 until run_loops_name */
	uint32_t n;            /* cycles, of the process that has most */
	uint32_t processes;    /* in which it is */
	uint32_t differ;       /* cycles that hold something else than is usual, of all processes */
	uint32_t ops;          /* GPU ops in a usual cycle, of one process */
	uint32_t fewest, most; /* shorter cycles, layers or as many as another run's cycle is, taken as one; 0: none */
	double explained;      /* of the stretch's ops and GPU time, the smaller one, 0.8 to 1 */
	double same;           /* share of the ops that have the same names in every cycle: pattern_varied.h; else 1 */
	double time, share;    /* GPU time of its ops, ns; of all of the profile's, 0 to 1 */
	bool search;           /* it tries out kernels: an autotuner's, no work of the program */
	int64_t start, end;    /* first launch; latest end of an op */
	struct run_loop_op *makeup; /* by time, descending */
	uint32_t n_makeup;
};

struct run_loops {
	struct run_loop *list; /* by time, descending; those that search behind all others */
	uint32_t n;
	uint32_t n_small; /* how many are listed where `n` is 0 because all of them are too little of the GPU time */
	uint8_t *loop;    /* by op of the trace: 1 + its loop, 0: none */
	uint32_t *cycle;  /* by op in a loop: its cycle, as its process counts */
	double share;     /* of the profile's GPU time that belongs to loops */
	double tried;     /* of it, too: an autotuner's trials among which no loop was looked for (trials.h) */
};

/* Whether a kernel of this name, an id of trace.names, is one that only an autotuner's search launches. */
bool pattern_run_searches(const struct trace *trace, uint32_t name);

/* Finds them. Nothing is found where nothing repeats, and where what repeats is less than half of the GPU time, that
 * of an autotuner's search left out.
 * `shortest`: short cycles are never put together (pattern_find). */
void pattern_run_find(const struct trace *trace, bool shortest, struct arena *arena, struct run_loops *out);

/* Takes `together` cycles of loop `index` as one. What is left at the end of a process is in no loop then. */
void run_loop_group(const struct trace *trace, struct run_loops *loops, uint32_t index, uint32_t together);

/* Gives the loops their names, which all runs share: for one run at a time. */
void run_loops_name(struct run_loops *loops, const struct trace *trace);

/* How much alike two loops are by what they are made of, 0 to 1: the part of their GPU time, on average, that kernels
 * of the same name take. The names are those of one table. */
double run_loop_alike(const struct run_loop *a, const struct run_loop *b);

#endif
