/* How far `gapline run` is, on stderr: a line for every run that begins or has ended, with the
 * time that is left, and, where it disturbs nobody, a bar below
 * them that moves. */
#ifndef GAPLINE_CMD_PROGRESS_RUNS_H
#define GAPLINE_CMD_PROGRESS_RUNS_H

#include "capture/suite.h"

struct progress_runs {
	bool live;     /* a terminal that only we write to */
	bool announce; /* programs write in between: say whose output begins */
	const struct suite *suite;
	const struct suite_run *run; /* the one under way */
	int64_t limit_ns, began_ns;  /* for all runs; 0: no limit */
	struct arena *arena;
};

void progress_runs_init(struct progress_runs *p, const struct suite *suite, bool quiet, int64_t limit_ns,
                        struct arena *arena);
void progress_runs_begin(struct progress_runs *p, const struct suite_run *run);
void progress_runs_tick(void *progress_runs, int64_t elapsed_ns); /* for capture_request.tick */
void progress_runs_end(struct progress_runs *p, int64_t elapsed_ns, bool done);

/* "baseline 2", "fixed 1, stopwatch": a run among the others. */
const char *progress_runs_name(const struct suite_run *run, struct arena *arena);

#endif
