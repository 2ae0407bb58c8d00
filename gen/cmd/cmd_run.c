/* gapline run: captures both sides in turns, then compares them. */
#include "base/proc.h"
#include "capture/annotate.h"
#include "capture/command.h"
#include "capture/suite.h"
#include "cmd/capturing.h"
#include "cmd/compare.h"
#include "cmd/progress_runs.h"
#include "read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT = 3, REPEAT_MAX = 1000, LOG_LINES = 10, LOG_TAIL = 8192 };

struct run {
	const char *folder;
	struct opt_command commands[2];
	int repeat, unprofiled; /* −1: as many as recorded ones */
	bool resume, force, quiet;
	struct capturing capturing;
	struct collector for_unprofiled;
	struct compare compare; /* its arena holds everything */
	struct suite suite;
	struct progress_runs progress;
};

static const char *const arguments[] = {
	"[OPTIONS] --baseline COMMAND --fixed COMMAND -o DIR",
	"[OPTIONS] -o DIR --baseline -- WORD ... --fixed -- WORD ...",
	NULL,
};

static const char *const examples[] = {
	"gapline run --baseline 'python train.py' --fixed 'python train.py --prefetch' -o out",
	"gapline run -o out --repeat 5 --min-speedup 1.05 --baseline -- ./old -n 9 --fixed -- ./new -n 9",
	"gapline run --baseline \"sh -c 'cd old && ./sim'\" --fixed ./sim -o out --quiet",
	NULL,
};

static const char about[] = "Runs both programs several times, taking turns, and records each run; then compares them "
			    "as 'gapline report' does. "
			    "DIR gets the profiles, report.html, report.json and run.json, which says what was run. A "
			    "command is split into words "
			    "as a shell would, but no shell is involved. The programs read nothing from standard "
			    "input. A program that fails "
			    "ends it all: what failed is never compared. For programs without steps the first run of "
			    "each side is discarded.";

/* ---- what goes wrong ---- */

static const char *where(const struct suite_run *run, struct arena *arena)
{
	if (!run->number)
		return arena_format(arena, "%s side, run to be discarded", suite_side_names[run->side]);
	return arena_format(arena, "%s side, run %d%s", suite_side_names[run->side], run->number,
	                    run->unprofiled ? ", unprofiled" : "");
}

