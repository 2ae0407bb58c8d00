/* The runs of both sides, or of several variants: which comes next, and what a folder holds of them. The state lies in
 * the folder's run.json, written anew after every run, so that an interrupted suite can go on. It holds no environment
 * and no host.
 *
 *	{ "schema": "gapline-run/2", "gapline": "0.1.0",
 *	  "collector": { "name": "nsys", "version": "2025.3.2" },
 *	  "options": "--trace cuda,nvtx …", "repeat": 5, "looked": false, "recorded": 2,
 *	  "commands": { "baseline": [words], "fixed": [words] },
 *	  "stopwatch": { "baseline": { "step": "step_#", "domain": "", "first": 12, "last": 60, "steps": 48,
 *	                 "launches": 0, "processes": 1, "limit_ms": 10000 } | null, "fixed": … },   null: not known yet
 *	  "no_stopwatch": null,                     or why there are no (more) timed runs, a clause
 *	  "runs": [ { "side": "baseline", "run": 1, "kind": "recorded", "profile": "baseline-1.sqlite", "log": null,
 *	              "seconds": 12.3, "exit_status": 0, "complete": "yes" },
 *	            { "side": "baseline", "run": 1, "kind": "stopwatch", "profile": null, "log": null, "seconds": 10.2,
 *	              "exit_status": 0, "complete": "yes", "start_utc_ns": …, "time_ns": …,
 *	              "energy_mj": "GPU-…=1234", "steps": 48,
 *	              "unused": null }, … ],                                       in the order in which they ran
 *	  "graph_nodes": [ { "side": "baseline", "run": 1, "kind": "nodes", "profile": "nodes-baseline.sqlite", … } ],
 *	  "graphs_whole": { "baseline": true, "fixed": false } }
 *
 * More sides than two are called "baseline", "variant-2", "variant-3" ... in it and in the names of files.
 *
 * A side whose CUDA graphs were traced whole, as nobody asked for, is run once more with their nodes: `graph_nodes`, of
 * which nothing but shares within graphs is taken. Patterns for a side's profiles, "baseline-*", do not match it.
 *
 * The first recorded run of a side says where the timed runs (capture/stopwatch.h) of that side take the time; what
 * those tell is put into its profile, too (capture/annotate.h). */
#ifndef GAPLINE_CAPTURE_SUITE_H
#define GAPLINE_CAPTURE_SUITE_H

#include "base/arena.h"
#include "base/err.h"
#include "capture/stopwatch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUITE_MANY = 1000 }; /* the most runs of a kind and side */

enum { SUITE_BASELINE, SUITE_FIXED, SUITE_SIDES_MOST = 8 };

struct suite_run {
	int side;             /* of the suite's, from 0 */
	int number;           /* of its side and kind, from 1 */
	bool stopwatch;       /* else it is recorded, … */
	bool nodes;           /* … CUDA graphs node by node: no run among the others */
	const char *profile;  /* names of files in the folder; of a timed run NULL */
	const char *log;      /* NULL: the program's output was passed through */
	double seconds;       /* from the program's start to its end */
	int exit_status;      /* 128 + the signal that ended it */
	const char *complete; /* "yes", or why the profile is not whole */
	int64_t start_utc_ns;
	struct stopwatch_result timed; /* of a timed run */
	uint32_t steps;                /* in that time */
};

