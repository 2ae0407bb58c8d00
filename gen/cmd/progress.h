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

#endif
