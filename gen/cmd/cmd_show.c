/* gapline show: one profile on the terminal. */
#include "analyse/analyse.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/compare.h"
#include "cmd/inputs_export.h"
#include "cmd/progress.h"
#include "render/render.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOW_HTML, SHOW_JSON, SHOW_MARKDOWN, SHOW_OUTPUTS };

struct show {
	const char *paths[SHOW_OUTPUTS]; /* NULL: not asked for */
	struct output outputs[SHOW_OUTPUTS];
	size_t n_outputs;
	struct buf bytes[SHOW_OUTPUTS];
	struct analyse_options analysis;
	const char *ncu; /* a report of Nsight Compute; NULL: none */
	struct ncu_report ncu_report;
	int colour;
	bool quiet, all_ranks;
	struct arena arena;
	struct names names;
};

static int read_and_analyse(struct show *s, struct inputs *inputs, struct progress *progress, struct analysis *analysis,
                            struct err *err)
{
	/* launch shapes are among the details */
	const struct read_wish wish = {.meter = progress_meter(progress), .details = s->ncu != NULL};
	names_init(&s->names, &s->arena);
	if (inputs_read(inputs, 1, &wish, &s->names, &s->arena, err))
		return CMD_BAD_PROFILE;
	if (s->ncu && ncu_input_read(s->ncu, &s->names, &s->arena, &s->ncu_report, err)) {
		inputs_keep(inputs, 1, &s->arena);
		return CMD_BAD_PROFILE;
	}
	s->analysis.ncu[0] = s->ncu ? &s->ncu_report : NULL;
	inputs_group(inputs, RANKS_TELL, &s->names, &s->arena);
	progress_say(progress, "analysing");
	struct analyse_run run = {&inputs->run[0].trace, inputs->run[0].path};
	int result = analyse_one(&run, &s->analysis, &s->names, &s->arena, analysis, err);
	if (result < 0)
		return result == ANALYSE_EMPTY ? CMD_BAD_PROFILE : CMD_WRONG_USAGE;
	if (inputs_check_warmup(inputs, &analysis->side[0], s->analysis.warmup, err))
		return CMD_WRONG_USAGE;
	return CMD_DONE;
}

static int prepare_outputs(struct show *s, struct err *err)
{
	for (size_t i = 0; i < SHOW_OUTPUTS; i++)
		if (s->paths[i] && output_prepare(&s->outputs[s->n_outputs++], s->paths[i], err))
			return -1;
	for (size_t i = 0; i < s->n_outputs; i++)
		for (size_t k = 0; k < i; k++) {
			const struct output *a = &s->outputs[k], *b = &s->outputs[i];
			if ((a->standard && b->standard) || output_same(a, b))
				return err_set(err, "%s: two outputs would go to the same place", b->path);
		}
	return 0;
}

static int spare_inputs(const struct show *s, const struct inputs *inputs, struct err *err)
{
	struct stat ncu;
	bool has_ncu = s->ncu && stat(s->ncu, &ncu) == 0;
	for (size_t i = 0; i < s->n_outputs; i++)
		if (output_replaces(&s->outputs[i], &inputs->item[0].file) ||
		    (has_ncu && output_replaces(&s->outputs[i], &ncu)))
			return err_set(err, "%s: this output would replace an input", s->outputs[i].path);
	return 0;
}

static int write_outputs(struct show *s, const struct analysis *a, struct err *err)
{
	static int (*const render[SHOW_OUTPUTS])(const struct analysis *, struct buf *,
	                                         struct err *) = {[SHOW_HTML] = render_html, [SHOW_JSON] = render_json};
	const struct markdown_wish wish = {0};
	size_t n = 0;
	for (size_t i = 0; i < SHOW_OUTPUTS; i++) {
		if (!s->paths[i])
			continue;
		if (render[i] ? render[i](a, &s->bytes[i], err) : render_markdown(a, &wish, &s->bytes[i], err))
			return -1;
		s->outputs[n].bytes = s->bytes[i].data;
		s->outputs[n++].n = s->bytes[i].n;
	}
	return output_write(s->outputs, s->n_outputs, err);
}

