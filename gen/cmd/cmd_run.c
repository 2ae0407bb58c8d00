/* gapline run: captures both sides, or several variants, in turns, then compares them. */
#include "base/proc.h"
#include "capture/command.h"
#include "cmd/run_parts.h"
#include "verdict/evidence.h"

#include <stdlib.h>
#include <string.h>

/* ---- before and after ---- */

/* A suite whose first run already failed left nothing to lose. */
static bool holds_no_runs(const struct suite *suite)
{
	struct suite was = *suite;
	struct err ignored;
	return suite_read(&was, &ignored) == 1 && !was.n_runs;
}

static int go_on(struct experiment *e, struct suite *was, struct err *err)
{
	struct suite *s = &e->suite;
	if (suite_read(was, err) < 0 || suite_same(was, s, err))
		return -1;
	for (size_t i = 0; e->compare.pattern && i < was->n_runs; i++)
		if (!was->runs[i].log)
			return err_set(err,
			               "%s: what its runs printed was not kept, which --compare-output needs; --force "
			               "starts anew",
			               e->folder);
	memcpy(s->planned, was->planned, sizeof s->planned);
	memcpy(s->plan, was->plan, sizeof s->plan);
	memcpy(s->graphs_whole, was->graphs_whole, sizeof s->graphs_whole);
	memcpy(s->nodes, was->nodes, sizeof s->nodes);
	s->looked = s->looks || was->looked;
	s->no_stopwatch = s->no_stopwatch ? s->no_stopwatch : was->no_stopwatch;
	s->runs = was->runs;
	s->n_runs = was->n_runs;
	return suite_write(s, err);
}

static int prepare_folder(struct experiment *e, struct err *err)
{
	struct suite_folder found;
	struct suite was = e->suite;
	if (suite_look(e->folder, &found, &e->compare.arena, err))
		return -1;
	if (found.has_run && e->resume)
		return go_on(e, &was, err);
	if (found.has_run && !e->force && !holds_no_runs(&e->suite))
		return err_set_id(err, ERR_OCCUPIED,
		                  "%s: holds runs already; --resume goes on from them, --force starts anew", e->folder);
	if (found.n_others && !e->force)
		return err_set_id(err, ERR_OCCUPIED,
		                  "%s: holds other things ('%s'); name a folder of its own, or --force to use it",
		                  e->folder, found.other);
	return suite_clear(e->folder, err) || suite_write(&e->suite, err) ? -1 : 0;
}

/* The commands of variants, and what they are called. */
static int take_variants(struct experiment *e, const struct opt_list *operands, struct err *err)
{
	struct compare *c = &e->compare;
	struct variants_given *v = &e->variants;
	names_init(&c->names, &c->arena);
	if (e->sweep ? variants_swept(c, e->sweep, operands, v, e->suite.commands, err)
	             : variants_named(c, &e->variants_asked, v, err))
		return -1;
	e->suite.n_sides = (int)v->n;
	for (size_t i = 0; i < v->n; i++) {
		e->suite.name[i] = v->name[i];
		if (v->of[i].n > 1)
			return err_set(err, "--variant '%s': has a command already", v->name[i]);
		if (v->of[i].n && command_split(v->of[i].item[0], &c->arena, &e->suite.commands[i], err))
			return -1;
		v->of[i] = (struct opt_list){0}; /* the profiles, once there are some */
	}
	return variants_check(c, err);
}

static int take_sides(struct experiment *e, struct err *err)
{
	e->suite.n_sides = 2;
	for (size_t s = 0; s < 2; s++) {
		e->suite.commands[s] = e->commands[s].words;
		if (e->commands[s].text &&
		    command_split(e->commands[s].text, &e->compare.arena, &e->suite.commands[s], err))
			return -1;
	}
	return 0;
}

static bool has_variants(const struct experiment *e)
{
	return e->variants_asked.n || e->sweep;
}

