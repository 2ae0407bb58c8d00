/* gapline show: one profile on the terminal. */
#include "cmd/compare.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"

#include <unistd.h>

static int read_and_analyse(struct compare *c, struct progress *progress, struct analysis *analysis, struct err *err)
{
	/* launch shapes are among the details */
	const struct read_wish wish = {.meter = progress_meter(progress), .details = c->ncu[0] != NULL};
	struct inputs *inputs = &c->sides[0];
	names_init(&c->names, &c->arena);
	if (inputs_read(inputs, 1, &wish, &c->names, &c->arena, err))
		return CMD_BAD_PROFILE;
	if (compare_read_beside(c, err)) {
		inputs_keep(inputs, 1, &c->arena);
		return CMD_BAD_PROFILE;
	}
	inputs_group(inputs, RANKS_TELL, &c->names, &c->arena);
	progress_say(progress, "analysing");
	struct analyse_run run = {&inputs->run[0].trace, inputs->run[0].path};
	int result = analyse_one(&run, &c->analysis, &c->names, &c->arena, analysis, err);
	if (result < 0)
		return result == ANALYSE_EMPTY ? CMD_BAD_PROFILE : CMD_WRONG_USAGE;
	if (inputs_check_warmup(inputs, &analysis->side[0], c->analysis.warmup, err))
		return CMD_WRONG_USAGE;
	return CMD_DONE;
}

static int show(struct compare *c, const struct opt_list *operands)
{
	struct err err;
	struct inputs *inputs = &c->sides[0];
	struct progress progress;
	struct analysis analysis;
	if (compare_check_steps(&c->analysis, &err) || compare_prepare(c, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = inputs_find_one(inputs, operands, &c->arena, &err);
	if (status)
		return cmd_fail(status, &err);
	if (compare_spare_inputs(c, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (inputs_begin(inputs, 1, c->quiet, &progress, &c->arena, &err))
		return cmd_fail(CMD_BAD_PROFILE, &err);
	status = read_and_analyse(c, &progress, &analysis, &err);
	progress_end(&progress);
	if (status)
		return cmd_fail(status, &err);
	analysis.all_ranks = c->all_ranks;
	if (compare_render(c, &analysis, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	BUF_LOCAL(text); /* before anything is written: its memory may run out */
	bool taken = cmd_output_taken(c->outputs, c->n_outputs);
	const struct look look = cmd_look(c->colour, taken ? STDERR_FILENO : STDOUT_FILENO);
	render_side(&analysis, &look, &text);
	if (!c->quiet && !c->n_outputs)
		cmd_add_hint(&text, "show");
	if (output_write(c->outputs, c->n_outputs, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	status = c->n_outputs && c->quiet ? CMD_DONE : cmd_print_beside(c->outputs, c->n_outputs, &text);
	if (!c->quiet)
		cmd_say_written(c->outputs, c->n_outputs);
	return status;
}

int cmd_show(int argc, char **argv)
{
	struct compare c;
	compare_init(&c);
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &c.paths[COMPARE_HTML]},
		{OPT_OUTPUT, 0, "json", "FILE", .text = &c.paths[COMPARE_JSON]},
		{OPT_FLAG, 0, "all-ranks", NULL, .flag = &c.all_ranks},
		{OPT_OUTPUT, 0, "markdown", "FILE", .text = &c.paths[COMPARE_MARKDOWN]},
		{OPT_TEXT, 0, "step", "NAME", .text = &c.analysis.step},
		{OPT_TEXT, 0, "loop", "NAME", .text = &c.analysis.loop},
		{OPT_WHOLE, 0, "warmup", "N", .whole = &c.analysis.warmup, .max = 1e9},
		{OPT_TEXT, 0, "ncu", "FILE", .text = &c.ncu[0]},
		{OPT_TEXT, 0, "graph-nodes", "FILE", .text = &c.graph_nodes[0]},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &c.quiet},
		{OPT_CHOICE, 0, "color", "WHEN", .choice = &c.colour, .choices = cmd_colours},
	};
	const struct opt_usage usage = cmd_describe("show", options, sizeof options / sizeof *options);
	struct opt_list operands = {0};
	struct err err;
	compare_watch_memory(&c, &operands);
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n == 1)
		status = show(&c, &operands);
	else if (status < 0) {
		if (operands.n)
			err_set(&err, "one profile is wanted, and %zu are given; 'gapline report' compares two",
			        operands.n);
		else
			err_set(&err, "a profile is needed");
		status = cmd_misuse(&usage, &err);
	}
	compare_write_error(&c, &operands, status);
	compare_release(&c);
	return status;
}
