/* Timed runs as a collector sees them: no profile, but two instants (capture/stopwatch.h). */
#include "capture/collector_stopwatch.h"
#include "capture/collector.h"
#include "capture/find.h"
#include "capture/stopwatch_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libgapline-stopwatch.so"
#define LAUNCHES "libgapline-launches.so"
#define ENV_NVTX "NVTX_INJECTION64_PATH" /* how NVTX knows whom to load, … */
#define ENV_CUDA "CUDA_INJECTION64_PATH" /* … and the driver */

int stopwatch_check(bool launches, struct arena *arena, struct err *err)
{
	const char *variable = launches ? ENV_CUDA : ENV_NVTX, *taken = getenv(variable);
	if (!find_library(launches ? LAUNCHES : LIBRARY, arena))
		return err_set(err, "%s does not lie beside this gapline; build gapline where the headers of %s are",
		               launches ? LAUNCHES : LIBRARY, launches ? "CUPTI" : "NVTX");
	if (taken && *taken)
		return err_set(err, "another tool is to be told of %s here (%s is set to %s)",
		               launches ? "CUDA calls" : "NVTX ranges", variable, taken);
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
	return stopwatch_check(false, collector->arena, err);
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
		plan->launches ? arena_format(job->arena, ENV_CUDA "=%s", find_library(LAUNCHES, job->arena))
			       : arena_format(job->arena, ENV_NVTX "=%s", job->collector->tool),
		NULL,
	};
	if (mkdir(folder, 0700))
		return err_set(err, "%s: %s", folder, err_reason(errno));
	const char **environment = ARENA_NEW(job->arena, sizeof set / sizeof *set, const char *);
	memcpy(environment, set, sizeof set);
	job->environment = environment;
	return 0;
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

const struct collector_type collector_stopwatch = {"stopwatch",     find,   check,  prepare, collector_no_group,
                                                   collector_learn, finish, release};
