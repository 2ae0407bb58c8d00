/* The collector nsys: `nsys profile`, then `nsys export`. What nsys itself has to say goes to a log that is read
 * afterwards; the program's output does not pass through nsys (capture/target.h). */
#include "base/arena.h"
#include "base/err.h"
#include "base/proc.h"
#include "capture/collector.h"
#include "capture/find.h"
#include "capture/nsys_words.h"
#include "capture/target.h"
#include "read/db.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A fresh export of nsys's, looked at by the one who had it made: whether it holds any of a GPU's work, what nsys
 * itself had to say, and when its clock began. A report reads the whole of it: read/read.h. */

struct nsys_export {
	bool cuda;            /* it has a table of kernels, copies, memsets, graphs or runtime calls */
	int64_t begin_utc_ns; /* its time 0, since 1970; 0: not said */
};

static int read_warnings(struct db *db, void (*said)(void *context, uint32_t process, const char *text, size_t n),
                         void *context)
{
	static const char *const columns[] = {"severity", "text", "globalPid"};
	enum { SEVERITY, TEXT, PROCESS, WARNING = 2 }; /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL of nsys */
	struct scan s;
	scan_open(&s, db, "DIAGNOSTIC_EVENT", columns, 3);
	while (scan_row(&s)) {
		size_t n;
		int64_t process = scan_int_or(&s, PROCESS, 0) >> 24 & 0xFFFFFF; /* of a globalPid */
		const char *text = scan_int(&s, SEVERITY) >= WARNING ? scan_text(&s, TEXT, &n) : NULL;
		if (text)
			said(context, (uint32_t)process, text, n);
	}
	return scan_close(&s);
}

static int read_begin(struct db *db, int64_t *begin)
{
	static const char *const columns[] = {"utcEpochNs"};
	struct scan s;
	scan_open(&s, db, "TARGET_INFO_SESSION_START_TIME", columns, 1);
	if (scan_row(&s))
		*begin = scan_int_or(&s, 0, 0);
	return scan_close(&s);
}

/* Reads the SQLite export at `path`. `said` is called for each of nsys's warnings and errors with the process that it
 * is about (0: none) and n bytes of text, which are nsys's own: hostile, and borrowed until it returns. -1 with `err`:
 * no database, or a damaged one. */
