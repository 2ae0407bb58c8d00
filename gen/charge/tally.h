/* Many integers of which the middle is wanted, and which cannot be asked again: the few as they are, many by how often
 * each occurs. */
#ifndef GAPLINE_CHARGE_TALLY_H
#define GAPLINE_CHARGE_TALLY_H

#include "base/keymap.h"
#include "base/list.h"

#include <stdbool.h>

enum { TALLY_FEW = 1 << 16, TALLY_SHORT = 1 << 18, TALLY_PAGE = 512 };

/* Zero-initialise. Beyond TALLY_FEW integers memory grows with the number of different ones. */
struct tally {
	double *list; /* n of them, in some order; all until there are too many */
	size_t n, room;
	bool many;         /* these are counted instead: */
	uint64_t **shorts; /* by value below TALLY_SHORT, which nearly all lengths in ns are, those of kernels too:
	                    * pages of TALLY_PAGE values, NULL where there is none of them; all others: */
	struct keymap values;
	uint64_t *count; /* by value's index */
};

void tally_count(struct tally *tally, struct arena *arena, int64_t value);

/* Of integers below 2^53. */
static inline void tally_add(struct tally *t, struct arena *arena, int64_t value)
{
	if (t->n >= TALLY_FEW) {
		tally_count(t, arena, value);
		return;
	}
	if (t->n == t->room) { /* by twice as many also when it is long: it does not grow beyond TALLY_FEW */
		size_t room = t->room ? 2 * t->room : 64;
		t->list = arena_grow(arena, t->list, t->room, room, sizeof *t->list);
		t->room = room;
	}
	t->list[t->n++] = (double)value;
}

/* The median as a mean of the two in the middle; 0 without values. */
double tally_median(struct tally *tally);

/* Adds up by how much values exceed `less`, of those above `above`. */
double tally_excess(const struct tally *tally, double above, double less);

#endif
