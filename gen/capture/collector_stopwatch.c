/* Stopwatch runs as a collector sees them: no profile, but two instants (capture/stopwatch.h). */
#include "capture/collector_stopwatch.h"
#include "capture/collector.h"
#include "capture/find.h"
#include "capture/stopwatch_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libgapline-stopwatch.so"
#define ENV_NVTX "NVTX_INJECTION64_PATH" /* how NVTX knows whom to load */

int stopwatch_check(struct arena *arena, struct err *err)
{
	const char *taken = getenv(ENV_NVTX);
	if (!find_library(LIBRARY, arena))
		return err_set(err, LIBRARY
		               " does not lie beside this gapline; build gapline where the headers of NVTX are");
	if (taken && *taken)
		return err_set(err, "another tool is to be told of NVTX ranges here (" ENV_NVTX " is set to %s)",
		               taken);
	return 0;
}

static int find(struct collector *collector, struct err *err)
{
	(void)err;
	collector->tool = find_library(LIBRARY, collector->arena);
	return 0;
}

static int check(const struct collector *collector, const struct capture_options *options, struct err *err)
{
	(void)options;
	return stopwatch_check(collector->arena, err);
}

static const char *pages_folder(const struct collector_job *job)
{
	return arena_format(job->arena, "%s/pages", job->folder);
}

static int prepare(struct collector_job *job, struct err *err)
{
	const struct stopwatch_plan *plan = job->plan;
	job->argv = job->command;
	job->environment = NULL;
	if (!plan->steps)
		return 0;
	const char *folder = pages_folder(job);
	const char *const set[] = {
		arena_format(job->arena, STOPWATCH_ENV_FOLDER "=%s", folder),
		arena_format(job->arena, STOPWATCH_ENV_STEP "=%s", plan->step),
		arena_format(job->arena, STOPWATCH_ENV_DOMAIN "=%s", plan->domain),
		arena_format(job->arena, STOPWATCH_ENV_FIRST "=%u", plan->first),
		arena_format(job->arena, STOPWATCH_ENV_LAST "=%u", plan->last),
		arena_format(job->arena, STOPWATCH_ENV_LIMIT_MS "=%lld", (long long)plan->limit_ms),
		arena_format(job->arena, ENV_NVTX "=%s", job->collector->tool),
		NULL,
	};
	if (mkdir(folder, 0700))
		return err_set(err, "%s: %s", folder, strerror(errno));
	const char **environment = ARENA_NEW(job->arena, sizeof set / sizeof *set, const char *);
	memcpy(environment, set, sizeof set);
	job->environment = environment;
	return 0;
}

static pid_t group(const struct collector_job *job)
{
	(void)job;
	return 0;
}

static void learn(struct collector_job *job)
{
	job->status = job->ended_with;
	job->status_known = true;
}

static int finish(struct collector_job *job, struct err *err)
{
	job->timed = (struct stopwatch_result){.ns = job->ran_ns};
	return job->plan->steps ? stopwatch_read(pages_folder(job), job->plan, job->arena, &job->timed, err) : 0;
}

static void release(struct collector_job *job)
{
	(void)job;
}

const struct collector_type collector_stopwatch = {"stopwatch", find, check, prepare, group, learn, finish, release};
