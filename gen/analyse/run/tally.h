/* How often each of many integers occurs, for what cannot be asked again: their middle. */
#ifndef GAPLINE_ANALYSE_RUN_TALLY_H
#define GAPLINE_ANALYSE_RUN_TALLY_H

#include "base/keymap.h"

/* Zero-initialise. Memory grows with the number of different integers. */
struct tally {
	struct keymap values;
	struct arena *arena;
	uint64_t *count; /* by value's index */
	uint32_t room;
};

void tally_add(struct tally *tally, struct arena *arena, int64_t value);

/* The median as a mean of the two in the middle; 0 without values. */
double tally_median(const struct tally *tally);

#endif
