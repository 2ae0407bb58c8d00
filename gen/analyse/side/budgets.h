/* The devices of a side, and where their time goes. */
#ifndef GAPLINE_ANALYSE_SIDE_BUDGETS_H
#define GAPLINE_ANALYSE_SIDE_BUDGETS_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

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

struct side_budgets {
	struct device_result *devices;
	uint32_t n_devices;
	uint32_t *with_work; /* by device: runs in which it had work */
	struct budget mean;  /* over devices */
	const struct idle_fact *idle;
	uint32_t n_idle;
	double copy_pageable, copy_managed, memset; /* of the mean's copy_exposed, ns a step */
	double sync_gaps; /* times a step that a synchronising call came back to a GPU without work, mean over devices
	                   */
	struct comm_facts comm;
};

/* Matches the runs' devices (places_find), which fills their `place` and `device_at`, and adds them up. What cannot be
 * a mean, as process and window, is that of run `median_run`. */
struct side_budgets budgets_build(struct run *runs, size_t n, uint32_t n_devices, uint32_t median_run,
                                  struct arena *arena);

/* GPU time of a budget: what is not idle, ns a step. */
double budget_busy(const struct budget *budget);

/* Order of idle rows (struct idle_row) for qsort_r, with the names as its argument: the longest first. */
int budget_compare_idle(const void *a, const void *b, void *names);

#endif
