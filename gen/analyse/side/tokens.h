/* When the tokens of each step of a run were there: by ranges inside of the step's own, --first NAME and --each NAME
 * (docs/method/verdict.md, "The slowest steps"). */
#ifndef GAPLINE_ANALYSE_SIDE_TOKENS_H
#define GAPLINE_ANALYSE_SIDE_TOKENS_H

#include "analyse/run/run.h"

/* Before its parts: run->tokens has the names, and gets room for the times. Steps have no times of their own where no
 * range marks them, or several ranks make one. */
void tokens_begin(struct run *run);

/* Fills the times of the steps of a part. */
void tokens_add(struct run *run, const struct run *part);

/* Whether a run of which they were asked has some. 0, or -1 with `err`: what to try, without the file. */
int tokens_check(const struct run *run, struct err *err);

#endif
