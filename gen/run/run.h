/* One run of a side while it is analysed: what each stage returns of it, one after the other. */
#ifndef GAPLINE_RUN_RUN_H
#define GAPLINE_RUN_RUN_H

#include "steps/fold.h"
#include "steps/pattern_loops.h"
#include "steps/steps.h"
#include "verdict/exchange.h"

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

struct charge;
struct run_parts;

/* When its GPUs worked, and what its rows say of how it was recorded. */
struct extent {
	int64_t begin;                         /* the first of what the processes with GPU work did */
	int64_t first_op, last_op;             /* start of the first and end of the last op of the profile … */
	int64_t first_explicit, last_explicit; /* … of all but migrations of unified memory */
	size_t n_ops;                          /* of the profile … */
	int64_t unlaunched;                    /* … other than migrations, without a call in it */
	int64_t op_ns, unmade_ns; /* lengths of the profile's ops, and of nodes of graphs of which it says not who made
	                             them, added up */
	bool made_nodes;          /* of some nodes it does … */
	int64_t updates;          /* … and how often graphs were updated then */
	bool migrates;            /* it has migrations of unified memory */
	int64_t managed;          /* calls that allocate or prefetch such memory … */
	int64_t host_functions;   /* … and that queue a function of the host in a stream */
	int64_t clipped;          /* ranges that were still open when the capture stopped */
	int64_t first_launched;   /* when the first op starts whose launch is known … */
	uint32_t launcher;        /* … and its process; TRACE_NONE: there is none */
	/* Ops that start more than CLOCK_TOLERANCE before the call that launched them, and by how much at most, ns: the
	 * capture's clocks of host and GPU disagree. */
	size_t early_ops;
	int64_t earliest;
};

/* What is measured. */
struct window {
	int64_t start, end;
	int64_t ns;               /* its length, without steps.pauses */
	uint32_t warmup;          /* leading steps left out; 0 without steps */
	uint32_t n_steps;         /* steps in it; 1 without steps */
	const struct spans *host; /* the host's parts of it, by process (run_host) */
	const int64_t *period;    /* all step periods, n_periods = steps − 1 */
	uint32_t n_periods;
	const int64_t *grid; /* beside each period: steps.grid; NULL: alike in all of them, or not known of one */
};

/* What its time is divided into. */
struct run_phases {
	uint32_t *names, n;        /* normalised; names[0] = 0: between phases */
	uint32_t *of_name;         /* index into `names`, by name id; 0 for names that are no phase */
	uint32_t *of_op;           /* per op: phase index at its launch; without, where it was captured */
	struct captured *captured; /* NULL: nothing was, as far as is known */
	bool by_work;              /* they are kinds of GPU work, for nobody marked any (work_phases.h) */
	uint32_t *work_name,
		*work_kind; /* those of kernels by name and of other ops by kind; NULL until work_phases_name */
};

/* What all runs of a comparison together say of its steps: pattern_agree, but for `loop`. */
struct run_agreed {
	uint32_t loop;     /* of its loops: the one whose cycles are the steps */
	bool in_stretches; /* another run is measured in stretches of its loop */
	bool falls;        /* each of its steps has less to do than the one before … */
	bool shrinks;      /* … in it, or in one run of several that have as many: all of them count */
	bool uneven;       /* it does, and the runs have not as many, or others */
	bool stranger;     /* what it repeats is nothing that the baseline's first run repeats */
	bool forgot;       /* it had steps, but not those of all other runs, and counts as without */
	bool alone;        /* nothing in it repeats, though it does in other runs of its side */
};

