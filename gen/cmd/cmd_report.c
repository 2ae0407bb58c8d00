/* gapline report: two sides -> report, JSON, verdict, exit status. */
#include "analyse/analyse.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/inputs.h"
#include "render/render.h"
#include "render/view.h"

#include <string.h>
#include <unistd.h>

enum { HTML, JSON, N_OUTPUTS };

struct report {
	const char *paths[N_OUTPUTS]; /* NULL: not asked for */
	struct opt_list given[2];     /* as named on the command line: baseline, fixed */
	struct analyse_options analysis;
	int colour;
	bool quiet;
	struct arena arena;
	struct names names;
	struct inputs sides[2];
	struct output outputs[N_OUTPUTS];
	size_t n_outputs;
	struct buf bytes[N_OUTPUTS];
};

static const char *const arguments[] = {
	"[OPTIONS] BASELINE FIXED",
	"[OPTIONS] --baseline FILE ... --fixed FILE ...",
	NULL,
};

static const char *const examples[] = {
	"gapline report baseline.sqlite fixed.sqlite -o report.html",
	"gapline report before.sqlite.gz after.sqlite.gz --json result.json --min-speedup 1.2",
	"gapline report --baseline 'runs/base-*.sqlite' --fixed runs/fixed/ -o report.html",
	"gapline report main.sqlite branch.sqlite --max-regression 3 --require-comparable",
	NULL,
};

static const char about[] =
	"Compares two profiles of one workload and says whether the fix worked. The verdict goes to the terminal, the "
	"evidence into the report. A side is an nsys SQLite export, plain or gzipped, a folder of them or a quoted "
	"pattern; several files are repeats of the side's run.";

/* The two ways of naming the sides must not be mixed: which file would belong to which side? */
static int name_sides(struct report *r, struct opt_list *operands, struct err *err)
{
	struct opt_list *baseline = &r->given[0], *fixed = &r->given[1];
	if (baseline->n && fixed->n && operands->n)
		return err_set(
			err,
			"'%s' belongs to no side: with --baseline and --fixed, every file needs one of them (quote a "
			"pattern to keep the shell from expanding it)",
			operands->item[0]);
	if (baseline->n && fixed->n)
		return 0;
	if (baseline->n || fixed->n)
		return err_set(err, "--%s needs --%s beside it", baseline->n ? "baseline" : "fixed",
		               baseline->n ? "fixed" : "baseline");
	if (operands->n == 0)
		return err_set(err, "two profiles are needed: the baseline, then the fixed one");
	if (operands->n == 1)
		return err_set(err, "two profiles are needed, and '%s' is one; 'gapline show' looks at one profile",
		               operands->item[0]);
	if (operands->n > 2)
		return err_set(
			err, "%zu files are given; say which side each belongs to: --baseline A --baseline B --fixed C",
			operands->n);
	*baseline = (struct opt_list){operands->item, 1};
	*fixed = (struct opt_list){operands->item + 1, 1};
	return 0;
}

/* What can be known to fail without reading a profile. */
static int prepare_outputs(struct report *r, struct err *err)
{
	for (size_t i = 0; i < N_OUTPUTS; i++) {
		if (!r->paths[i])
			continue;
		struct output *o = &r->outputs[r->n_outputs++];
		if (output_prepare(o, r->paths[i], err))
			return -1;
	}
	if (r->n_outputs == N_OUTPUTS && r->outputs[HTML].standard && r->outputs[JSON].standard)
		return err_set(err, "the report and the JSON would both go to standard output; name a file for one");
	if (r->n_outputs == N_OUTPUTS && output_same(&r->outputs[HTML], &r->outputs[JSON]))
		return err_set(err, "%s: the report and the JSON would go to the same file", r->paths[JSON]);
	return 0;
}

static int spare_inputs(const struct report *r, struct err *err)
{
	for (size_t o = 0; o < r->n_outputs; o++)
		for (size_t s = 0; s < 2; s++)
			for (size_t i = 0; i < r->sides[s].n; i++)
				if (output_replaces(&r->outputs[o], &r->sides[s].item[i].file))
					return err_set(err, "%s: this output would replace an input",
					               r->outputs[o].path);
	return 0;
}

static struct analyse_run *runs_of(const struct inputs *side, struct arena *arena)
{
	struct analyse_run *runs = ARENA_NEW(arena, side->n, struct analyse_run);
	for (size_t i = 0; i < side->n; i++)
		runs[i] = (struct analyse_run){&side->item[i].trace, side->item[i].path};
	return runs;
}

static int write_outputs(struct report *r, const struct analysis *analysis, struct err *err)
{
	size_t n = 0;
	for (size_t i = 0; i < N_OUTPUTS; i++) {
		if (!r->paths[i])
			continue;
		struct buf *b = &r->bytes[i];
		if (i == HTML ? render_html(analysis, b, err) : render_json(analysis, b, err))
			return -1;
		r->outputs[n].bytes = b->data;
		r->outputs[n++].n = b->n;
	}
	return output_write(r->outputs, r->n_outputs, err);
}

