/* gapline report: two sides -> report, JSON, verdict, exit status. */
#include "cmd/compare.h"
#include "cmd/variants.h"

static const char *const arguments[] = {
	"[OPTIONS] BASELINE FIXED",
	"[OPTIONS] --baseline FILE ... --fixed FILE ...",
	"[OPTIONS] --variant NAME=FILE ... --variant NAME=FILE ...",
	NULL,
};

static const char *const examples[] = {
	"gapline report baseline.sqlite fixed.sqlite -o report.html",
	"gapline report before.sqlite.gz after.sqlite.gz --json result.json --min-speedup 1.2",
	"gapline report --baseline 'runs/base-*.sqlite' --fixed runs/fixed/ -o report.html",
	"gapline report main.sqlite branch.sqlite --max-regression 3 --require-comparable",
	"gapline report --baseline @main --fixed branch.sqlite   # what 'gapline save main' has kept",
	"gapline report main.html:fixed branch.sqlite   # one side of an older report",
	"gapline report main.sqlite branch.sqlite --gate 'idle<5%' --gate 'phase:data_load.cost<10%'",
	"gapline report main.sqlite branch.sqlite --perfetto both.json.gz   # for ui.perfetto.dev",
	"gapline report a.sqlite b.sqlite --compare-output 'loss=' --baseline-output a.log --fixed-output b.log",
	"gapline report --variant eager='e-*.sqlite' --variant graph='g-*.sqlite' --variant both='b-*.sqlite' -o "
	"all.html",
	"gapline report before.pt.trace.json.gz after.pt.trace.json.gz -o report.html   # torch.profiler",
	NULL,
};

static const char about[] =
	"Compares two profiles of one workload and says whether the fix worked. The verdict goes to the terminal, the "
	"evidence into the report. A side is an nsys SQLite export or a trace of the PyTorch profiler, plain or packed "
	"(gzip, zstd), a digest (gapline digest), a side of a report (main.html:fixed), a folder of them or a quoted "
	"pattern; several files are repeats of "
	"the side's run, or its "
	"ranks: --files-are.";

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
	compare_init(&c);
	c.db = CMD_STORE;
	struct opt options[COMPARE_OPTIONS_MAX + 10] = {
		{OPT_OUTPUT, 'o', "output", "FILE", "write the HTML report to FILE; '-' is standard output",
	         .text = &c.paths[COMPARE_HTML]},
	};
	const struct opt sides[] = {
		{OPT_LIST, 0, "baseline", "FILE",
	         "a run of the baseline: a file, a folder or a quoted pattern; may be repeated", .list = &c.given[0]},
		{OPT_LIST, 0, "fixed", "FILE", "a run of the fixed side, likewise", .list = &c.given[1]},
		{OPT_LIST, 0, "variant", "NAME=FILE",
	         "a run of one of up to eight variants, in the place of both sides: the first name is the baseline, "
	         "and "
	         "intervals hold together; may be repeated, of four runs of each at least",
	         .list = &variants},
		{OPT_TEXT, 0, "db", "FILE",
	         "where @NAME, a baseline of 'gapline save', and @commit:SHA, of 'gapline history', are kept "
	         "(default: " CMD_STORE " in this folder)",
	         .text = &c.db},
		{OPT_TEXT, 0, "baseline-ncu", "FILE",
	         "what Nsight Compute measured of the baseline's kernels: its CSV (ncu --csv, details or raw page), or "
	         "a .ncu-rep where ncu is installed",
	         .text = &c.ncu[0]},
		{OPT_TEXT, 0, "fixed-ncu", "FILE", "the same of the fixed side", .text = &c.ncu[1]},
		{OPT_LIST, 0, "baseline-output", "FILE",
	         "what a run of the baseline printed, for --compare-output; may be repeated", .list = &c.outputs_of[0]},
		{OPT_LIST, 0, "fixed-output", "FILE", "the same of the fixed side", .list = &c.outputs_of[1]},
	};
	size_t n = 1;
	options[n++] = compare_evidence_option(&c);
	n += compare_output_options(&c, options + n);
	n += compare_step_options(&c, options + n);
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
		options[n++] = sides[i];
	n += compare_result_options(&c, options + n);
	n += compare_print_options(&c, options + n, &c.quiet, "print nothing but errors");
	const struct opt_usage usage = {"gapline report", arguments, about, options, n, examples, cmd_gate_statuses};
	struct opt_list operands = {0};
	struct err err;
	compare_watch_memory(&c, &operands);
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0) {
		bool several = variants.n > 0;
		if (compare_begin(&c, &err) ||
		    (several ? check_variants(&c, &operands, &err) : name_sides(&c, &operands, &err)) ||
		    check_outputs(&c, &err))
			status = cmd_misuse(&usage, &err);
		else if ((status = several ? variants_report(&c, &variants, &err) : compare_sides(&c)) ==
		         CMD_VARIANTS_MISUSE)
			status = cmd_misuse(&usage, &err);
	}
	if (!c.quiet && !variants.n && (status == CMD_DONE || status == CMD_GATE_NOT_MET || status == CMD_INCONCLUSIVE))
		cmd_say_written(c.outputs, c.n_outputs);
	compare_write_error(&c, &operands, status);
	compare_release(&c);
	return status;
}
