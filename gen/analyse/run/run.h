/* Working state of one run of a side while it is analysed, and the exact integer budget of its devices. */
#ifndef GAPLINE_ANALYSE_RUN_RUN_H
#define GAPLINE_ANALYSE_RUN_RUN_H

#include "analyse/analysis.h"
#include "analyse/judge/exchange.h"
#include "analyse/run/charge.h"
#include "analyse/run/fold.h"
#include "analyse/run/pattern_loops.h"
#include "analyse/run/places.h"
#include "analyse/run/step_table.h"
#include "analyse/run/steps.h"

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
	uint32_t phase;        /* … in that phase, an index into run.phases */
	uint32_t before, next; /* names of the ops around it; TRACE_NONE: none */
};

/* A stretch of the window in which all that runs on a device are sends and receives that wait for another rank. */
struct bubble {
	int64_t start, end;
	uint32_t phase; /* an index into run.phases */
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
	struct place_sums places; /* where threads are in the cells, by their index; empty: run.places is NULL */
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

enum { CLOCK_TOLERANCE = 20000 }; /* ns; clocks of host and GPU differ by up to 14 µs in captures that are fine */

/* The measured kernels of one name that belong to one phase. */
struct run_kernel {
	uint32_t name, phase; /* phase: the name of one that somebody marked, else 0: run_marked_phase */
	bool comm;
	int64_t n, unsized; /* … of n: their blocks were not recorded */
	double varies;      /* from step to step, of n: standard deviations of the devices, added up */
	double threads;     /* of a block, added up */
	double ns, blocks;  /* added up; … */
	double n2, ns2, blocks2, n_ns, n_blocks; /* … the squares of the steps' n, ns and blocks, and n times those */
};

/* What was not recorded (side/side_rows.h). */
struct run_holes {
	size_t lost, launches; /* launches, of copies where none is there, without their operation; all, of the measured
	                        * steps */
	size_t jumps;          /* of the numbers of steps, beyond the usual one, that took longer, too; of steps without
	                          numbers the silent stretches between them that are as long as whole steps; … */
	int64_t from, to;      /* … the first of them; of steps without numbers 0 */
	size_t several;        /* marked steps that hold so many times every kernel of the usual step; … */
	int64_t step, times;   /* … the first of them, from 1; 0 times: no operation, though its range is as long */
};

struct run_parts;

struct run {
	const struct trace *trace;
	struct run_parts *parts; /* what it is gone through by: run/parts.h */
	struct arena *arena;
	struct fold fold;
	struct steps steps;
	struct run_loops loops; /* what repeats; n is 0 where it was not looked for: a range is the step */
	uint32_t loop;          /* of these: the one whose cycles are the steps */
	bool by_loop;           /* set before run_find_steps: ranges are not asked */
	bool in_stretches;      /* set by pattern_agree: another run is measured in stretches of its loop */
	bool falls;             /* each of its steps has less to do than the one before … */
	bool shrinks;           /* … in it, or in one run of several that have as many: all of them count */
	bool uneven;            /* it does, and the runs have not as many, or others: pattern_agree */
	struct activity activity;
	bool requests; /* its steps were asked for as requests: --requests */
	struct run_tokens {
		const char *first_name, *each_name; /* --first, --each; NULL: not asked for */
		int64_t *first, *each; /* by step, ns: to the first token, and each after it (side/side_rows.h); 0: not
		                          known of this one; NULL: not asked for, or no step has a time of its own */
		uint32_t unclear;      /* steps of which it is not known whose ranges are whose */
	} tokens;
	bool stranger;    /* what it repeats is nothing that the baseline's first run repeats: pattern_agree */
	bool forgot;      /* it had steps, but not those of all other runs, and counts as without: pattern_agree */
	bool alone;       /* nothing in it repeats, though it does in other runs of its side: pattern_agree */
	uint32_t warmup;  /* leading steps left out; 0 without steps */
	uint32_t n_steps; /* steps in the window; 1 without steps */
	int64_t window_start, window_end;
	int64_t window;                        /* its length, without steps.pauses */
	const struct spans *host;              /* the host's parts of the window, by process (run_host) */
	int64_t first_op, last_op;             /* start of the first and end of the last op of the profile … */
	int64_t first_explicit, last_explicit; /* … of all but migrations of unified memory */
	size_t n_ops;                          /* of the profile … */
	int64_t unlaunched;                    /* … other than migrations, without a call in it … */
	/* … and such that start in the window, and those that are nodes of graphs; filled when the side is made */
	size_t n_measured, unlaunched_measured, nodes_measured;
	int64_t op_ns, unmade_ns; /* lengths of the profile's ops, and of nodes of graphs of which it says not who made
	                             them, added up */
	bool made_nodes;          /* of some nodes it does */
	int64_t updates;          /* … and how often graphs were updated then */
	bool migrates;            /* it has migrations of unified memory */
	int64_t managed;          /* calls that allocate or prefetch such memory … */
	int64_t host_functions;   /* … and that queue a function of the host in a stream */
	int64_t clipped;          /* ranges that were still open when the capture stopped */
	int64_t first_launched;   /* when the first op starts whose launch is known … */
	uint32_t launcher;        /* … and its process; TRACE_NONE: there is none */
	bool ranked; /* set before run_charge: its devices, or those of another run of its side, are several */
	uint32_t *phases, n_phases; /* normalised names; phases[0] = 0: between phases */
	uint32_t *phase_of_name;    /* index into phases, by name id; 0 for names that are no phase */
	uint32_t *op_phase;         /* per op: phase index at its launch; without, where it was captured */
	struct captured *captured;  /* NULL: nothing was, as far as is known */
	bool by_work;               /* phases are kinds of GPU work, for nobody marked any (work_phases.h) */
	uint32_t *work_name,
		*work_kind; /* phases of kernels by name and of other ops by kind; NULL until work_phases_name */
	bool *can_depend;   /* by process: a queued op of it may wait for another (depends_find) */
	struct run_kernel
		*kernels; /* by their texts, so that sums of them do not depend on ids; filled when the side is made */
	uint32_t n_kernels;
	struct run_holes holes;     /* likewise */
	uint64_t print, n_printed;  /* likewise: of its ops' times, and how many (side/run_table.h) */
	struct device_run *devices; /* those with ops in the window */
	struct step_table table;    /* what each step consists of, added up over them */
	struct sharing *sharing;    /* by GPU (trace.gpus) */
	struct places *places;      /* of the trace, or of the part; NULL: it says nothing of where threads are */
	uint32_t n_devices;
	/* The same device in all runs of a side (side/side.c): by index into `devices`, the side's device; and by the
	 * side's device, an index into `devices`, TRACE_NONE where the run has none. NULL until the side is made. */
	uint32_t *place, *device_at;
	struct overview overview;
	/* Start-up, ns: from the start of the program, else the first row of its profile, to the start of the first
	 * step; without steps to the end of the last module load that is over by half time; 0 without either. It is
	 * part of no step. */
	int64_t startup, startup_end;
	int64_t begin; /* the first of what the processes with GPU work did */
	/* Ops that start more than CLOCK_TOLERANCE before the call that launched them, and by how much at most, ns: the
	 * capture's clocks of host and GPU disagree. */
	size_t early_ops;
	int64_t earliest;
	const int64_t *period; /* all step periods, n_periods = steps − 1 */
	uint32_t n_periods;
	const int64_t *grid; /* beside each period: steps.grid; NULL: alike in all of them, or not known of one */
	/* By step, ns from the launch of its last op to that op's end, of several devices the least, BACKLOG_UNKNOWN
	 * where no launch tells; NULL until the rows are gone through, and without steps (backlog.h). */
	int64_t *lag;
	/* By step, thousandths of the ln of how many times as long as usual its launches took, each to the next call of
	 * its thread, but for kinds of launches that take more than a quarter of that time; 0 without any. NULL until
	 * the rows are gone through, without steps, and where they are of several processes (side/recording.h). */
	int64_t *pace;
	/* By step, the most bytes of device memory that were there at once on one device (side/memory.c); NULL: it is
	 * not known of all devices, or without steps. */
	int64_t *held;
	bool unheld;
};
#define BACKLOG_UNKNOWN INT64_MAX

/* Index of a phase's name. */
static inline uint32_t run_phase(const struct run *run, uint32_t name)
{
	return run->phase_of_name[name];
}

/* The name of a phase that somebody marked; 0 for one that was made of the GPU's work: what is asked of a phase's name
 * (whether the same work was done, whether the same cost is still there) is asked of the programs' own phases only, for
 * what a thread launches next changes with every fix. */
static inline uint32_t run_marked_phase(const struct run *run, uint32_t phase)
{
	return run->by_work ? 0 : run->phases[phase];
}

/* The GPU of a device, an index into trace.gpus; TRACE_NONE if it cannot be told. */
static inline uint32_t run_gpu_of(const struct trace *t, uint32_t device)
{
	uint32_t gpu = t->devices[device].gpu;
	return gpu == TRACE_NONE && t->n_gpus == 1 ? 0 : gpu;
}

/* The same of a device of the run. */
static inline uint32_t run_gpu(const struct run *run, uint32_t device)
{
	return run_gpu_of(run->trace, run->devices[device].device);
}

/* Whether a device of the trace is of a process without steps, on a GPU where another one makes them. */
bool run_is_beside(const struct run *run, uint32_t device);

/* Where it was made: its host, unless that is a container's, and the GPUs that it used. In `arena`. */
struct exchange_place run_place(const struct run *run, struct arena *arena);

/* The host's part of the window in `process`: from the start of its first measured instance to the end of the last, for
 * a process without instances as in the first that has some; without steps, everything. Where the steps are measured in
 * several stretches, so of each. */
struct host_window {
	int64_t start, end;
	const struct spans *parts; /* NULL: one */
};
static inline struct host_window run_host(const struct run *run, uint32_t process)
{
	const struct spans *host = &run->host[process];
	return (struct host_window){host->at[0][0], host->at[host->n - 1][1], host->n > 1 ? host : NULL};
}
static inline bool host_window_has(const struct host_window *w, int64_t t)
{
	int64_t until = INT64_MAX;
	return t >= w->start && t < w->end && (__builtin_expect(!w->parts, 1) || spans_hold(w->parts, t, &until));
}

/* Whether `t` lies in a pause between two stretches. A gap that begins in one ends in it, for it ends with an op. */
bool run_pauses_at(const struct run *run, int64_t t);
static inline bool run_pauses(const struct run *run, int64_t t)
{
	return __builtin_expect(run->steps.pauses.n != 0, 0) && run_pauses_at(run, t); /* hardly any run has some */
}

/* How much of [start, end), which lies in the window, is paused. */
int64_t run_paused_in(const struct run *run, int64_t start, int64_t end);
static inline int64_t run_paused(const struct run *run, int64_t start, int64_t end)
{
	return __builtin_expect(run->steps.pauses.n != 0, 0) ? run_paused_in(run, start, end) : 0;
}

/* The next part of [*at, end) that lies in the window and in no pause between stretches: [*from, *at). False: there is
 * none. */
bool run_next_measured(const struct run *run, int64_t *at, int64_t end, int64_t *from);

/* Whether op `i` belongs to what is measured: launched by a measured step, or between two of them. */
bool run_measures_op_of_no_step(const struct run *run, size_t i);
static inline bool run_measures_op(const struct run *run, size_t i)
{
	if (run->steps.found && run->steps.op_step[i] != TRACE_NONE)
		return run->steps.op_step[i] >= run->warmup;
	return run_measures_op_of_no_step(run, i);
}

/* Steps, window and phases of a trace. -1 when --step names nothing that is there; --step none asks for no steps. Five
 * parts, one after the other: the second and the fourth add to the names that all runs share, the others may be done
 * for several runs at a time, each with an arena of its own. */
void run_open(struct run *run, const struct trace *trace, struct arena *arena);
void run_begin(struct run *run); /* … run_find_steps (find_steps.c) … */
void run_name_steps(struct run *run);
void run_find_phases(struct run *run, int warmup);

/* All five. */
int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err);

/* What run_find_steps asks of the rows of a part, whose first process is `first_process` of the run: when ops and rows
 * begin and end, and which of them start too early. */
void run_look_at_rows(struct run *run, const struct trace *rows, uint32_t first_process);

/* The phase of each op, once the phases have their names. */
void run_phase_ops(struct run *run);

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
	return (struct gap){.start = g->before == TRACE_NONE ? run->window_start : ops->end[g->before],
	                    .end = g->next == TRACE_NONE ? run->window_end : ops->start[g->next],
	                    .next = g->next,
	                    .edge = g->before == TRACE_NONE || g->next == TRACE_NONE};
}

/* When other processes may have run on the device's GPU; NULL: they did not, or it cannot be told. */
static inline const struct sharing *run_sharing(const struct run *run, const struct device_run *device)
{
	uint32_t gpu = run->trace->devices[device->device].gpu;
	return gpu != TRACE_NONE && run->sharing[gpu].n ? &run->sharing[gpu] : NULL;
}

#endif
