#include "cmd/history_parts.h"

#include "analyse/step_tables.h"
#include "analyse/trend/trend.h"
#include "cmd/inputs_saved.h"
#include "cmd/progress.h"
#include "render/trend.h"
#include "say/say.h"

#include <stdio.h>
#include <string.h>

struct reading {
	struct history *h;
	struct store store;
	struct arena arena;
	struct names names; /* of the title, which is made harmless */
	struct store_entry *list;
	size_t n;
	struct trend_commit *commits;
	struct output outputs[HISTORY_OUTPUTS];
	struct buf bytes[HISTORY_OUTPUTS];
	size_t n_outputs;
};

/* A side of a report: its steps are those that were found then. */
static int measure_side(struct reading *r, const struct input *input, int side, struct names *names,
                        struct arena *arena, struct analysis *one, struct err *err)
{
	struct step_tables *tables = ARENA_NEW(arena, 1, struct step_tables);
	if (r->h->analysis.step) {
		err_set(err, "--step needs the profiles themselves, and %s is a side of a report", input->path);
		return CMD_WRONG_USAGE;
	}
	if (inputs_read_side(input, names, arena, tables, err) < 0)
		return CMD_BAD_PROFILE;
	*one = analyse_table_side(tables, side, names, arena);
	return CMD_DONE;
}

static const char *say_note(struct reading *r, const struct side *side, struct arena *arena)
{
	const struct fact *said = FACT_NEW(arena, commit_from_report, FACT_NO_SIDE,
	                                   .steps = side->steps.origin == STEPS_BY_PATTERN ? "found" : "marked");
	const char *text = say_fact(said, NULL, arena);
	return arena_copy(&r->arena, text, strlen(text));
}

/* The runs of one commit, told from its files as a report tells them. What they need is given back. One whose runs say
 * nothing is kept with the reason: the others are worth a page all the same. */
static int measure(struct reading *r, const struct store_entry *e, struct trend_commit *c, struct err *err)
{
	struct arena arena = {0};
	struct names names;
	struct inputs in;
	struct analysis one;
	const struct read_wish wish = {0};
	const char *name = arena_format(&arena, "@commit:%s", e->name);
	const struct opt_list given = {&name, 1};
	names_init(&names, &arena);
	int side, status = inputs_find_or_saved(&in, "commit", &given, r->h->db, &arena, err);
	int of_report = status ? 0 : inputs_saved_side(&in, &side, err);
	if (of_report)
		status =
			of_report < 0 ? CMD_BAD_PROFILE : measure_side(r, &in.item[0], side, &names, &arena, &one, err);
	else if (!status)
		status = inputs_read(&in, 1, &wish, &names, &arena, err) ? CMD_BAD_PROFILE : CMD_DONE;
	if (!status && !of_report) {
		inputs_group(&in, RANKS_TELL, &names, &arena);
		struct analyse_run *runs = ARENA_NEW(&arena, in.n_runs, struct analyse_run);
		for (size_t i = 0; i < in.n_runs; i++)
			runs[i] = (struct analyse_run){&in.run[i].trace, in.run[i].path};
		int result = analyse_side(runs, in.n_runs, &r->h->analysis, &names, &arena, &one, err);
		status = result == ANALYSE_EMPTY ? CMD_BAD_PROFILE : result ? CMD_WRONG_USAGE : CMD_DONE;
	}
	*c = (struct trend_commit){.name = e->name, .has_time = e->has_time, .time = e->time};
	if (!status && of_report)
		c->note = say_note(r, &one.side[0], &arena);
	if (!status)
		trend_measure(&one, &r->arena, c);
	else
		c->unused = arena_copy(&r->arena, err->text, strlen(err->text));
	if (!status && c->unused) {
		err_set(err, "%s", c->unused);
		status = CMD_BAD_PROFILE;
	}
	arena_release(&arena);
	return status;
}

