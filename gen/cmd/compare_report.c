/* Sides of reports in the place of profiles: "gapline report main.html:fixed branch.sqlite", and those that a history
 * keeps. */
#include "cmd/compare.h"
#include "cmd/saving.h"

#include <string.h>

/* What needs rows. */
static int check_options(const struct compare *c, const char *path, struct err *err)
{
	const char *option = c->requests                  ? "--requests"
	                     : c->analysis.first          ? "--first"
	                     : c->analysis.each           ? "--each"
	                     : c->analysis.step           ? "--step"
	                     : c->analysis.loop           ? "--loop"
	                     : c->analysis.warmup >= 0    ? "--warmup"
	                     : c->paths[COMPARE_PERFETTO] ? "--perfetto"
	                     : c->ncu[0]                  ? "--baseline-ncu"
	                     : c->ncu[1]                  ? "--fixed-ncu"
	                     : c->graph_nodes[0]          ? "--baseline-graph-nodes"
	                     : c->graph_nodes[1]          ? "--fixed-graph-nodes"
	                                                  : NULL;
	if (!option)
		return CMD_DONE;
	return CMD_ERROR(CMD_WRONG_USAGE, err,
	                 "%s: %s needs the profiles themselves; name those in the place of the report", path, option);
}

int compare_find_report(struct compare *c, int s, struct err *err)
{
	const struct opt_list *given = &c->given[s];
	struct compare_report *report = &c->report[s];
	for (size_t i = 0; i < given->n; i++) {
		const char *path;
		int found = page_find_side(given->item[i], &c->arena, &path, &report->side, err);
		if (found < 0)
			return CMD_WRONG_USAGE;
		if (!found)
			continue;
		if (given->n > 1)
			return CMD_ERROR(CMD_WRONG_USAGE, err,
			                 "%s: a side of a report is a whole side; name no other file beside it", path);
		report->path = path;
		return check_options(c, path, err);
	}
	return CMD_DONE;
}

int compare_find_saved(struct compare *c, int s, struct err *err)
{
	struct inputs *in = &c->sides[s];
	struct compare_report *report = &c->report[s];
	int found = inputs_saved_side(in, &report->side, err);
	if (found <= 0)
		return found < 0 ? CMD_BAD_PROFILE : CMD_DONE;
	report->path = in->item[0].path;
	report->saved = in->item;
	in->n = 0;
	return check_options(c, report->path, err);
}

/* Of one report both sides are read at once: their steps were found beside each other. */
static bool is_read(struct compare *c, int s)
{
	const struct compare_report *other = &c->report[0], *r = &c->report[s];
	if (!s || !other->path || strcmp(other->path, r->path) != 0 || other->side == r->side)
		return false;
	c->analysis.table[s] = c->analysis.table[0];
	return true;
}

int compare_read_reports(struct compare *c, struct err *err)
{
	for (int s = 0; s < 2; s++) {
		struct compare_report *r = &c->report[s];
		struct page_evidence *e = &r->evidence;
		if (!r->path)
			continue;
		c->analysis.table_side[s] = r->side;
		if (is_read(c, s))
			continue;
		if (r->saved) {
			if (inputs_read_side(r->saved, &c->names, &c->arena, &e->tables, err) < 0)
				return -1;
		} else if (page_evidence_check(r->path, err) < 0 ||
		           page_evidence_read(r->path, &c->names, &c->arena, e, err) < 0) {
			return -1;
		}
		c->analysis.table[s] = &e->tables;
	}
	return 0;
}
