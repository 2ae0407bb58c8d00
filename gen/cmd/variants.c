#include "cmd/variants.h"

#include "base/file.h"
#include "render/pictures.h"
#include "render/variants.h"

#include <string.h>

enum { PAGE, SUMMARIES = 2, OUTPUTS = SUMMARIES + VARIANTS_MOST };

/* One report of several variants. */
struct job {
	struct compare *c;
	const struct variants_given *given;
	struct variant list[VARIANTS_MOST];
	size_t n;
	const char *page[VARIANTS_MOST]; /* of each pair, from 1; NULL: it is not written */
	struct compare pair;             /* the one at hand */
	struct output output[OUTPUTS];   /* of all variants, and behind them of each pair … */
	struct buf bytes[OUTPUTS];       /* … in which these belong */
	size_t n_outputs, n_summaries;
};

/* ---- what was asked for ---- */

static int too_many(const char *option, const char *name, struct err *err)
{
	return err_set(err, "--%s '%s': there are at most %d variants, the baseline among them", option, name,
	               VARIANTS_MOST);
}

static int add(struct compare *c, const char *given, struct variants_given *out, struct err *err)
{
	const char *what = strchr(given, '=');
	if (!what || what == given || !what[1])
		return err_set(err, "--variant '%s': a name, and what it stands for, are needed, as in eager=...",
		               cmd_harmless(&c->arena, given));
	const char *name = cmd_named(&c->names, arena_copy(&c->arena, given, (size_t)(what - given)));
	size_t i = 0;
	while (i < out->n && strcmp(out->name[i], name) != 0)
		i++;
	if (i == VARIANTS_MOST)
		return too_many("variant", name, err);
	out->n += i == out->n;
	out->name[i] = name;
	LIST_PUT(&c->arena, out->of[i].item, out->of[i].n, what + 1);
	return 0;
}

int variants_named(struct compare *c, const struct opt_list *asked, struct variants_given *out, struct err *err)
{
	*out = (struct variants_given){0};
	for (size_t i = 0; i < asked->n; i++)
		if (add(c, asked->item[i], out, err))
			return -1;
	return out->n < 2 ? err_set(err, "--variant: two variants are needed at least; the first is the baseline") : 0;
}

/* The word with each `mark` replaced; *found: there was one. */
static const char *filled(struct arena *arena, const char *word, const char *mark, const char *value, bool *found)
{
	const char *at = strstr(word, mark);
	if (!at)
		return word;
	*found = true;
	return arena_format(arena, "%.*s%s%s", (int)(at - word), word, value,
	                    filled(arena, at + strlen(mark), mark, value, found));
}

int variants_swept(struct compare *c, const char *asked, const struct opt_list *command, struct variants_given *out,
                   const char *const **words, struct err *err)
{
	struct arena *arena = &c->arena;
	const char *list = strchr(asked, '=');
	*out = (struct variants_given){0};
	if (!list || list == asked || strchr(asked, '{') || strchr(asked, '}'))
		return err_set(err, "--variant-list '%s': a name and values are needed, as in 'batch=8,16,32'",
		               cmd_harmless(arena, asked));
	const char *name = arena_copy(arena, asked, (size_t)(list - asked));
	const char *mark = arena_format(arena, "{%s}", name);
	char *values = arena_format(arena, "%s", list + 1);
	out->parameter = cmd_named(&c->names, name);
	for (char *rest = NULL, *value = strtok_r(values, ",", &rest); value; value = strtok_r(NULL, ",", &rest)) {
		const char *text = cmd_named(&c->names, value);
		bool found = false;
		if (out->n == VARIANTS_MOST)
			return too_many("variant-list", out->parameter, err);
		for (size_t i = 0; i < out->n; i++)
			if (strcmp(out->value[i], text) == 0)
				return err_set(err, "--variant-list '%s': %s comes twice", out->parameter, text);
		const char **line = ARENA_NEW(arena, command->n + 1, const char *);
		for (size_t w = 0; w < command->n; w++)
			line[w] = filled(arena, command->item[w], mark, value, &found);
		if (!found)
			return err_set(err,
			               "--variant-list: the command needs %s where the value is to stand: -- ./sim %s",
			               cmd_harmless(arena, mark), cmd_harmless(arena, mark));
		out->value[out->n] = text;
		out->name[out->n] = arena_format(arena, "%s=%s", out->parameter, text);
		words[out->n++] = line;
	}
	return out->n < 2
	               ? err_set(err, "--variant-list '%s': two values are needed at least; the first is the baseline",
	                         out->parameter)
	               : 0;
}

