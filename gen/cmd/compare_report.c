/* Sides of reports in the place of profiles: "gapline report main.html:fixed branch.sqlite". */
#include "cmd/compare.h"

#include <string.h>
#include <sys/stat.h>

static const char *const labels[] = {"baseline", "fixed"};

static bool is_page(const char *path)
{
	struct file_head head;
	struct err err;
	struct stat file;
	return stat(path, &file) == 0 && S_ISREG(file.st_mode) && file_look(path, &head, &err) == 0 &&
	       page_recognise(&head);
}

/* The page's path where what is given is a page and one of its sides; NULL. */
static const char *page_of(struct compare *c, const char *given, int *side)
{
	struct stat file;
	size_t n = strlen(given);
	for (*side = 0; *side < 2; ++*side) {
		size_t end = strlen(labels[*side]) + 1;
		if (n <= end || given[n - end] != ':' || strcmp(given + n - end + 1, labels[*side]) != 0 ||
		    stat(given, &file) == 0)
			continue;
		const char *path = arena_copy(&c->arena, given, n - end);
		if (is_page(path))
			return path;
	}
	return NULL;
}

int compare_find_report(struct compare *c, int s, struct err *err)
{
	const struct opt_list *given = &c->given[s];
	for (size_t i = 0; i < given->n; i++) {
		int side;
		const char *path = page_of(c, given->item[i], &side);
		if (!path && is_page(given->item[i])) {
			err_set(err, "%s: is a report, which has two sides: name one, %s:baseline or %s:fixed",
			        given->item[i], given->item[i], given->item[i]);
			return CMD_WRONG_USAGE;
		}
		if (!path)
			continue;
		if (given->n > 1) {
			err_set(err, "%s: a side of a report is a whole side; name no other file beside it", path);
			return CMD_WRONG_USAGE;
		}
		const char *option = c->analysis.step             ? "--step"
		                     : c->analysis.loop           ? "--loop"
		                     : c->analysis.warmup >= 0    ? "--warmup"
		                     : c->paths[COMPARE_PERFETTO] ? "--perfetto"
		                     : c->ncu[0] || c->ncu[1]     ? "--baseline-ncu and --fixed-ncu"
		                                                  : NULL;
		if (option) {
			err_set(err, "%s: %s needs the profiles themselves, and a report does not hold them", path,
			        option);
			return CMD_WRONG_USAGE;
		}
		c->report[s].path = path;
		c->report[s].side = side;
	}
	return CMD_DONE;
}

int compare_read_reports(struct compare *c, struct err *err)
{
	for (int s = 0; s < 2; s++) {
		struct compare_report *r = &c->report[s];
		if (!r->path)
			continue;
		struct arena scratch = {0};
		struct names names;
		struct page_evidence checked;
		names_init(&names, &scratch);
		int result = page_evidence_trust(r->path, &names, &scratch, &checked, err);
		page_evidence_release(&checked);
		arena_release(&scratch);
		if (result < 0 || page_evidence_read(r->path, &c->names, &c->arena, &r->evidence, err) < 0)
			return -1;
		c->analysis.table[s] = &r->evidence.tables;
		c->analysis.table_side[s] = r->side;
	}
	return 0;
}
