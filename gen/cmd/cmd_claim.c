/* gapline claim: what a report shows, as a small JSON. */
#include "analyse/analyse.h"
#include "cmd/claim.h"
#include "cmd/cmd.h"
#include "cmd/page.h"

static int claim(const char *path, struct output *out, struct arena *arena)
{
	struct names names;
	struct page_evidence evidence = {0};
	BUF_LOCAL(bytes);
	struct err err;
	names_init(&names, arena);
	int status = CMD_BAD_PROFILE;
	if (page_evidence_trust(path, &names, arena, &evidence, &err) == 0) {
		const struct analysis analysis = analyse_tables(&evidence.tables, &names, arena);
		status = claim_write(&analysis, evidence.maker.checksum, &bytes, &err) < 0 ? CMD_WRONG_USAGE : CMD_DONE;
	}
	out->bytes = bytes.data;
	out->n = bytes.n;
	if (status == CMD_DONE && output_write(out, 1, &err) < 0)
		status = CMD_WRONG_USAGE;
	if (status != CMD_DONE)
		cmd_fail(status, &err);
	page_evidence_release(&evidence);
	return status;
}

int cmd_claim(int argc, char **argv)
{
	ARENA_LOCAL(arena);
	struct output out = {0};
	const char *path = NULL;
	bool force = false, quiet = false;
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "json", "FILE", .text = &path},
		{OPT_FLAG, 0, "force", NULL, .flag = &force},
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &quiet},
	};
	const struct opt_usage usage = cmd_describe("claim", options, sizeof options / sizeof *options);
	struct opt_list operands = {0};
	struct err err;
	int status = cmd_options(&usage, argc, argv, &arena, &operands);
	if (status < 0 && (operands.n != 1 || !path)) {
		err_set(&err,
		        operands.n != 1 ? "one report is wanted, and %zu are given" : "name the claim with -o FILE",
		        operands.n);
		status = cmd_misuse(&usage, &err);
	} else if (status < 0) {
		int refused = output_prepare(&out, path, &err);
		if (refused == 0 && output_replaces_path(&out, operands.item[0]))
			refused = err_set(&err, "%s: this output would replace an input", path);
		if (refused < 0 || output_keep(&out, force, &err))
			status = cmd_fail(CMD_WRONG_USAGE, &err);
		else
			status = claim(operands.item[0], &out, &arena);
		if (status == CMD_DONE && !quiet)
			cmd_say_written(&out, 1);
	}
	output_release(&out);
	return status;
}