/* "report-graph.html" beside "report.html": signs that a name of a file should not have become '_'. */
static const char *beside(struct compare *c, const char *name)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	const char *page = c->paths[COMPARE_HTML], *ending = strrchr(page, '.');
	char *safe = arena_format(&c->arena, "%s", name);
	for (char *at = safe; *(at += strspn(at, fine));)
		*at = '_';
	size_t stem = ending && strcmp(ending, ".html") == 0 ? (size_t)(ending - page) : strlen(page);
	return arena_format(&c->arena, "%.*s-%s.html", (int)stem, page, safe);
}

/* Gates ask one pair, and what else is written is of one, too. */
int variants_check(const struct compare *c, struct err *err)
{
	for (size_t i = 0; i < COMPARE_OUTPUTS; i++)
		if (c->paths[i] && i != COMPARE_HTML && i != COMPARE_JSON)
			return err_set(err, "with --variant only the page (-o) and --json are written");
	const struct gates_asked *gates = &c->analysis.gates;
	if (gates->n_expressions || gates->min_speedup > 0 || gates->max_regression >= 0 || gates->require_comparable)
		return err_set(err, "gates are of two sides; with --variant there are several");
	if (c->ncu[0] || c->ncu[1] || c->graph_nodes[0] || c->graph_nodes[1] || c->pattern || c->evidence)
		return err_set(err, "--compare-output, --evidence, nodes of graphs and Nsight Compute's reports are of "
		                    "two sides");
	return 0;
}

static int spare_inputs(const struct job *job, const struct output *output, struct err *err)
{
	const struct variants_given *given = job->given;
	for (size_t i = 0; i < job->n; i++) {
		bool replaces = given->nodes[i] && output_replaces_path(output, given->nodes[i]);
		for (size_t k = 0; k < given->of[i].n; k++)
			replaces = replaces || output_replaces_path(output, given->of[i].item[k]);
		if (replaces)
			return err_set(err, "%s: this output would replace an input", output->path);
	}
	return 0;
}

static int prepare_output(struct job *job, const char *path, struct err *err)
{
	struct output *output = &job->output[job->n_outputs++];
	if (output_prepare(output, path, err) || spare_inputs(job, output, err))
		return -1;
	for (size_t i = 0; i + 1 < job->n_outputs; i++)
		if (output_same(&job->output[i], output))
			return err_set(err, "%s: two of the reports would go to this file", output->path);
	return 0;
}

static int prepare(struct job *job, struct err *err)
{
	static const int kind[SUMMARIES] = {COMPARE_HTML, COMPARE_JSON};
	struct compare *c = job->c;
	for (int i = 0; i < SUMMARIES; i++)
		if (c->paths[kind[i]] && prepare_output(job, c->paths[kind[i]], err))
			return -1;
	job->n_summaries = job->n_outputs;
	bool page = c->paths[COMPARE_HTML] && !job->output[PAGE].standard;
	for (size_t i = 1; i < job->n && page; i++) {
		job->page[i] = beside(c, job->list[i].name);
		job->list[i].report = file_name(job->page[i]);
		for (size_t k = 1; k < i; k++)
			if (strcmp(job->list[i].report, job->list[k].report) == 0)
				return err_set(err, "--variant: the reports of %s and %s would be one file, %s",
				               job->list[k].name, job->list[i].name, job->list[i].report);
		if (prepare_output(job, job->page[i], err))
			return -1;
	}
	return 0;
}

/* The pair's report is written with all others, when nothing is left that could fail. */
static void take_page(struct job *job, size_t i)
{
	struct buf *bytes = &job->bytes[job->n_summaries + i - 1], *made = &job->pair.bytes[COMPARE_HTML];
	*bytes = *made;
	*made = (struct buf){0};
}

