#include "cmd/compare.h"

#include "base/file.h"
#include "base/markdown_writer.h"
#include "base/memory.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"

#include "render/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[COMPARE_OUTPUTS] = {[COMPARE_HTML] = "the report",
                                                   [COMPARE_JSON] = "the JSON",
                                                   [COMPARE_SVG] = "the picture",
                                                   [COMPARE_MARKDOWN] = "the Markdown",
                                                   [COMPARE_COMMENT] = "the short Markdown",
                                                   [COMPARE_JUNIT] = "the JUnit file",
                                                   [COMPARE_PERFETTO] = "the trace",
                                                   [COMPARE_SUMMARY] = "the step's summary"};

int compare_add_to_summary(const char *path, struct buf *out, struct err *err)
{
	enum { MOST = 65536 }; /* GitHub takes 1 MiB of a step; so much is left for what this one writes */
	int64_t size;
	int fd = file_open(path, &size, err);
	if (fd < 0)
		return -1;
	char *old = size <= (1 << 20) - MOST - 1 ? memory_take((size_t)size + 1) : NULL;
	ssize_t n = old ? file_read(fd, old, (size_t)size) : -1;
	close(fd);
	if (n > 0)
		buf_add(out, old, (size_t)n);
	if (n > 0 && old[n - 1] != '\n')
		buf_text(out, "\n");
	free(old);
	return n < 0 ? err_set(err, "%s: cannot be added to: GitHub shows no more than 1 MiB of a summary", path) : 0;
}

static int render(const struct compare *c, size_t kind, const struct analysis *a, struct buf *out, struct err *err)
{
	struct markdown_wish wish = c->links;
	switch (kind) {
	case COMPARE_HTML:
		return render_html(a, out, err);
	case COMPARE_JSON:
		return c->evidence ? render_json_evidence(a, out, err) : render_json(a, out, err);
	case COMPARE_SVG:
		return render_svg(a, out, err);
	case COMPARE_JUNIT:
		return render_junit(a, out, err);
	case COMPARE_PERFETTO:
		return render_perfetto(a, out, err);
	case COMPARE_SUMMARY:
		if (compare_add_to_summary(c->paths[COMPARE_SUMMARY], out, err))
			return -1;
		break;
	case COMPARE_COMMENT:
		wish.brief = true;
		break;
	default:
		break;
	}
	return render_markdown(a, &wish, out, err);
}

int compare_prepare(struct compare *c, struct err *err)
{
	const char *name[COMPARE_OUTPUTS];
	while (c->n_outputs)
		output_release(&c->outputs[--c->n_outputs]);
	for (size_t i = 0; i < COMPARE_OUTPUTS; i++) {
		if (!c->paths[i])
			continue;
		name[c->n_outputs] = kinds[i];
		if (output_prepare(&c->outputs[c->n_outputs++], c->paths[i], err))
			return -1;
	}
	for (size_t i = 0; i < c->n_outputs; i++)
		for (size_t k = 0; k < i; k++) {
			const struct output *a = &c->outputs[k], *b = &c->outputs[i];
			if (a->standard && b->standard)
				return err_set(err, "%s and %s would both go to standard output; name a file for one",
				               name[k], name[i]);
			if (output_same(a, b))
				return err_set(err, "%s: %s and %s would go to the same file", b->path, name[k],
				               name[i]);
		}
	return 0;
}

int compare_spare_inputs(const struct compare *c, struct err *err)
{
	for (size_t o = 0; o < c->n_outputs; o++)
		for (size_t s = 0; s < 2; s++)
			if (inputs_spared(&c->sides[s], &c->outputs[o], 1, "an input", err))
				return -1;
	for (size_t o = 0; o < c->n_outputs; o++)
		for (size_t s = 0; s < 2; s++) {
			if (output_replaces_path(&c->outputs[o], c->db))
				return err_set(err, "%s: this output would replace the file of saved baselines",
				               c->outputs[o].path);
			bool input = output_replaces_path(&c->outputs[o], c->ncu[s]) ||
			             output_replaces_path(&c->outputs[o], c->graph_nodes[s]) ||
			             output_replaces_path(&c->outputs[o], c->report[s].path);
			for (size_t i = 0; i < c->outputs_of[s].n; i++)
				input = input || output_replaces_path(&c->outputs[o], c->outputs_of[s].item[i]);
			if (input)
				return err_set(err, "%s: this output would replace an input", c->outputs[o].path);
		}
	return 0;
}

