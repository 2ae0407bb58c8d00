/* gapline capture: one program -> one profile. */
#include "base/proc.h"
#include "capture/recover.h"
#include "cmd/capturing.h"
#include "cmd/result.h"

#include <math.h>
#include <string.h>

struct capture_command {
	const char *file;
	bool force, quiet, recover;
	struct capturing capturing;
	struct result result;
	struct arena arena;
};

static int write_result(struct capture_command *o, const struct capture_result *result, struct err *err)
{
	struct json *json = result_begin(&o->result, "capture");
	bool whole = !strcmp(result->complete, "yes");
	result_text(&o->result, "file", result->file);
	result_text(&o->result, "collector", o->recover ? NULL : o->capturing.chosen.type->name);
	json_bool(json, "complete", whole);
	result_text(&o->result, "incomplete", whole ? NULL : result->complete);
	json_ms(json, "elapsed_ms", o->recover ? NAN : (double)result->elapsed_ns);
	return result_write(&o->result, err);
}

/* What is to be said about the end, worst first; the status to end with. */
static int tell(struct capture_command *o, const struct capture_result *result, int rc, const struct err *err)
{
	struct err say, write;
	char words[80];
	proc_status_text(result->status, words, sizeof words);
	if (rc && !result->started)
		return cmd_fail(CMD_WRONG_USAGE, err);
	if (rc && (result->failed || result->interrupted)) {
		err_set_id(&say, result->failed ? ERR_PROGRAM_FAILED : ERR_INTERRUPTED, "%s%s; there is no profile: %s",
		           result->failed ? "the program failed: " : "interrupted", result->failed ? words : "",
		           err->text);
		return cmd_fail(CMD_BAD_PROFILE, &say);
	}
	if (rc)
		return cmd_fail(result->unwritable ? CMD_WRONG_USAGE : CMD_BAD_PROFILE, err);
	bool whole = !strcmp(result->complete, "yes");
	err_set_id(&say,
	           result->failed        ? ERR_PROGRAM_FAILED
	           : result->interrupted ? ERR_INTERRUPTED
	                                 : ERR_OTHER,
	           "%s: %s, %s", result->file, capturing_time_text(result->elapsed_ns, &o->arena),
	           whole ? "complete" : result->complete);
	if (write_result(o, result, &write))
		return cmd_fail(CMD_WRONG_USAGE, &write);
	if (result->failed || result->interrupted)
		return cmd_fail(CMD_BAD_PROFILE, &say);
	if (!o->quiet || !whole)
		fprintf(stderr, "gapline: %s\n", cmd_harmless(&o->arena, say.text));
	return CMD_DONE;
}

static int capture(struct capture_command *o, const char *const *command)
{
	struct err err;
	struct capture_result result;
	struct capturing *c = &o->capturing;
	proc_catch_signals();
	if (capturing_choose(c, &command, 1, &o->arena, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (!o->quiet && c->collector == COLLECTOR_AUTO)
		fprintf(stderr, "gapline: collector: %s\n", capturing_collector_text(c, &o->arena));
	const struct capture_request request = {
		.collector = &c->chosen,
		.options = &c->options,
		.command = command,
		.file = o->file,
		.replace = o->force,
		.output = -1,
		.interactive = true,
		.keep_failed = true,
		.version = cmd_version,
	};
	int rc = capture_one(&request, &o->arena, &result, &err);
	capturing_say_messages(c, &result, "gapline", &o->arena);
	return tell(o, &result, rc, &err);
}

static int recover(struct capture_command *o)
{
	struct err err;
	struct capture_result result;
	const struct recover_request request = {.file = o->file, .replace = o->force, .version = cmd_version};
	int rc = capture_recover(&request, &o->arena, &result, &err);
	capturing_say_messages(&o->capturing, &result, "gapline", &o->arena);
	if (rc)
		return cmd_fail(result.unwritable ? CMD_WRONG_USAGE : CMD_BAD_PROFILE, &err);
	if (write_result(o, &result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	fprintf(stderr, "gapline: %s: %s\n", cmd_harmless(&o->arena, result.file), result.complete);
	return CMD_DONE;
}

int cmd_capture(int argc, char **argv)
{
	struct capture_command o = {0};
	struct opt_rows rows = {0};
	OPT_ADD(&rows, {OPT_OUTPUT, 'o', "output", "FILE", .text = &o.file},
	        {OPT_FLAG, 0, "force", NULL, .flag = &o.force}, {OPT_FLAG, 0, "recover", NULL, .flag = &o.recover},
	        result_option(&o.result));
	capturing_options(&o.capturing, &rows);
	OPT_ADD(&rows, {OPT_FLAG, 'q', "quiet", NULL, .flag = &o.quiet});
	const struct opt_usage usage = cmd_describe("capture", rows.row, rows.n);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &o.arena, &operands);
	if (status < 0) {
		if (o.recover && operands.n)
			err_set(&err, "--recover runs no command, and '%s' is one", operands.item[0]);
		else if (!operands.n && !o.recover)
			err_set(&err, "a command is needed: gapline capture -o FILE -- COMMAND ...");
		else if (!o.file)
			err_set(&err, "a file for the profile is needed: -o FILE");
		bool complete = !operands.n == o.recover && o.file && !capturing_settle(&o.capturing, &err);
		if (!complete)
			status = cmd_misuse(&usage, &err);
		else if (result_prepare(&o.result, NULL, &err))
			status = cmd_fail(CMD_WRONG_USAGE, &err);
		else
			status = o.recover ? recover(&o) : capture(&o, operands.item);
	}
	result_release(&o.result);
	cmd_end(status);
	arena_release(&o.arena);
	proc_die_of_interrupt();
	return status;
}
