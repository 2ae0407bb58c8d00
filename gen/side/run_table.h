/* What is left of a run once its rows were gone through: facts of the recording, and the columns of its step table.
 * With struct side and the rest of struct side_facts it is all that a judgement reads: nothing after this asks for
 * rows, but what samples and Nsight Compute say (side.h). Plain data; table/ has bytes for it. */
#ifndef GAPLINE_SIDE_RUN_TABLE_H
#define GAPLINE_SIDE_RUN_TABLE_H

#include "charge/charge.h"

/* A part of the budget, by block of consecutive steps. */
struct table_column {
	enum part_kind kind;
	enum cause cause; /* of PART_IDLE … */
	uint32_t phase;   /* … in that phase: a name, 0 where nobody marked it */
	uint32_t way;     /* of PART_COPY: as in struct step_column */
	int64_t *ns;      /* by block, n of them, added up over the run's devices */
	uint32_t n;
	double mean[STEP_GROUPS], variance[STEP_GROUPS]; /* of the steps of a group, ns, over the run's devices */
};

struct run_table {
	const char *file; /* the input's name, last part only */
	struct trace_source source;
	struct trace_count rows[ROW_KINDS];
	const struct trace_dropped *dropped;
	uint32_t n_dropped;
	const struct trace_gpu *gpus; /* of its devices that tell theirs, in their order */
	uint32_t n_gpus;
	bool shares_gpus;                      /* two of the profile's devices are one GPU, of two processes */
	int64_t tenants;                       /* ns that processes without steps use GPUs of those with some */
	uint64_t print;                        /* of its ops' times, whatever their order … */
	uint64_t n_printed;                    /* … and how many they are */
	bool found, opened;                    /* steps; the first of them counts */
	uint32_t step_ranks;                   /* that make a step */
	bool shrinks, uneven, alone, stranger; /* struct run_agreed and struct run_rows have the meaning */
	bool work_known;
	const char *loop_title;        /* the loop whose cycles are the steps; NULL: none is … */
	uint32_t loop_ops, loop_times; /* … what it holds, and how often it repeats */
	struct run_holes holes;
	uint32_t n_steps, n_devices;
	int64_t window_start, window_end, begin, first_op, last_op;
	const int64_t *period; /* of every step, n_periods of them */
	uint32_t n_periods;
	const int64_t *grid; /* beside each period: how large its kernels were (struct steps) */
	uint32_t n_grids;    /* n_periods, or 0: alike in all of them, or not known */
	const int64_t *pace; /* beside each period: struct run_agreed and struct run_rows have the meaning */
	uint32_t n_paces;    /* n_periods, or 0: it is not known */
	const int64_t
		*request;    /* beside each period, of steps that are requests: how long it took from its own start */
	uint32_t n_requests; /* n_periods, or 0: they are none */
	const int64_t *first, *each; /* likewise, of steps whose tokens are marked: how long the first one took, and
	                                each after it; 0: not known of this one */
	uint32_t n_first, n_each;    /* n_periods, or 0: not asked for */
	struct exchange_place place;
	double worked_off; /* ns a step: backlog_worked_off */
	const struct run_kernel *kernels;
	uint32_t n_kernels;
	uint32_t n_once;                 /* gaps that happened once … */
	struct once_gap once;            /* … and the longest; `phase` is a name, 0 where nobody marked it */
	double group_steps[STEP_GROUPS]; /* the slowest steps and those about the median, how many … */
	double group_mean[STEP_GROUPS],
		group_variance[STEP_GROUPS]; /* … and how long one takes, ns; 0: too few steps */
	/* work_known: of requests, what the GPU did meanwhile, ns; by work, then group */
	double work_mean[REQUEST_WORKS * STEP_GROUPS], work_variance[REQUEST_WORKS * STEP_GROUPS];
	struct table_column *column;
	uint32_t n_columns, n_blocks, block; /* steps of a block; the last may hold fewer */
};

/* Once its rows are gone through, and bubbles are charged. In `arena`, but for what is the trace's. */
struct run_table run_table_of(const struct run *run, const char *file, struct arena *arena);

/* The first column of the same part; NULL: the run has none. */
const struct table_column *run_table_like(const struct run_table *run, const struct table_column *like);

/* Columns of many causes and phases, of many runs, take larger blocks, the same on both sides: while all of them
 * together have more cells than this, two blocks become one, down to TABLE_LEAST_BLOCKS. */
enum { TABLE_CELLS = 48000, TABLE_LEAST_BLOCKS = 32 };
void run_tables_fit(struct run_table *const side[2], const size_t n[2]);

/* Adds a part's ops to the run's print. */
void run_table_print(struct run *run, const struct trace *rows);

#endif
