/* const traces -> struct analysis. Pure: no I/O. */
#ifndef GAPLINE_ANALYSE_ANALYSE_H
#define GAPLINE_ANALYSE_ANALYSE_H

#include "analyse/analysis.h"
#include "trace/ncu.h"
#include "trace/printed.h"

/* One run of a side: the trace, and the input's name for the report. */
struct analyse_run {
	const struct trace *trace;
	const char *file; /* as given on the command line; only its last part is kept */
};

struct analyse_options {
	const char *title;
	const char *name[2]; /* of the sides, harmless; NULL: none of their own */
	double items[2];     /* that a step of a side works on, and what they are called; 0 and NULL: not told */
	const char *items_name;
	const char *step; /* --step NAME, or NULL: found automatically */
	bool requests;    /* the steps are requests, each as long as its range and its work take: --requests */
	const char *first,
		*each;    /* --first, --each: ranges in a step in which its tokens are made; NULL: not asked for */
	const char *loop; /* --loop NAME, or NULL: steps are ranges, else the loop with the most time */
	int warmup;       /* --warmup N, or -1: found automatically */
	bool events;      /* sides with their median run event by event */
	struct gates_asked gates;
	const struct ncu_report *ncu[2];   /* by side; NULL: none. With the traces' names */
	struct analyse_run graph_nodes[2]; /* by side: a run of it in which graphs were recorded node by node, with
	                                    * names of its own; nothing but shares within graphs is of it. NULL: none */
	const struct printed *printed;     /* what the programs printed; NULL: nothing was asked */
	const struct fact *nothing;        /* the files say that there is nothing to compare; else NULL */
	struct side_files files[2];        /* by side; without, each run is one file */
	/* By side: the step tables of a report, which it is side `table_side` of; NULL: it is made of runs. */
	const struct step_tables *table[2];
	int table_side[2];
};

/* A profile holds nothing to judge: no GPU operation takes any time in what is measured. */
enum { ANALYSE_EMPTY = -2 };

/* Analyses a side's runs, `n_runs` >= 1 each. `arena` must outlive `out`; `names` is the table that the traces share.
 * 0, or with `err`: -1, --step names a range that is not there (the message lists what is) or launches nothing, or two
 * runs of a side are the same capture; ANALYSE_EMPTY. */
int analyse_pair(const struct analyse_run *baseline, size_t n_baseline, const struct analyse_run *fixed, size_t n_fixed,
                 const struct analyse_options *options, struct names *names, struct arena *arena, struct analysis *out,
                 struct err *err);

/* The same from what it was made of, without title and pictures. */
struct step_tables;
struct analysis analyse_tables(const struct step_tables *tables, struct names *names, struct arena *arena);

/* One side of them alone, as analyse_side has it, without findings. */
struct analysis analyse_table_side(const struct step_tables *tables, int side, struct names *names,
                                   struct arena *arena);

/* The same for one profile: out->n_sides is 1. */
int analyse_one(const struct analyse_run *run, const struct analyse_options *options, struct names *names,
                struct arena *arena, struct analysis *out, struct err *err);

/* The same for several runs of one commit. Of runs that were made without a profiler beside them, where there are any,
 * is the headline's step. */
int analyse_side(const struct analyse_run *runs, size_t n, const struct analyse_options *options, struct names *names,
                 struct arena *arena, struct analysis *out, struct err *err);

#endif
