/* Several variants of one program: --variant NAME=FILE of `gapline report`. */
#ifndef GAPLINE_CMD_VARIANTS_H
#define GAPLINE_CMD_VARIANTS_H

#include "cmd/compare.h"

/* `asked` are the options' values, in order: the first name is the baseline's, and a name that comes again has another
 * file. Of `c`, which compare_begin has settled, the options count; page and JSON go where it says, and beside the page
 * one report for each variant. Returns an exit status; what goes wrong is printed, wrong usage only said in `err`, as
 * CMD_VARIANTS_MISUSE. */
enum { CMD_VARIANTS_MISUSE = -1 };
int variants_report(struct compare *c, const struct opt_list *asked, struct err *err);

#endif