static int prepare_commands(struct experiment *e, const struct opt_list *operands, struct err *err)
{
	struct arena *arena = &e->compare.arena;
	const bool variants = has_variants(e);
	if (variants ? take_variants(e, operands, err) : take_sides(e, err))
		return -1;
	for (int s = 0; s < e->suite.n_sides; s++) {
		struct err why;
		if (capture_find_program(e->suite.commands[s], arena, &why))
			return err_set_id(err, why.id, "%s side: %s", suite_side_name(&e->suite, s), why.text);
	}
	e->recorded_alone = variants ? VARIANTS_LEAST_RUNS : RUN_RECORDED_ALONE;
	e->suite.folder = e->folder;
	e->suite.arena = arena;
	e->suite.version = cmd_version;
	e->suite.limited = e->limit_ns > 0;
	e->suite.looks = e->suite.looked = e->repeat < 0 && !variants;
	e->suite.repeat = e->repeat >= 0 ? e->repeat : variants ? RUN_TIMED_VARIANT : EVIDENCE_LAST_LOOK;
	e->suite.recorded = e->recorded >= 0 ? e->recorded : e->suite.repeat ? RUN_RECORDED : e->recorded_alone;
	e->suite.options = capturing_text(&e->capturing, arena);
	return 0;
}

/* What is recorded for a part of its time only has no end that a stopwatch could look for. An error only when stopwatch
 * runs were asked for. */
static int choose_stopwatch(struct experiment *e, struct err *err)
{
	static const char part[] =
		"with --delay, --duration or --capture-range a part of the program is recorded, and which one that is "
		"is not known without recording";
	const struct capture_options *o = &e->capturing.options;
	collector_for_stopwatch(&e->for_stopwatch, &e->compare.arena);
	if (!e->suite.repeat || (o->delay <= 0 && o->duration <= 0 && !o->profiler_range))
		return 0;
	if (e->repeat > 0 || e->limit_ns)
		return err_set(err, "--%s: there are no timed runs: %s", e->limit_ns ? "time-limit" : "repeat", part);
	e->suite.looks = e->suite.looked = false;
	e->suite.repeat = 0;
	e->suite.no_stopwatch = part;
	if (e->recorded < 0)
		e->suite.recorded = e->recorded_alone;
	return 0;
}

void run_profiles(struct experiment *e, struct arena *arena, struct opt_list given[])
{
	for (size_t i = 0; i < e->suite.n_runs; i++) {
		const struct suite_run *run = &e->suite.runs[i];
		struct opt_list *to = &given[run->side];
		if (run->stopwatch)
			continue;
		LIST_PUT(arena, to->item, to->n, arena_format(arena, "%s/%s", e->folder, run->profile));
	}
	/* They were run in turns. */
	if (e->compare.files_are == RANKS_TELL)
		e->compare.files_are = RANKS_ARE_REPEATS;
}

static void run_outputs(struct experiment *e, struct arena *arena, struct opt_list outputs[2])
{
	for (size_t i = 0; e->compare.pattern && i < e->suite.n_runs; i++) {
		struct opt_list *to = &outputs[e->suite.runs[i].side];
		LIST_PUT(arena, to->item, to->n, arena_format(arena, "%s/%s", e->folder, e->suite.runs[i].log));
	}
}

static void name_outputs(struct experiment *e)
{
	struct compare *c = &e->compare;
	c->paths[COMPARE_HTML] = arena_format(&c->arena, "%s/report.html", e->folder);
	if (!c->paths[COMPARE_JSON])
		c->paths[COMPARE_JSON] = arena_format(&c->arena, "%s/report.json", e->folder);
}

/* Looks at the files to write. Those in the folder are no outputs yet, into which an error would go. */
static int prepare_outputs(struct experiment *e, struct err *err)
{
	struct compare *c = &e->compare;
	const char *json = c->paths[COMPARE_JSON];
	if (!e->variants.n)
		return compare_prepare(c, err);
	name_outputs(e);
	int failed = variants_prepare(c, &e->variants, err);
	c->paths[COMPARE_HTML] = NULL;
	c->paths[COMPARE_JSON] = json;
	return failed;
}

