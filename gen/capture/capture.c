#include "capture/capture.h"

#include "base/buf.h"
#include "base/folder.h"
#include "base/proc.h"
#include "capture/annotate.h"
#include "capture/find.h"
#include "capture/gpu.h"
#include "capture/place.h"
#include "capture/recover.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A program that is asked to end gets GRACE_MS; nsys, which then writes its report, as long as that takes people to
 * press Ctrl-C again. */
enum { TICK_MS = 200, GRACE_MS = 5000, REPORT_MS = 120000, LEFT_OVER_MS = 2000 };

static const int64_t SAMPLE_NS = 1000000000;

struct capture {
	const struct capture_request *request;
	struct capture_result *result;
	struct collector_job job;
	struct gpu_state gpus;
	struct proc proc;
};

/* ---- before ---- */

static int make_folder(struct capture *c, struct err *err)
{
	const char *name = place_name(c->request->file, c->request->replace, c->job.arena, err);
	if (!name)
		return -1;
	const char *left = folder_left(name, c->job.arena);
	if (left)
		collector_say(&c->job, "%s was left by a capture to this name that wrote no profile; %s", left,
		              recover_offer(left, c->request->file, c->job.arena));
	const char *folder = folder_beside(name, c->job.arena, err);
	if (!folder)
		return -1;
	char *real = realpath(folder, NULL);
	c->job.folder = real ? arena_copy(c->job.arena, real, strlen(real)) : folder;
	free(real);
	c->job.profile = arena_format(c->job.arena, "%s/profile.sqlite", c->job.folder);
	return 0;
}

/* ---- while it runs ---- */

static bool under_nsys(const struct capture *c)
{
	return c->job.collector->type == &collector_nsys;
}

/* nsys starts the program in a group of its own, and writes its report when that has ended. The program first, then:
 * a report takes as long as it takes, unless people press Ctrl-C again. */
static void end_under_nsys(struct capture *c, int number)
{
	const int steps[] = {number, SIGTERM, SIGKILL};
	bool patient = true;
	proc_signal(&c->proc, SIGINT); /* from nsys itself, that asks for the report */
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !c->proc.ended; i++) {
		const struct proc program = {.pid = c->job.collector->type->group(&c->job)};
		int64_t until = proc_now_ns() + (int64_t)GRACE_MS * 1000000;
		proc_signal(&program, steps[i]);
		do {
			int heard = proc_interrupts();
			proc_wait(&c->proc, TICK_MS);
			patient = patient && heard == proc_interrupts();
		} while (!c->proc.ended && patient && proc_now_ns() < until && proc_has_group(&program));
		if (program.pid && !proc_has_group(&program))
			break;
	}
	if (patient && c->request->keep_failed)
		proc_wait(&c->proc, REPORT_MS);
	if (!c->proc.ended)
		proc_stop(&c->proc, SIGTERM, GRACE_MS);
}

static void end_program(struct capture *c, int number)
{
	if (under_nsys(c))
		end_under_nsys(c, number);
	else
		proc_stop(&c->proc, number, GRACE_MS);
}

static int64_t stop_time(const struct capture *c)
{
	const struct capture_options *o = c->request->options;
	return o->duration > 0 ? c->proc.start_ns + (int64_t)((o->delay + o->duration) * 1e9) : INT64_MAX;
}

/* nsys leaves when the duration is over; a program that is to go on is waited for here, though unrecorded. */
static void wait_for_program(struct capture *c)
{
	const struct proc program = {.pid = c->job.collector->type->group(&c->job)};
	while (proc_has_group(&program) && !proc_interrupted()) {
		if (c->request->tick)
			c->request->tick(c->request->context, proc_now_ns() - c->proc.start_ns);
		poll(NULL, 0, TICK_MS);
	}
	c->proc.end_ns = proc_now_ns();
}

static void watch(struct capture *c)
{
	const struct capture_request *r = c->request;
	int64_t sampled = 0, stop = stop_time(c);
	while (!c->proc.ended) {
		int64_t now = proc_now_ns();
		if (now - sampled >= SAMPLE_NS) {
			sampled = now;
			gpu_state_sample(&c->gpus);
		}
		if (r->tick)
			r->tick(r->context, now - c->proc.start_ns);
		if (now >= stop) {
			c->job.cut_short = r->options->kill != 0;
			if (c->job.cut_short && !under_nsys(c)) /* nsys does it itself */
				end_program(c, r->options->kill);
			stop = INT64_MAX;
		} else if (proc_interrupted()) {
			end_program(c, proc_interrupted()); /* programs save what they have on one, not on another */
		} else {
			int64_t wait = stop - now < TICK_MS * (int64_t)1000000 ? (stop - now) / 1000000 + 1 : TICK_MS;
			proc_wait(&c->proc, (int)wait);
		}
	}
	gpu_state_sample(&c->gpus);
	if (r->options->duration > 0 && !r->options->kill && under_nsys(c))
		wait_for_program(c);
}