static int show(struct show *s, const struct opt_list *operands)
{
	struct err err;
	struct inputs inputs;
	struct progress progress;
	struct analysis analysis;
	if (prepare_outputs(s, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = inputs_find(&inputs, "profile", operands, &s->arena, &err);
	if (status)
		return cmd_fail(status, &err);
	if (inputs.n != 1) {
		err_set(&err, "%s: holds %zu profiles; name one of them", operands->item[0], inputs.n);
		return cmd_fail(CMD_WRONG_USAGE, &err);
	}
	if (spare_inputs(s, &inputs, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (!s->quiet)
		inputs_say_passed_over(&inputs, 1, &s->arena);
	if (inputs_export(&inputs, 1, s->quiet, &s->arena, &err))
		return cmd_fail(CMD_BAD_PROFILE, &err);
	progress_begin(&progress, s->quiet, "reading", inputs_bytes(&inputs, 1));
	status = read_and_analyse(s, &inputs, &progress, &analysis, &err);
	progress_end(&progress);
	if (status)
		return cmd_fail(status, &err);
	analysis.all_ranks = s->all_ranks;
	if (write_outputs(s, &analysis, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	struct buf text = {0};
	bool taken = cmd_output_taken(s->outputs, s->n_outputs);
	render_side(&analysis, cmd_use_colour(s->colour, taken ? STDERR_FILENO : STDOUT_FILENO), &text);
	if (!s->quiet && !s->n_outputs)
		cmd_add_hint(&text, "show");
	status = s->n_outputs && s->quiet ? CMD_DONE : cmd_print_beside(s->outputs, s->n_outputs, &text);
	buf_release(&text);
	if (!s->quiet)
		cmd_say_written(s->outputs, s->n_outputs);
	return status;
}

int cmd_show(int argc, char **argv)
{
	struct show s = {.analysis = {.warmup = -1, .gates.max_regression = -1}};
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &s.paths[SHOW_HTML]},
		{OPT_OUTPUT, 0, "json", "FILE", .text = &s.paths[SHOW_JSON]},
		{OPT_FLAG, 0, "all-ranks", NULL, .flag = &s.all_ranks},
		{OPT_OUTPUT, 0, "markdown", "FILE", .text = &s.paths[SHOW_MARKDOWN]},
		{OPT_TEXT, 0, "step", "NAME", .text = &s.analysis.step},
		{OPT_TEXT, 0, "loop", "NAME", .text = &s.analysis.loop},
		{OPT_WHOLE, 0, "warmup", "N", .whole = &s.analysis.warmup, .max = 1e9},
		{OPT_TEXT, 0, "ncu", "FILE", .text = &s.ncu},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &s.quiet},
		{OPT_CHOICE, 0, "color", "WHEN", .choice = &s.colour, .choices = cmd_colours},
	};
	const struct opt_usage usage = cmd_describe("show", options, sizeof options / sizeof *options);
	struct opt_list operands = {0};
	struct err err;
	int status = cmd_options(&usage, argc, argv, &s.arena, &operands);
	/* What was asked for says why there is nothing. */
	struct compare instead = {.ncu = {s.ncu}};
	instead.paths[COMPARE_JSON] = s.paths[SHOW_JSON];
	instead.paths[COMPARE_MARKDOWN] = s.paths[SHOW_MARKDOWN];
	compare_watch_memory(&instead, &operands);
	if (status < 0 && operands.n == 1)
		status = show(&s, &operands);
	else if (status < 0) {
		if (operands.n)
			err_set(&err, "one profile is wanted, and %zu are given; 'gapline report' compares two",
			        operands.n);
		else
			err_set(&err, "a profile is needed");
		status = cmd_misuse(&usage, &err);
	}
	compare_write_error(&instead, &operands, status);
	for (size_t i = 0; i < SHOW_OUTPUTS; i++) {
		buf_release(&s.bytes[i]);
		output_release(&s.outputs[i]);
	}
	arena_release(&s.arena);
	return status;
}