/* What is asked of every row, once the run is charged (side/side_rows.h). */
struct run_rows {
	size_t n_measured, unlaunched_measured, nodes_measured; /* ops that start in the window, those of them without
	                                                         * a call, and such that are nodes of graphs */
	struct run_kernel *kernels; /* by their texts, so that sums of them do not depend on ids */
	uint32_t n_kernels;
	struct run_holes holes;
	uint64_t print, n_printed; /* of its ops' times, and how many (side/run_table.h) */
	/* By step, ns from the launch of its last op to that op's end, of several devices the least, BACKLOG_UNKNOWN
	 * where no launch tells; NULL without steps (backlog.h). */
	int64_t *lag;
	/* By step, thousandths of the ln of how many times as long as usual its launches took, each to the next call of
	 * its thread, but for kinds of launches that take more than a quarter of that time; 0 without any. NULL without
	 * steps, and where they are of several processes (side/recording.h). */
	int64_t *pace;
	/* By step, the most bytes of device memory that were there at once on one device (side/memory.c); NULL: it is
	 * not known of all devices, or without steps. */
	int64_t *held;
	bool unheld;
	struct run_tokens {
		int64_t *first, *each; /* by step, ns: to the first token, and each after it; 0: not known of this one;
		                          NULL: not asked for, or no step has a time of its own */
		uint32_t unclear;      /* steps of which it is not known whose ranges are whose */
	} tokens;
};

/* What is wanted of it. */
struct run_asked {
	bool by_loop;                         /* ranges are not asked for its steps */
	bool requests;                        /* its steps are requests: --requests */
	const char *first_token, *each_token; /* --first, --each: names of ranges; NULL: not asked for */
	bool ranked;                          /* its devices, or those of another run of its side, are several */
};

/* A struct a stage, in this order. */
struct run {
	const struct trace *trace;
	struct arena *arena;
	struct run_asked asked;
	struct run_parts *parts; /* what it is gone through by: run/parts.h */
	struct fold fold;
	struct extent extent;
	struct steps steps;
	struct run_loops loops; /* what repeats; n is 0 where it was not looked for: a range is the step */
	struct run_agreed agreed;
	struct window window;
	struct run_phases phases;
	struct charge *charge; /* who used each nanosecond of the window: charge/charge.h */
	struct run_rows rows;
};
#define BACKLOG_UNKNOWN INT64_MAX

/* Index of a phase's name. */
static inline uint32_t run_phase(const struct run *run, uint32_t name)
{
	return run->phases.of_name[name];
}

/* The name of a phase that somebody marked; 0 for one that was made of the GPU's work: what is asked of a phase's name
 * (whether the same work was done, whether the same cost is still there) is asked of the programs' own phases only, for
 * what a thread launches next changes with every fix. */
static inline uint32_t run_marked_phase(const struct run *run, uint32_t phase)
{
	return run->phases.by_work ? 0 : run->phases.names[phase];
}

/* The GPU of a device, an index into trace.gpus; TRACE_NONE if it cannot be told. */
static inline uint32_t run_gpu_of(const struct trace *t, uint32_t device)
{
	uint32_t gpu = t->devices[device].gpu;
	return gpu == TRACE_NONE && t->n_gpus == 1 ? 0 : gpu;
}

/* Whether a device of the trace is of a process without steps, on a GPU where another one makes them. */
bool run_is_beside(const struct run *run, uint32_t device);

/* The host's part of the window in `process`: from the start of its first measured instance to the end of the last, for
 * a process without instances as in the first that has some; without steps, everything. Where the steps are measured in
 * several stretches, so of each. */
struct host_window {
	int64_t start, end;
	const struct spans *parts; /* NULL: one */
};
static inline struct host_window run_host(const struct run *run, uint32_t process)
{
	const struct spans *host = &run->window.host[process];
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
		return run->steps.op_step[i] >= run->window.warmup;
	return run_measures_op_of_no_step(run, i);
}

/* A run of a trace, in `arena`; its ranges are counted. */
void run_open(struct run *run, const struct trace *trace, struct arena *arena);

/* What to call its ranges: adds to the names that all runs share, as run_name_steps does; the others may be done for
 * several runs at a time, each with an arena of its own. After this its steps are found (find_steps.c). */
void run_begin(struct run *run);

/* Adds what the rows of a part say, whose first process is `first_process` of the run. */
void extent_add(struct extent *extent, const struct trace *rows, uint32_t first_process);

/* Once steps are found. */
void run_name_steps(struct run *run);

/* What of the run is measured, once all runs agree on their steps. `warmup`: as in series_cut. */
struct window window_find(const struct run *run, int warmup);

#endif
