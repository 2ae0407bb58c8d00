/* Manual pages, and the help for programs, from the rows that parse the options (base/opt.h), so that they cannot
 * disagree. */
#ifndef GAPLINE_BASE_OPT_MANUAL_H
#define GAPLINE_BASE_OPT_MANUAL_H

#include "base/json_writer.h"
#include "base/opt.h"

/* The manual page of one command in the man macros (man(7)): `version` stands in its foot, `summary` in its NAME line.
 * Pages are named with a hyphen: gapline-report. */
void opt_manual(const struct opt_usage *usage, const char *summary, const char *version, struct buf *out);

/* The same as data, one object: name, summary, about, and what docs/reference/json.md lists. */
void opt_json(const struct opt_usage *usage, const char *summary, struct json *json);

/* `text` as roff shows it: backslashes, hyphens that are typed, and a dot that would begin a request. */
void opt_roff(const char *text, struct buf *out);

/* Shell completion from the rows that parse the options (base/opt.h), so that they cannot disagree. */

enum opt_shell { OPT_BASH, OPT_ZSH, OPT_FISH };

/* What one command adds to the script of a shell. `name` is the subcommand, `summary` a few words about it. The scripts
 * begin with opt_complete_begin and end with opt_complete_end; each command is added between them. */
void opt_complete_begin(enum opt_shell shell, struct buf *out);
void opt_complete_command(enum opt_shell shell, const struct opt_usage *usage, const char *name, const char *summary,
                          struct buf *out);
void opt_complete_end(enum opt_shell shell, const char *const *names, const char *const *summaries, struct buf *out);

#endif
