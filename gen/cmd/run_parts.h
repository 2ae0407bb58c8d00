/* What the files of `gapline run` share: run_suite.c makes the runs, cmd_run.c everything before and after. */
#ifndef GAPLINE_CMD_RUN_PARTS_H
#define GAPLINE_CMD_RUN_PARTS_H

#include "capture/suite.h"
#include "cmd/capturing.h"
#include "cmd/compare.h"
#include "cmd/progress_runs.h"

enum { RUN_REPEAT = 5, RUN_RECORDED = 2, RUN_RECORDED_ALONE = 3 }; /* runs of each side, by default */

/* What one `gapline run` is asked for, and how far it is: several runs of both sides in turns. */
struct experiment {
	const char *folder;
	struct opt_command commands[2];
	int repeat, recorded;       /* −1: not given */
	const char *limit_text;     /* --time-limit; NULL: none */
	int64_t limit_ns, began_ns; /* 0: no limit */
	bool resume, force, quiet;
	struct capturing capturing;
	struct collector for_stopwatch;
	struct compare compare; /* its arena holds everything */
	struct suite suite;
	struct progress_runs progress;
};

/* Makes all runs that are still to be made. An enum cmd_status; what goes wrong is printed. */
int run_all(struct experiment *e);

#endif