static int report(struct experiment *e)
{
	struct compare *c = &e->compare;
	struct err err;
	const char **nodes = e->variants.n ? e->variants.nodes : c->graph_nodes;
	run_profiles(e, &c->arena, e->variants.n ? e->variants.of : c->given);
	for (int s = 0; s < e->suite.n_sides; s++)
		if (e->suite.nodes[s].profile)
			nodes[s] = arena_format(&c->arena, "%s/%s", e->folder, e->suite.nodes[s].profile);
	name_outputs(e);
	if (e->variants.n)
		return variants_report(c, &e->variants, &err);
	run_outputs(e, &c->arena, c->outputs_of);
	int status = compare_sides(c);
	if (status == CMD_DONE || status == CMD_GATE_NOT_MET || status == CMD_INCONCLUSIVE)
		fprintf(stderr, "gapline: the report is %s\n", cmd_harmless(&c->arena, c->paths[COMPARE_HTML]));
	return status;
}

static int run_in_folder(struct experiment *e)
{
	struct err err;
	int lock = suite_lock(e->folder, &e->compare.arena, &err);
	if (lock < 0)
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = prepare_outputs(e, &err) || prepare_folder(e, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
	if (status)
		goto done;
	fprintf(stderr, "gapline: collector: %s\n", capturing_collector_text(&e->capturing, &e->compare.arena));
	progress_runs_init(&e->progress, &e->suite, e->quiet, e->limit_ns, &e->compare.arena);
	e->began_ns = proc_now_ns();
	status = run_all(e);
	proc_release_signals();
	status = status || proc_interrupted() ? status : report(e);
done:
	suite_unlock(e->folder, lock, &e->compare.arena);
	return status;
}

/* A side without a name is called after its program and what differs between the commands. */
static void name_sides(struct experiment *e)
{
	const char *names[2];
	if (e->variants.n)
		return;
	command_names(e->suite.commands, names, &e->compare.arena);
	for (size_t s = 0; s < 2; s++)
		if (!e->compare.analysis.name[s])
			e->compare.analysis.name[s] = names[s];
}

static int run(struct experiment *e, const struct opt_list *operands)
{
	struct err err;
	if (prepare_commands(e, operands, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	name_sides(e);
	if (compare_begin(&e->compare, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	proc_catch_signals();
	if (capturing_choose(&e->capturing, e->suite.commands, (size_t)e->suite.n_sides, &e->compare.arena, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	e->suite.collector = e->capturing.chosen.type->name;
	e->suite.collector_version = e->capturing.chosen.version;
	if (choose_stopwatch(e, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	return run_in_folder(e);
}

/* "90", "90s", "10m", "2h" */
static int settle_limit(struct experiment *e, struct err *err)
{
	char *end = NULL;
	double n = e->limit_text ? strtod(e->limit_text, &end) : 0;
	double unit = !end || !*end || !strcmp(end, "s") ? 1 : !strcmp(end, "m") ? 60 : !strcmp(end, "h") ? 3600 : 0;
	if (!e->limit_text)
		return 0;
	if (end == e->limit_text || !unit || !(n > 0) || n * unit > 1e7)
		return err_set(err, "--time-limit: '%s' is no time; 90s, 10m and 2h are", e->limit_text);
	e->limit_ns = (int64_t)(n * unit * 1e9);
	return 0;
}

/* "auto", or how many */
static int settle_repeat(struct experiment *e, struct err *err)
{
	const char *text = e->repeat_text;
	if (!text || !strcmp(text, "auto"))
		return 0;
	size_t digits = strspn(text, "0123456789");
	if (text[digits] || digits > 9)
		return err_set(err, "--repeat: '%s' is neither auto nor a whole number", text);
	e->repeat = atoi(text);
	return e->repeat <= SUITE_MANY
	               ? 0
	               : err_set(err, "--repeat: %s is out of range: it goes from 0 to %d", text, SUITE_MANY);
}

/* Intervals of several variants need so many runs of each. */
static int check_runs(const struct experiment *e, struct err *err)
{
	if (e->repeat > 0 && e->repeat < VARIANTS_LEAST_RUNS)
		return err_set(err, "--repeat %d: variants need at least %d timed runs of each", e->repeat,
		               VARIANTS_LEAST_RUNS);
	if (!e->repeat && e->recorded >= 0 && e->recorded < VARIANTS_LEAST_RUNS)
		return err_set(err, "--recorded %d: variants need at least %d runs of each", e->recorded,
		               VARIANTS_LEAST_RUNS);
	return 0;
}

static int check_usage(const struct experiment *e, const struct opt_list *operands, struct err *err)
{
	const bool variants = has_variants(e);
	bool given = false;
	for (int s = 0; s < 2; s++) {
		bool command = e->commands[s].text || e->commands[s].words;
		given = given || command;
		if (!command && !variants)
			return err_set(err, "a command for the %s side is needed: --%s 'COMMAND'", suite_side_key(2, s),
			               suite_side_key(2, s));
	}
	if (variants && (given || (e->variants_asked.n && e->sweep)))
		return err_set(err, "--variant, or --variant-list, takes the place of --baseline and --fixed");
	if (e->sweep && !operands->n)
		return err_set(err, "--variant-list: a command is to follow: -- WORD ...");
	if (variants && check_runs(e, err))
		return -1;
	if (operands->n && !e->sweep)
		return err_set(err, "'%s' belongs to no side; quote a command: --baseline 'COMMAND WORD'",
		               operands->item[0]);
	if (!e->folder)
		return err_set(err, "a folder is needed: -o DIR");
	if (e->resume && e->force)
		return err_set(err, "--resume goes on with what is there, --force removes it; give one of them");
	return 0;
}

int cmd_run(int argc, char **argv)
{
	struct experiment e = {.repeat = -1, .recorded = -1, .follow = -1};
	compare_init(&e.compare);
	struct opt_rows rows = {0};
	OPT_ADD(&rows, {OPT_COMMAND, 0, "baseline", "COMMAND", .command = &e.commands[0]},
	        {OPT_COMMAND, 0, "fixed", "COMMAND", .command = &e.commands[1]},
	        {OPT_LIST, 0, "variant", "NAME=COMMAND", .list = &e.variants_asked},
	        {OPT_TEXT, 0, "variant-list", "NAME=VALUE,...", .text = &e.sweep},
	        {OPT_TEXT, 'o', "output", "DIR", .text = &e.folder},
	        {OPT_TEXT, 0, "repeat", "auto|N", .text = &e.repeat_text},
	        {OPT_WHOLE, 0, "recorded", "N", .whole = &e.recorded, .min = 1, .max = SUITE_MANY},
	        {OPT_TEXT, 0, "time-limit", "T", .text = &e.limit_text},
	        {OPT_FLAG, 0, "resume", NULL, .flag = &e.resume}, {OPT_FLAG, 0, "force", NULL, .flag = &e.force});
	capturing_options(&e.capturing, &rows);
	compare_output_options(&e.compare, &rows);
	compare_step_options(&e.compare, &rows);
	compare_result_options(&e.compare, &rows);
	compare_print_options(&e.compare, &rows, &e.quiet);
	const struct opt_usage usage = cmd_describe("run", rows.row, rows.n);
	struct opt_list operands = {0};
	struct err err;
	compare_watch_memory(&e.compare, &operands);
	int status = cmd_options(&usage, argc, argv, &e.compare.arena, &operands);
	if (status < 0)
		status = settle_limit(&e, &err) || settle_repeat(&e, &err) || check_usage(&e, &operands, &err) ||
		                         capturing_settle(&e.capturing, &err)
		                 ? cmd_misuse(&usage, &err)
		                 : run(&e, &operands);
	compare_write_error(&e.compare, &operands, status);
	cmd_end(status);
	compare_release(&e.compare);
	proc_die_of_interrupt();
	return status;
}