/* The end of the program's output, when it went to a file. */
static void show_log(struct run *r, const char *path)
{
	char tail[LOG_TAIL + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, tail, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		tail[i] = tail[i] ? tail[i] : '?';
	tail[n > 0 ? n : 0] = 0;
	size_t lines = 0;
	char *from = tail + strlen(tail);
	while (from > tail && (from[-1] != '\n' || lines < LOG_LINES))
		lines += *--from == '\n';
	fprintf(stderr, "gapline: its output is in %s%s\n", cmd_harmless(&r->compare.arena, path),
	        *from ? "; the end of it:" : ", and empty");
	for (char *line = strtok(from, "\r\n"); line; line = strtok(NULL, "\r\n"))
		fprintf(stderr, "  | %s\n", cmd_harmless(&r->compare.arena, line));
}

static void say_kept(struct run *r)
{
	size_t done = suite_done(&r->suite);
	if (done)
		fprintf(stderr,
		        "gapline: %zu of %zu runs are done and kept in %s; the same command with --resume goes on\n",
		        done, suite_total(&r->suite), cmd_harmless(&r->compare.arena, r->folder));
}

static int fail(struct run *r, const struct suite_run *run, const struct capture_result *result, const char *log,
                const struct err *err)
{
	struct err say;
	char words[80];
	proc_status_text(result->status, words, sizeof words);
	if (result->interrupted)
		err_set(&say, "%s: interrupted", where(run, &r->compare.arena));
	else if (result->failed)
		err_set(&say, "%s: '%s' failed: %s", where(run, &r->compare.arena),
		        command_text(r->suite.commands[run->side], &r->compare.arena), words);
	else
		err_set(&say, "%s: %s", where(run, &r->compare.arena), err->text);
	bool program = result->started && (result->failed || result->interrupted || !result->unwritable);
	int status = cmd_fail(program ? CMD_BAD_PROFILE : CMD_WRONG_USAGE, &say);
	if (log && result->started && !result->interrupted)
		show_log(r, log);
	say_kept(r);
	return status;
}

/* ---- one run ---- */

/* Reads the fresh profile as the comparison will: what cannot be compared is found out now, not after the last run.
 * *steps: whether it has any. */
static int look(struct run *r, const char *path, bool *steps, struct err *err)
{
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct analysis analysis;
	const struct analyse_run one = {&trace, path};
	names_init(&names, &arena);
	int rc = read_profile(path, &names, &arena, &trace, err);
	if (!rc)
		rc = analyse_one(&one, &r->compare.analysis, &names, &arena, &analysis, err);
	*steps = !rc && analysis.side[0].steps_found;
	arena_release(&arena);
	return rc;
}

static int capture(struct run *r, const struct suite_run *next, const char *path, int output,
                   struct capture_result *result, struct err *err)
{
	struct capture_options options = r->capturing.options;
	options.unprofiled = next->unprofiled;
	const struct capture_request request = {
		.collector = next->unprofiled ? &r->for_unprofiled : &r->capturing.chosen,
		.options = &options,
		.command = r->suite.commands[next->side],
		.file = path,
		.replace = true,
		.output = output,
		.version = cmd_version,
		.tick = progress_runs_tick,
		.context = &r->progress,
	};
	int rc = capture_one(&request, &r->compare.arena, result, err);
	progress_runs_end(&r->progress, result->elapsed_ns, !rc);
	capturing_say_messages(
		&r->capturing, result,
		arena_format(&r->compare.arena, "gapline: %s", progress_runs_name(next, &r->compare.arena)),
		&r->compare.arena);
	return rc;
}

/* A % in the folder's name is a % to capture_one. */
static const char *literal(const char *path, struct arena *arena)
{
	char *made = arena_alloc(arena, 2 * strlen(path) + 1, 1), *to = made;
	for (; *path; path++) {
		if (*path == '%')
			*to++ = '%';
		*to++ = *path;
	}
	return made;
}

/* An unprofiled run gives a profile of NVTX ranges only, which are added to the one of its number. */
static int capture_unprofiled(struct run *r, const struct suite_run *next, const char *path, int output,
                              struct capture_result *result, struct err *err)
{
	struct arena *arena = &r->compare.arena;
	const char *ranges = arena_format(arena, "%s/%s-%d.unprofiled.sqlite", r->folder, suite_side_names[next->side],
	                                  next->number);
	int rc = capture(r, next, literal(ranges, arena), output, result, err);
	if (!rc)
		rc = annotate_unprofiled(path, ranges, err);
	unlink(ranges);
	return rc;
}

static int run_next(struct run *r, struct suite_run *next, bool *steps)
{
	struct arena *arena = &r->compare.arena;
	struct err err;
	struct capture_result result = {0};
	const char *path = arena_format(arena, "%s/%s", r->folder, next->profile);
	const char *log = next->log ? arena_format(arena, "%s/%s", r->folder, next->log) : NULL;
	int output = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (log && output < 0) {
		err_set(&err, "%s: %s", log, strerror(errno));
		return cmd_fail(CMD_WRONG_USAGE, &err);
	}
	progress_runs_begin(&r->progress, next);
	int rc = next->unprofiled ? capture_unprofiled(r, next, path, output, &result, &err)
	                          : capture(r, next, literal(path, arena), output, &result, &err);
	if (output >= 0)
		close(output);
	if (!rc && !next->unprofiled && look(r, path, steps, &err)) {
		unlink(path);
		rc = -1;
	}
	if (rc && next->unprofiled && result.started && !result.failed && !result.interrupted) {
		fprintf(stderr, "gapline: %s: %s; no more unprofiled runs are made\n", progress_runs_name(next, arena),
		        cmd_harmless(arena, err.text));
		r->suite.unprofiled = 0;
		return suite_write(&r->suite, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
	}
	if (rc)
		return fail(r, next, &result, log, &err);
	next->seconds = (double)result.elapsed_ns / 1e9;
	next->exit_status = proc_exit_status(result.status);
	next->complete = result.complete;
	suite_add(&r->suite, next);
	return suite_write(&r->suite, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
}

/* ---- all runs ---- */

/* Once both sides ran: what the plan is from here on. A resumed suite may have them from before. */
static int settle_steps(struct run *r, const bool steps[2])
{
	struct err err;
	if (r->suite.steps != SUITE_STEPS_UNKNOWN || !suite_has_pair(&r->suite))
		return CMD_DONE;
	r->suite.steps = SUITE_STEPS;
	if (!steps[0] || !steps[1]) {
		const char *who = steps[0] == steps[1] ? "the programs have"
		                  : steps[0]           ? "the fixed side has"
		                                       : "the baseline has";
		fprintf(stderr,
		        "gapline: %s no steps (NVTX ranges), so a run counts as a whole; the first of each side is "
		        "discarded\n",
		        who);
		if (suite_discard_first(&r->suite, &err))
			return cmd_fail(CMD_WRONG_USAGE, &err);
	}
	return suite_write(&r->suite, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
}

/* What the first runs of a resumed suite say of steps; true where there is none yet. */
static int look_again(struct run *r, bool steps[2])
{
	struct err err;
	steps[0] = steps[1] = true;
	for (size_t i = 0; i < r->suite.n_runs && r->suite.steps == SUITE_STEPS_UNKNOWN; i++) {
		const struct suite_run *run = &r->suite.runs[i];
		const char *path = arena_format(&r->compare.arena, "%s/%s", r->folder, run->profile);
		if (run->number == 1 && !run->unprofiled && look(r, path, &steps[run->side], &err))
			return cmd_fail(CMD_BAD_PROFILE, &err);
	}
	return CMD_DONE;
}

static int run_all(struct run *r)
{
	struct suite_run next;
	bool steps[2];
	int status = look_again(r, steps);
	if (!status)
		status = settle_steps(r, steps);
	while (!status && suite_next(&r->suite, r->quiet, &next)) {
		bool found;
		status = run_next(r, &next, &found);
		if (!status && next.number == 1 && !next.unprofiled)
			steps[next.side] = found;
		if (!status)
			status = settle_steps(r, steps);
		if (!status && proc_interrupted() && suite_next(&r->suite, r->quiet, &next)) {
			say_kept(r);
			status = CMD_BAD_PROFILE;
		}
	}
	return status;
}

/* ---- before and after ---- */

/* A suite whose first run already failed left nothing to lose. */
static bool holds_no_runs(const struct suite *suite)
{
	struct suite was = *suite;
	struct err ignored;
	return suite_read(&was, &ignored) == 1 && !was.n_runs;
}

static int prepare_folder(struct run *r, struct err *err)
{
	struct suite_folder found;
	struct suite was = r->suite;
	if (suite_look(r->folder, &found, &r->compare.arena, err))
		return -1;
	if (found.has_run && r->resume) {
		if (suite_read(&was, err) < 0 || suite_same(&was, &r->suite, err))
			return -1;
		r->suite.steps = was.steps;
		r->suite.runs = was.runs;
		r->suite.n_runs = was.n_runs;
		return suite_write(&r->suite, err);
	}
	if (found.has_run && !r->force && !holds_no_runs(&r->suite))
		return err_set(err, "%s: holds runs already; --resume goes on from them, --force starts anew",
		               r->folder);
	if (found.n_others && !r->force)
		return err_set(err, "%s: holds other things ('%s'); name a folder of its own, or --force to use it",
		               r->folder, found.other);
	return suite_clear(r->folder, err) || suite_write(&r->suite, err) ? -1 : 0;
}

static int prepare_commands(struct run *r, struct err *err)
{
	struct arena *arena = &r->compare.arena;
	for (size_t s = 0; s < 2; s++) {
		struct err why;
		r->suite.commands[s] = r->commands[s].words;
		if (r->commands[s].text && command_split(r->commands[s].text, arena, &r->suite.commands[s], err))
			return -1;
		if (capture_find_program(r->suite.commands[s], arena, &why))
			return err_set(err, "%s side: %s", suite_side_names[s], why.text);
	}
	r->suite.folder = r->folder;
	r->suite.arena = arena;
	r->suite.version = cmd_version;
	r->suite.repeat = r->repeat;
	r->suite.unprofiled = r->unprofiled < 0 || r->unprofiled > r->repeat ? r->repeat : r->unprofiled;
	r->suite.options = capturing_text(&r->capturing, arena);
	return 0;
}

/* Without NVTX there are no steps to time, and without gapline's own library nobody who times them: an error only when
 * such runs were asked for. */
static int choose_unprofiled(struct run *r, struct err *err)
{
	int rc = 0;
	if (r->suite.unprofiled && !r->capturing.options.nvtx)
		rc = err_set(err, "--unprofiled: steps are timed by their NVTX ranges, and --trace leaves those out");
	if (!rc && r->suite.unprofiled && r->capturing.options.profiler_range)
		rc = err_set(err,
		             "--unprofiled: when the program calls cudaProfilerStart and -Stop is not seen without "
		             "recording CUDA, so --capture-range leaves no such runs");
	if (!rc && r->suite.unprofiled)
		rc = collector_for_unprofiled(&r->for_unprofiled, &r->compare.arena, err);
	if (!rc)
		return 0;
	r->suite.unprofiled = 0;
	return r->unprofiled > 0 ? -1 : 0;
}

static int report(struct run *r)
{
	struct compare *c = &r->compare;
	for (size_t i = 0; i < r->suite.n_runs; i++) {
		const struct suite_run *run = &r->suite.runs[i];
		struct opt_list *given = &c->given[run->side];
		if (!run->number || run->unprofiled)
			continue;
		given->item = arena_grow(&c->arena, given->item, given->n, given->n + 1, sizeof *given->item);
		given->item[given->n++] = arena_format(&c->arena, "%s/%s", r->folder, run->profile);
	}
	c->paths[COMPARE_HTML] = arena_format(&c->arena, "%s/report.html", r->folder);
	c->paths[COMPARE_JSON] = arena_format(&c->arena, "%s/report.json", r->folder);
	int status = compare_sides(c);
	if (status == CMD_DONE || status == CMD_GATE_NOT_MET || status == CMD_INCONCLUSIVE)
		fprintf(stderr, "gapline: the report is %s\n", cmd_harmless(&c->arena, c->paths[COMPARE_HTML]));
	return status;
}

static int run(struct run *r)
{
	struct err err;
	compare_begin(&r->compare);
	if (prepare_commands(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	proc_catch_signals();
	if (capturing_choose(&r->capturing, r->suite.commands, 2, &r->compare.arena, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	r->suite.collector = r->capturing.chosen.type->name;
	r->suite.collector_version = r->capturing.chosen.version;
	if (choose_unprofiled(r, &err) || prepare_folder(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	fprintf(stderr, "gapline: collector: %s\n", capturing_collector_text(&r->capturing, &r->compare.arena));
	progress_runs_init(&r->progress, &r->suite, r->quiet, &r->compare.arena);
	int status = run_all(r);
	proc_release_signals();
	return status || proc_interrupted() ? status : report(r);
}

static int check_usage(const struct run *r, const struct opt_list *operands, struct err *err)
{
	for (size_t s = 0; s < 2; s++)
		if (!r->commands[s].text && !r->commands[s].words)
			return err_set(err, "a command for the %s side is needed: --%s 'COMMAND'", suite_side_names[s],
			               suite_side_names[s]);
	if (operands->n)
		return err_set(err, "'%s' belongs to no side; quote a command: --baseline 'COMMAND WORD'",
		               operands->item[0]);
	if (!r->folder)
		return err_set(err, "a folder is needed: -o DIR");
	if (r->resume && r->force)
		return err_set(err, "--resume goes on with what is there, --force removes it; give one of them");
	return 0;
}

int cmd_run(int argc, char **argv)
{
	struct run r = {.repeat = REPEAT, .unprofiled = -1};
	compare_init(&r.compare);
	struct opt options[CAPTURING_OPTIONS_MAX + COMPARE_OPTIONS_MAX + 7] = {
		{OPT_COMMAND, 0, "baseline", "COMMAND",
	         "what to run for the baseline: a quoted command line, or -- and words", .command = &r.commands[0]},
		{OPT_COMMAND, 0, "fixed", "COMMAND", "what to run for the fixed side, likewise",
	         .command = &r.commands[1]},
		{OPT_TEXT, 'o', "output", "DIR", "the folder to write; new, empty, or one of an earlier run",
	         .text = &r.folder},
		{OPT_WHOLE, 0, "repeat", "N", "runs of each side (default: 3)", .whole = &r.repeat, .min = 1,
	         .max = REPEAT_MAX},
		{OPT_WHOLE, 0, "unprofiled", "N",
	         "runs of each side in which only the times of NVTX ranges are noted, in turns with the recorded ones: "
	         "they "
	         "say what recording does to the programs (default: as many as recorded; 0: none)",
	         .whole = &r.unprofiled, .min = 0, .max = REPEAT_MAX},
		{OPT_FLAG, 0, "resume", NULL,
	         "go on from the runs that DIR holds; commands and options must be the same", .flag = &r.resume},
		{OPT_FLAG, 0, "force", NULL, "remove the runs that DIR holds and start anew", .flag = &r.force},
	};
	size_t n = 7;
	n += capturing_options(&r.capturing, options + n);
	n += compare_step_options(&r.compare, options + n);
	n += compare_print_options(
		&r.compare, options + n, &r.quiet,
		"keep the programs' output in DIR, a .log for each run, instead of passing it through");
	const struct opt_usage usage = {"gapline run", arguments, about, options, n, examples, cmd_run_statuses};
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &r.compare.arena, &operands);
	if (status < 0)
		status = check_usage(&r, &operands, &err) || capturing_settle(&r.capturing, &err)
		                 ? cmd_misuse(&usage, &err)
		                 : run(&r);
	compare_release(&r.compare);
	proc_die_of_interrupt();
	return status;
}