static struct analyse_run *runs_of(const struct inputs *side, struct arena *arena)
{
	struct analyse_run *runs = ARENA_NEW(arena, side->n_runs, struct analyse_run);
	for (size_t i = 0; i < side->n_runs; i++)
		runs[i] = (struct analyse_run){&side->run[i].trace, side->run[i].path};
	return runs;
}

int compare_render(struct compare *c, const struct analysis *analysis, struct err *err)
{
	size_t n = 0;
	for (size_t i = 0; i < COMPARE_OUTPUTS; i++) {
		if (!c->paths[i])
			continue;
		struct buf *b = &c->bytes[i];
		if (render(c, i, analysis, b, err))
			return -1;
		c->outputs[n].bytes = b->data;
		c->outputs[n++].n = b->n;
	}
	return 0;
}

/* What stands on standard output, or beside it when that carries a report. */
static void say_verdict(const struct compare *c, const struct analysis *analysis, struct buf *text)
{
	bool taken = cmd_output_taken(c->outputs, c->n_outputs);
	const struct look look = cmd_look(c->colour, taken ? STDERR_FILENO : STDOUT_FILENO);
	render_verdict(analysis, &look, text);
	if (!c->n_outputs)
		cmd_add_hint(text, "report");
}

static int gate_status(const struct analysis *analysis)
{
	switch (analysis->gates.result) {
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

/* A mistake that CI makes easily. Looked for before the files of a run become one trace: the report says it, and that
 * there is nothing to compare. */
static const struct fact *find_same_captures(struct compare *c)
{
	const struct inputs *a = &c->sides[0], *b = &c->sides[1];
	size_t i, k;
	if (!inputs_share_capture(a, b, &i, &k))
		return NULL;
	return FACT_NEW(&c->arena, same_capture, FACT_NO_SIDE, .baseline = names_file(&c->names, a->item[i].path),
	                .fixed = names_file(&c->names, b->item[k].path));
}

/* Another one: two ranks of one run, by what both profiles say, as the two sides. */
static const struct fact *find_one_run(struct compare *c)
{
	struct ranks_file files[2];
	for (int s = 0; s < 2; s++) {
		const struct inputs *in = &c->sides[s];
		if (in->n != 1 || in->item[0].trace->source.started == TRACE_NO_TIME)
			return NULL;
		files[s] = (struct ranks_file){.trace = in->item[0].trace,
		                               .name = names_file(&c->names, in->item[0].path),
		                               .folder = TRACE_NONE};
	}
	const struct ranks told = ranks_tell(files, 2, RANKS_TELL, &c->arena);
	if (told.n_runs != 1 || told.careful || files[0].named || files[1].named || files[0].rank == files[1].rank)
		return NULL;
	return FACT_NEW(&c->arena, ranks_of_one_run, FACT_NO_SIDE, .baseline = files[0].name, .fixed = files[1].name,
	                .rank = files[0].rank, .other = files[1].rank);
}

/* What the report says of a side's files. */
static struct side_files files_of(const struct inputs *side, struct arena *arena)
{
	struct side_file *list = ARENA_NEW(arena, side->n, struct side_file);
	for (size_t i = 0; i < side->n; i++)
		list[i] = (struct side_file){side->told[i].name, side->told[i].run, side->told[i].rank,
		                             side->told[i].named};
	return (struct side_files){list, (uint32_t)side->n, side->why, side->note};
}

int compare_read_beside(struct compare *c, struct err *err)
{
	for (int s = 0; s < 2; s++) {
		if (c->ncu[s] && ncu_input_read(c->ncu[s], &c->names, &c->arena, &c->ncu_report[s], err))
			return -1;
		c->analysis.ncu[s] = c->ncu[s] ? &c->ncu_report[s] : NULL;
		if (!c->graph_nodes[s])
			continue;
		struct trace *trace = ARENA_NEW(&c->arena, 1, struct trace);
		struct names *own = ARENA_NEW(&c->arena, 1, struct names);
		names_init(own, &c->arena);
		if (read_profile(c->graph_nodes[s], own, &c->arena, trace, err))
			return -1;
		c->analysis.graph_nodes[s] = (struct analyse_run){trace, c->graph_nodes[s]};
	}
	return 0;
}

static int read_and_analyse(struct compare *c, struct progress *progress, struct analysis *analysis, struct err *err)
{
	/* launch shapes are among the details, and only reports of Nsight Compute ask for them */
	const struct read_wish wish = {.meter = progress_meter(progress),
	                               .details = c->ncu[0] || c->ncu[1],
	                               .joined =
	                                       !c->paths[COMPARE_PERFETTO] && c->sides[0].n == 1 && c->sides[1].n == 1,
	                               .again = !c->paths[COMPARE_PERFETTO]};
	if (compare_read_reports(c, err) || inputs_read(c->sides, 2, &wish, &c->names, &c->arena, err))
		return CMD_BAD_PROFILE;
	if (compare_read_beside(c, err) || compare_read_printed(c, err)) {
		inputs_keep(c->sides, 2, &c->arena);
		return CMD_BAD_PROFILE;
	}
	progress_say(progress, "comparing");
	c->analysis.nothing = find_same_captures(c) ?: find_one_run(c);
	for (size_t s = 0; s < 2; s++) {
		if (c->report[s].path)
			continue;
		inputs_group(&c->sides[s], (enum ranks_asked)c->files_are, &c->names, &c->arena);
		c->analysis.files[s] = files_of(&c->sides[s], &c->arena);
	}
	c->analysis.events = c->paths[COMPARE_PERFETTO] != NULL;
	int result =
		analyse_pair(runs_of(&c->sides[0], &c->arena), c->sides[0].n_runs, runs_of(&c->sides[1], &c->arena),
	                     c->sides[1].n_runs, &c->analysis, &c->names, &c->arena, analysis, err);
	if (result < 0)
		return result == ANALYSE_EMPTY ? CMD_BAD_PROFILE : CMD_WRONG_USAGE;
	for (size_t s = 0; s < 2; s++)
		if (!c->report[s].path &&
		    inputs_check_warmup(&c->sides[s], &analysis->side[s], c->analysis.warmup, err))
			return CMD_WRONG_USAGE;
	return CMD_DONE;
}

static const char *const labels[] = {"baseline", "fixed"};

int compare_analyse(struct compare *c, struct analysis *analysis, struct err *err)
{
	struct progress progress;
	for (size_t s = 0; s < 2; s++) {
		int status = CMD_DONE;
		if (c->built_in[s])
			inputs_add_bytes(&c->sides[s], labels[s], c->given[s].item[0], c->built_in[s]->bytes,
			                 c->built_in[s]->n, &c->arena);
		else if (!(status = compare_find_report(c, (int)s, err)) && !c->report[s].path)
			status = inputs_find_or_saved(&c->sides[s], labels[s], &c->given[s], c->db, &c->arena, err);
		if (!status && !c->report[s].path)
			status = compare_find_saved(c, (int)s, err);
		if (status)
			return status;
	}
	if (compare_spare_inputs(c, err))
		return CMD_WRONG_USAGE;
	if (inputs_begin(c->sides, 2, c->quiet, &progress, &c->arena, err))
		return CMD_BAD_PROFILE;
	int status = read_and_analyse(c, &progress, analysis, err);
	progress_end(&progress);
	return status;
}

int compare_make(struct compare *c, struct analysis *analysis, struct err *err)
{
	int status = compare_prepare(c, err) ? CMD_WRONG_USAGE : compare_analyse(c, analysis, err);
	if (status)
		return status;
	analysis->all_ranks = c->all_ranks;
	for (size_t s = 0; s < 2; s++) {
		const char *as = c->note_as[s] ?: arena_format(&c->arena, "%s side", labels[s]);
		if ((c->sides[s].ranks.careful || c->sides[s].copies.n) && !c->quiet && *as)
			fprintf(stderr, "gapline: %s: %s\n", as, cmd_harmless(&c->arena, c->sides[s].note));
	}
	return compare_render(c, analysis, err) ? CMD_WRONG_USAGE : CMD_DONE;
}

int compare_sides(struct compare *c)
{
	struct err err;
	struct analysis analysis;
	BUF_LOCAL(text); /* before anything is written: its memory may run out */
	int status = compare_make(c, &analysis, &err);
	if (!status && !c->quiet)
		say_verdict(c, &analysis, &text);
	if (!status && output_write(c->outputs, c->n_outputs, &err))
		status = CMD_WRONG_USAGE;
	if (status)
		cmd_fail(status, &err);
	else if (!c->quiet)
		status = cmd_print_beside(c->outputs, c->n_outputs, &text);
	return status ? status : gate_status(&analysis);
}

/* ---- options ---- */

void compare_init(struct compare *c)
{
	*c = (struct compare){.analysis = {.warmup = -1, .gates.max_regression = -1}, .tolerance = -1};
}

/* "4096 tokens", "4096,8192 tokens" */
enum { MOST_DIGITS = 15 }; /* of items, before the point or behind it */

static int read_items(struct compare *c, struct err *err)
{
	const char *text = c->items;
	double *items = c->analysis.items;
	char *rest;
	if (!text)
		return 0;
	items[0] = items[1] = strtod(text, &rest);
	bool right = rest != text;
	if (right && *rest == ',') {
		text = rest + 1;
		items[1] = strtod(text, &rest);
		right = rest != text;
	}
	const char *name = rest + strspn(rest, " ");
	for (int s = 0; s < 2; s++)
		right = right && fabs(log10(items[s])) <= MOST_DIGITS;
	if (!right || !*name || strchr(name, ','))
		return err_set(
			err,
			"--items-per-step needs a number above 0, of %d digits at most, and what it counts, as in "
			"'4096 tokens', or one for each side, as in '4096,8192 tokens', not '%s'",
			MOST_DIGITS, cmd_harmless(&c->arena, c->items));
	c->analysis.items_name = cmd_named(&c->names, name);
	return 0;
}

/* Before anything is read. */
static int read_gates(struct compare *c, struct err *err)
{
	size_t n = c->expressions.n;
	struct gate_expression *list = ARENA_NEW(&c->arena, n, struct gate_expression);
	for (size_t i = 0; i < n; i++) {
		const char *text = cmd_named(&c->names, c->expressions.item[i]);
		if (gate_expression_parse(text, &c->arena, &list[i], err))
			return -1;
	}
	c->analysis.gates.expressions = list;
	c->analysis.gates.n_expressions = n;
	return 0;
}

static int read_links(struct compare *c, struct err *err)
{
	const char *const url[] = {c->links.svg_url, c->links.report_url};
	for (size_t i = 0; i < 2; i++)
		if (url[i] && !markdown_url(url[i]))
			return err_set(err, "--%s: '%s' is no http or https address that a link can hold",
			               i ? "report-url" : "svg-url", cmd_harmless(&c->arena, url[i]));
	const char *summary = getenv("GITHUB_STEP_SUMMARY");
	if (c->github_summary && (!summary || !*summary))
		return err_set(err, "--github-summary: GITHUB_STEP_SUMMARY is not set; a step of a GitHub job has it");
	c->paths[COMPARE_SUMMARY] = c->github_summary ? summary : NULL;
	return 0;
}

int compare_check_steps(const struct analyse_options *asked, struct err *err)
{
	return asked->step && asked->loop ? err_set(err, "--step and --loop both say what a step is: leave out one")
	                                  : 0;
}

int compare_begin(struct compare *c, struct err *err)
{
	names_init(&c->names, &c->arena);
	if (c->analysis.title && !*c->analysis.title)
		c->analysis.title = NULL; /* none is what was asked for */
	c->analysis.title = cmd_named(&c->names, c->analysis.title);
	for (int s = 0; s < 2; s++)
		c->analysis.name[s] = cmd_named(&c->names, c->analysis.name[s]);
	if (c->requests && c->analysis.step)
		return err_set(err, "--requests names the step, too: leave out --step %s",
		               cmd_named(&c->names, c->analysis.step));
	if (compare_check_steps(&c->analysis, err))
		return -1;
	c->analysis.requests = c->requests != NULL;
	c->analysis.step = c->requests ? c->requests : c->analysis.step;
	return read_items(c, err) || read_gates(c, err) || read_links(c, err) || compare_check_printed(c, err) ? -1 : 0;
}

void compare_release(struct compare *c)
{
	for (size_t i = 0; i < COMPARE_OUTPUTS; i++) {
		buf_release(&c->bytes[i]);
		output_release(&c->outputs[i]);
	}
	for (int s = 0; s < 2; s++)
		page_evidence_release(&c->report[s].evidence);
	arena_release(&c->arena);
}

const char *const compare_files_are[] = {"auto", "ranks", "repeats", NULL};

void compare_step_options(struct compare *c, struct opt_rows *rows)
{
	OPT_ADD(rows, {OPT_TEXT, 0, "step", "NAME", .text = &c->analysis.step},
	        {OPT_TEXT, 0, "requests", "NAME", .text = &c->requests},
	        {OPT_TEXT, 0, "first", "NAME", .text = &c->analysis.first},
	        {OPT_TEXT, 0, "each", "NAME", .text = &c->analysis.each},
	        {OPT_CHOICE, 0, "files-are", "WHAT", .choice = &c->files_are, .choices = compare_files_are},
	        {OPT_TEXT, 0, "loop", "NAME", .text = &c->analysis.loop},
	        {OPT_WHOLE, 0, "warmup", "N", .whole = &c->analysis.warmup, .max = 1e9},
	        {OPT_DECIMAL, 0, "min-speedup", "X", .decimal = &c->analysis.gates.min_speedup, .min = 0.001,
	         .max = 1000},
	        {OPT_DECIMAL, 0, "max-regression", "PCT", .decimal = &c->analysis.gates.max_regression, .max = 1000},
	        {OPT_FLAG, 0, "require-comparable", NULL, .flag = &c->analysis.gates.require_comparable},
	        {OPT_LIST, 0, "gate", "EXPR", .list = &c->expressions});
}

void compare_output_options(struct compare *c, struct opt_rows *rows)
{
	OPT_ADD(rows, {OPT_FLAG, 0, "evidence", NULL, .flag = &c->evidence},
	        {OPT_OUTPUT, 0, "json", "FILE", .text = &c->paths[COMPARE_JSON]},
	        {OPT_FLAG, 0, "all-ranks", NULL, .flag = &c->all_ranks},
	        {OPT_OUTPUT, 0, "svg", "FILE", .text = &c->paths[COMPARE_SVG]},
	        {OPT_OUTPUT, 0, "markdown", "FILE", .text = &c->paths[COMPARE_MARKDOWN]},
	        {OPT_OUTPUT, 0, "markdown-short", "FILE", .text = &c->paths[COMPARE_COMMENT]},
	        {OPT_FLAG, 0, "github-summary", NULL, .flag = &c->github_summary},
	        {OPT_TEXT, 0, "svg-url", "URL", .text = &c->links.svg_url},
	        {OPT_TEXT, 0, "report-url", "URL", .text = &c->links.report_url},
	        {OPT_OUTPUT, 0, "junit", "FILE", .text = &c->paths[COMPARE_JUNIT]},
	        {OPT_OUTPUT, 0, "perfetto", "FILE", .text = &c->paths[COMPARE_PERFETTO]});
}

void compare_print_options(struct compare *c, struct opt_rows *rows, bool *quiet)
{
	OPT_ADD(rows, {OPT_TEXT, 0, "title", "TEXT", .text = &c->analysis.title, .may_be_empty = true},
	        {OPT_TEXT, 0, "baseline-name", "TEXT", .text = &c->analysis.name[0]},
	        {OPT_TEXT, 0, "fixed-name", "TEXT", .text = &c->analysis.name[1]},
	        {OPT_TEXT, 0, "items-per-step", "ITEMS", .text = &c->items, .alias = "items"},
	        {OPT_FLAG, 'q', "quiet", NULL, .flag = quiet},
	        {OPT_CHOICE, 0, "color", "WHEN", .choice = &c->colour, .choices = cmd_colours});
}
