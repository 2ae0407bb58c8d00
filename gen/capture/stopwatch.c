#include "capture/stopwatch.h"

#include "capture/collector.h"
#include "capture/find.h"
#include "capture/stopwatch_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CAPTURE_FIRST = 900, CAPTURE_LAST = 910 }; /* CUresult: what has to do with captures of graphs */

struct pages {
	struct stopwatch_page *item;
	size_t n;
};

/* A page that was cut, or was never one, is no page. */
static bool read_page(int folder, const char *name, struct stopwatch_page *page)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, page, sizeof *page);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof *page && !memcmp(page->magic, STOPWATCH_MAGIC, sizeof page->magic) &&
	       page->version == STOPWATCH_VERSION;
}

static int read_pages(const char *path, struct arena *arena, struct pages *pages, struct err *err)
{
	DIR *folder = opendir(path);
	if (!folder)
		return err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
	for (struct dirent *entry; (entry = readdir(folder));) {
		size_t length = strlen(entry->d_name), ending = sizeof STOPWATCH_ENDING - 1;
		if (length <= ending || strcmp(entry->d_name + length - ending, STOPWATCH_ENDING) != 0)
			continue;
		pages->item = arena_grow(arena, pages->item, pages->n, pages->n + 1, sizeof *pages->item);
		if (read_page(dirfd(folder), entry->d_name, &pages->item[pages->n]))
			pages->n++;
	}
	closedir(folder);
	return 0;
}

/* ---- why not ---- */

static const char *ordinal(uint64_t n, struct arena *arena)
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	uint64_t last = n % 10;
	return arena_format(arena, "%llu%s", (unsigned long long)n,
	                    last < 4 && n / 10 % 10 != 1 ? endings[last] : "th");
}

static const char *problem_text(const struct stopwatch_page *p, const struct stopwatch_plan *plan, struct arena *arena)
{
	const char *when = p->idle[0] ? "last" : "last warm-up";
	switch ((uint32_t)p->problem) { /* clang takes no atomic here */
	case STOPWATCH_NO_DRIVER:
		return "no CUDA driver that can be waited for is loaded in the process that makes the steps";
	case STOPWATCH_NO_CONTEXT:
		return "no GPU is in use in the process that makes the steps";
	case STOPWATCH_TIME_LIMIT:
		return arena_format(
			arena,
			"after the %s step the GPU did not become idle within %.3g s: a kernel that goes on, a "
			"callback or another process holds it up",
			when, (double)plan->limit_ms / 1e3);
	case STOPWATCH_NO_THREAD:
		return arena_format(arena, "the thread that waits for the GPU could not be started: %s",
		                    err_reason(p->code));
	case STOPWATCH_NO_CUPTI:
		return p->code ? arena_format(arena, "CUPTI did not let launches be counted (its error %d)",
		                              (int)p->code)
		               : "no CUPTI that fits the driver was found, and launches cannot be counted without";
	default:
		break;
	}
	if (p->code >= CAPTURE_FIRST && p->code <= CAPTURE_LAST)
		return arena_format(arena,
		                    "after the %s step the GPU could not be waited for, because a CUDA graph was being "
		                    "captured (CUDA error %d)",
		                    when, (int)p->code);
	return arena_format(arena, "after the %s step the GPU could not be waited for (CUDA error %d)", when,
	                    (int)p->code);
}

static const char *too_few(const struct pages *pages, const struct stopwatch_plan *plan, struct arena *arena)
{
	uint64_t most = 0;
	for (size_t i = 0; i < pages->n; i++) {
		uint64_t ended = pages->item[i].ended;
		most = ended > most && ended < plan->last ? ended : most;
	}
	if (plan->launches)
		return arena_format(
			arena,
			"%s ended after %llu launches, and the time is taken at the %s, which a recorded run made",
			plan->processes > 1 ? "one of its processes" : "the program", (unsigned long long)most,
			ordinal(plan->last, arena));
	if (!most)
		return arena_format(arena, "the program made no range '%s'%s; the recorded one made %u and more",
		                    plan->step, pages->n ? " in one of its processes" : "", plan->last);
	return arena_format(
		arena, "%s ended after %llu range%s '%s', and the time is taken at the %s, which a recorded run made",
		plan->processes > 1 ? "one of its processes" : "the program", (unsigned long long)most,
		most == 1 ? "" : "s", plan->step, ordinal(plan->last, arena));
}

