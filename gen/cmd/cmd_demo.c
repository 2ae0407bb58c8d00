/* gapline demo: a report of a pair of profiles that is part of the program. */
#include "cmd/compare.h"
#include "render/assets.h"

static const char next[] = "Next:\n"
			   "  gapline doctor                                 what this machine can record\n"
			   "  gapline run --baseline 'A' --fixed 'B' -o out  compare two commands\n"
			   "  gapline report A B -o report.html              compare two profiles\n";

int cmd_demo(int argc, char **argv)
{
	const char *names[] = {"baseline.sqlite.gz", "fixed.sqlite.gz"};
	struct compare c;
	compare_init(&c);
	c.paths[COMPARE_HTML] = "gapline-demo.html";
	c.built_in[0] = &asset_baseline_digest;
	c.built_in[1] = &asset_fixed_digest;
	for (size_t s = 0; s < 2; s++)
		c.given[s] = (struct opt_list){&names[s], 1};
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &c.paths[COMPARE_HTML]},
		{OPT_OUTPUT, 0, "json", "FILE", .text = &c.paths[COMPARE_JSON]},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &c.quiet},
	};
	const struct opt_usage usage = cmd_describe("demo", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n) {
		err_set(&err, "no argument is needed, and '%s' is given", operands.item[0]);
		status = cmd_misuse(&usage, &err);
	} else if (status < 0) {
		status = compare_begin(&c, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : compare_sides(&c);
		if (!c.quiet && status == CMD_DONE) {
			cmd_say_written(c.outputs, c.n_outputs);
			fputs(next, stderr);
		}
	}
	compare_release(&c);
	return status;
}
