/* The loops of a run: those of each process, then together, and what they are called. */
#ifndef GAPLINE_STEPS_PATTERN_LOOPS_H
#define GAPLINE_STEPS_PATTERN_LOOPS_H

#include "base/spans.h"
#include "steps/pattern.h"
#include "steps/steps.h"
#include "trace/trace.h"

/* The GPU ops of a process as a sequence in which to look for what repeats. */

enum pattern_order {
	PATTERN_BY_LAUNCH, /* in order of the calls that launched them; a thread is a lane. Ops without one are left out
	                    */
	PATTERN_BY_START   /* in order of their start; a stream is a lane, a device's copies one together */
};

struct pattern_ops {
	struct pattern_sequence sequence;
	uint32_t *op;   /* by place in the sequence: the op of the trace */
	uint32_t *name; /* by token */
	size_t room;    /* ops for which there are columns */
};

/* The sequence of a process. Migrations of managed memory are left out: no call launches them, and which page is moved
 * when is a matter of chance; so is what was launched in `without`, which is joined and may be NULL. Everything is in
 * `arena`. `out` is zeroed, or an earlier sequence of the same trace in the same arena that is not needed any more. */
void pattern_ops_collect(const struct trace *trace, uint32_t process, enum pattern_order order,
                         const struct spans *without, struct arena *arena, struct pattern_ops *out);

/* The share of the process's ops, migrations left out, of which the profile has the call that launched them. */
double pattern_launched_share(const struct trace *trace, uint32_t process);

/* Loops that turn within calls of a model, or within one launch of a graph: its layers. */

/* PyTorch's profiler notes, where it is asked for stacks or modules, when a model was called, and its backward pass:
 * one call of either is at most one step. Sets inside[1 + loop] of the loops of `found`, made of `ops`, of which at
 * least half of the cycles begin in the same call as the one before, or by the same launch. Where no calls were noted,
 * of PyTorch programs those of few passes, amid other kernels, with which the host has nothing to do. `inside` is
 * false, and has room for RULE_LOOPS + 1. */
void pattern_calls_inside(const struct trace *trace, const struct pattern_ops *ops, const struct pattern *found,
                          bool *inside);

/* What repeats in a profile: the loops of all its processes, and which of their cycles an op belongs to. */

/* One cycle of a loop on one device. */
struct run_cycle {
	uint32_t loop;  /* 1 + its loop; 0: none any more (run_loop_group) */
	uint32_t cycle; /* as its process counts; several have the same where they were put together */
	uint32_t step;  /* of the run's steps: pattern_steps; TRACE_NONE: none */
	bool opens;     /* cycles of other loops ran between it and the one before it */
	struct step_ops ops;
};

/* Ops of the trace that follow each other and are of one cycle. Ops of no loop are in none. */
struct run_piece {
	uint32_t first, n; /* ops */
	uint32_t cycle;    /* an index into the part's cycles */
};

/* Those of a part of a run, in order of its ops, which are numbered as the part counts them. */
struct run_pieces {
	struct run_piece *list;
	size_t n;
	uint32_t first_cycle; /* what their `cycle` counts from */
};

struct run_loops {
	struct run_loop *list; /* by time, descending; those that search behind all others */
	uint32_t n;
	uint32_t n_small; /* how many are listed where `n` is 0 because they are too little of the GPU time: … */
	bool scattered;   /* … each of them, not all of them together */
	struct run_cycle *cycles; /* by device, loop as it was found, cycle */
	uint32_t n_cycles;
	struct run_pieces *pieces; /* by part */
	double all_time;           /* GPU time of the profile's ops, ns added up */
	double share;              /* of the profile's GPU time that belongs to loops */
	double tried;              /* of it, too: an autotuner's trials among which no loop was looked for (trials.h) */
};

/* What each process of a trace, which may be a part of a run (run/parts.h), says for itself. */
struct pattern_process {
	struct run_loop *list; /* by time */
	uint32_t *launcher;    /* by loop: the thread that launches most of its GPU time, as the trace counts them; the
	                        * process's first one where no launches are known; TRACE_NONE: it has no threads */
	uint32_t n;
};
struct pattern_look {
	struct pattern_process *process;
	uint32_t n;               /* processes of the trace */
	struct run_cycle *cycles; /* `loop` as the process counts */
	uint32_t n_cycles;
	struct run_piece *pieces;
	size_t n_pieces;
	double all_time, in_loops, searched, tried; /* GPU time, ns */
};

/* Finds what repeats in each process. */
void pattern_run_look(const struct trace *trace, struct arena *arena, struct pattern_look *out);

/* Whether a kernel of this name, an id of trace.names, is one that only an autotuner's search launches. */
bool pattern_run_searches(const struct trace *trace, uint32_t name);

/* What loops are called. */

/* Gives each of the loops of a run a title of its own: its two kernels that weigh most, "gemm + softmax"; where several
 * would be called the same, also the heaviest one that the others do not have, "gemm + softmax + dropout"; and where
 * that does not help either, all but the one that begins first get a number, "gemm + softmax #2". */
void pattern_names_give(const struct trace *trace, struct run_loop *loops, uint32_t n, struct arena *arena);

/* Gives the loops their names, which all runs share: for one run at a time. */
void run_loops_name(struct run_loops *loops, const struct trace *trace);

#endif
