#include "cmd/cmd.h"

#include "base/memory.h"
#include "base/output.h"
#include "say/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COMMON_OPTIONS = 2 };

const char cmd_version[] = GAPLINE_VERSION;

const struct cmd cmd_table[] = {
	{"report", cmd_report, true},
	{"run", cmd_run, true},
	{"capture", cmd_capture, true},
	{"show", cmd_show, true},
	{"stats", cmd_stats, true},
	{"export", cmd_export, true},
	{"scrub", cmd_scrub, true},
	{"digest", cmd_digest, true},
	{"save", cmd_save, true},
	{"history", cmd_history, true},
	{"verify", cmd_verify, false},
	{"claim", cmd_claim, false},
	{"check", cmd_check, false},
	{"demo", cmd_demo, false},
	{"doctor", cmd_doctor, false},
	{"manual", cmd_manual, false},
	{"completion", cmd_completion, false},
	{0},
};

const char *const cmd_colours[] = {"auto", "always", "never", NULL};

static bool use_colour(int colour, int fd)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return !(no_colour && *no_colour) && term && strcmp(term, "dumb") && isatty(fd);
}

struct look cmd_look(int colour, int fd)
{
	struct look look = {use_colour(colour, fd), LOOK_MOST};
	struct winsize size;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < LOOK_MOST)
		look.columns = size.ws_col > LOOK_LEAST ? size.ws_col : LOOK_LEAST;
	return look;
}

const char *cmd_harmless(struct arena *arena, const char *text)
{
	size_t n = strlen(text);
	char *copy = arena_copy(arena, text, n);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)copy[i];
		bool c1 = c == 0xc2 && (unsigned char)copy[i + 1] >= 0x80 && (unsigned char)copy[i + 1] < 0xa0;
		if (c < 0x20 || c == 0x7f)
			copy[i] = '?';
		else if (c1)
			copy[i] = copy[i + 1] = '?';
	}
	return copy;
}

const char *cmd_named(struct names *names, const char *text)
{
	return text ? names_text(names, names_add_text(names, text)) : NULL;
}

void cmd_add_hint(struct buf *text, const char *command)
{
	ARENA_LOCAL(arena);
	const struct fact *hint = FACT_NEW(&arena, page_hint, FACT_NO_SIDE, .command = command);
	buf_format(text, "\n%s\n", say_fact(hint, NULL, &arena));
}

void cmd_say_written(const struct output *outputs, size_t n_outputs)
{
	ARENA_LOCAL(arena);
	for (size_t i = 0; i < n_outputs; i++)
		if (!outputs[i].standard && !outputs[i].stream)
			fprintf(stderr, "gapline: wrote %s\n", cmd_harmless(&arena, outputs[i].path));
}

bool cmd_output_taken(const struct output *outputs, size_t n_outputs)
{
	bool taken = false;
	for (size_t i = 0; i < n_outputs; i++)
		taken = taken || outputs[i].standard;
	return taken;
}

int cmd_print_beside(const struct output *outputs, size_t n_outputs, const struct buf *text)
{
	if (!cmd_output_taken(outputs, n_outputs))
		return cmd_print(text->data, text->n);
	fwrite(text->data, 1, text->n, stderr);
	return CMD_DONE;
}

int cmd_print(const char *bytes, size_t n)
{
	struct err err;
	struct output out;
	int status = CMD_DONE;
	if (output_prepare(&out, "-", &err))
		status = cmd_fail(CMD_WRONG_USAGE, &err);
	out.bytes = bytes;
	out.n = n;
	if (!status && output_write(&out, 1, &err))
		status = cmd_fail(CMD_WRONG_USAGE, &err);
	output_release(&out);
	return status;
}

const struct cmd *cmd_find(const char *name)
{
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Whoever asked for a command's usage; its --help goes there. */
static struct {
	void (*visit)(void *context, const struct opt_usage *usage);
	void *context;
} asked;

void cmd_usage(const struct cmd *command, void (*visit)(void *context, const struct opt_usage *usage), void *context)
{
	char name[32], *argv[] = {name, (char[]){"--help"}, NULL};
	snprintf(name, sizeof name, "%s", command->name);
	asked.visit = visit;
	asked.context = context;
	command->run(2, argv);
	asked.visit = NULL;
}

struct opt_usage cmd_describe(const char *command, struct opt *options, size_t n)
{
	const struct say_help *help = say_help(command);
	for (size_t i = 0; i < n; i++)
		options[i].help = say_help_option(help, options[i].name);
	return (struct opt_usage){help->name, help->usage, help->about, options, n, help->examples, help->statuses};
}

/* "500M", "2G", "1073741824" */
static int limit_memory(const char *text, struct err *err)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	uint64_t bytes = 0;
	if (!digits || digits > 15 || (text[digits] && (!unit || text[digits + 1])))
		return err_set(err, "--memory-limit: '%s' is no size; write 500M or 2G", text);
	bytes = strtoull(text, NULL, 10);
	for (const char *u = units; unit && u <= unit; u++)
		bytes *= 1024;
	if (memory_limit(bytes))
		return err_set_id(err, err_id_of(errno), "--memory-limit: %s", err_reason(errno));
	return 0;
}

/* What every command has, behind its own options. */
static size_t add_common(const char *name, struct opt *rows, int *errors, const char **limit)
{
	static const char *const kinds[] = {"text", "json", NULL};
	const struct cmd *command = cmd_find(name + strlen("gapline "));
	size_t n = 0;
	rows[n++] = (struct opt){OPT_CHOICE, 0, "errors", "FORMAT", .choice = errors, .choices = kinds};
	if (command && command->takes_limit)
		rows[n++] = (struct opt){OPT_TEXT, 0, "memory-limit", "SIZE", .text = limit};
	for (size_t i = 0; i < n; i++)
		rows[i].help = say_help_option(say_help("*"), rows[i].name);
	return n;
}

int cmd_options(const struct opt_usage *given, int argc, char **argv, struct arena *arena, struct opt_list *operands)
{
	struct err err;
	BUF_LOCAL(help);
	int errors = 0;
	const char *limit = NULL;
	struct opt_usage *usage = ARENA_NEW(arena, 1, struct opt_usage);
	struct opt *options = ARENA_NEW(arena, given->n_options + COMMON_OPTIONS, struct opt);
	if (given->n_options) /* a usage that is only its sub-commands has none */
		memcpy(options, given->options, given->n_options * sizeof *options);
	*usage = *given;
	usage->n_options += add_common(given->name, options + given->n_options, &errors, &limit);
	usage->options = options;
	int rc = opt_parse(usage, argc, argv, arena, operands, &err);
	usage->n_options = given->n_options; /* the values of the others are ours */
	cmd_error_line(usage, operands, errors);
	if (rc < 0 || (rc == 0 && limit && limit_memory(limit, &err)))
		return cmd_misuse(usage, &err);
	if (!rc)
		return -1;
	usage->n_options += add_common(given->name, options + given->n_options, &errors, &limit);
	if (asked.visit) {
		asked.visit(asked.context, usage);
		return CMD_DONE;
	}
	opt_help(usage, &help);
	rc = cmd_print(help.data, help.n);
	return rc;
}
