/* The collector of gapline's own: a library loaded into the program by the CUDA driver itself writes a spool, and
 * gapline converts that when the program has ended. */
#include "capture/collector.h"
#include "capture/convert.h"
#include "capture/find.h"
#include "capture/spool.h"
#include "capture/spool_read.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define LIBRARY "libgapline-cupti.so"
#define OSRT_LIBRARY "libgapline-osrt.so"

/* How the CUDA driver and NVTX know whom to load (CUPTI and NVTX documentation: "injection"). */
#define ENV_CUDA "CUDA_INJECTION64_PATH"
#define ENV_NVTX "NVTX_INJECTION64_PATH"

enum { ENVIRONMENT_MAX = 12 };

static int find(struct collector *collector, struct err *err)
{
	static const char *const taken[] = {ENV_CUDA, ENV_NVTX};
	collector->tool = find_library(LIBRARY, collector->arena);
	if (!collector->tool)
		return err_set(err, LIBRARY
		               " does not lie beside this gapline, so it captures with nsys only; ./dev build makes it "
		               "where the CUDA toolkit's headers (cupti.h, nvtx3) are, ./dev demo does not");
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		const char *value = getenv(taken[i]);
		if (value && *value)
			return err_set(
				err,
				"another tool is to be loaded into CUDA programs here (%s is set to %s), and only "
				"one can; unset it, or take --collector nsys",
				taken[i], value);
	}
	return 0;
}

static int check(const struct collector *collector, const struct capture_options *options, struct err *err)
{
	if (options->osrt && !find_library(OSRT_LIBRARY, collector->arena))
		return err_set(err, "--trace osrt: this build of gapline has no " OSRT_LIBRARY
		                    "; leave osrt out, or take --collector nsys");
	return 0;
}

static int64_t seconds(double s)
{
	return (int64_t)(s * 1e9);
}

static int prepare(struct collector_job *job, struct err *err)
{
	const struct capture_options *o = job->options;
	const char **set = ARENA_NEW(job->arena, ENVIRONMENT_MAX + 1, const char *);
	const char *spool = arena_format(job->arena, "%s/spool", job->folder), *preload = getenv("LD_PRELOAD");
	struct timespec now;
	size_t n = 0;
	if (mkdir(spool, 0700))
		return err_set_id(err, err_id_of(errno), "%s: %s", spool, err_reason(errno));
	if (spool_make_failed(spool, job->arena, err))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t start = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + seconds(o->delay);
	set[n++] = arena_format(job->arena, SPOOL_ENV_FOLDER "=%s", spool);
	set[n++] = arena_format(job->arena, ENV_CUDA "=%s", job->collector->tool);
	set[n++] = arena_format(job->arena, SPOOL_ENV_GRAPHS "=%s", graph_trace_names[o->graphs]);
	set[n++] = o->delay > 0 ? arena_format(job->arena, SPOOL_ENV_START "=%lld", (long long)start) : SPOOL_ENV_START;
	set[n++] = o->duration > 0
	                   ? arena_format(job->arena, SPOOL_ENV_STOP "=%lld", (long long)start + seconds(o->duration))
	                   : SPOOL_ENV_STOP;
	set[n++] = o->profiler_range ? SPOOL_ENV_RANGE "=cudaProfilerApi" : SPOOL_ENV_RANGE;
	set[n++] = o->sample_ns ? arena_format(job->arena, SPOOL_ENV_SAMPLE_NS "=%lld", (long long)o->sample_ns)
	                        : SPOOL_ENV_SAMPLE_NS;
	set[n++] = o->memory ? SPOOL_ENV_MEMORY "=1" : SPOOL_ENV_MEMORY;
	set[n++] = o->native ? SPOOL_ENV_NATIVE "=1" : SPOOL_ENV_NATIVE;
	if (o->nvtx)
		set[n++] = arena_format(job->arena, ENV_NVTX "=%s", job->collector->tool);
	if (o->osrt)
		set[n++] = arena_format(job->arena, "LD_PRELOAD=%s%s%s", preload ? preload : "",
		                        preload && *preload ? ":" : "", find_library(OSRT_LIBRARY, job->arena));
	job->environment = set;
	job->argv = job->command;
	job->graphs = graph_trace_names[o->graphs];
	return 0;
}

/* Says what is missing in a profile. */
static void say_losses(struct collector_job *job, const struct convert_result *result, bool nothing)
{
	if (result->unwritten && !nothing)
		collector_say(job, "%s (what it had written before is used)", result->unwritten);
	if (result->skipped)
		collector_say(job, "%lld records made no sense and were left out", (long long)result->skipped);
	if (result->sample_ns && result->samples_torn > result->samples / 50)
		collector_say(job, "of %lld samples of Python %lld could not be read",
		              (long long)result->samples + (long long)result->samples_torn,
		              (long long)result->samples_torn);
	if (!result->ops && !nothing)
		collector_say(job, "CUDA calls were recorded, but nothing from the GPU");
}

/* Fills err with why there is neither a call nor anything from the GPU. */
static int refuse_nothing(const struct capture_options *options, const struct convert_result *result, struct err *err)
{
	if (result->worst == SPOOL_ERROR)
		return err_set(err, "nothing could be recorded: %s", result->messages[0]);
	if (result->unwritten || result->empty)
		return err_set(err, "nothing was recorded: %s", result->unwritten ? result->unwritten : result->empty);
	if (options->profiler_range)
		return err_set(err, "nothing was recorded: the program never called cudaProfilerStart, or used no CUDA "
		                    "between it and cudaProfilerStop");
	if (options->delay > 0 || options->duration > 0)
		return err_set(err, "nothing was recorded: the program used no CUDA in the time asked for (--delay, "
		                    "--duration)");
	return err_set(err,
	               "nothing was recorded: the program never used CUDA, or could not reach the output's folder; "
	               "gapline doctor says whether it could here");
}

static int finish(struct collector_job *job, struct err *err)
{
	const struct convert_request request = {
		.spool = arena_format(job->arena, "%s/spool", job->folder),
		.profile = job->profile,
		.start_ns = job->start_ns,
		.start_utc_ns = job->start_utc_ns,
		.stop_ns = job->stop_ns,
		.version = job->version,
	};
	struct convert_result result = {0};
	int failed = convert_spool(&request, job->arena, &result, err);
	job->unwritable = result.unwritable;
	if (failed)
		return -1;
	for (size_t i = 0; i < result.n_messages; i++)
		collector_say(job, "%s", result.messages[i]);
	job->cupti = result.cupti;
	job->graphs = result.graphs ? result.graphs : job->graphs;
	job->dropped = result.dropped;
	job->dropped_events = result.dropped_events;
	job->incomplete = result.incomplete;
	job->sample_ns = result.sample_ns;
	job->samples_torn = result.samples_torn;
	const bool nothing = !result.ops && !result.calls;
	if (nothing && result.skipped)
		return err_set(err,
		               "nothing could be recorded: of %lld records none has times within the program's run; "
		               "take --collector nsys",
		               (long long)result.skipped);
	say_losses(job, &result, nothing);
	return nothing ? refuse_nothing(job->options, &result, err) : 0;
}

static void release(struct collector_job *job)
{
	(void)job;
}

const struct collector_type collector_cupti = {"cupti",         find,   check,  prepare, collector_no_group,
                                               collector_learn, finish, release};
