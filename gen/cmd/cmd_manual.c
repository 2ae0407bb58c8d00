/* gapline manual, gapline completion: what an installation puts into the system's folders, from the option tables. */
#include "base/opt_complete.h"
#include "base/opt_manual.h"
#include "cmd/cmd.h"

#include <string.h>

static const char *const manual_arguments[] = {"[COMMAND]", NULL};
static const char *const manual_examples[] = {"gapline manual report | man -l -", NULL};
static const char *const completion_arguments[] = {"SHELL", NULL};
static const char *const completion_examples[] = {
	"source <(gapline completion bash)",
	"gapline completion zsh >\"${fpath[1]}/_gapline\"",
	"gapline completion fish >~/.config/fish/completions/gapline.fish",
	NULL,
};
static const char *const statuses[] = {"0  done", "2  wrong usage, or an output cannot be written", NULL};

static void overview(struct buf *out)
{
	buf_format(out, ".TH GAPLINE 1 \"\" \"gapline %s\" \"gapline\"\n.SH NAME\ngapline \\- ", cmd_version);
	buf_text(out, "where a fix of a CUDA program saved time, and how sure that is\n.SH SYNOPSIS\n.B gapline\n"
	              "COMMAND [OPTIONS] ...\n.SH DESCRIPTION\n");
	opt_roff("Takes two profiles of a CUDA workload, baseline and fixed, and says where the time went, why the GPU "
	         "waited, whether the fix worked and how sure that is.",
	         out);
	buf_text(out, "\n.SH COMMANDS\n");
	for (const struct cmd *c = cmd_table; c->name; c++) {
		buf_format(out, ".TP\n.BR gapline\\-%s (1)\n", c->name);
		opt_roff(c->summary, out);
		buf_text(out, "\n");
	}
}

struct described {
	const struct cmd *command;
	struct json json;
};

struct page {
	const struct cmd *command;
	struct buf *out;
};

static void add_page(void *context, const struct opt_usage *usage)
{
	const struct page *page = context;
	opt_manual(usage, page->command->summary, cmd_version, page->out);
}

static int no_such_command(const struct opt_usage *usage, const char *name)
{
	struct err err;
	err_set(&err, "there is no command '%s'", name);
	return cmd_misuse(usage, &err);
}

int cmd_manual(int argc, char **argv)
{
	const struct opt_usage usage = {"gapline manual",
	                                manual_arguments,
	                                "Prints the manual page of a command, or of gapline itself, for man(1).",
	                                NULL,
	                                0,
	                                manual_examples,
	                                statuses};
	struct arena arena = {0};
	struct opt_list operands;
	struct buf out = {0};
	int status = cmd_options(&usage, argc, argv, &arena, &operands);
	if (status < 0) {
		struct page page = {operands.n ? cmd_find(operands.item[0]) : NULL, &out};
		if (operands.n && !page.command) {
			status = no_such_command(&usage, operands.item[0]);
		} else {
			if (page.command)
				cmd_usage(page.command, add_page, &page);
			else
				overview(&out);
			status = cmd_print(out.data, out.n);
		}
	}
	buf_release(&out);
	arena_release(&arena);
	return status;
}

static void add_json(void *context, const struct opt_usage *usage)
{
	struct described *d = context;
	opt_json(usage, d->command->summary, &d->json);
}

int cmd_help_json(const struct cmd *only)
{
	struct err err;
	struct buf out = {0};
	struct described d;
	json_init(&d.json, &out);
	json_object(&d.json, NULL);
	json_text(&d.json, "schema", "gapline-help/1");
	json_text(&d.json, "gapline", cmd_version);
	json_array(&d.json, "commands");
	for (d.command = cmd_table; d.command->name; d.command++)
		if (!only || d.command == only)
			cmd_usage(d.command, add_json, &d);
	json_end_array(&d.json);
	json_end_object(&d.json);
	int status = json_finish(&d.json, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : cmd_print(out.data, out.n);
	buf_release(&out);
	return status;
}

struct script {
	enum opt_shell shell;
	const struct cmd *command;
	struct buf *out;
};

static void add_command(void *context, const struct opt_usage *usage)
{
	const struct script *s = context;
	opt_complete_command(s->shell, usage, s->command->name, s->command->summary, s->out);
}

static int print_script(enum opt_shell shell, struct arena *arena)
{
	size_t n = 0;
	struct buf out = {0};
	while (cmd_table[n].name)
		n++;
	const char **names = ARENA_NEW(arena, n + 1, const char *), **summaries = ARENA_NEW(arena, n + 1, const char *);
	opt_complete_begin(shell, &out);
	for (size_t i = 0; i < n; i++) {
		struct script script = {shell, &cmd_table[i], &out};
		names[i] = cmd_table[i].name;
		summaries[i] = cmd_table[i].summary;
		cmd_usage(&cmd_table[i], add_command, &script);
	}
	opt_complete_end(shell, names, summaries, &out);
	int status = cmd_print(out.data, out.n);
	buf_release(&out);
	return status;
}

int cmd_completion(int argc, char **argv)
{
	static const char *const shells[] = {"bash", "zsh", "fish", NULL}; /* as in enum opt_shell */
	const struct opt_usage usage = {"gapline completion",
	                                completion_arguments,
	                                "Prints what makes a shell (bash, zsh or fish) complete gapline's commands, "
	                                "options and their values.",
	                                NULL,
	                                0,
	                                completion_examples,
	                                statuses};
	struct arena arena = {0};
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &arena, &operands), shell = 0;
	if (status < 0) {
		while (operands.n == 1 && shells[shell] && strcmp(shells[shell], operands.item[0]))
			shell++;
		err_set(&err, "the shell is to be bash, zsh or fish");
		status = operands.n == 1 && shells[shell] ? print_script((enum opt_shell)shell, &arena)
		                                          : cmd_misuse(&usage, &err);
	}
	arena_release(&arena);
	return status;
}
