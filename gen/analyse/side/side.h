/* Runs of one side -> struct side: means over runs and devices, tables of kernels, calls and copies. Beside it stand
 * the facts that findings and the same-work guard need and that a report does not show as such. */
#ifndef GAPLINE_ANALYSE_SIDE_SIDE_H
#define GAPLINE_ANALYSE_SIDE_SIDE_H

#include "analyse/run/run.h"

/* Idle time of a side, mean over devices and runs. `key.phase` is a name here, not an index. */
struct idle_fact {
	struct cell_key key;
	double per_step;     /* ns a step */
	uint32_t phase_rank; /* index into side.phases */
};

struct side_facts {
	struct idle_fact *idle;
	uint32_t n_idle;
	double host_work;       /* step threads outside synchronising and blocking calls, ns a step (docs/analysis.md,
	                           Ceilings) */
	double launch_call;     /* median length of a launch call, ns */
	double launch_calls;    /* launch calls a step */
	double steady_launches; /* share of the measured steps that launch the most frequent number of kernels */
	double kernel_median;   /* median length of a kernel, ns */
	double kernel_time;     /* sum of kernel lengths, ns a step */
	double pageable_copies; /* copies from or to pageable memory a step … */
	double pageable_bytes;  /* … and their bytes */
	double copy_pageable, copy_managed; /* of the budget's copy_exposed, ns a step */
	double managed_copies;              /* unified-memory migrations a step */
	double blocking_syncs;              /* synchronising calls a step on launching threads */
	double sync_gaps;                   /* times a step that one of them came back to a GPU without work */
	double alloc_calls, module_calls;   /* the same of allocations and module loads */
	double alloc_time;                  /* inside those allocations and frees, ns a step */
	const struct run *runs;             /* what the side was made of */
	size_t n_runs;
	bool *communicates;         /* by device of the side: it ran a communication kernel */
	uint32_t ranks;             /* how many do; of those, ns a step: */
	double comm_min, comm_mean; /* smallest and mean exposed communication */
};

/* Order of idle rows (struct idle_row) for qsort_r, with the names as its argument: the longest first. */
int side_compare_idle(const void *a, const void *b, void *names);

/* Fills `side` and `facts` from `n` prepared runs. `files` are the inputs' names, last part only. */
void side_build(struct run *runs, size_t n, const char *const *files, const char *label, struct arena *arena,
                struct side *side, struct side_facts *facts);

#endif