/* Launches are counted from the program's start: a run that makes some more or fewer of them may do so before the first
 * step, and then both instants are shifted alike. By less than a step that changes nothing; by more, the loop may end
 * before the last one. NULL: as many as that. */
static const char *other_number(const struct stopwatch_page *p, const struct stopwatch_plan *plan, struct arena *arena)
{
	uint64_t ended = p->ended, off = ended > plan->launches ? ended - plan->launches : plan->launches - ended;
	if (!plan->launches || !off || off * plan->steps < plan->last - plan->first)
		return NULL;
	return arena_format(arena,
	                    "it made %llu launches, and the recorded run made %u, so that its steps cannot be counted",
	                    (unsigned long long)ended, plan->launches);
}

/* ---- the time ---- */

static bool is_whole(const struct stopwatch_page *p, const struct stopwatch_plan *plan)
{
	return p->ended >= plan->last && p->idle[0] && p->idle[1] && p->problem == STOPWATCH_FINE;
}

int stopwatch_read(const char *folder, const struct stopwatch_plan *plan, struct arena *arena,
                   struct stopwatch_result *out, struct err *err)
{
	struct pages pages = {0};
	int64_t start = 0, end = 0;
	size_t whole = 0;
	const char *problem = NULL;
	*out = (struct stopwatch_result){0};
	if (read_pages(folder, arena, &pages, err))
		return -1;
	for (size_t i = 0; i < pages.n; i++) {
		const struct stopwatch_page *p = &pages.item[i];
		if (p->problem != STOPWATCH_FINE && !problem)
			problem = problem_text(p, plan, arena);
		if (!is_whole(p, plan))
			continue;
		whole++;
		if (!out->unused) {
			out->unused = other_number(p, plan, arena);
			out->uncountable = out->unused != NULL;
		}
		start = p->idle[0] > start ? p->idle[0] : start;
		end = p->idle[1] > end ? p->idle[1] : end;
	}
	/* A process beside those that make the steps may do as it likes: a forked child cannot use CUDA, say. */
	if (whole < plan->processes) {
		out->uncountable = plan->launches && !problem;
		out->unused = problem ? problem : too_few(&pages, plan, arena);
	}
	if (!out->unused && whole > plan->processes)
		out->unused = arena_format(arena, "%zu processes made the steps, and %u in the recorded run", whole,
		                           plan->processes);
	if (!out->unused && end <= start)
		out->unused = "its last step ended before its last warm-up step in another process";
	out->ns = out->unused ? 0 : end - start;
	out->from = start;
	return 0;
}

/* Timed runs as a collector sees them: no profile, but two instants (capture/stopwatch.h). */

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
		return err_set_id(err, err_id_of(errno), "%s: %s", folder, err_reason(errno));
	const char **environment = ARENA_NEW(job->arena, sizeof set / sizeof *set, const char *);
	memcpy(environment, set, sizeof set);
	job->environment = environment;
	return 0;
}

static int finish(struct collector_job *job, struct err *err)
{
	job->timed = (struct stopwatch_result){.ns = job->ran_ns, .from = job->start_ns};
	return job->plan->steps ? stopwatch_read(pages_folder(job), job->plan, job->arena, &job->timed, err) : 0;
}

static void release(struct collector_job *job)
{
	(void)job;
}

const struct collector_type collector_stopwatch = {"stopwatch",     find,   check,  prepare, collector_no_group,
                                                   collector_learn, finish, release};
