/* gapline digest: the profiles of one run -> a small file that a report takes in their place. */
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/result.h"
#include "read/digest.h"
#include "say/say.h"

struct digest_command {
	const char *output;
	bool force, quiet;
	struct arena arena;
	struct names names;
	struct inputs inputs;
	struct result result; /* the digest, and what machines are told of it */
	struct digest_made made;
};

static int make(struct digest_command *c, struct err *err)
{
	struct progress progress;
	struct inputs *in = &c->inputs;
	if (inputs_begin(in, 1, c->quiet, &progress, &c->arena, err))
		return CMD_BAD_PROFILE;
	const struct read_wish wish = {.meter = progress_meter(&progress)};
	names_init(&c->names, &c->arena);
	int status = inputs_read(in, 1, &wish, &c->names, &c->arena, err) ? CMD_BAD_PROFILE : CMD_DONE;
	if (!status) {
		progress_say(&progress, "packing");
		inputs_group(in, RANKS_TELL, &c->names, &c->arena);
		if (in->n_runs > 1)
			status = CMD_ERROR(CMD_WRONG_USAGE, err,
			                   "these are %zu runs, and a digest holds one: make one of each (%s)",
			                   in->n_runs, in->note ? in->note : in->why);
	}
	if (!status && in->run[0].trace.n_clocks)
		status = CMD_ERROR(CMD_WRONG_USAGE, err,
		                   "these are of %u hosts, whose clocks can only be told beside all of the run's "
		                   "ranks: make a digest on each host",
		                   in->run[0].trace.n_clocks);
	if (!status) {
		struct trace *trace = &in->run[0].trace;
		status = digest_make(c->output, trace, &c->arena, &c->made, err) ? CMD_BAD_PROFILE : CMD_DONE;
	}
	progress_end(&progress);
	return status;
}

static int say(const struct digest_command *c)
{
	ARENA_LOCAL(arena);
	BUF_LOCAL(text);
	buf_format(&text, "%s\n",
	           SAY(NULL, &arena, digest_is, .file = cmd_harmless(&arena, c->output), .bytes = (int64_t)c->made.n,
	               .events = (int64_t)c->made.rows, .files = (int64_t)c->inputs.n,
	               .left_out = (int64_t)c->made.left_out));
	return result_print(&c->result, &text);
}

static void make_result(struct digest_command *c)
{
	struct json *json = result_begin(&c->result, "digest");
	result_text(&c->result, "file", c->output);
	json_integer(json, "bytes", (int64_t)c->made.n);
	json_integer(json, "events", (int64_t)c->made.rows);
	json_integer(json, "files", (int64_t)c->inputs.n);
	json_integer(json, "left_out", (int64_t)c->made.left_out);
}

static int digest_profiles(struct digest_command *c, const struct opt_list *operands)
{
	struct err err;
	if (result_prepare(&c->result, c->output, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = inputs_find(&c->inputs, "profile", operands, &c->arena, &err);
	if (!status && (inputs_spared(&c->inputs, c->result.out, c->result.n_out, "the input", &err) ||
	                output_keep(&c->result.out[0], c->force, &err)))
		status = CMD_WRONG_USAGE;
	if (status)
		return cmd_fail(status, &err);
	status = make(c, &err);
	if (status)
		return cmd_fail(status, &err);
	c->result.out[0].bytes = (const char *)c->made.data;
	c->result.out[0].n = c->made.n;
	make_result(c);
	if (result_write(&c->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	return c->quiet ? CMD_DONE : say(c);
}

int cmd_digest(int argc, char **argv)
{
	struct digest_command c = {0};
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &c.output},
		{OPT_FLAG, 0, "force", NULL, .flag = &c.force},
		result_option(&c.result),
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &c.quiet},
	};
	const struct opt_usage usage = cmd_describe("digest", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n && c.output) {
		status = digest_profiles(&c, &operands);
	} else if (status < 0) {
		if (operands.n == 0)
			err_set(&err, "a profile is needed");
		else
			err_set(&err, "where the digest should go is missing: -o FILE");
		status = cmd_misuse(&usage, &err);
	}
	result_release(&c.result);
	digest_release(&c.made);
	arena_release(&c.arena);
	return status;
}
