/* Fuzz target: any bytes as a run.json. What is read leads through the rest of its plan, and what is written then reads
 * the same. */
#include "capture/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char folder[] = "/dev/shm/gapline-fuzz-XXXXXX", path[sizeof folder + 16];

/* Profiles that lie there, so that runs which name them count. */
static const char *const there[] = {"baseline-1.sqlite", "fixed-1.sqlite", "baseline-2.sqlite"};

static void remove_all(void)
{
	char name[sizeof folder + 32];
	for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
		snprintf(name, sizeof name, "%s/%s", folder, there[i]);
		unlink(name);
	}
	unlink(path);
	rmdir(folder);
}

static void write_file(const char *name, const void *data, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n || close(fd) != 0)
		abort();
}

static void begin(void)
{
	char name[sizeof folder + 32];
	if (!mkdtemp(folder)) /* in memory: what is written is written out with fsync */
		abort();
	snprintf(path, sizeof path, "%s/run.json", folder);
	for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
		snprintf(name, sizeof name, "%s/%s", folder, there[i]);
		write_file(name, "", 0);
	}
	atexit(remove_all);
}

static void keep(bool promise)
{
	if (!promise)
		abort();
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void compare(const struct suite *a, const struct suite *b)
{
	struct err err;
	keep(suite_same(a, b, &err) == 0 && a->repeat == b->repeat && a->recorded == b->recorded &&
	     a->n_sides == b->n_sides && a->n_runs == b->n_runs);
	keep(same_text(a->no_stopwatch, b->no_stopwatch));
	for (size_t i = 0; i < a->n_runs; i++) {
		const struct suite_run *r = &a->runs[i], *q = &b->runs[i];
		keep(r->side == q->side && r->number == q->number && r->stopwatch == q->stopwatch);
		keep(same_text(r->profile, q->profile) && same_text(r->log, q->log) &&
		     same_text(r->complete, q->complete));
		keep(r->seconds == q->seconds && r->exit_status == q->exit_status &&
		     r->start_utc_ns == q->start_utc_ns);
		keep(!r->stopwatch || (r->timed.ns == q->timed.ns && r->steps == q->steps &&
		                       same_text(r->timed.unused, q->timed.unused)));
	}
	for (int s = 0; s < a->n_sides; s++) {
		const struct stopwatch_plan *p = &a->plan[s], *q = &b->plan[s];
		keep(a->planned[s] == b->planned[s]);
		if (a->planned[s])
			keep(same_text(p->step, q->step) && same_text(p->domain, q->domain) && p->first == q->first &&
			     p->last == q->last && p->steps == q->steps && p->launches == q->launches &&
			     p->processes == q->processes && p->limit_ms == q->limit_ms);
	}
}

/* What `gapline run --resume` asks of it. */
static void walk(struct suite *suite)
{
	enum { FEW = 60 };
	struct suite_run next;
	size_t total = suite_total(suite);
	keep(suite_done(suite) <= total && total <= 2 * (size_t)(suite->n_sides * SUITE_MANY + suite->n_sides));
	keep(suite_used(suite, SUITE_BASELINE) <= suite->n_runs);
	for (int i = 0; i < FEW && suite_next(suite, true, &next); i++) {
		keep(next.number >= 1 && next.number <= SUITE_MANY && next.log && !strchr(next.log, '/'));
		next.complete = "yes";
		next.timed.unused = next.stopwatch ? "fuzzed" : NULL;
		suite_add(suite, &next);
	}
	(void)suite_rounds(suite, true);
	(void)suite_rounds(suite, false);
	(void)suite_first(suite, SUITE_FIXED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (!*path)
		begin();
	struct arena arena = {0};
	struct suite suite = {.folder = folder, .arena = &arena}, again = suite, longer;
	struct err err = {0};
	write_file(path, data, n);
	int found = suite_read(&suite, &err);
	if (found < 0) {
		keep(err.text[0]);
	} else {
		keep(found == 1);
		for (size_t i = 0; i < suite.n_runs; i++) /* a name stands for a file in the folder */
			keep((!suite.runs[i].profile || suite.runs[i].stopwatch ||
			      !strchr(suite.runs[i].profile, '/')) &&
			     (!suite.runs[i].log || !strchr(suite.runs[i].log, '/')));
		/* Texts that are no UTF-8 cannot be written, and that is an error. */
		if (suite_write(&suite, &err) == 0) {
			keep(suite_read(&again, &err) == 1);
			compare(&suite, &again);
		}
		longer = suite; /* as it goes on: the command says how often */
		longer.repeat = 5;
		longer.recorded = 3;
		walk(&longer);
	}
	arena_release(&arena);
	return 0;
}
