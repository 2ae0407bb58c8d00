/* gapline run: captures both sides in turns, then compares them. */
#include "base/proc.h"
#include "capture/command.h"
#include "cmd/run_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const arguments[] = {
	"[OPTIONS] --baseline COMMAND --fixed COMMAND -o DIR",
	"[OPTIONS] -o DIR --baseline -- WORD ... --fixed -- WORD ...",
	NULL,
};

static const char *const examples[] = {
	"gapline run --baseline 'python train.py' --fixed 'python train.py --prefetch' -o out",
	"gapline run -o out --repeat 9 --min-speedup 1.05 --baseline -- ./old -n 9 --fixed -- ./new -n 9",
	"gapline run -o out --time-limit 10m --quiet --baseline ./old --fixed ./new",
	"gapline run --baseline \"sh -c 'cd old && ./sim'\" --fixed ./sim -o out --quiet",
	NULL,
};

static const char about[] =
	"Runs both programs several times, taking turns, and compares them as 'gapline report' does. "
	"What counts is measured in stopwatch runs, in which nothing is recorded: the devices are waited "
	"for at the end of the last warm-up step and of the last step, or, where programs have no steps, "
	"the time is that of the whole process. Recorded runs in between explain it. "
	"DIR gets the profiles, report.html, report.json and run.json, which says what was run. A "
	"command is split into words "
	"as a shell would, but no shell is involved. The programs read nothing from standard "
	"input. A program that fails "
	"ends it all: what failed is never compared.";

/* ---- before and after ---- */

/* A suite whose first run already failed left nothing to lose. */
static bool holds_no_runs(const struct suite *suite)
{
	struct suite was = *suite;
	struct err ignored;
	return suite_read(&was, &ignored) == 1 && !was.n_runs;
}

static int go_on(struct run *r, struct suite *was, struct err *err)
{
	struct suite *s = &r->suite;
	if (suite_read(was, err) < 0 || suite_same(was, s, err))
		return -1;
	memcpy(s->planned, was->planned, sizeof s->planned);
	memcpy(s->plan, was->plan, sizeof s->plan);
	s->no_stopwatch = s->no_stopwatch ? s->no_stopwatch : was->no_stopwatch;
	s->runs = was->runs;
	s->n_runs = was->n_runs;
	return suite_write(s, err);
}

static int prepare_folder(struct run *r, struct err *err)
{
	struct suite_folder found;
	struct suite was = r->suite;
	if (suite_look(r->folder, &found, &r->compare.arena, err))
		return -1;
	if (found.has_run && r->resume)
		return go_on(r, &was, err);
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
	r->suite.repeat = r->repeat >= 0 ? r->repeat : r->limit_ns ? SUITE_MANY : RUN_REPEAT;
	r->suite.recorded = r->recorded >= 0 ? r->recorded : r->suite.repeat ? RUN_RECORDED : RUN_RECORDED_ALONE;
	r->suite.options = capturing_text(&r->capturing, arena);
	return 0;
}

/* What is recorded for a part of its time only has no end that a stopwatch could look for. An error only when stopwatch
 * runs were asked for. */
static int choose_stopwatch(struct run *r, struct err *err)
{
	static const char part[] =
		"with --delay, --duration or --capture-range a part of the program is recorded, and which one that is "
		"is not known without recording";
	const struct capture_options *o = &r->capturing.options;
	collector_for_stopwatch(&r->for_stopwatch, &r->compare.arena);
	if (!r->suite.repeat || (o->delay <= 0 && o->duration <= 0 && !o->profiler_range))
		return 0;
	if (r->repeat > 0 || r->limit_ns)
		return err_set(err, "--%s: there are no stopwatch runs: %s", r->limit_ns ? "time-limit" : "repeat",
		               part);
	r->suite.repeat = 0;
	r->suite.no_stopwatch = part;
	if (r->recorded < 0)
		r->suite.recorded = RUN_RECORDED_ALONE;
	return 0;
}

static int report(struct run *r)
{
	struct compare *c = &r->compare;
	for (size_t i = 0; i < r->suite.n_runs; i++) {
		const struct suite_run *run = &r->suite.runs[i];
		struct opt_list *given = &c->given[run->side];
		if (run->stopwatch)
			continue;
		given->item = arena_grow(&c->arena, given->item, given->n, given->n + 1, sizeof *given->item);
		given->item[given->n++] = arena_format(&c->arena, "%s/%s", r->folder, run->profile);
	}
	c->paths[COMPARE_HTML] = arena_format(&c->arena, "%s/report.html", r->folder);
	c->paths[COMPARE_JSON] = arena_format(&c->arena, "%s/report.json", r->folder);
	/* They were run in turns. */
	if (c->files_are == RANKS_TELL)
		c->files_are = RANKS_ARE_REPEATS;
	int status = compare_sides(c);
	if (status == CMD_DONE || status == CMD_GATE_NOT_MET || status == CMD_INCONCLUSIVE)
		fprintf(stderr, "gapline: the report is %s\n", cmd_harmless(&c->arena, c->paths[COMPARE_HTML]));
	return status;
}

