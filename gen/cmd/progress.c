#include "cmd/progress.h"

#include "base/proc.h"
#include "cmd/capturing.h"
#include "say/say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24 };

static const int64_t SECOND = 1000000000, PATIENCE = SECOND, EVERY = SECOND / 10;
static const char CLEAR[] = "\r\033[K";
static const int signals[PROGRESS_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* On the screen is: nothing, a bar, or nothing for good (a signal came). */
static _Atomic(int) screen;
enum { EMPTY, DRAWN, CLOSED };

static void draw(struct progress *p)
{
	char line[160], bar[BAR + 1];
	double part = meter_part(&p->meter);
	long long seconds = (proc_now_ns() - p->start_ns) / SECOND;
	int expected = EMPTY;
	memset(bar, '-', BAR);
	memset(bar, '#', (size_t)(part * BAR));
	bar[BAR] = 0;
	int n = snprintf(line, sizeof line, "%s[%s] %3d %%  %s, %lld s", CLEAR, bar, (int)(part * 100),
	                 atomic_load(&p->doing), seconds);
	if (atomic_compare_exchange_strong(&screen, &expected, DRAWN) || expected == DRAWN)
		if (write(STDERR_FILENO, line, (size_t)n) < 0)
			return; /* nobody to tell */
}

static void *watch(void *progress)
{
	struct progress *p = progress;
	int64_t wait = PATIENCE;
	pthread_mutex_lock(&p->mutex);
	while (!p->ended) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		int64_t ns = until.tv_nsec + wait;
		until.tv_sec += ns / SECOND;
		until.tv_nsec = ns % SECOND;
		if (pthread_cond_timedwait(&p->wake, &p->mutex, &until) == 0)
			continue;
		draw(p);
		wait = EVERY;
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

/* Takes the bar away, then lets the signal do what it does. */
static void clear_and_die(int signal_number)
{
	if (atomic_exchange(&screen, CLOSED) == DRAWN && write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) < 0)
		_exit(128 + signal_number); /* there is no terminal any more */
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void catch_signals(struct progress *p)
{
	struct sigaction clear = {.sa_handler = clear_and_die};
	for (size_t i = 0; i < PROGRESS_SIGNALS; i++) {
		sigaction(signals[i], NULL, &p->before[i]);
		if (p->before[i].sa_handler == SIG_DFL) /* else it is ignored, or somebody minds it already */
			sigaction(signals[i], &clear, NULL);
	}
}

/* The thread takes no signals: they are for the one that works, which holds them back while it writes. */
static bool start_thread(struct progress *p)
{
	sigset_t all, before;
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->wake, &clock);
	pthread_condattr_destroy(&clock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&p->thread, NULL, watch, p) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void progress_begin(struct progress *p, bool quiet, const char *doing, int64_t of)
{
	const char *term = getenv("TERM");
	*p = (struct progress){.meter.of = of, .doing = doing, .start_ns = proc_now_ns()};
	if (quiet || !term || !strcmp(term, "dumb") || !isatty(STDERR_FILENO) || !start_thread(p))
		return;
	p->on = true;
	atomic_store(&screen, EMPTY);
	catch_signals(p);
}

struct meter *progress_meter(struct progress *p)
{
	return p->on ? &p->meter : NULL;
}

void progress_say(struct progress *p, const char *doing)
{
	atomic_store(&p->doing, doing);
}

void progress_end(struct progress *p)
{
	if (!p->on)
		return;
	p->on = false;
	pthread_mutex_lock(&p->mutex);
	p->ended = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->mutex);
	pthread_join(p->thread, NULL);
	if (atomic_exchange(&screen, EMPTY) == DRAWN && write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) < 0)
		return; /* nobody to tell */
	for (size_t i = 0; i < PROGRESS_SIGNALS; i++)
		sigaction(signals[i], &p->before[i], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->mutex);
}

const char *progress_runs_name(const struct suite *suite, const struct suite_run *run, struct arena *arena)
{
	const struct fact *name = FACT_NEW(arena, run_is, FACT_NO_SIDE, .whose = suite_side_name(suite, run->side),
	                                   .number = run->number, .kind = suite_run_kind(run));
	return say_form(name, SAY_SHORT, NULL, arena);
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
static bool at_most(const struct progress_runs *p)
{
	return p->limit_ns || p->suite->looks;
}

/* "; about 2:10 min left", or "" */
static const char *left_text(const struct progress_runs *p, double seconds, struct arena *arena)
{
	if (seconds <= 0)
		return "";
	const char *time = capturing_time_text((int64_t)(seconds * 1e9), arena);
	return arena_format(arena, "; %s", SAY(NULL, arena, time_left, .time = time, .most = at_most(p)));
}

/* "run 3 of 14" */
static const char *position(const struct progress_runs *p, size_t number, struct arena *arena)
{
	return SAY(NULL, arena, run_position, .number = (int64_t)number, .of = (int64_t)suite_total(p->suite),
	           .most = at_most(p));
}

/* ---- what is seen of it ---- */

void progress_runs_begin(struct progress_runs *p, const struct suite_run *run)
{
	p->run = run;
	if (p->announce)
		fprintf(stderr, "gapline: %s: %s%s\n", position(p, suite_done(p->suite) + 1, p->arena),
		        progress_runs_name(p->suite, run, p->arena), left_text(p, seconds_left(p), p->arena));
	progress_runs_tick(p, 0);
}

void progress_runs_tick(void *progress_runs, int64_t elapsed_ns)
{
	const struct progress_runs *p = progress_runs;
	ARENA_LOCAL(arena);
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
	        progress_runs_name(p->suite, p->run, &arena), capturing_time_text(elapsed_ns, &arena),
	        left_text(p, left, &arena));
	fflush(stderr);
}

void progress_runs_end(struct progress_runs *p, int64_t elapsed_ns, bool done)
{
	if (p->live)
		fputs("\r\033[K", stderr);
	if (done)
		fprintf(stderr, "gapline: %s: %s: %s\n", position(p, suite_done(p->suite) + 1, p->arena),
		        progress_runs_name(p->suite, p->run, p->arena), capturing_time_text(elapsed_ns, p->arena));
}
