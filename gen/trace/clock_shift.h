/* Which collective of one host is which of another's, from when each host's ranks entered and left them. Pure. */
#ifndef GAPLINE_TRACE_CLOCK_SHIFT_H
#define GAPLINE_TRACE_CLOCK_SHIFT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the last of a host's ranks entered a collective, and the first of them left it: ns, on the host's clock. */
struct meeting {
	int64_t entered, left;
};

/* The collectives of one name (of one stream), as seen from one host; n is 0 where its ranks disagree. */
struct seen {
	struct meeting *list;
	size_t n;
};

/* Which of b's collectives is a's first, or the other way round: a's k-th is b's (k + shift)-th. Ranks that wait for
 * each other leave together however far apart they came, so the right shift is the one at which the times between the
 * hosts' leaving vary least. Tried are those near none, and those near the one that both clocks, as they are, speak
 * for. Where several fit alike, hosts that have as many are taken as recorded, unless the clocks are nearer to another
 * of those. `certain`: the collectives are of one communicator. False: they are of several, or it cannot be told. */
bool clock_shift_find(const struct seen *a, const struct seen *b, bool certain, struct arena *scratch, int64_t *shift);

#endif
