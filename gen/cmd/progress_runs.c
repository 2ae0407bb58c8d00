#include "cmd/progress_runs.h"

#include "base/proc.h"
#include "cmd/capturing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };

const char *progress_runs_name(const struct suite_run *run, struct arena *arena)
{
	return arena_format(arena, "%s %d%s", suite_side_names[run->side], run->number,
	                    run->stopwatch ? ", stopwatch" : "");
}

void progress_runs_init(struct progress_runs *p, const struct suite *suite, bool quiet, int64_t limit_ns,
                        struct arena *arena)
{
	const char *term = getenv("TERM");
	bool rewritable = term && strcmp(term, "dumb") && isatty(STDERR_FILENO);
	*p = (struct progress_runs){quiet && rewritable, !quiet, suite, NULL, limit_ns, proc_now_ns(), arena};
}

/* ---- how long it will take ---- */

/* What a run of this side and kind took on average; where there is none yet, one of the other kind; 0: nothing is
 * known.
 */
static double usual_seconds(const struct suite *suite, const struct suite_run *like)
{
	double sum[2] = {0};
	size_t n[2] = {0};
	for (size_t i = 0; i < suite->n_runs; i++)
		if (suite->runs[i].side == like->side) {
			sum[suite->runs[i].stopwatch] += suite->runs[i].seconds;
			n[suite->runs[i].stopwatch]++;
		}
	bool kind = n[like->stopwatch] ? like->stopwatch : !like->stopwatch;
	return n[kind] ? sum[kind] / (double)n[kind] : 0;
}

/* Seconds for all runs that are not finished; < 0: not known. */
static double seconds_left(const struct progress_runs *p)
{
	struct suite_run run;
	double left = 0;
	for (size_t i = 0; suite_ahead(p->suite, &i, &run);) {
		double usual = usual_seconds(p->suite, &run);
		if (usual <= 0)
			return -1;
		left += usual;
	}
	if (p->limit_ns)
		left = fmin(left, (double)(p->limit_ns - (proc_now_ns() - p->began_ns)) / 1e9);
	return left;
}

/* Whether there may be fewer runs than the plan has. */
static const char *at_most(const struct progress_runs *p)
{
	return p->limit_ns || p->suite->looks ? "at most " : "";
}

static const char *left_text(const struct progress_runs *p, double seconds, struct arena *arena)
{
	if (seconds <= 0)
		return "";
	return arena_format(arena, "; %sabout %s left", at_most(p),
	                    capturing_time_text((int64_t)(seconds * 1e9), arena));
}

/* "run 3 of 14" */
static const char *position(const struct progress_runs *p, size_t number, struct arena *arena)
{
	return arena_format(arena, "run %zu of %s%zu", number, at_most(p), suite_total(p->suite));
}

/* ---- what is seen of it ---- */

void progress_runs_begin(struct progress_runs *p, const struct suite_run *run)
{
	p->run = run;
	if (p->announce)
		fprintf(stderr, "gapline: %s: %s%s\n", position(p, suite_done(p->suite) + 1, p->arena),
		        progress_runs_name(run, p->arena), left_text(p, seconds_left(p), p->arena));
	progress_runs_tick(p, 0);
}

void progress_runs_tick(void *progress_runs, int64_t elapsed_ns)
{
	const struct progress_runs *p = progress_runs;
	struct arena arena = {0};
	if (!p->live)
		return;
	size_t done = suite_done(p->suite), total = suite_total(p->suite), filled = total ? done * BAR / total : 0;
	double left = seconds_left(p);
	char bar[BAR + 1];
	memset(bar, '-', BAR);
	memset(bar, '#', filled);
	bar[BAR] = 0;
	left = p->limit_ns ? left : left - (double)elapsed_ns / 1e9;
	fprintf(stderr, "\r\033[K[%s] %s, %s: %s%s", bar, position(p, done + 1, &arena),
	        progress_runs_name(p->run, &arena), capturing_time_text(elapsed_ns, &arena),
	        left_text(p, left, &arena));
	fflush(stderr);
	arena_release(&arena);
}

void progress_runs_end(struct progress_runs *p, int64_t elapsed_ns, bool done)
{
	if (p->live)
		fputs("\r\033[K", stderr);
	if (done)
		fprintf(stderr, "gapline: %s: %s: %s\n", position(p, suite_done(p->suite) + 1, p->arena),
		        progress_runs_name(p->run, p->arena), capturing_time_text(elapsed_ns, p->arena));
}