static int read_commits(struct reading *r, struct err *err)
{
	struct progress progress;
	if (store_open(&r->store, r->h->db, false, err) ||
	    store_list(&r->store, STORE_COMMIT, &r->arena, &r->list, &r->n, err))
		return CMD_BAD_PROFILE;
	if (!r->n) {
		err_set(err, "%s: there are no commits in it; gapline history add puts them there", r->h->db);
		return CMD_BAD_PROFILE;
	}
	r->commits = ARENA_NEW(&r->arena, r->n, struct trend_commit);
	progress_begin(&progress, r->h->quiet, "reading", (int64_t)r->n);
	int status = CMD_DONE;
	size_t used = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct err cause;
		int one = measure(r, &r->list[i], &r->commits[i], &cause);
		if (one && !status) {
			status = one;
			*err = cause;
		}
		used += !one;
		meter_add(progress_meter(&progress), 1);
	}
	progress_end(&progress);
	return used ? CMD_DONE : status;
}

static int prepare(struct reading *r, struct err *err)
{
	struct stat db;
	bool there = !stat(r->h->db, &db);
	for (size_t i = 0; i < HISTORY_OUTPUTS; i++) {
		struct output *o = &r->outputs[r->n_outputs];
		if (!r->h->paths[i])
			continue;
		r->n_outputs++;
		if (output_prepare(o, r->h->paths[i], err))
			return -1;
		if (there && output_replaces(o, &db))
			return err_set(err, "%s: this output would replace the history", o->path);
	}
	const struct output *o = r->outputs;
	if (r->n_outputs == 2 && o[0].standard && o[1].standard)
		return err_set(err, "the page and the JSON would both go to standard output; name a file for one");
	return r->n_outputs == 2 && output_same(&o[0], &o[1])
	               ? err_set(err, "%s: the page and the JSON would go to the same file", o[1].path)
	               : 0;
}

static int write_outputs(struct reading *r, const struct trend *trend, struct err *err)
{
	size_t n = 0;
	for (int i = 0; i < HISTORY_OUTPUTS; i++) {
		struct buf *b = &r->bytes[i];
		if (!r->h->paths[i])
			continue;
		if (i == HISTORY_HTML ? trend_html(trend, b, err) : trend_json(trend, b, err))
			return -1;
		r->outputs[n].bytes = b->data;
		r->outputs[n++].n = b->n;
	}
	return output_write(r->outputs, r->n_outputs, err);
}

static int print(struct reading *r, const struct trend *trend)
{
	struct buf text = {0};
	trend_terminal(trend, &text);
	int status = cmd_print_beside(r->outputs, r->n_outputs, &text);
	buf_release(&text);
	return status;
}

/* Also without the summary that says so: a commit of which nothing can be said is an error. */
static void say_unused(const struct trend_commit *commits, size_t n)
{
	struct err err;
	for (size_t i = 0; i < n; i++)
		if (commits[i].unused) {
			err_set(&err, "commit %s is not used: %s", commits[i].name, commits[i].unused);
			cmd_fail(CMD_BAD_PROFILE, &err);
		}
}

int history_report(struct history *h)
{
	struct err err;
	struct reading r = {.h = h};
	names_init(&r.names, &r.arena);
	int status = prepare(&r, &err) ? CMD_WRONG_USAGE : read_commits(&r, &err);
	if (!status) {
		double least = h->least > 0 ? h->least / 100 : TREND_LEAST;
		struct trend trend = trend_build(r.commits, r.n, least, &r.arena);
		trend.title = h->title ? names_text(&r.names, names_add_text(&r.names, h->title)) : NULL;
		status = write_outputs(&r, &trend, &err) ? CMD_WRONG_USAGE : CMD_DONE;
		if (!status && !h->quiet) {
			status = print(&r, &trend);
			cmd_say_written(r.outputs, r.n_outputs);
		} else if (!status) {
			say_unused(r.commits, r.n);
		} else {
			cmd_fail(status, &err);
		}
	} else {
		cmd_fail(status, &err);
	}
	for (int i = 0; i < HISTORY_OUTPUTS; i++) {
		output_release(&r.outputs[i]);
		buf_release(&r.bytes[i]);
	}
	store_close(&r.store);
	arena_release(&r.arena);
	return status;
}