struct suite {
	const char *folder;
	int n_sides;                                   /* 2 to SUITE_SIDES_MOST */
	const char *name[SUITE_SIDES_MOST];            /* what messages call them; NULL: as files do */
	const char *const *commands[SUITE_SIDES_MOST]; /* by side; end with NULL */
	const char *version, *collector, *collector_version;
	const char *options;  /* of the capture, as text: what has to be the same in all runs */
	int repeat, recorded; /* timed runs and recorded runs of each side */
	bool looks;           /* `repeat` is the most: it becomes less when those that were made say enough … */
	bool looked;          /* … or did so when some of the runs were made */
	bool limited;         /* time may end before all are made: the timed ones decide, so they come sooner */
	bool planned[SUITE_SIDES_MOST]; /* `plan` is known, from the side's first recorded run */
	struct stopwatch_plan plan[SUITE_SIDES_MOST];
	const char *no_stopwatch; /* why no more timed runs are made, a clause; NULL: they are */
	struct suite_run *runs;   /* finished */
	size_t n_runs;
	bool graphs_whole[SUITE_SIDES_MOST]; /* its first recorded run has such graphs; false where that was asked for
	                                      */
	struct suite_run nodes[SUITE_SIDES_MOST]; /* profile NULL: there is none */
	struct arena *arena;
};

/* What files, and run.json, call a side: "baseline", "fixed", "variant-3"; and what messages do. */
const char *suite_side_key(int n_sides, int side);
const char *suite_side_name(const struct suite *suite, int side);

/* "recorded", "stopwatch", "nodes" */
const char *suite_run_kind(const struct suite_run *run);

/* The run that comes next, with side, number and names filled; false: all are done. In a round each side runs once. A
 * round of recorded runs comes first, the others are spread evenly among those of timed runs. Rounds of each kind
 * alternate in their order (A B C, C B A, …), so that a drift of the machine hits all sides alike; recorded ones begin
 * with A B C, the others with C B A. After two rounds the order begins two sides further on (C A B, B A C). */
bool suite_next(const struct suite *suite, bool logged, struct suite_run *next);

/* The first run of the plan that is still to be done at or after position `*i`, which is moved past it; false: there is
 * none. To look ahead; names are not filled. */
bool suite_ahead(const struct suite *suite, size_t *i, struct suite_run *run);

/* The run of a side with the nodes of its graphs, where one is to be made. */
bool suite_next_nodes(const struct suite *suite, int side, bool logged, struct suite_run *next);

/* Runs in all, as far as is known, and how many of them are finished. */
size_t suite_total(const struct suite *suite);
size_t suite_done(const struct suite *suite);

/* Rounds of a kind that are finished, and timed runs of a side that can be used. */
size_t suite_rounds(const struct suite *suite, bool stopwatch);
size_t suite_used(const struct suite *suite, int side);
size_t suite_count(const struct suite *suite, int side); /* and with those that cannot */

/* Forgets all timed runs: they are made anew. */
void suite_forget_stopwatch(struct suite *suite);

void suite_add(struct suite *suite, const struct suite_run *run);

/* The first recorded run of a side, or NULL. */
const struct suite_run *suite_first(const struct suite *suite, int side);

/* Writes run.json, whole or not at all. -1 with `err`. */
int suite_write(const struct suite *suite, struct err *err);

/* Reads the run.json of suite->folder into a suite; runs whose profile is gone are left out. 1: read; 0: there is none;
 * -1 with `err`: it is not ours, or damaged. */
int suite_read(struct suite *suite, struct err *err);

/* Whether runs of both can stand side by side: same commands, collector and options. -1 with `err`: what differs. */
int suite_same(const struct suite *was, const struct suite *now, struct err *err);

/* What a folder that a suite is to be written into holds. */
struct suite_folder {
	bool exists, has_run;
	size_t n_others;   /* files that no suite wrote */
	const char *other; /* one of them */
};
int suite_look(const char *folder, struct suite_folder *found, struct arena *arena, struct err *err);

/* Removes what an older suite wrote into the folder. -1 with `err`. */
int suite_clear(const char *folder, struct err *err);

/* Makes the folder if it is not there, and takes it for this process: a lock on a file in it, which holds the process's
 * number and ends with the process, however that ends. The descriptor for suite_unlock; -1 with `err`: another process
 * has it, and which. */
int suite_lock(const char *folder, struct arena *arena, struct err *err);
void suite_unlock(const char *folder, int lock, struct arena *arena);

#endif
