/* Shell completion from the rows that parse the options (base/opt.h), so that they cannot disagree. */
#ifndef GAPLINE_BASE_OPT_COMPLETE_H
#define GAPLINE_BASE_OPT_COMPLETE_H

#include "base/opt.h"

enum opt_shell { OPT_BASH, OPT_ZSH, OPT_FISH };

/* What one command adds to the script of a shell. `name` is the subcommand, `summary` a few words about it. The scripts
 * begin with opt_complete_begin and end with opt_complete_end; each command is added between them. */
void opt_complete_begin(enum opt_shell shell, struct buf *out);
void opt_complete_command(enum opt_shell shell, const struct opt_usage *usage, const char *name, const char *summary,
                          struct buf *out);
void opt_complete_end(enum opt_shell shell, const char *const *names, const char *const *summaries, struct buf *out);

#endif
