/* Kernels, calls, copies and counts of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_TABLES_H
#define GAPLINE_ANALYSE_SIDE_TABLES_H

#include "analyse/run/run.h"
#include "analyse/side/place_facts.h"
#include "analyse/side_result.h"

/* What findings need to know of a side's work; mean over runs. */
struct work_facts {
	double launch_call;     /* median length of a launch call, ns */
	double launch_calls;    /* launch calls a step */
	double steady_launches; /* share of the measured steps that launch the most frequent number of kernels */
	double kernel_median;   /* median length of a kernel, ns */
	double pageable_copies; /* copies from or to pageable memory a step … */
	double pageable_bytes;  /* … and their bytes */
	double managed_copies;  /* unified-memory migrations a step */
	double blocking_syncs;  /* synchronising calls a step on launching threads */
	double alloc_calls, module_calls; /* the same of allocations and module loads */
	double alloc_time;                /* inside those allocations and frees, ns a step */
	double streams;                   /* that each have a tenth and more of the kernels' time, by CUPTI's ids */
};

struct side_tables {
	struct side
		side; /* its lists of kernels, operators, modules, lines, calls and copies, and counts; no more of it */
	struct work_facts work;
	struct launch_places places; /* in `work` of side_tables_begin */
};

/* The tables of `n` runs, rows in `arena`: each run's rows are added, part by part (run/parts.h), and then the run is
 * ended. `work` is for what is needed until side_tables_end. */
struct tables *side_tables_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena);
void side_tables_add(struct tables *tables, const struct run *run, const struct run *part);
void side_tables_end_run(struct tables *tables, const struct run *run);
struct side_tables side_tables_end(struct tables *tables);

#endif
