/* Who used each nanosecond of a run: phases, and the budget of its devices. */
#ifndef GAPLINE_CHARGE_CHARGE_H
#define GAPLINE_CHARGE_CHARGE_H

#include "charge/doing.h"
#include "charge/places.h"
#include "charge/step_table.h"
#include "charge/sums.h"
#include "result/side_result.h"
#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>

/* A maximal idle interval of a device. */
struct gap {
	int64_t start, end;
	uint32_t next; /* the op that ends it; TRACE_NONE: none follows */
	bool edge;     /* no op before or none after: from the window's start, or to its end */
};

/* A gap as it is kept: the op that ended last before it, and `next`. There are as many gaps as ops. */
struct gap_ops {
	uint32_t before, next; /* TRACE_NONE: none */
};

/* A gap that is not repeated over the steps. */
struct once_gap {
	int64_t start, end;    /* as far as the window holds it */
	enum cause cause;      /* most of it … */
	uint32_t phase;        /* … in that phase, an index into run.phases.names */
	uint32_t before, next; /* names of the ops around it; TRACE_NONE: none */
};

/* A stretch of the window in which all that runs on a device are sends and receives that wait for another rank. */
struct bubble {
	int64_t start, end;
	uint32_t phase; /* an index into run.phases.names */
};

/* The exact partition of the window for one device: compute + comm + copy + idle = window; idle = sum of the cells.
 * Bubbles are communication until bubbles_charge makes them idle time. */
struct device_run {
	uint32_t device; /* index into trace.devices */
	int64_t compute, comm, copy, idle;
	struct bubble *bubbles; /* in order of time */
	size_t n_bubbles;
	int64_t copy_pageable, copy_managed; /* of `copy`: pageable copies, unified-memory migrations … */
	int64_t memset;                      /* … and memsets */
	int64_t *cost, *gpu;                 /* ns by phase index: share of the window; union of the phase's ops */
	int64_t *computes;                   /* ns by phase index: of `compute` */
	struct gap_ops *gaps; /* of the whole profile, in order; window edges without ops before or after included */
	size_t n_gaps;
	int64_t limit; /* launch-latency limit, ns */
	struct cells cells;
	struct place_sums places; /* where threads are in the cells, by their index; empty: charge.places is NULL */
	struct once_gap *once;    /* in order of time; see once.c */
	uint32_t n_once;
	/* Where ranks are compared, the device's own steps, packed (rank_steps.h), and what runs beside communication;
	 * else NULL. */
	const char *own_steps;
	size_t own_steps_bytes;
	struct comm_beside beside;
	bool communicates;  /* ran a communication kernel in the window */
	int64_t unlooked;   /* ns of `idle` that may have been a wait for Python's lock: nobody looked */
	uint32_t sync_gaps; /* gaps of the window that were opened by a synchronisation: OPENED_SYNC */
};

/* Who used each nanosecond of a run's window. */
struct charge {
	struct activity activity;
	struct sharing *sharing;    /* by GPU (trace.gpus) */
	struct places *places;      /* of the trace, or of the part; NULL: it says nothing of where threads are */
	bool *can_depend;           /* by process: a queued op of it may wait for another (depends_find) */
	struct device_run *devices; /* those with ops in the window */
	uint32_t n_devices;
	/* The same device in all runs of a side (side/side.c): by index into `devices`, the side's device; and by the
	 * side's device, an index into `devices`, TRACE_NONE where the run has none. NULL until the side is made. */
	uint32_t *place, *device_at;
	struct step_table table; /* what each step consists of, added up over the devices */
	struct overview overview;
	/* Start-up, ns: from the start of the program, else the first row of its profile, to the start of the first
	 * step; without steps to the end of the last module load that is over by half time; 0 without either. It is
	 * part of no step. */
	int64_t startup, startup_end;
};

/* The same of a device of the run. */
static inline uint32_t run_gpu(const struct run *run, uint32_t device)
{
	return run_gpu_of(run->trace, run->charge->devices[device].device);
}

/* After run_name_steps: what is measured, and which phases there are. */
void run_find_phases(struct run *run, int warmup);

/* Steps, window and phases of a trace, one after the other. -1 when --step names nothing that is there; --step none
 * asks for no steps. */
int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err);

/* The phase of each op, once the phases have their names. */
void run_phase_ops(struct run *run);

/* Where it was made: its host, unless that is a container's, and the GPUs that it used. In `arena`. */
struct exchange_place run_place(const struct run *run, struct arena *arena);

/* The budgets of all devices that have work in the window, and the overview: the sums of its bins first, part by part
 * (parts_charge), then the means over the devices. */
bool run_times_requests(const struct run *run); /* its steps are requests, each timed from its own start */
void run_begin_table(struct run *run);          /* before the first of them is charged */
void run_charge_devices(struct run *run);
void run_note_startup(struct run *run, const struct trace *rows); /* of each part, for `startup_end` without steps */
void run_end_charge(struct run *run);

/* Gap i of a device. */
static inline struct gap run_gap(const struct run *run, const struct device_run *device, size_t i)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct gap_ops *g = &device->gaps[i];
	return (struct gap){.start = g->before == TRACE_NONE ? run->window.start : ops->end[g->before],
	                    .end = g->next == TRACE_NONE ? run->window.end : ops->start[g->next],
	                    .next = g->next,
	                    .edge = g->before == TRACE_NONE || g->next == TRACE_NONE};
}

/* When other processes may have run on the device's GPU; NULL: they did not, or it cannot be told. */
static inline const struct sharing *run_sharing(const struct run *run, const struct device_run *device)
{
	uint32_t gpu = run->trace->devices[device->device].gpu;
	return gpu != TRACE_NONE && run->charge->sharing[gpu].n ? &run->charge->sharing[gpu] : NULL;
}

#endif
