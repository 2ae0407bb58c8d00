#include "cmd/progress_runs.h"

#include "cmd/capturing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };

const char *progress_runs_name(const struct suite_run *run, struct arena *arena)
{
	const char *side = suite_side_names[run->side];
	return run->number ? arena_format(arena, "%s %d%s", side, run->number, run->unprofiled ? ", unprofiled" : "")
	                   : arena_format(arena, "%s, to be discarded", side);
}

void progress_runs_init(struct progress_runs *p, const struct suite *suite, bool quiet, struct arena *arena)
{
	const char *term = getenv("TERM");
	bool rewritable = term && strcmp(term, "dumb") && isatty(STDERR_FILENO);
	*p = (struct progress_runs){quiet && rewritable, !quiet, suite, NULL, arena};
}

void progress_runs_begin(struct progress_runs *p, const struct suite_run *run)
{
	p->run = run;
	if (p->announce)
		fprintf(stderr, "gapline: run %zu of %zu: %s\n", suite_done(p->suite) + 1, suite_total(p->suite),
		        progress_runs_name(run, p->arena));
	progress_runs_tick(p, 0);
}

void progress_runs_tick(void *progress_runs, int64_t elapsed_ns)
{
	const struct progress_runs *p = progress_runs;
	struct arena arena = {0};
	if (!p->live)
		return;
	size_t done = suite_done(p->suite), total = suite_total(p->suite), filled = done * BAR / total;
	char bar[BAR + 1];
	memset(bar, '-', BAR);
	memset(bar, '#', filled);
	bar[BAR] = 0;
	fprintf(stderr, "\r\033[K[%s] %zu of %zu done, %s: %s", bar, done, total, progress_runs_name(p->run, &arena),
	        capturing_time_text(elapsed_ns, &arena));
	fflush(stderr);
	arena_release(&arena);
}

void progress_runs_end(struct progress_runs *p, int64_t elapsed_ns, bool done)
{
	if (p->live)
		fputs("\r\033[K", stderr);
	if (done)
		fprintf(stderr, "gapline: run %zu of %zu: %s: %s\n", suite_done(p->suite) + 1, suite_total(p->suite),
		        progress_runs_name(p->run, p->arena), capturing_time_text(elapsed_ns, p->arena));
}
