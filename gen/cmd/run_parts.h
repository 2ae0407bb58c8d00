/* What the files of `gapline run` share: run_suite.c makes the runs, cmd_run.c everything before and after. */
#ifndef GAPLINE_CMD_RUN_PARTS_H
#define GAPLINE_CMD_RUN_PARTS_H

#include "capture/suite.h"
#include "cmd/capturing.h"
#include "cmd/compare.h"
#include "cmd/progress.h"
#include "cmd/variants.h"

/* Recorded runs of each side by default, and timed ones of each variant. */
enum { RUN_RECORDED = 2, RUN_RECORDED_ALONE = 3, RUN_TIMED_VARIANT = 5 };

/* What one `gapline run` is asked for, and how far it is: several runs of all sides in turns. */
struct experiment {
	const char *folder;
	struct opt_command commands[2];
	struct opt_list variants_asked; /* --variant */
	const char *sweep;              /* --variant-list; NULL: none */
	struct variants_given variants; /* of both; n 0: there are two sides */
	const char *repeat_text;        /* --repeat; NULL: auto */
	int repeat, recorded;           /* −1: as many as it takes; the default */
	int recorded_alone;             /* the default where there are no timed runs */
	const char *limit_text;         /* --time-limit; NULL: none */
	int64_t limit_ns, began_ns;     /* 0: no limit */
	bool resume, force, quiet;
	int follow;       /* the log of the run at hand, whose output is passed through as well; −1: none */
	size_t looked_at; /* pairs of timed runs at the last look */
	bool told;        /* a look went by what was recorded */
	struct capturing capturing;
	struct collector for_stopwatch;
	struct compare compare; /* its arena holds everything */
	struct suite suite;
	struct progress_runs progress;
};

/* Makes all runs that are still to be made. An enum cmd_status; what goes wrong is printed. */
int run_all(struct experiment *e);

/* One of them. Whether programs' output is kept in logs. */
int run_one(struct experiment *e, struct suite_run *run);
bool run_is_logged(const struct experiment *e);

/* After all others, sides whose CUDA graphs were traced whole are run once more, with their nodes; the comparison does
 * without it where it fails, or the time limit leaves no room, and that is said. */
int run_nodes(struct experiment *e);
int run_without_nodes(struct experiment *e, const struct suite_run *run, const char *why, const struct err *err);

/* The profiles of the runs that were made, as `gapline report` would be given them. */
void run_profiles(struct experiment *e, struct arena *arena, struct opt_list given[]);

/* After a pair of timed runs, with --repeat auto: whether the result and every gate that was asked for are decided,
 * or would not be by more runs. Says so, or why it goes on. Comparing for that may fail, which ends nothing: the report
 * will say it. */
bool run_look(struct experiment *e);

#endif
