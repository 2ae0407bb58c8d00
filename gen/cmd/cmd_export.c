/* gapline export: runs -> an SQLite file with their steps, gaps, kernels, copies, calls and ranges. */
#include "analyse/analyse.h"
#include "cmd/cmd.h"
#include "cmd/compare.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/result.h"
#include "render/export.h"
#include "say/say.h"

struct export_command {
	const char *output;
	bool force, quiet;
	int files_are; /* enum ranks_asked */
	struct analyse_options analysis;
	struct result result; /* the database, and what machines are told of it */
	struct export made;
	struct arena arena;
};

static int add_runs(struct export_command *c, struct inputs *in, struct names *names, struct arena *arena,
                    struct err *err)
{
	c->analysis.events = true;
	for (size_t r = 0; r < in->n_runs; r++) {
		struct analysis analysis;
		struct analyse_run run = {&in->run[r].trace, in->run[r].path};
		struct side_file *files = ARENA_NEW(arena, in->n, struct side_file);
		struct export_run about_it = {files, 0};
		int result = analyse_one(&run, &c->analysis, names, arena, &analysis, err);
		if (result < 0)
			return result == ANALYSE_EMPTY ? CMD_BAD_PROFILE : CMD_WRONG_USAGE;
		const struct inputs one = {.run = &in->run[r]};
		if (inputs_check_warmup(&one, &analysis.side[0], c->analysis.warmup, err))
			return CMD_WRONG_USAGE;
		for (size_t i = 0; i < in->n; i++)
			if (in->told[i].run == r)
				files[about_it.n_files++] = (struct side_file){names_file(names, in->item[i].path), 0,
				                                               in->told[i].rank, false};
		if (export_run(&c->made, &analysis, &about_it, err))
			return CMD_WRONG_USAGE;
	}
	return CMD_DONE;
}

/* What it needs is given back. */
static int add_input(struct export_command *c, const char *input, struct err *err)
{
	struct progress progress;
	ARENA_LOCAL(arena);
	struct names names;
	struct inputs in;
	const struct opt_list given = {&input, 1};
	int status = inputs_find(&in, "profile", &given, &arena, err);
	if (!status && inputs_spared(&in, c->result.out, c->result.n_out, "an input", err))
		status = CMD_WRONG_USAGE;
	if (!status)
		status = inputs_begin(&in, 1, c->quiet, &progress, &arena, err);
	if (!status) {
		const struct read_wish wish = {.meter = progress_meter(&progress)};
		names_init(&names, &arena);
		status = inputs_read(&in, 1, &wish, &names, &arena, err) ? CMD_BAD_PROFILE : CMD_DONE;
		if (!status) {
			progress_say(&progress, "writing");
			inputs_group(&in, (enum ranks_asked)c->files_are, &names, &arena);
			status = add_runs(c, &in, &names, &arena, err);
		}
		progress_end(&progress);
	}
	return status;
}

static void make_result(struct export_command *c)
{
	struct json *json = result_begin(&c->result, "export");
	result_text(&c->result, "file", c->output);
	json_integer(json, "bytes", (int64_t)c->made.n);
	json_object(json, "rows");
	for (int t = 0; t < EXPORT_TABLES; t++)
		json_integer(json, export_table_names[t], c->made.rows[t]);
	json_end_object(json);
}

static int say(const struct export_command *c)
{
	ARENA_LOCAL(arena);
	BUF_LOCAL(text);
	const int64_t *n = c->made.rows;
	buf_format(&text, "%s\n",
	           SAY(NULL, &arena, export_is, .file = cmd_harmless(&arena, c->output), .bytes = (int64_t)c->made.n,
	               .runs = n[EXPORT_RUNS], .steps = n[EXPORT_STEPS], .gaps = n[EXPORT_GAPS],
	               .kernels = n[EXPORT_KERNELS]));
	return result_print(&c->result, &text);
}

static int export(struct export_command *c, const struct opt_list *operands)
{
	struct err err;
	if (compare_check_steps(&c->analysis, &err) || result_prepare(&c->result, c->output, &err) ||
	    output_keep(&c->result.out[0], c->force, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = export_begin(&c->made, &err) ? CMD_WRONG_USAGE : CMD_DONE;
	for (size_t i = 0; i < operands->n && !status; i++)
		status = add_input(c, operands->item[i], &err);
	if (!status && export_end(&c->made, &err))
		status = CMD_WRONG_USAGE;
	if (!status)
		make_result(c);
	c->result.out[0].bytes = (const char *)c->made.bytes;
	c->result.out[0].n = c->made.n;
	if (!status && result_write(&c->result, &err))
		status = CMD_WRONG_USAGE;
	if (status)
		return cmd_fail(status, &err);
	return c->quiet ? CMD_DONE : say(c);
}

int cmd_export(int argc, char **argv)
{
	struct export_command c = {.analysis = {.warmup = -1, .gates.max_regression = -1}};
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &c.output},
		result_option(&c.result),
		{OPT_FLAG, 0, "force", NULL, .flag = &c.force},
		{OPT_TEXT, 0, "step", "NAME", .text = &c.analysis.step},
		{OPT_TEXT, 0, "loop", "NAME", .text = &c.analysis.loop},
		{OPT_WHOLE, 0, "warmup", "N", .whole = &c.analysis.warmup, .max = 1e9},
		{OPT_CHOICE, 0, "files-are", "WHAT", .choice = &c.files_are, .choices = compare_files_are},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &c.quiet},
	};
	const struct opt_usage usage = cmd_describe("export", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n && c.output) {
		status = export(&c, &operands);
	} else if (status < 0) {
		err_set(&err, operands.n ? "where the database should go is missing: -o FILE" : "a profile is needed");
		status = cmd_misuse(&usage, &err);
	}
	result_release(&c.result);
	export_release(&c.made);
	arena_release(&c.arena);
	return status;
}
