/* Cycles that come in runs with something else between them.
 *
 * Runs come again and again, as many cycles in each or not: layers of a step, or steps with a validation between them,
 * or tokens of one prompt after the other, or of many in one batch: then some runs are short, and whatever is between
 * them lies behind a whole cycle. The host has to do with every step, and not with a layer, of which there are as many
 * in every step. A few runs may be loops of their own. */
#ifndef GAPLINE_ANALYSE_RUN_RULE_FEW_H
#define GAPLINE_ANALYSE_RUN_RULE_FEW_H

#include "analyse/run/pattern_fit.h"

struct pattern_bursts {
	uint32_t runs, cycles;      /* runs of RULE_CYCLES cycles at least; cycles in all runs */
	uint32_t first, end;        /* the cycles of the longest run */
	bool are_loop;              /* all runs are of one loop */
	size_t written;             /* then: ops between them, where all that lies there is written out */
	struct pattern_share share; /* how much of the runs is usual; nothing where they are few and no loop */
};

/* The runs of the cycles [from, to). Marks in `fit->more` cycles that hold half as much again as is usual. */
void pattern_bursts_find(struct pattern_fit *fit, const struct pattern_sequence *sequence, uint32_t from, uint32_t to,
                         struct pattern_bursts *out);

#endif
