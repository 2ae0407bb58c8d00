/* gapline report: two sides -> report, JSON, verdict, exit status. */
#include "cmd/compare.h"
#include "cmd/variants.h"

/* The two ways of naming the sides must not be mixed: which file would belong to which side? */
static int name_sides(struct compare *c, struct opt_list *operands, struct err *err)
{
	struct opt_list *baseline = &c->given[0], *fixed = &c->given[1];
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

static int check_variants(const struct compare *c, const struct opt_list *operands, struct err *err)
{
	if (operands->n)
		return err_set(err, "'%s' belongs to no variant: with --variant, every file needs a name",
		               operands->item[0]);
	return c->given[0].n || c->given[1].n ? err_set(err, "--variant takes the place of --baseline and --fixed") : 0;
}

/* What was printed, and what to look for in it, are given together. */
static int check_outputs(const struct compare *c, struct err *err)
{
	if (c->evidence && !c->paths[COMPARE_JSON])
		return err_set(err, "--evidence goes into the JSON; name it with --json FILE");
	bool any = c->outputs_of[0].n || c->outputs_of[1].n, both = c->outputs_of[0].n && c->outputs_of[1].n;
	if (c->pattern && !both)
		return err_set(err, "--compare-output needs what both programs printed: --baseline-output FILE and "
		                    "--fixed-output FILE");
	if (any && !c->pattern)
		return err_set(err, "--%s-output needs --compare-output beside it: which numbers to compare",
		               c->outputs_of[0].n ? "baseline" : "fixed");
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct compare c;
	struct opt_list variants = {0};
	struct variants_given given;
	compare_init(&c);
	c.db = CMD_STORE;
	struct opt_rows rows = {0};
	OPT_ADD(&rows, {OPT_OUTPUT, 'o', "output", "FILE", .text = &c.paths[COMPARE_HTML]});
	compare_output_options(&c, &rows);
	compare_step_options(&c, &rows);
	OPT_ADD(&rows, {OPT_LIST, 0, "baseline", "FILE", .list = &c.given[0]},
	        {OPT_LIST, 0, "fixed", "FILE", .list = &c.given[1]},
	        {OPT_LIST, 0, "variant", "NAME=FILE", .list = &variants}, {OPT_TEXT, 0, "db", "FILE", .text = &c.db},
	        {OPT_TEXT, 0, "baseline-ncu", "FILE", .text = &c.ncu[0]},
	        {OPT_TEXT, 0, "fixed-ncu", "FILE", .text = &c.ncu[1]},
	        {OPT_TEXT, 0, "baseline-graph-nodes", "FILE", .text = &c.graph_nodes[0]},
	        {OPT_TEXT, 0, "fixed-graph-nodes", "FILE", .text = &c.graph_nodes[1]},
	        {OPT_LIST, 0, "baseline-output", "FILE", .list = &c.outputs_of[0]},
	        {OPT_LIST, 0, "fixed-output", "FILE", .list = &c.outputs_of[1]});
	compare_result_options(&c, &rows);
	compare_print_options(&c, &rows, &c.quiet);
	const struct opt_usage usage = cmd_describe("report", rows.row, rows.n);
	struct opt_list operands = {0};
	struct err err;
	compare_watch_memory(&c, &operands);
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0) {
		bool several = variants.n > 0;
		if (compare_begin(&c, &err) ||
		    (several ? check_variants(&c, &operands, &err) || variants_named(&c, &variants, &given, &err) ||
		                       variants_check(&c, &err)
		             : name_sides(&c, &operands, &err)) ||
		    check_outputs(&c, &err))
			status = cmd_misuse(&usage, &err);
		else
			status = several ? variants_report(&c, &given, &err) : compare_sides(&c);
	}
	if (!c.quiet && !variants.n && (status == CMD_DONE || status == CMD_GATE_NOT_MET || status == CMD_INCONCLUSIVE))
		cmd_say_written(c.outputs, c.n_outputs);
	compare_write_error(&c, &operands, status);
	compare_release(&c);
	return status;
}
