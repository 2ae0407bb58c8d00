/* Runs of one side -> struct side: means over runs and devices, tables of kernels, calls and copies. Each stage returns
 * what it finds; all of it is put together here. */
#ifndef GAPLINE_SIDE_SIDE_H
#define GAPLINE_SIDE_SIDE_H

#include "charge/charge.h"
#include "result/side_result.h"
#include "side/run_table.h"
#include "side/side_facts.h"
#include "verdict/stopwatch.h"

/* What findings and the same-work guard need of a side beside struct side, and a report does not show as such. */
struct side_facts {
	struct run_table *runs;
	size_t n_runs;
	const struct run *rows;         /* by run, who has to ask for rows again: samples of threads, reports of Nsight
	                                 * Compute; NULL: nobody can, for the side was read from its bytes */
	struct stopwatch_side timed;    /* its runs without a profiler */
	const struct fact *ranks_apart; /* its repeats are ranks of one run, or rows contradict each other
	                                   (contradictions_find); NULL: not so */
	bool amd;                       /* its GPUs are AMD's, or Intel's …: Nsight Compute measures NVIDIA's */
	const struct idle_fact *idle;
	uint32_t n_idle;
	struct place_facts places;
	double copy_pageable, copy_managed, memset; /* of the budget's copy_exposed, ns a step */
	double sync_gaps; /* times a step that a synchronising call came back to a GPU without work */
	double host_work; /* step threads outside synchronising and blocking calls, ns a step (docs/method/analysis.md,
	                     Ceilings) */
	struct comm_facts comm;
	struct work_facts work;
};

/* What a side is called, and what is wanted of it. */
struct side_words {
	const char *label; /* struct side has the meaning of these three */
	const char *name;
	struct side_files files;
	const char *const *run_files; /* by run: the input's name, last part only */
	bool events;                  /* wanted */
};

/* The side that `n` prepared runs make, and what findings need beside it. All in `arena` but what belongs to the
 * traces. Only a verdict knows `headline` and the runs' `series`: those are empty. */
struct side side_build(struct run *runs, size_t n, const struct side_words *words, struct arena *arena,
                       struct side_facts *facts);

#endif
