/* How far a command is, on standard error: a bar that is rewritten, only on a terminal, and only once the work has
 * taken a second; gone at the end, also when Ctrl-C or a request to end is the end.
 *
 *	struct progress progress;
 *	progress_begin(&progress, quiet, "reading", bytes);
 *	... the work, with progress_meter(&progress) ...
 *	progress_say(&progress, "comparing");
 *	progress_end(&progress);               before anything is printed */
#ifndef GAPLINE_CMD_PROGRESS_H
#define GAPLINE_CMD_PROGRESS_H

#include "base/meter.h"
#include "capture/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum { PROGRESS_SIGNALS = 3 };

struct progress {
	bool on; /* a thread draws */
	struct meter meter;
	_Atomic(const char *) doing;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool ended;
	int64_t start_ns;
	struct sigaction before[PROGRESS_SIGNALS];
};

/* `of` is what makes the bar full. One at a time. */
void progress_begin(struct progress *progress, bool quiet, const char *doing, int64_t of);

/* What to count in, or NULL when nothing is shown. */
struct meter *progress_meter(struct progress *progress);

/* What is being done now; a text that stays. */
void progress_say(struct progress *progress, const char *doing);
void progress_end(struct progress *progress);

/* How far `gapline run` is, on stderr: a line for every run that begins or has ended, with the
 * time that is left, and, where it disturbs nobody, a bar below
 * them that moves. */

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
const char *progress_runs_name(const struct suite *suite, const struct suite_run *run, struct arena *arena);

#endif
