/* Several variants of one program: --variant of `gapline report` and of `gapline run`, and --variant-list of the
 * latter.
 */
#ifndef GAPLINE_CMD_VARIANTS_H
#define GAPLINE_CMD_VARIANTS_H

#include "cmd/compare.h"
#include "verdict/variants.h"

/* What was asked for; the first is the baseline. */
struct variants_given {
	size_t n;
	const char *name[VARIANTS_MOST];
	struct opt_list of[VARIANTS_MOST]; /* of each, what was given: its profiles, or its command */
	const char *nodes[VARIANTS_MOST];  /* as compare's graph_nodes */
	const char *parameter;             /* of which each has its own value; NULL: there is none */
	const char *value[VARIANTS_MOST];
};

/* Takes NAME=WHAT apart; a name that comes again has another WHAT. -1 with `err`: there are too few or too many, or one
 * has no name. */
int variants_named(struct compare *c, const struct opt_list *asked, struct variants_given *out, struct err *err);

/* From 'batch=8,16,32' and a command with {batch} in it: `words[i]`, ending with NULL, are those of out->name[i].
 * -1 with `err`. */
int variants_swept(struct compare *c, const char *asked, const struct opt_list *command, struct variants_given *out,
                   const char *const **words, struct err *err);

/* Of `c`, which compare_begin has settled, the options count; page and JSON go where it says, and beside the page one
 * report for each variant. variants_prepare looks at what can be known to fail before there are profiles, -1 with
 * `err`; variants_check does so of options that are of two sides. */
int variants_check(const struct compare *c, struct err *err);
int variants_prepare(struct compare *c, const struct variants_given *given, struct err *err);

/* Returns an exit status; what goes wrong is printed. */
int variants_report(struct compare *c, const struct variants_given *given, struct err *err);

#endif
