/* gapline scrub: a copy of a profile that can be shared. */
#include "base/file.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/result.h"
#include "read/scrub.h"
#include "say/say.h"

#include <string.h>

enum { TABLES_NAMED = 100, NAME_MOST = 80 }; /* a file can have as many as it likes, with any name */

struct scrub_command {
	const char *output;
	struct opt_list hide;
	bool keep_stacks, force, quiet;
	struct arena arena;
	struct result result; /* the copy, and what machines are told of it */
	struct scrub_copy copy;
	struct file_bytes packed;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), length = strlen(end);
	return n >= length && !strcmp(text + n - length, end);
}

static void add_count(struct facts *list, int64_t n, const char *what, struct arena *arena)
{
	if (n)
		FACT_ADD(list, arena, scrub_left_out, FACT_NO_SIDE, .n = n, .what = what);
}

static int say(const struct scrub_command *c, const char *profile)
{
	const struct scrub_copy *copy = &c->copy;
	ARENA_LOCAL(arena);
	struct facts left = {0};
	BUF_LOCAL(text);
	BUF_LOCAL(tables);
	add_count(&left, copy->options, "options", &arena);
	add_count(&left, copy->processes, "processes", &arena);
	add_count(&left, copy->threads, "threads", &arena);
	add_count(&left, copy->diagnostics, "messages", &arena);
	add_count(&left, copy->events, "events", &arena);
	add_count(&left, copy->strings, "strings", &arena);
	add_count(&left, (int64_t)copy->n_left_out, "tables", &arena);
	size_t named = copy->n_left_out < TABLES_NAMED ? copy->n_left_out : TABLES_NAMED;
	for (size_t i = 0; i < named; i++)
		buf_format(&tables, "%s%.*s", i ? ", " : "", NAME_MOST, cmd_harmless(&arena, copy->left_out[i]));
	buf_format(&text, "%s\n%s\n",
	           SAY(NULL, &arena, scrub_copy, .file = cmd_harmless(&arena, c->output),
	               .bytes = (int64_t)(c->packed.data ? c->packed.n : copy->n),
	               .profile = cmd_harmless(&arena, profile), .nothing = !left.n, .left_out = &left,
	               .tables = named ? arena_copy(&arena, tables.data, tables.n) : NULL,
	               .more = (int64_t)(copy->n_left_out - named)),
	           SAY(NULL, &arena, scrub_changed, .n = (int64_t)copy->masked, .run = copy->is_run));
	return result_print(&c->result, &text);
}

static int make_copy(struct scrub_command *c, const struct input *input, struct err *err)
{
	struct progress progress;
	progress_begin(&progress, c->quiet, "copying", input->bytes);
	struct scrub_request request = {.path = input->export ? input->export : input->path,
	                                .hide = c->hide.item,
	                                .n_hide = c->hide.n,
	                                .keep_stacks = c->keep_stacks,
	                                .meter = progress_meter(&progress)};
	int rc = scrub_profile(&request, &c->arena, &c->copy, err);
	progress_say(&progress, "packing");
	if (rc == 0 && ends_with(c->output, ".gz"))
		rc = file_pack(c->copy.bytes, c->copy.n, &c->packed, err);
	progress_end(&progress);
	return rc;
}

static void make_result(struct scrub_command *c, const char *profile)
{
	const struct scrub_copy *copy = &c->copy;
	struct json *json = result_begin(&c->result, "scrub");
	result_text(&c->result, "file", c->output);
	result_text(&c->result, "profile", profile);
	json_integer(json, "bytes", (int64_t)c->result.out[0].n);
	json_integer(json, "changed", (int64_t)copy->masked);
	json_object(json, "left_out");
	json_integer(json, "options", copy->options);
	json_integer(json, "processes", copy->processes);
	json_integer(json, "threads", copy->threads);
	json_integer(json, "messages", copy->diagnostics);
	json_integer(json, "events", copy->events);
	json_integer(json, "strings", copy->strings);
	for (size_t i = json_list(json, "tables"); json_more(json, i < copy->n_left_out); i++)
		result_text(&c->result, NULL, copy->left_out[i]);
	json_end_object(json);
}

static int scrub(struct scrub_command *c, const struct opt_list *operands)
{
	struct err err;
	struct inputs inputs;
	if (result_prepare(&c->result, c->output, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	int status = inputs_find_one(&inputs, operands, &c->arena, &err);
	if (status)
		return cmd_fail(status, &err);
	if (inputs_spared(&inputs, c->result.out, c->result.n_out, "the input", &err) ||
	    output_keep(&c->result.out[0], c->force, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (inputs_export(&inputs, 1, c->quiet, &c->arena, &err) || make_copy(c, &inputs.item[0], &err)) {
		inputs_name_report(&inputs, 1, &c->arena, &err);
		return cmd_fail(CMD_BAD_PROFILE, &err);
	}
	c->result.out[0].bytes = (const char *)(c->packed.data ? c->packed.data : c->copy.bytes);
	c->result.out[0].n = c->packed.data ? c->packed.n : c->copy.n;
	make_result(c, inputs.item[0].path);
	if (result_write(&c->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	return c->quiet ? CMD_DONE : say(c, inputs.item[0].path);
}

int cmd_scrub(int argc, char **argv)
{
	struct scrub_command c = {0};
	struct opt options[] = {
		{OPT_OUTPUT, 'o', "output", "FILE", .text = &c.output},
		{OPT_FLAG, 0, "force", NULL, .flag = &c.force},
		{OPT_LIST, 0, "hide", "WORD", .list = &c.hide},
		{OPT_FLAG, 0, "keep-stacks", NULL, .flag = &c.keep_stacks},
		result_option(&c.result),
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &c.quiet},
	};
	const struct opt_usage usage = cmd_describe("scrub", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n == 1 && c.output) {
		status = scrub(&c, &operands);
	} else if (status < 0) {
		if (operands.n > 1)
			err_set(&err, "one profile is wanted, and %zu are given", operands.n);
		else if (operands.n == 0)
			err_set(&err, "a profile is needed");
		else
			err_set(&err, "where the copy should go is missing: -o FILE");
		status = cmd_misuse(&usage, &err);
	}
	result_release(&c.result);
	scrub_release(&c.copy);
	file_release(&c.packed);
	arena_release(&c.arena);
	return status;
}
