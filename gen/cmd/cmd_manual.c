/* gapline manual, gapline completion: what an installation puts into the system's folders, from the option tables. */
#include "base/json_writer.h"
#include "cmd/cmd.h"
#include "say/say.h"

#include <string.h>

static void overview(struct buf *out)
{
	const struct say_help *help = say_help("gapline");
	buf_format(out, ".TH GAPLINE 1 \"\" \"gapline %s\" \"gapline\"\n.SH NAME\ngapline \\- ", cmd_version);
	buf_format(out, "%s\n.SH SYNOPSIS\n.B gapline\n%s\n.SH DESCRIPTION\n", help->does, *help->usage);
	opt_roff(help->about, out);
	buf_text(out, "\n.SH COMMANDS\n");
	for (const struct cmd *c = cmd_table; c->name; c++) {
		buf_format(out, ".TP\n.BR gapline\\-%s (1)\n", c->name);
		opt_roff(say_help(c->name)->does, out);
		buf_text(out, "\n");
	}
}

/* What is made of the usage of one command after the other. */
struct made {
	const struct cmd *command;
	struct buf *out;
	struct json json;
	enum opt_shell shell;
};

static void add_page(void *context, const struct opt_usage *usage)
{
	const struct made *made = context;
	opt_manual(usage, say_help(made->command->name)->does, cmd_version, made->out);
}

static int no_such_command(const struct opt_usage *usage, const char *name)
{
	struct err err;
	err_set(&err, "there is no command '%s'", name);
	return cmd_misuse(usage, &err);
}

int cmd_manual(int argc, char **argv)
{
	const struct opt_usage usage = cmd_describe("manual", NULL, 0);
	ARENA_LOCAL(arena);
	struct opt_list operands;
	BUF_LOCAL(out);
	int status = cmd_options(&usage, argc, argv, &arena, &operands);
	if (status < 0) {
		struct made page = {.command = operands.n ? cmd_find(operands.item[0]) : NULL, .out = &out};
		if (page.command)
			cmd_usage(page.command, add_page, &page);
		else
			overview(&out);
		status = operands.n && !page.command ? no_such_command(&usage, operands.item[0])
		                                     : cmd_print(out.data, out.n);
	}
	return status;
}

static void add_json(void *context, const struct opt_usage *usage)
{
	struct made *made = context;
	opt_json(usage, say_help(made->command->name)->does, &made->json);
}

int cmd_help_json(const struct cmd *only)
{
	struct err err;
	BUF_LOCAL(out);
	struct made d;
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
	return json_finish(&d.json, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : cmd_print(out.data, out.n);
}

static void add_command(void *context, const struct opt_usage *usage)
{
	const struct made *s = context;
	opt_complete_command(s->shell, usage, s->command->name, say_help(s->command->name)->does, s->out);
}

static int print_script(enum opt_shell shell, struct arena *arena)
{
	size_t n = 0;
	BUF_LOCAL(out);
	while (cmd_table[n].name)
		n++;
	const char **names = ARENA_NEW(arena, n + 1, const char *), **summaries = ARENA_NEW(arena, n + 1, const char *);
	opt_complete_begin(shell, &out);
	for (size_t i = 0; i < n; i++) {
		struct made script = {.command = &cmd_table[i], .out = &out, .shell = shell};
		names[i] = cmd_table[i].name;
		summaries[i] = say_help(cmd_table[i].name)->does;
		cmd_usage(&cmd_table[i], add_command, &script);
	}
	opt_complete_end(shell, names, summaries, &out);
	return cmd_print(out.data, out.n);
}

int cmd_completion(int argc, char **argv)
{
	static const char *const shells[] = {"bash", "zsh", "fish", NULL}; /* as in enum opt_shell */
	const struct opt_usage usage = cmd_describe("completion", NULL, 0);
	ARENA_LOCAL(arena);
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
	return status;
}
