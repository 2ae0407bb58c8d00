/* Which gaps happened once: a debugger's pause, a first launch, two slow frees. What is not repeated over the steps is
 * no property of a step: it is named by itself, and no finding's cost or ceiling holds it.
 *
 * Only gaps of a millisecond and more are looked at (LASTING_GAP). Such a gap is alike another one when its longest
 * stretch is of the same kind (the host's own time and its blocking are one kind, every other cause is one) in the same
 * phase and the other is at least half as long. It happened once when fewer than ONCE_ALIKE gaps, or
 * fewer than one in a hundred steps and than ONCE_MOST, are alike it, itself included: steps may be small parts of what
 * the program repeats, a solver's iterations. Of fewer than ONCE_STEPS steps nobody knows what recurs: there one gap
 * more of its kind, however long, is enough, and of one or two steps nothing happened once. */
#ifndef GAPLINE_ANALYSE_RUN_ONCE_H
#define GAPLINE_ANALYSE_RUN_ONCE_H

#include "analyse/run/run.h"

enum { ONCE_ALIKE = 3, ONCE_MOST = 10, ONCE_STEPS = 8 };

/* A lasting gap. */
struct once_candidate {
	size_t gap; /* index */
	int64_t length;
	enum cause cause;
	uint32_t phase;
};

/* Moves those that happened once to the front, in order of their index; returns how many they are. `n_steps`: 0 where
 * there are no steps. */
size_t once_select(struct once_candidate *list, size_t n, uint32_t n_steps);

#endif