/* On standard output, or beside it when that carries a report. */
static int print_verdict(const struct report *r, const struct analysis *analysis)
{
	bool taken = false;
	for (size_t i = 0; i < r->n_outputs; i++)
		taken = taken || r->outputs[i].standard;
	struct buf text = {0};
	int status = CMD_DONE;
	render_verdict(analysis, cmd_use_colour(r->colour, taken ? STDERR_FILENO : STDOUT_FILENO), &text);
	if (taken)
		fwrite(text.data, 1, text.n, stderr);
	else
		status = cmd_print(text.data, text.n);
	buf_release(&text);
	return status;
}

static int gate_status(const struct analysis *analysis)
{
	switch (view_gate(analysis)) {
	case GATE_FAILED:
		return CMD_GATE_NOT_MET;
	case GATE_INCONCLUSIVE:
		return CMD_INCONCLUSIVE;
	case GATE_NONE:
	case GATE_PASSED:
		break;
	}
	return CMD_DONE;
}

static int compare(struct report *r)
{
	struct err err;
	struct progress progress;
	struct analysis analysis;
	static const char *const labels[] = {"baseline", "fixed"};
	if (prepare_outputs(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	for (size_t s = 0; s < 2; s++) {
		int status = inputs_find(&r->sides[s], labels[s], &r->given[s], &r->arena, &err);
		if (status)
			return cmd_fail(status, &err);
	}
	if (spare_inputs(r, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (!r->quiet)
		inputs_say_passed_over(r->sides, 2, &r->arena);
	progress_init(&progress, r->quiet, r->sides[0].n + r->sides[1].n);
	for (size_t s = 0; s < 2; s++)
		if (inputs_read(&r->sides[s], &r->names, &r->arena, &progress, &err))
			return cmd_fail(CMD_BAD_PROFILE, &err);
	if (analyse_pair(runs_of(&r->sides[0], &r->arena), r->sides[0].n, runs_of(&r->sides[1], &r->arena),
	                 r->sides[1].n, &r->analysis, &r->names, &r->arena, &analysis, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	for (size_t s = 0; s < 2; s++)
		if (inputs_check_warmup(&r->sides[s], &analysis.side[s], r->analysis.warmup, &err))
			return cmd_fail(CMD_WRONG_USAGE, &err);
	if (write_outputs(r, &analysis, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = r->quiet ? CMD_DONE : print_verdict(r, &analysis);
	return status ? status : gate_status(&analysis);
}

int cmd_report(int argc, char **argv)
{
	struct report r = {.analysis = {.warmup = -1, .max_regression = -1}};
	struct opt options[] = {
		{OPT_TEXT, 'o', "output", "FILE", "write the HTML report to FILE; '-' is standard output",
	         .text = &r.paths[HTML]},
		{OPT_TEXT, 0, "json", "FILE", "write the result for machines to FILE; '-' is standard output",
	         .text = &r.paths[JSON]},
		{OPT_TEXT, 0, "step", "NAME", "the NVTX range that is one step (default: found automatically)",
	         .text = &r.analysis.step},
		{OPT_WHOLE, 0, "warmup", "N", "leading steps to leave out of every run (default: found automatically)",
	         .whole = &r.analysis.warmup, .max = 1e9},
		{OPT_DECIMAL, 0, "min-speedup", "X",
	         "gate: passed when the whole interval of the speedup is at X or above, failed when all of it is below "
	         "X, else open",
	         .decimal = &r.analysis.min_speedup, .min = 0.001, .max = 1000},
		{OPT_DECIMAL, 0, "max-regression", "PCT",
	         "gate: failed when a slowdown of more than PCT percent is proven (the upper end of the interval is "
	         "below 1/(1+PCT/100)), else passed, also when the verdict is inconclusive",
	         .decimal = &r.analysis.max_regression, .max = 1000},
		{OPT_FLAG, 0, "require-comparable", NULL, "gate: failed when the two sides did different work",
	         .flag = &r.analysis.require_comparable},
		{OPT_LIST, 0, "baseline", "FILE",
	         "a run of the baseline: a file, a folder or a quoted pattern; may be repeated", .list = &r.given[0]},
		{OPT_LIST, 0, "fixed", "FILE", "a run of the fixed side, likewise", .list = &r.given[1]},
		{OPT_TEXT, 0, "title", "TEXT", "the report's title", .text = &r.analysis.title},
		{OPT_FLAG, 'q', "quiet", NULL, "print nothing but errors", .flag = &r.quiet},
		{OPT_CHOICE, 0, "color", "WHEN", "auto, always or never; auto is colour on a terminal without NO_COLOR",
	         .choice = &r.colour, .choices = cmd_colours},
	};
	const struct opt_usage usage = {
		"gapline report", arguments,        about, options, sizeof options / sizeof *options,
		examples,         cmd_gate_statuses};
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &r.arena, &operands);
	if (status < 0) {
		names_init(&r.names, &r.arena);
		if (r.analysis.title)
			r.analysis.title = names_text(&r.names, names_add_text(&r.names, r.analysis.title));
		status = name_sides(&r, &operands, &err) ? cmd_misuse(&usage, &err) : compare(&r);
	}
	for (size_t i = 0; i < N_OUTPUTS; i++) {
		buf_release(&r.bytes[i]);
		output_release(&r.outputs[i]);
	}
	arena_release(&r.arena);
	return status;
}
