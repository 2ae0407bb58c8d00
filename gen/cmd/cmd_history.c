/* gapline history: results over commits, and where they changed. */
#include "cmd/cmd.h"
#include "cmd/history_parts.h"
#include "cmd/saving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const arguments[] = {
	"add --commit SHA [--time TIME] [--db FILE] [--json FILE] PROFILE...",
	"report [--db FILE] [-o FILE] [--json FILE] [OPTIONS]",
	NULL,
};

static const char *const examples[] = {
	"gapline history add --commit \"$(git rev-parse --short HEAD)\" --time \"$(git log -1 --format=%cI)\" "
	"run.sqlite",
	"gapline history report -o trend.html --json trend.json",
	"gapline report @commit:1a2b3c4 @commit:5d6e7f8 -o report.html   # what a change consists of",
	NULL,
};

static const char *const statuses[] = {
	"0  done, whatever changed over the commits (--json says what)",
	"2  wrong usage, out of memory, or an output or the history cannot be written",
	"3  add: a profile cannot be read, or holds nothing to judge",
	"   report: the history cannot be read, or none of its commits can",
	NULL,
};

static const char about[] = "'add' keeps a commit's profiles, as digests, in a file; several jobs may add to it at the "
			    "same time, and what is "
			    "added to a commit that is there already are further runs of it. 'report' draws the time "
			    "per step over all commits "
			    "as a page, and names the commits at which it changed: what noise of any shape would bring "
			    "up about once in ten "
			    "thousand commits. A change shows with the fourth or fifth commit after it where fifty "
			    "came before. The order of "
			    "commits is that of their times, and without times the one in which they were added.";

static int add(struct history *h, const struct opt_list *profiles)
{
	struct err err;
	struct saving *saving = &h->saving;
	enum store_rule rule = h->force ? STORE_REPLACE : STORE_ADD;
	size_t n_new = 0;
	saving->entry.kind = STORE_COMMIT;
	saving->entry.name = h->commit;
	h->result.path = h->paths[HISTORY_JSON];
	int status = result_prepare(&h->result, &h->out, &err) || result_spares(&h->result, h->db, &err) ||
	                             saving_check(saving, h->db, rule, &err)
	                     ? CMD_WRONG_USAGE
	                     : saving_make(saving, profiles, h->quiet, &err);
	if (status)
		return cmd_fail(status, &err);
	if (saving_put(saving, h->db, rule, &n_new, &err) == STORE_FAILED)
		return cmd_fail(CMD_WRONG_USAGE, &err);
	size_t known = saving->entry.n - n_new;
	if (result_begin(&h->result, "history")) {
		result_text(&h->result, "db", h->db);
		result_text(&h->result, "commit", h->commit);
		json_integer(&h->result.json, "added", (int64_t)n_new);
		json_integer(&h->result.json, "known", (int64_t)known);
		result_text(&h->result, "machine", saving->entry.machine);
	}
	if (result_write(&h->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (h->quiet)
		return CMD_DONE;
	FILE *to = h->out.standard ? stderr : stdout;
	fprintf(to, "%s: %zu profile%s added to %s", h->commit, n_new, n_new == 1 ? "" : "s",
	        cmd_harmless(&saving->arena, h->db));
	if (known)
		fprintf(to, "; %zu %s in it already", known, known == 1 ? "was" : "were");
	fprintf(to, "; %s\n", cmd_harmless(&saving->arena, saving->entry.machine));
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
		{OPT_TEXT, 0, "db", "FILE", "where commits are kept (default: " CMD_STORE " in this folder)",
	         .text = &h.db},
		{OPT_TEXT, 0, "commit", "SHA", "add: the commit, or any other name of what was measured",
	         .text = &h.commit},
		{OPT_TEXT, 0, "time", "TIME",
	         "add: when it was committed, which orders commits: as in 2026-11-22T09:14:53+01:00, or seconds since "
	         "1970",
	         .text = &h.time},
		{OPT_FLAG, 0, "force", NULL, "add: replace what is there of this commit", .flag = &h.force},
		{OPT_OUTPUT, 'o', "output", "FILE", "report: write the page to FILE; '-' is standard output",
	         .text = &h.paths[HISTORY_HTML]},
		{OPT_OUTPUT, 0, "json", "FILE", "write the result for machines to FILE; '-' is standard output",
	         .text = &h.paths[HISTORY_JSON]},
		{OPT_TEXT, 0, "title", "TEXT", "report: the page's title", .text = &h.title},
		{OPT_DECIMAL, 0, "min-change", "PCT", "report: tell changes of PCT percent and more (default: 1)",
	         .decimal = &h.least, .min = 0.1, .max = 1000},
		{OPT_TEXT, 0, "step", "NAME",
	         "report: the NVTX range that is one step, or none (default: found automatically)",
	         .text = &h.analysis.step},
		{OPT_FLAG, 'q', "quiet", NULL, "print nothing but errors", .flag = &h.quiet},
	};
	const struct opt_usage usage = {"gapline history", arguments, about, options, sizeof options / sizeof *options,
	                                examples,          statuses};
	struct opt_list operands;
	int status = cmd_options(&usage, argc, argv, &h.saving.arena, &operands);
	if (status < 0)
		status = run(&h, &usage, &operands);
	output_release(&h.out);
	result_release(&h.result);
	saving_release(&h.saving);
	return status;
}
