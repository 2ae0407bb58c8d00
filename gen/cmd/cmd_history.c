/* gapline history: results over commits, and where they changed. */
#include "analyse/analyse.h"
#include "analyse/step_tables.h"
#include "base/output.h"
#include "cmd/compare.h"
#include "cmd/progress.h"
#include "cmd/result.h"
#include "cmd/saving.h"
#include "render/trend.h"
#include "render/words.h"
#include "say/say.h"
#include "trend/trend.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The parts of `gapline history`. */

enum { HISTORY_HTML, HISTORY_JSON, HISTORY_OUTPUTS };

struct history {
	const char *db, *commit, *time, *title;
	const char *paths[HISTORY_OUTPUTS]; /* NULL: not asked for */
	double least;                       /* percent; 0: as usual */
	bool force, quiet;
	struct analyse_options analysis;
	struct result result; /* of add; report has a document of its own */
	struct saving saving;
};

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
	if (r->h->analysis.step)
		return CMD_ERROR(CMD_WRONG_USAGE, err,
		                 "--step needs the profiles themselves, and %s is a side of a report", input->path);
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
	ARENA_LOCAL(arena);
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
	if (!status && c->unused)
		status = CMD_ERROR(CMD_BAD_PROFILE, err, "%s", c->unused);
	return status;
}