/* The group that nsys made for the program is not the one that we started. */
static bool end_left_over(struct capture *c)
{
	bool left = proc_end_group(&c->proc, LEFT_OVER_MS);
	struct proc other = {.pid = c->job.collector->type->group(&c->job), .ended = true};
	return (other.pid > 0 && proc_end_group(&other, LEFT_OVER_MS)) || left;
}

static const char *trace_text(const struct capture_options *o, struct arena *arena)
{
	return arena_format(arena, "cuda%s%s%s%s", o->nvtx ? ",nvtx" : "", o->osrt ? ",osrt" : "",
	                    o->sample_ns ? ",py" : "", o->native ? ",native" : "");
}

static int start(struct capture *c, struct err *err)
{
	const struct capture_request *r = c->request;
	struct timespec now;
	int input = r->interactive ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	int output[2] = {r->output >= 0 ? r->output : STDOUT_FILENO, r->output >= 0 ? r->output : STDERR_FILENO};
	c->job.log = -1;
	memcpy(c->job.output, output, sizeof output);
	c->job.input = input >= 0 ? input : STDIN_FILENO;
	bool ranges = false;
	int rc = c->job.collector->type->prepare(&c->job, err);
	if (!rc && (!r->plan || r->plan->steps)) /* a process that is timed as a whole needs none */
		rc = python_ranges_wanted(r->options->ranges, r->command, &ranges, c->job.arena, err);
	if (!rc && ranges)
		c->job.environment =
			python_ranges_environment(c->job.environment, c->job.folder,
		                                  r->options->ranges == RANGES_MODULES && !r->plan, c->job.arena);
	const struct proc_spawn spawn = {
		.argv = c->job.argv,
		.environment = c->job.environment,
		.output = c->job.log >= 0 ? c->job.log : r->output,
		.input = input,
		.terminal = r->interactive,
	};
	clock_gettime(CLOCK_REALTIME, &now);
	c->job.start_utc_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	c->job.start_ns = proc_now_ns();
	if (!rc)
		rc = recover_note(&c->job, trace_text(r->options, c->job.arena), err);
	if (!rc)
		rc = proc_start(&c->proc, &spawn, err);
	c->job.start_ns = c->proc.start_ns;
	if (input >= 0)
		close(input);
	return rc;
}

/* ---- afterwards ---- */

static void judge(struct capture *c)
{
	struct capture_result *out = c->result;
	char words[80];
	c->job.ended_with = c->proc.status;
	c->job.stop_ns = c->proc.end_ns;
	c->job.pid = c->proc.pid;
	c->job.ran_ns = c->proc.end_ns - c->proc.start_ns;
	c->job.collector->type->learn(&c->job);
	out->started = c->job.pid > 0;
	out->status = c->job.status;
	out->status_known = c->job.status_known;
	out->cut_short = c->job.cut_short;
	bool by_signal = out->status_known && WIFSIGNALED(out->status);
	if (by_signal && WTERMSIG(out->status) == SIGINT)
		proc_share_interrupt(&c->proc);
	out->interrupted = proc_interrupted();
	out->elapsed_ns = c->job.ran_ns;
	out->start_utc_ns = c->job.start_utc_ns;
	out->failed = out->status_known && out->status && !out->cut_short && !out->interrupted;
	proc_status_text(out->status, words, sizeof words);
	if (out->interrupted)
		out->complete = "the capture was interrupted";
	else if (!out->status_known && !out->cut_short)
		out->complete = "how the program ended is not known";
	else if (out->failed && by_signal)
		out->complete = arena_format(c->job.arena, "the program was %s", words);
	else if (out->failed)
		out->complete = arena_format(c->job.arena, "the program ended with %s", words);
	else
		out->complete = "yes";
}

static int annotate(struct capture *c, struct err *err)
{
	struct capture_result *out = c->result;
	if (c->job.incomplete && !strcmp(out->complete, "yes") && !out->cut_short)
		out->complete = arena_format(c->job.arena,
		                             "%zu process%s ended without a word: killed, crashed, or left by _exit",
		                             c->job.incomplete, c->job.incomplete == 1 ? "" : "es");
	const struct python_ranges *ranges = &c->job.ranges;
	char host[256] = "";
	if (gethostname(host, sizeof host - 1))
		host[0] = 0;
	const struct annotation annotation = {
		.host = host,
		.version = c->job.version,
		.collector = c->job.collector->type->name,
		.cupti = c->job.cupti,
		.trace = trace_text(c->request->options, c->job.arena),
		.graphs = c->job.graphs,
		.complete = out->complete,
		.dropped = c->job.dropped,
		.dropped_events = c->job.dropped_events,
		.ranges_ns = ranges->steps > 0 ? ranges->own_ns / ranges->steps + 1 : 0,
		.sample_ns = c->job.sample_ns,
		.samples_torn = c->job.samples_torn,
		.launcher = c->job.launcher,
		.from_start = strcmp(c->job.collector->type->name, "cupti") == 0 && c->request->options->delay <= 0 &&
	                      !c->request->options->profiler_range,
		.gpu_state = &c->gpus,
		.start_ns = c->job.start_ns,
	};
	return annotate_profile(c->job.profile, &annotation, err);
}