static int run_in_folder(struct run *r)
{
	struct err err;
	int lock = suite_lock(r->folder, &r->compare.arena, &err);
	if (lock < 0)
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = prepare_folder(r, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
	if (status)
		goto done;
	fprintf(stderr, "gapline: collector: %s\n", capturing_collector_text(&r->capturing, &r->compare.arena));
	progress_runs_init(&r->progress, &r->suite, r->quiet, r->limit_ns, &r->compare.arena);
	r->began_ns = proc_now_ns();
	status = run_all(r);
	proc_release_signals();
	status = status || proc_interrupted() ? status : report(r);
done:
	suite_unlock(r->folder, lock, &r->compare.arena);
	return status;
}

/* A side without a name is called by the file name of its command's last word, and shows nothing else of it. */
static void name_sides(struct run *r)
{
	for (size_t s = 0; s < 2; s++) {
		const char *last = "";
		for (const char *const *word = r->suite.commands[s]; *word; word++)
			last = *word;
		const char *slash = strrchr(last, '/');
		if (!r->compare.analysis.name[s])
			r->compare.analysis.name[s] = slash && slash[1] ? slash + 1 : last;
	}
}

static int run(struct run *r)
{
	struct err err;
	if (prepare_commands(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	name_sides(r);
	if (compare_begin(&r->compare, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	proc_catch_signals();
	if (capturing_choose(&r->capturing, r->suite.commands, 2, &r->compare.arena, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	r->suite.collector = r->capturing.chosen.type->name;
	r->suite.collector_version = r->capturing.chosen.version;
	if (choose_stopwatch(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	return run_in_folder(r);
}

/* "90", "90s", "10m", "2h" */
static int settle_limit(struct run *r, struct err *err)
{
	char *end = NULL;
	double n = r->limit_text ? strtod(r->limit_text, &end) : 0;
	double unit = !end || !*end || !strcmp(end, "s") ? 1 : !strcmp(end, "m") ? 60 : !strcmp(end, "h") ? 3600 : 0;
	if (!r->limit_text)
		return 0;
	if (end == r->limit_text || !unit || !(n > 0) || n * unit > 1e7)
		return err_set(err, "--time-limit: '%s' is no time; 90s, 10m and 2h are", r->limit_text);
	r->limit_ns = (int64_t)(n * unit * 1e9);
	return 0;
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
	struct run r = {.repeat = -1, .recorded = -1};
	compare_init(&r.compare);
	struct opt options[CAPTURING_OPTIONS_MAX + COMPARE_OPTIONS_MAX + 8] = {
		{OPT_COMMAND, 0, "baseline", "COMMAND",
	         "what to run for the baseline: a quoted command line, or -- and words", .command = &r.commands[0]},
		{OPT_COMMAND, 0, "fixed", "COMMAND", "what to run for the fixed side, likewise",
	         .command = &r.commands[1]},
		{OPT_TEXT, 'o', "output", "DIR", "the folder to write; new, empty, or one of an earlier run",
	         .text = &r.folder},
		{OPT_WHOLE, 0, "repeat", "N",
	         "stopwatch runs of each side: nothing is recorded, and their time is what counts (default: 5; 0: "
	         "none)",
	         .whole = &r.repeat, .min = 0, .max = SUITE_MANY},
		{OPT_WHOLE, 0, "recorded", "N",
	         "recorded runs of each side, in turns with the others: the first says where time is taken, and all "
	         "explain it "
	         "(default: 2; 3 where there are no stopwatch runs)",
	         .whole = &r.recorded, .min = 1, .max = SUITE_MANY},
		{OPT_TEXT, 0, "time-limit", "T",
	         "make as many stopwatch runs as fit into T (90s, 10m, 2h), at least two of each side",
	         .text = &r.limit_text},
		{OPT_FLAG, 0, "resume", NULL,
	         "go on from the runs that DIR holds; commands and options must be the same", .flag = &r.resume},
		{OPT_FLAG, 0, "force", NULL, "remove the runs that DIR holds and start anew", .flag = &r.force},
	};
	size_t n = 8;
	n += capturing_options(&r.capturing, options + n);
	n += compare_page_options(&r.compare, options + n);
	n += compare_step_options(&r.compare, options + n);
	n += compare_print_options(
		&r.compare, options + n, &r.quiet,
		"keep the programs' output in DIR, a .log for each run, instead of passing it through");
	const struct opt_usage usage = {"gapline run", arguments, about, options, n, examples, cmd_run_statuses};
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &r.compare.arena, &operands);
	if (status < 0)
		status = check_usage(&r, &operands, &err) || settle_limit(&r, &err) ||
		                         capturing_settle(&r.capturing, &err)
		                 ? cmd_misuse(&usage, &err)
		                 : run(&r);
	compare_release(&r.compare);
	proc_die_of_interrupt();
	return status;
}