static int read_commits(struct reading *r, struct err *err)
{
	struct progress progress;
	if (store_open(&r->store, r->h->db, false, err) ||
	    store_list(&r->store, STORE_COMMIT, &r->arena, &r->list, &r->n, err))
		return CMD_BAD_PROFILE;
	if (!r->n)
		return CMD_ERROR(CMD_BAD_PROFILE, err,
		                 "%s: there are no commits in it; gapline history add puts them there", r->h->db);
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

/* Of few commits no level is known yet: the latest two that can be compared are judged as a report judges them. */
static const struct trend_pair *judge_last(struct reading *r, const struct trend *t)
{
	const struct trend_series *s = t->series;
	if (!t->n_series || s->n_changes || s->n < 2 || s->n >= TREND_LEARNING)
		return NULL;
	struct trend_pair *pair = ARENA_NEW(&r->arena, 1, struct trend_pair);
	struct compare c;
	struct analysis analysis;
	struct err err;
	const char *given[2];
	compare_init(&c);
	names_init(&c.names, &c.arena);
	*pair = (struct trend_pair){.before = trend_commit_at(t, s, s->n - 2)->name,
	                            .after = trend_commit_at(t, s, s->n - 1)->name,
	                            .result = verdict_result_name(VERDICT_INCONCLUSIVE),
	                            .speedup = NAN,
	                            .lo = NAN,
	                            .hi = NAN};
	for (int side = 0; side < 2; side++) {
		given[side] = arena_format(&c.arena, "@commit:%s", side ? pair->after : pair->before);
		c.given[side] = (struct opt_list){&given[side], 1};
	}
	c.db = r->h->db;
	c.quiet = true;
	c.analysis.step = r->h->analysis.step;
	const char *said;
	if (compare_analyse(&c, &analysis, &err)) {
		said = cmd_harmless(&c.arena, err.text);
		fprintf(stderr, "gapline: %s\n",
		        SAY(NULL, &c.arena, commits_not_compared, .before = pair->before, .after = pair->after,
		            .why = said));
	} else {
		const struct verdict *v = &analysis.verdict;
		said = words_verdict(&analysis, &c.arena);
		pair->result = verdict_result_name(v->result);
		pair->speedup = v->has_speedup ? v->speedup : NAN;
		pair->lo = v->has_interval ? v->lo : NAN;
		pair->hi = v->has_interval ? v->hi : NAN;
	}
	pair->said = arena_copy(&r->arena, said, strlen(said));
	compare_release(&c);
	return pair;
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
	BUF_LOCAL(text);
	trend_terminal(trend, &text);
	return cmd_print_beside(r->outputs, r->n_outputs, &text);
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

/* Reads all commits, writes what was asked for and prints the changes. An enum cmd_status; what goes wrong is printed.
 */
static int history_report(struct history *h)
{
	struct err err;
	struct reading r = {.h = h};
	names_init(&r.names, &r.arena);
	int status = prepare(&r, &err) ? CMD_WRONG_USAGE : read_commits(&r, &err);
	if (!status) {
		double least = h->least > 0 ? h->least / 100 : TREND_LEAST;
		struct trend trend = trend_build(r.commits, r.n, least, &r.arena);
		trend.last = judge_last(&r, &trend);
		trend.title = cmd_named(&r.names, h->title);
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

static int refuse(const char *text, struct err *err)
{
	return err_set(err,
	               "--time: '%s' is no time; write 2026-11-22T09:14:53+01:00 (git log -1 --format=%%cI) or "
	               "seconds since 1970",
	               text);
}

/* "Z", "+01:00" or "+0100", to the end. */
static int read_offset(const char *text, int *seconds)
{
	int hours, minutes, used = 0;
	*seconds = 0;
	if (!strcmp(text, "Z") || !strcmp(text, "z"))
		return 0;
	if (text[0] != '+' && text[0] != '-')
		return -1;
	bool digits = isdigit((unsigned char)text[1]) && isdigit((unsigned char)text[2]);
	if (!digits || sscanf(text + 1, strchr(text, ':') ? "%2d:%2d%n" : "%2d%2d%n", &hours, &minutes, &used) != 2 ||
	    text[1 + used] || used < 4 || hours > 14 || minutes > 59 || minutes < 0)
		return -1;
	*seconds = (hours * 60 + minutes) * (text[0] == '-' ? -60 : 60);
	return 0;
}

/* "2026-11-22T09:14:53+01:00" (RFC 3339; git's %cI) or "1795335293" -> seconds since 1970. -1 with `err`. */
static int history_time(const char *text, int64_t *seconds, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	if (digits && digits <= 12 && !text[digits]) {
		*seconds = strtoll(text, NULL, 10);
		return 0;
	}
	struct tm tm = {0};
	int offset;
	const char *rest = digits == 4 ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!rest && digits == 4)
		rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
	while (rest && *rest == ' ')
		rest++;
	if (!rest || read_offset(rest, &offset))
		return refuse(text, err);
	struct tm same = tm;
	time_t t = timegm(&same);
	/* a 31st of February is the 3rd of March to timegm */
	if (same.tm_mday != tm.tm_mday || same.tm_mon != tm.tm_mon)
		return refuse(text, err);
	*seconds = (int64_t)t - offset;
	return 0;
}

static int add(struct history *h, const struct opt_list *profiles)
{
	struct err err;
	struct saving *saving = &h->saving;
	enum store_rule rule = h->force ? STORE_REPLACE : STORE_ADD;
	size_t n_new = 0;
	saving->entry.kind = STORE_COMMIT;
	saving->entry.name = h->commit;
	h->result.path = h->paths[HISTORY_JSON];
	int status = result_prepare(&h->result, NULL, &err) || result_spares(&h->result, h->db, &err) ||
	                             saving_check(saving, h->db, rule, &err)
	                     ? CMD_WRONG_USAGE
	                     : saving_make(saving, profiles, h->quiet, &err);
	if (status)
		return cmd_fail(status, &err);
	if (saving_put(saving, h->db, rule, &n_new, &err) == STORE_FAILED)
		return cmd_fail(CMD_WRONG_USAGE, &err);
	size_t known = saving->entry.n - n_new;
	struct json *json = result_begin(&h->result, "history");
	result_text(&h->result, "db", h->db);
	result_text(&h->result, "commit", h->commit);
	json_integer(json, "added", (int64_t)n_new);
	json_integer(json, "known", (int64_t)known);
	result_text(&h->result, "machine", saving->entry.machine);
	if (result_write(&h->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (h->quiet)
		return CMD_DONE;
	FILE *to = cmd_output_taken(h->result.out, h->result.n_out) ? stderr : stdout;
	fprintf(to, "%s\n",
	        SAY(NULL, &saving->arena, commit_added, .commit = h->commit, .profiles = (int64_t)n_new,
	            .store = cmd_harmless(&saving->arena, h->db), .known = (int64_t)known,
	            .machine = cmd_harmless(&saving->arena, saving->entry.machine)));
	return CMD_DONE;
}

/* Which options belong to which of the two. */
static int check_add(struct history *h, const struct opt_list *profiles, struct err *err)
{
	if (h->paths[HISTORY_HTML] || h->title || h->least > 0)
		return err_set(err, "-o, --title and --min-change belong to 'gapline history report'");
	if (!h->commit)
		return err_set(err, "which commit the profiles are of is missing: --commit SHA");
	if (!store_name_ok(h->commit))
		return err_set(err,
		               "'%s' cannot be a commit: up to %d letters, digits and ._+-/, a letter or a digit first",
		               h->commit, STORE_NAME_MAX);
	if (h->time && history_time(h->time, &h->saving.entry.time, err))
		return -1;
	h->saving.entry.has_time = h->time != NULL;
	return profiles->n ? 0 : err_set(err, "profiles of commit %s are missing", h->commit);
}

static int check_report(const struct history *h, const struct opt_list *operands, struct err *err)
{
	if (h->commit || h->time || h->force)
		return err_set(err, "--commit, --time and --force belong to 'gapline history add'");
	return operands->n ? err_set(err,
	                             "'%s': 'gapline history report' takes no profiles; they are added with "
	                             "'gapline history add'",
	                             operands->item[0])
	                   : 0;
}

static int run(struct history *h, const struct opt_usage *usage, const struct opt_list *operands)
{
	struct err err;
	const char *what = operands->n ? operands->item[0] : "";
	const struct opt_list rest = {operands->item + 1, operands->n ? operands->n - 1 : 0};
	if (!strcmp(what, "add"))
		return check_add(h, &rest, &err) ? cmd_misuse(usage, &err) : add(h, &rest);
	if (!strcmp(what, "report"))
		return check_report(h, &rest, &err) ? cmd_misuse(usage, &err) : history_report(h);
	if (*what)
		err_set(&err, "'%s' is neither add nor report", what);
	else
		err_set(&err, "what to do is missing: add or report");
	return cmd_misuse(usage, &err);
}

int cmd_history(int argc, char **argv)
{
	struct history h = {.db = CMD_STORE, .analysis = {.warmup = -1, .gates.max_regression = -1}};
	struct opt options[] = {
		{OPT_TEXT, 0, "db", "FILE", .text = &h.db},
		{OPT_TEXT, 0, "commit", "SHA", .text = &h.commit},
		{OPT_TEXT, 0, "time", "TIME", .text = &h.time},
		{OPT_FLAG, 0, "force", NULL, .flag = &h.force},
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &h.paths[HISTORY_HTML]},
		{OPT_OUTPUT, 0, "json", "FILE", .text = &h.paths[HISTORY_JSON]},
		{OPT_TEXT, 0, "title", "TEXT", .text = &h.title},
		{OPT_DECIMAL, 0, "min-change", "PCT", .decimal = &h.least, .min = 0.1, .max = 1000},
		{OPT_TEXT, 0, "step", "NAME", .text = &h.analysis.step},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &h.quiet},
	};
	const struct opt_usage usage = cmd_describe("history", options, sizeof options / sizeof *options);
	struct opt_list operands;
	int status = cmd_options(&usage, argc, argv, &h.saving.arena, &operands);
	if (status < 0)
		status = run(&h, &usage, &operands);
	result_release(&h.result);
	saving_release(&h.saving);
	return status;
}