static int put_in_place(struct capture *c, struct err *err)
{
	const char *meant, *to = place_profile(c->job.profile, c->request->file, c->job.pid, c->request->replace,
	                                       &meant, c->job.arena, err);
	if (meant)
		collector_say(&c->job, "%s appeared meanwhile; the profile is %s", meant, to);
	c->result->file = to;
	return to ? 0 : -1;
}

static void say_ranges(struct collector_job *job)
{
	const struct python_ranges *r = &job->ranges;
	if (r->steps && !job->plan)
		collector_say(job, "NVTX ranges were added to PyTorch: %lld steps, %.1f us each", (long long)r->steps,
		              (double)r->own_ns / (double)r->steps / 1e3);
	if (r->error)
		collector_say(job, "adding NVTX ranges to PyTorch ended early: %s", r->error);
}

static int finish(struct capture *c, struct err *err)
{
	struct capture_result *out = c->result;
	if (!c->request->keep_failed && (out->failed || out->interrupted))
		return err_set(err, "%s", out->complete);
	int failed = c->job.collector->type->finish(&c->job, err);
	python_ranges_read(c->job.folder, c->job.arena, &c->job.ranges);
	say_ranges(&c->job);
	out->unwritable = failed && c->job.unwritable;
	if (failed)
		return -1;
	out->timed = c->job.timed;
	if (c->request->plan)
		return 0;
	out->unwritable = annotate(c, err) || put_in_place(c, err);
	return out->unwritable ? -1 : 0;
}

int capture_find_program(const char *const *command, struct arena *arena, struct err *err)
{
	if (!*command[0])
		return err_set(err, "'' is no program; the first word of a command names one");
	if (find_on_path(command[0], arena))
		return 0;
	if (access(command[0], F_OK) == 0) { /* beside us, or it is no program */
		BUF_LOCAL(word);
		buf_word(&word, command[0], "");
		if (!strchr(command[0], '/'))
			err_set(err, "%s: there is no such program on PATH; the file in this folder is: ./%s",
			        command[0], word.data);
		else
			err_set(err, "%s: is not executable; if it is a program, make it so with: chmod +x %s",
			        command[0], word.data);
		return -1;
	}
	return err_set(err, "%s: there is no such program%s", command[0], strchr(command[0], '/') ? "" : " on PATH");
}

/* Said before it takes any time; of all GPUs, for which of them the program will use nobody knows yet. */
static void say_others(struct capture *c)
{
	for (uint32_t i = 0; i < c->gpus.n_gpus; i++)
		if (c->gpus.gpus[i].others > 0)
			collector_say(&c->job,
			              "GPU %u (%s) is in use by %d other process%s, whose work delays what is measured",
			              i, c->gpus.gpus[i].name, c->gpus.gpus[i].others,
			              c->gpus.gpus[i].others == 1 ? "" : "es");
}

int capture_one(const struct capture_request *request, struct arena *arena, struct capture_result *result,
                struct err *err)
{
	struct capture c = {.request = request, .result = result};
	c.job.collector = request->collector;
	c.job.options = request->options;
	c.job.command = request->command;
	c.job.plan = request->plan;
	c.job.version = request->version;
	c.job.arena = arena;
	c.job.cupti = "";
	*result = (struct capture_result){.complete = ""};
	if (capture_find_program(request->command, arena, err) || make_folder(&c, err))
		return -1;
	if (!request->plan) /* asking the GPU is not for nothing */
		gpu_state_open(&c.gpus, NULL, arena);
	say_others(&c);
	struct energy *energy = request->plan ? energy_begin(NULL, arena) : NULL;
	int rc = start(&c, err);
	if (!rc) {
		watch(&c);
		result->left_over = end_left_over(&c) && !proc_interrupted() && !c.job.cut_short;
		judge(&c);
	}
	gpu_state_close(&c.gpus);
	energy_end(energy, c.proc.end_ns - c.proc.start_ns);
	if (!rc)
		rc = finish(&c, err);
	if (!rc && request->plan)
		result->timed.energy =
			energy_text(energy, result->timed.from, result->timed.from + result->timed.ns, arena);
	c.job.collector->type->release(&c.job);
	if (!rc || !result->unwritable || request->plan || !recover_keep(&c.job, request->file, err))
		folder_remove(c.job.folder);
	result->messages = c.job.messages;
	result->n_messages = c.job.n_messages;
	return rc;
}
