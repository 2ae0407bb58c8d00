/* Command-line options from one table: parsing, the usage line and --help all come from the same rows, so that they
 * cannot disagree. The values live in the command's own locals, and a command can run twice in one process.
 *
 *	bool quiet = false;
 *	const char *title = NULL;
 *	struct opt options[] = {
 *		{OPT_TEXT, 0, "title", "TEXT", "the report's title", .text = &title},
 *		{OPT_FLAG, 'q', "quiet", NULL, "print nothing but errors", .flag = &quiet},
 *	};
 *
 * Understood: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-qv` for flags, `--` (the rest are operands,
 * empty ones too), and `--name -- word ...` for commands.
 * Options and operands may come in any order; `-` is an operand. Names are never abbreviated, and an option with one
 * value must not come twice: a script in which the later of two gates silently wins is a trap. */
#ifndef GAPLINE_BASE_OPT_H
#define GAPLINE_BASE_OPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>

enum opt_kind {
	OPT_FLAG,    /* .flag: set to true */
	OPT_TEXT,    /* .text: not empty, unless .may_be_empty */
	OPT_OUTPUT,  /* the same, of a file to write; also the front of the names of several */
	OPT_LIST,    /* .list: may be repeated; each not empty */
	OPT_WHOLE,   /* .whole: digits only, min to max, none of them negative */
	OPT_DECIMAL, /* .decimal: digits with at most one point, min to max; no sign, exponent, inf, nan or hexadecimal
	              */
	OPT_CHOICE,  /* .choice: position of the value among `choices` */
	OPT_COMMAND  /* .command: a command line in one text, or `--` and its words: all up to the next option of this
	              * kind that is followed by `--`, or to the end */
};

/* Texts of a repeated option, or the operands: borrowed from argv, the array is the arena's. */
struct opt_list {
	const char **item;
	size_t n;
};

/* One of the two. Borrowed from argv, the array ends with NULL and is the arena's. */
struct opt_command {
	const char *text;
	const char *const *words;
};

struct opt {
	enum opt_kind kind;
	char letter;       /* 0: none */
	const char *name;  /* without the dashes */
	const char *value; /* placeholder in the help: "FILE"; NULL for flags */
	const char *help;  /* one or more sentences, wrapped when printed */
	union {
		bool *flag;
		const char **text; /* also of OPT_OUTPUT */
		struct opt_list *list;
		int *whole;
		double *decimal;
		int *choice;
		struct opt_command *command;
	};
	bool may_be_empty;          /* of OPT_TEXT */
	const char *alias;          /* a former name, in no help and no completion; NULL: none */
	double min, max;            /* both bounds are allowed */
	const char *const *choices; /* ends with NULL */
};

/* Rows that come from several places: OPT_ADD(&rows, {OPT_FLAG, …}, {OPT_TEXT, …}). */
enum { OPT_ROWS_MOST = 64 };
struct opt_rows {
	struct opt row[OPT_ROWS_MOST];
	size_t n;
};
#define OPT_ADD(rows, ...) opt_add((rows), (const struct opt[]){__VA_ARGS__}, sizeof((const struct opt[]){__VA_ARGS__}))
void opt_add(struct opt_rows *rows, const struct opt *more, size_t bytes);

/* One command's whole interface. Arrays of texts end with NULL. */
struct opt_usage {
	const char *name;             /* "gapline report" */
	const char *const *arguments; /* one usage line each: "[OPTIONS] BASELINE FIXED" */
	const char *about;            /* a paragraph */
	const struct opt *options;
	size_t n_options;
	const char *const *examples; /* command lines, printed as they are */
	const char *const *statuses; /* "0  done", …: the exit statuses, likewise */
};

/* Reads argv[1] …; values go to the options' targets, the rest to `operands`. 0; 1 when --help or -h was met (whatever
 * comes after it is not looked at); -1 with `err`, which says what was wrong with the first option that was. The others
 * have their values then, too: a command that cannot do its work says so in the files that they name. */
int opt_parse(const struct opt_usage *usage, int argc, char **argv, struct arena *arena, struct opt_list *operands,
              struct err *err);

/* The text of --help, 80 columns. */
void opt_help(const struct opt_usage *usage, struct buf *out);

/* The usage lines alone. */
void opt_usage_lines(const struct opt_usage *usage, struct buf *out);

/* The words of a text in lines of so many columns, from column `indent` on, where the first line is already. */
enum { OPT_COLUMNS = 80 };
void opt_wrap(struct buf *out, const char *text, size_t indent, size_t columns);

/* Whether its value names a file or a folder. */
bool opt_takes_file(const struct opt *o);

/* Whether a mistyped `given` is near enough to `meant` (two letters wrong, missing, added or swapped at most) to be
 * offered as "did you mean". */
bool opt_near(const char *given, const char *meant);

/* Manual pages, help for programs and shell completion, from the rows that parse the options, too. */

/* The manual page of one command in the man macros (man(7)): `version` stands in its foot, `summary` in its NAME line.
 * Pages are named with a hyphen: gapline-report. */
void opt_manual(const struct opt_usage *usage, const char *summary, const char *version, struct buf *out);

struct json;

/* The same as data, one object: name, summary, about, and what docs/reference/json.md lists. */
void opt_json(const struct opt_usage *usage, const char *summary, struct json *json);

/* `text` as roff shows it: backslashes, hyphens that are typed, and a dot that would begin a request. */
void opt_roff(const char *text, struct buf *out);

enum opt_shell { OPT_BASH, OPT_ZSH, OPT_FISH };

/* What one command adds to the script of a shell. `name` is the subcommand, `summary` a few words about it. The scripts
 * begin with opt_complete_begin and end with opt_complete_end; each command is added between them. */
void opt_complete_begin(enum opt_shell shell, struct buf *out);
void opt_complete_command(enum opt_shell shell, const struct opt_usage *usage, const char *name, const char *summary,
                          struct buf *out);
void opt_complete_end(enum opt_shell shell, const char *const *names, const char *const *summaries, struct buf *out);

#endif
