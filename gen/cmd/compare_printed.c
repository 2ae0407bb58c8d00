/* What the programs of both sides printed: --compare-output. */
#include "cmd/compare.h"

#include "base/file.h"
#include "read/printed.h"

static const double USUAL_TOLERANCE = 0.001;

int compare_check_printed(const struct compare *c, struct err *err)
{
	regex_t pattern;
	if (!c->pattern && c->tolerance >= 0)
		return err_set(err, "--tolerance needs --compare-output beside it");
	if (!c->pattern)
		return 0;
	if (printed_pattern(c->pattern, &pattern, err))
		return -1;
	regfree(&pattern);
	return 0;
}

int compare_read_printed(struct compare *c, struct err *err)
{
	regex_t pattern;
	struct printed *p = &c->printed;
	int rc = 0;
	if (!c->pattern)
		return 0;
	if (printed_pattern(c->pattern, &pattern, err))
		return -1;
	*p = (struct printed){.pattern = cmd_named(&c->names, c->pattern),
	                      .tolerance = c->tolerance >= 0 ? c->tolerance : USUAL_TOLERANCE};
	for (int s = 0; s < 2; s++) {
		const struct opt_list *files = &c->outputs_of[s];
		struct printed_run *run = ARENA_NEW(&c->arena, files->n, struct printed_run);
		for (size_t i = 0; i < files->n && !rc; i++) {
			rc = printed_read(files->item[i], &pattern, &c->arena, &run[i], err);
			run[i].file = cmd_named(&c->names, file_name(files->item[i]));
		}
		p->run[s] = run;
		p->n[s] = files->n;
	}
	regfree(&pattern);
	c->analysis.printed = p;
	return rc;
}

void compare_result_options(struct compare *c, struct opt_rows *rows)
{
	OPT_ADD(rows, {OPT_TEXT, 0, "compare-output", "PATTERN", .text = &c->pattern},
	        {OPT_DECIMAL, 0, "tolerance", "REL", .decimal = &c->tolerance, .max = 1});
}
