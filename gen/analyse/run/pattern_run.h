/* What repeats in a profile: the loops of all its processes, and which of their cycles an op belongs to. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_RUN_H
#define GAPLINE_ANALYSE_RUN_PATTERN_RUN_H

#include "analyse/run/pattern.h"
#include "analyse/run/steps.h"

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
	double in_loops, searched, tried; /* GPU time, ns */
};
struct pattern_look {
	struct pattern_process *process;
	uint32_t n;               /* processes of the trace */
	struct run_cycle *cycles; /* `loop` as the process counts */
	uint32_t n_cycles;
	struct run_piece *pieces;
	size_t n_pieces;
	double all_time;
};

/* Finds what repeats in each process. */
void pattern_run_look(const struct trace *trace, struct arena *arena, struct pattern_look *out);

/* Whether a kernel of this name, an id of trace.names, is one that only an autotuner's search launches. */
bool pattern_run_searches(const struct trace *trace, uint32_t name);

#endif