static int nsys_export_look(const char *path, struct arena *arena,
                            void (*said)(void *context, uint32_t process, const char *text, size_t n), void *context,
                            struct nsys_export *out, struct err *err)
{
	static const char *const cuda[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
	                                   "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
	                                   "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
	struct db db;
	*out = (struct nsys_export){0};
	int rc = db_open(&db, path, -1, arena, err);
	for (size_t i = 0; !rc && i < sizeof cuda / sizeof *cuda; i++)
		out->cuda = out->cuda || db_table(&db, cuda[i]);
	if (!rc)
		rc = read_warnings(&db, said, context) || read_begin(&db, &out->begin_utc_ns) ? -1 : 0;
	db_close(&db);
	return rc;
}

enum { ASK_MS = 60000, AGENT_MS = 1000, OPTIONS_MAX = 24, ANSWER_MAX = 256 * 1024 };

/* Options of `nsys profile` that not every version has. */
enum ability { CAN_GRAPHS = 1, CAN_CPUCTXSW = 2, CAN_RANGE_END = 4, CAN_KILL = 8, CAN_WAIT = 16 };

static const struct {
	enum ability ability;
	const char *option;
} abilities[] = {
	{CAN_GRAPHS, "--cuda-graph-trace"},
	{CAN_CPUCTXSW, "--cpuctxsw"},
	{CAN_RANGE_END, "--capture-range-end"},
	{CAN_KILL, "--kill"},
	{CAN_WAIT, "--wait"},
};
enum { N_ABILITIES = sizeof abilities / sizeof *abilities };

struct nsys_job {
	struct target_plan plan;
	const char *notes, *log, *report; /* paths; `report` without its ending */
	int log_fd;
};

/* ---- what is there ---- */

const char *collector_ask(const char *const *argv, const char *log, int timeout_ms, struct arena *arena, int *status,
                          struct err *err)
{
	struct proc proc;
	int fd = log ? open(log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : memfd_create("nsys", MFD_CLOEXEC);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct proc_spawn spawn = {.argv = argv, .output = fd, .input = nothing};
	const char *answer = NULL;
	if (fd < 0 || nothing < 0) {
		err_set_id(err, err_id_of(errno), "%s: %s", argv[0], err_reason(errno));
	} else if (!proc_start(&proc, &spawn, err)) {
		if (!proc_wait(&proc, timeout_ms))
			proc_stop(&proc, SIGTERM, 1000);
		char *text = arena_alloc(arena, ANSWER_MAX + 1, 1);
		ssize_t n = pread(fd, text, ANSWER_MAX, 0);
		text[n > 0 ? n : 0] = 0;
		*status = proc.status;
		answer = text;
	}
	if (fd >= 0)
		close(fd);
	if (nothing >= 0)
		close(nothing);
	return answer;
}

static int find(struct collector *c, struct err *err)
{
	int status = 0;
	const char *named = getenv("GAPLINE_NSYS");
	c->tool = find_nsys(c->arena);
	if (!c->tool && named && *named)
		return err_set(err, "%s, which GAPLINE_NSYS names, is no program that can be started", named);
	if (!c->tool)
		return err_set(err,
		               "nsys was not found on PATH or where NVIDIA installs it; install nsight-systems-cli, "
		               "or name it with GAPLINE_NSYS");
	const char *const version[] = {c->tool, "--version", NULL}, *const help[] = {c->tool, "profile", "--help",
	                                                                             NULL};
	const char *said = collector_ask(version, NULL, ASK_MS, c->arena, &status, err);
	if (!said)
		return -1;
	if (status) {
		char words[80];
		proc_status_text(status, words, sizeof words);
		return err_set(err, "%s --version: %s: %s", c->tool, words, nsys_last_line(said, c->arena));
	}
	c->version = nsys_version(said, c->arena);
	int year = atoi(c->version);
	if (year > 2000 && year < 2020)
		return err_set(err, "%s: version %s is too old; 2020.3 or later is needed", c->tool, c->version);
	said = collector_ask(help, NULL, ASK_MS, c->arena, &status, err);
	if (!said)
		return -1;
	for (size_t i = 0; i < N_ABILITIES; i++)
		if (nsys_has_option(said, abilities[i].option))
			c->abilities |= abilities[i].ability;
	return 0;
}

static int check(const struct collector *c, const struct capture_options *o, struct err *err)
{
	if (o->sample_ns)
		return err_set(err, "--trace py is gapline's own collector's (--collector cupti); with nsys the CPU is "
		                    "sampled by nsys profile --sample=process-tree, whose exports gapline reads");
	if (o->delay != floor(o->delay) || o->duration != floor(o->duration))
		return err_set(err, "nsys counts --delay and --duration in whole seconds");
	if (o->kill != SIGTERM && !(c->abilities & CAN_KILL))
		return err_set(err, "nsys %s has no --kill", c->version);
	return 0;
}

/* ---- before ---- */

static const char *const *profile_command(const struct collector_job *job, const struct nsys_job *nsys)
{
	const struct capture_options *o = job->options;
	const unsigned can = job->collector->abilities;
	struct arena *arena = job->arena;
	size_t n = 0, words = 0;
	while (nsys->plan.argv[words])
		words++;
	const char **argv = ARENA_NEW(arena, OPTIONS_MAX + words + 1, const char *);
	argv[n++] = job->collector->tool;
	argv[n++] = "profile";
	argv[n++] = arena_format(arena, "--output=%s", nsys->report);
	argv[n++] = "--force-overwrite=true";
	argv[n++] = arena_format(arena, "--trace=cuda%s%s", o->nvtx ? ",nvtx" : "", o->osrt ? ",osrt" : "");
	argv[n++] = "--sample=none";
	if (o->memory)
		argv[n++] = "--cuda-memory-usage=true";
	if (can & CAN_CPUCTXSW)
		argv[n++] = "--cpuctxsw=none";
	if (can & CAN_GRAPHS)
		argv[n++] = o->graphs == GRAPH_TRACE_NODE ? "--cuda-graph-trace=node" : "--cuda-graph-trace=graph";
	if (can & CAN_WAIT)
		argv[n++] = "--wait=primary"; /* ours waits for what it started; a daemon left behind is ended */
	if (o->delay > 0)
		argv[n++] = arena_format(arena, "--delay=%.0f", o->delay);
	if (o->duration > 0)
		argv[n++] = arena_format(arena, "--duration=%.0f", o->duration);
	if (o->profiler_range)
		argv[n++] = "--capture-range=cudaProfilerApi";
	if (o->profiler_range && (can & CAN_RANGE_END))
		argv[n++] = "--capture-range-end=stop";
	if (can & CAN_KILL)
		argv[n++] = o->kill == SIGKILL ? "--kill=sigkill" : o->kill ? "--kill=sigterm" : "--kill=none";
	memcpy(argv + n, nsys->plan.argv, words * sizeof *argv);
	return argv;
}

static int prepare(struct collector_job *job, struct err *err)
{
	struct nsys_job *nsys = ARENA_NEW(job->arena, 1, struct nsys_job);
	const char *self = find_self(job->arena);
	const int fds[TARGET_DESCRIPTORS] = {job->input, job->output[0], job->output[1]};
	if (!self)
		return err_set(err, "/proc/self/exe cannot be read, which capturing with nsys needs");
	job->open = nsys;
	nsys->notes = arena_format(job->arena, "%s/notes", job->folder);
	nsys->log = arena_format(job->arena, "%s/nsys.log", job->folder);
	nsys->report = arena_format(job->arena, "%s/report", job->folder);
	nsys->log_fd = open(nsys->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (nsys->log_fd < 0)
		return err_set_id(err, err_id_of(errno), "%s: %s", nsys->log, err_reason(errno));
	target_plan(&nsys->plan, self, nsys->notes, fds, job->command, job->arena);
	job->argv = profile_command(job, nsys);
	job->log = nsys->log_fd;
	proc_adopt(true);
	job->graphs = job->options->graphs == GRAPH_TRACE_NODE || !(job->collector->abilities & CAN_GRAPHS) ? "node"
	                                                                                                    : "graph";
	return 0;
}

static pid_t group(const struct collector_job *job)
{
	const struct nsys_job *nsys = job->open;
	struct target_notes notes;
	target_read_notes(nsys->notes, &notes);
	return notes.group;
}

/* ---- afterwards ---- */

/* nsys leaves its agent behind when Ctrl-C ends it, and the agent holds on to our standard output. */
static void end_agents(const struct collector_job *job)
{
	char *real = realpath(job->collector->tool, NULL), *slash = real ? strrchr(real, '/') : NULL;
	if (slash && slash > real) {
		*slash = 0;
		proc_end_adopted(real, AGENT_MS);
	}
	free(real);
	proc_adopt(false);
}

static void learn(struct collector_job *job)
{
	const struct nsys_job *nsys = job->open;
	struct target_notes notes;
	end_agents(job);
	target_read_notes(nsys->notes, &notes);
	if (notes.pid || notes.problem)
		job->pid = notes.pid;
	job->launcher = notes.launcher;
	job->status = notes.status;
	job->status_known = notes.ended;
	if (notes.ended)
		job->ran_ns = notes.end_ns - notes.start_ns;
}

static const char *read_log(const char *path, struct arena *arena)
{
	char *text = arena_alloc(arena, ANSWER_MAX + 1, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, ANSWER_MAX);
	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

/* The program's output went through nsys after all, so it is in the log, and its owner wants it. */
static void pass_on(const struct collector_job *job, const char *text)
{
	for (size_t n = strlen(text); n;) {
		ssize_t done = write(job->output[0], text, n);
		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static int no_report(const struct collector_job *job, const char *said, const struct target_notes *notes,
                     struct err *err)
{
	const struct nsys_job *nsys = job->open;
	const struct capture_options *o = job->options;
	const char *last = nsys_last_line(said, job->arena), *reason = nsys_explain(said);
	char words[80];
	proc_status_text(job->ended_with, words, sizeof words);
	if (notes->problem)
		return err_set_id(err, err_id_of(notes->problem), "%s: cannot be started: %s", job->command[0],
		                  err_reason(notes->problem));
	if (reason)
		return err_set(err, "nsys wrote no report: %s; nsys said: %s", reason, last);
	if (exists(arena_format(job->arena, "%s.qdstrm", nsys->report)))
		return err_set(err,
		               "nsys recorded, but could not turn it into a report: its importer did not run, which "
		               "needs the host part of nsys and the libraries libdw1, libelf1 and libssh-4%s%s",
		               *last ? "; nsys said: " : "", last);
	if (!notes->pid)
		return err_set(err, "nsys did not start the program (%s)%s%s", words, *last ? ": " : "", last);
	if (WIFSIGNALED(job->ended_with))
		return err_set(err, "nsys itself was %s and wrote no report", words);
	if (o->profiler_range)
		return err_set(err, "nsys wrote no report: the program never called cudaProfilerStart");
	if (o->delay > 0)
		return err_set(err, "nsys wrote no report: the program ended before the delay of %g s was over",
		               o->delay);
	return err_set(err, "nsys wrote no report (%s)%s%s", words, *last ? ": " : "", last);
}

static const char *run_export(const struct collector_job *job, const char *report, bool payloads, int *status,
                              struct err *err)
{
	const struct nsys_job *nsys = job->open;
	const char *log = arena_format(job->arena, "%s.log", nsys->report);
	const char *const argv[] = {job->collector->tool,
	                            "export",
	                            "--type=sqlite",
	                            "--force-overwrite=true",
	                            arena_format(job->arena, "--output=%s", job->profile),
	                            payloads ? NSYS_PAYLOADS : report,
	                            payloads ? report : NULL,
	                            NULL};
	return collector_ask(argv, log, -1, job->arena, status, err);
}

/* With NCCL's payloads, which say what ranks a kernel is of, where this nsys has an option for them. */
static int export(struct collector_job *job, const char *report, struct err *err)
{
	int status = 0;
	const char *said = run_export(job, report, true, &status, err);
	if (said && status && !nsys_knows_payloads(said))
		said = run_export(job, report, false, &status, err);
	if (!said)
		return -1;
	if (!status && exists(job->profile))
		return 0;
	job->unwritable = nsys_found_no_space(said);
	char words[80];
	proc_status_text(status, words, sizeof words);
	return err_set(err, "nsys export failed (%s): %s%s", words, nsys_last_line(said, job->arena),
	               strstr(said, "shared librar") ? "; install what it misses, usually libdw1 and libelf1" : "");
}

/* Passes on what nsys says of the program; of its own launcher the user knows nothing. */
static void say_warning(void *context, uint32_t process, const char *text, size_t n)
{
	struct collector_job *job = context;
	if (!job->launcher || process != (uint32_t)job->launcher)
		collector_say(job, "nsys: %.*s", (int)(n < 400 ? n : 400), text);
}

/* Whether anything of CUDA is in it, nsys's own warnings, and when its clock began. */
static int look(struct collector_job *job, struct err *err)
{
	struct nsys_export export;
	struct timespec utc, monotonic;
	if (nsys_export_look(job->profile, job->arena, say_warning, job, &export, err))
		return -1;
	clock_gettime(CLOCK_REALTIME, &utc);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	int64_t apart = (int64_t)(utc.tv_sec - monotonic.tv_sec) * 1000000000 + utc.tv_nsec - monotonic.tv_nsec;
	if (export.begin_utc_ns > 0)
		job->start_ns = export.begin_utc_ns - apart;
	return export.cuda
	               ? 0
	               : err_set(err, "nothing was recorded: the program never used CUDA%s",
	                         job->options->delay > 0 || job->options->duration > 0 || job->options->profiler_range
	                                 ? " in the time asked for"
	                                 : "; gapline doctor says whether it could here");
}

static int finish(struct collector_job *job, struct err *err)
{
	static const char *const endings[] = {".nsys-rep", ".qdrep"}; /* the second until 2021 */
	const struct nsys_job *nsys = job->open;
	struct target_notes notes;
	const char *said = read_log(nsys->log, job->arena), *report = NULL;
	target_read_notes(nsys->notes, &notes);
	if (notes.pid && !notes.own_output)
		pass_on(job, said);
	for (size_t i = 0; i < sizeof endings / sizeof *endings && !report; i++) {
		const char *path = arena_format(job->arena, "%s%s", nsys->report, endings[i]);
		report = exists(path) ? path : NULL;
	}
	const char *stream = arena_format(job->arena, "%s.qdstrm", nsys->report);
	job->recorded = report ? report : exists(stream) ? stream : NULL;
	job->unwritable = !report && nsys_found_no_space(said);
	if (!report)
		return no_report(job, said, &notes, err);
	if (strstr(said, "Setting to --cuda-graph-trace=node")) /* an old driver cannot do what was asked for */
		job->graphs = "node";
	if (!notes.pid || notes.own_output)
		for (const char *line; (line = nsys_next_line(&said, job->arena));)
			collector_say(job, "nsys: %s", line);
	return export(job, report, err) || look(job, err) ? -1 : 0;
}

static void release(struct collector_job *job)
{
	struct nsys_job *nsys = job->open;
	if (!nsys)
		return;
	target_release(&nsys->plan);
	if (nsys->log_fd >= 0)
		close(nsys->log_fd);
}

const struct collector_type collector_nsys = {"nsys", find, check, prepare, group, learn, finish, release};
