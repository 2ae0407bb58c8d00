/* Commands: a row in cmd_table and a file cmd_NAME.c each. The only place that prints errors and chooses exit
 * statuses. Every command has the same shape: values in locals, an option table, cmd_options, the work with `goto out`,
 * one clean-up. */
#ifndef GAPLINE_CMD_CMD_H
#define GAPLINE_CMD_CMD_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/output.h"
#include "cmd/error.h"
#include "render/render.h"
#include "trace/trace.h"

#include <stdio.h>

/* Where baselines and histories are kept when nobody says where. */
#define CMD_STORE "gapline.db"

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an enum cmd_status */
	bool takes_limit; /* it reads or makes profiles; what it starts is not held to the limit (base/proc.c) */
};

/* Ends with a row without a name. */
extern const struct cmd cmd_table[];

int cmd_demo(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_scrub(int argc, char **argv);
int cmd_digest(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_claim(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_manual(int argc, char **argv);
int cmd_completion(int argc, char **argv);

/* The row of a command; NULL: there is none of this name. */
const struct cmd *cmd_find(const char *name);

/* Calls `visit` with what the command parses and helps with, which is its own while `visit` runs. */
void cmd_usage(const struct cmd *command, void (*visit)(void *context, const struct opt_usage *usage), void *context);

/* `gapline help --json`: all commands, or one, from their option tables. */
int cmd_help_json(const struct cmd *only);

extern const char cmd_version[]; /* of gapline */

/* "auto", "always", "never": for an OPT_CHOICE; the value is an enum cmd_colour. */
enum cmd_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
extern const char *const cmd_colours[];

/* How to show what goes to `fd`. COLOUR_AUTO: in colours on a terminal, unless NO_COLOR is set and not empty
 * (no-color.org) or TERM is dumb. As wide as the terminal; what is no terminal is a log. */
struct look cmd_look(int colour, int fd);

/* What a command parses and helps with: its own `options` (borrowed), with the words that the catalogue has for them.
 */
struct opt_usage cmd_describe(const char *command, struct opt *options, size_t n);

/* Parses; prints --help or the error itself. -1: go on; else the status to end with. */
int cmd_options(const struct opt_usage *usage, int argc, char **argv, struct arena *arena, struct opt_list *operands);

/* `bytes` to standard output; 0, or CMD_WRONG_USAGE after printing the error. */
int cmd_print(const char *bytes, size_t n);

/* The same for what is said beside `outputs`: on standard error where one of those is standard output. */
int cmd_print_beside(const struct output *outputs, size_t n_outputs, const struct buf *text);
/* Adds how the page is made to what a command (page.def: page_hint) prints that wrote none. */
void cmd_add_hint(struct buf *text, const char *command);

/* "gapline: wrote FILE" for each file that was written, on standard error. */
void cmd_say_written(const struct output *outputs, size_t n_outputs);

bool cmd_output_taken(const struct output *outputs, size_t n_outputs);

/* `text` for one line of a terminal: control characters, which a file name may hold, are replaced by '?'. */
const char *cmd_harmless(struct arena *arena, const char *text);

/* A text from outside as names of a profile are: for a page or the JSON. NULL: NULL. */
const char *cmd_named(struct names *names, const char *text);

#endif