/* A pair as `gapline report` compares it, and its report. */
static int compare_one(struct job *job, size_t i, struct err *err)
{
	struct compare *c = job->c, *pair = &job->pair;
	struct variant *v = &job->list[i];
	struct analysis analysis;
	const char *page = job->page[i];
	compare_init(pair);
	pair->paths[COMPARE_HTML] = page;
	pair->analysis = c->analysis;
	pair->db = c->db;
	pair->files_are = c->files_are;
	pair->quiet = c->quiet;
	pair->all_ranks = c->all_ranks;
	names_init(&pair->names, &pair->arena);
	for (int s = 0; s < 2; s++) {
		pair->given[s] = job->given->of[s ? i : 0];
		pair->graph_nodes[s] = job->given->nodes[s ? i : 0];
		pair->analysis.name[s] = job->list[s ? i : 0].name;
		pair->note_as[s] = s || i == 1 ? pair->analysis.name[s] : "";
	}
	int status = compare_make(pair, &analysis, err);
	if (!status && page)
		take_page(job, i);
	for (int s = i > 1; s < 2 && !status; s++) {
		struct variant *of = s ? v : &job->list[0];
		of->step = analysis.side[s].headline.step;
		of->n = dots_of(&analysis, s, &c->arena, &of->run);
	}
	const struct verdict *found = &analysis.verdict;
	if (!status) /* the numbers: what it says in facts goes with the pair */
		v->pair = (struct verdict){.result = found->result,
		                           .has_speedup = found->has_speedup,
		                           .speedup = found->speedup,
		                           .lo = found->lo,
		                           .hi = found->hi,
		                           .has_interval = found->has_interval,
		                           .judged = found->judged};
	compare_release(pair);
	return status;
}

static int write(struct job *job, struct err *err)
{
	struct compare *c = job->c;
	size_t n = 0;
	if (c->paths[COMPARE_HTML]) {
		if (variants_html(job->list, job->n, job->given->parameter, c->analysis.title, &job->bytes[n], err))
			return -1;
		n++;
	}
	if (c->paths[COMPARE_JSON] && variants_json(job->list, job->n, job->given->parameter, &job->bytes[n++], err))
		return -1;
	for (size_t i = 0; i < job->n_outputs; i++) {
		job->output[i].bytes = job->bytes[i].data;
		job->output[i].n = job->bytes[i].n;
	}
	return output_write(job->output, job->n_outputs, err);
}

static int run(struct job *job, struct err *err)
{
	int status = CMD_DONE;
	for (size_t i = 1; i < job->n && !status; i++)
		status = compare_one(job, i, err);
	if (status)
		return status;
	variants_judge(job->list, job->n, &job->c->arena);
	if (write(job, err))
		return CMD_WRONG_USAGE;
	BUF_LOCAL(text);
	variants_terminal(job->list, job->n, &text);
	status = job->c->quiet ? CMD_DONE : cmd_print_beside(job->output, job->n_outputs, &text);
	return status;
}

static struct job *begin(struct compare *c, const struct variants_given *given)
{
	struct job *job = ARENA_NEW(&c->arena, 1, struct job);
	job->c = c;
	job->given = given;
	job->n = given->n;
	for (size_t i = 0; i < given->n; i++) {
		job->list[i].name = given->name[i];
		job->list[i].value = given->value[i];
	}
	return job;
}

static void end(struct job *job)
{
	for (int i = 0; i < OUTPUTS; i++) {
		output_release(&job->output[i]);
		buf_release(&job->bytes[i]);
	}
}

int variants_prepare(struct compare *c, const struct variants_given *given, struct err *err)
{
	struct job *job = begin(c, given);
	int failed = prepare(job, err);
	end(job);
	return failed;
}

int variants_report(struct compare *c, const struct variants_given *given, struct err *err)
{
	struct job *job = begin(c, given);
	int status = prepare(job, err) ? CMD_WRONG_USAGE : run(job, err);
	if (status == CMD_DONE && !c->quiet)
		cmd_say_written(job->output, job->n_outputs);
	else if (status)
		cmd_fail(status, err);
	end(job);
	return status;
}
