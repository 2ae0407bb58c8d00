/* What findings need to know of a side. */
#ifndef GAPLINE_SIDE_SIDE_FACTS_H
#define GAPLINE_SIDE_SIDE_FACTS_H

#include "charge/charge.h"
#include "result/side_result.h"

/* The devices of a side, and where their time goes. */

/* Idle time of a side, mean over devices and runs. `key.phase` is a name here, not an index; 0 where nobody marked
 * phases. */
struct idle_fact {
	struct cell_key key;
	double per_step;     /* ns a step */
	uint32_t phase_slot; /* facts of one phase have the same: below the number of facts */
};

/* Exposed communication of those devices that communicate, ns a step. */
struct comm_facts {
	const bool *communicates; /* by device of the side, n of them: it ran a communication kernel */
	uint32_t n;
	uint32_t ranks;   /* how many do */
	double min, mean; /* 0 where none does */
};

struct side_facts;

/* Adds up the runs' devices, of which the side has n_devices: fills its `devices` and `budget`, and of the facts what
 * is idle, copied, synchronised and communicated. What cannot be a mean, as process and window, is the median run's. */
void budgets_build(struct run *runs, size_t n, struct arena *arena, struct side *side, struct side_facts *facts);

/* GPU time of a budget: what is not idle, ns a step. */
double budget_busy(const struct budget *budget);

/* Order of idle rows (struct idle_row) for qsort_r, with the names as its argument: the longest first. */
int budget_compare_idle(const void *a, const void *b, void *names);

/* Where the host was in a side's idle time, and where its GPU work was launched: modules and lines. */

enum place_time { PLACE_IDLE, PLACE_KERNELS, PLACE_COPIES, PLACE_COMM, PLACE_TIMES };

/* Time in one place. Of places that hold little of it there is none, so that it is at least so much. */
struct place_fact {
	enum place_time time;
	uint32_t idle;  /* PLACE_IDLE: an index into the side's idle facts; else 0 */
	bool line;      /* a line, with what it calls; else a module, without those in it */
	uint32_t name;  /* as struct place_sums has it; 0: all of the time, wherever it is, of what is not PLACE_IDLE */
	uint32_t depth; /* of lines: how many functions call it, the most */
	double samples; /* that it is of; 0: it is not sampled */
	double per_step; /* ns: of idle time the mean over devices, else summed over them */
};

struct place_facts {
	struct place_fact *list;
	uint32_t n;
};

/* GPU time by place, over the runs: it grows by one run's sums, whose `of` is an enum place_time. */
struct launch_place {
	double per_step, samples;
	uint32_t depth;
};
struct launch_places {
	struct keymap keys; /* as of struct place_sums */
	struct launch_place *place;
};
void launch_places_add(struct launch_places *to, const struct place_sums *sums, double weight);

/* All of a side, by what it is of, then in the order of the names' texts. Its devices and idle facts are there. */
struct place_facts place_facts_build(const struct run *runs, const struct side *side, const struct side_facts *facts,
                                     const struct launch_places *launched, struct arena *arena);

/* Kernels, calls, copies and counts of a side. */

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

/* The tables of `n` runs, rows in `arena`: each run's rows are added, part by part (run/parts.h), and then the run is
 * ended. They fill the side's lists of kernels, operators, modules, lines, calls and copies, its counts, and the facts'
 * `work`. `work` is for what is needed until side_tables_end, and for the places that it returns. */
struct tables *side_tables_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena,
                                 struct side *side, struct side_facts *facts);
void side_tables_add(struct tables *tables, const struct run *run, const struct run *part);
void side_tables_end_run(struct tables *tables, const struct run *run);
struct launch_places side_tables_end(struct tables *tables);

#endif
