/* Two hosts' clocks as one, from the collectives that their ranks took part in. Pure; works on numbers alone. */
#ifndef GAPLINE_TRACE_CLOCK_OFFSET_H
#define GAPLINE_TRACE_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A collective that no rank can leave before the last one has entered (all-reduce, all-gather, reduce-scatter,
 * all-to-all, barrier; not broadcast and reduce, whose ranks need not wait for each other), seen from two hosts, each
 * on its own clock, in ns: when the last of the host's ranks entered and when the first of them left. Ranks need not
 * leave together. */
struct clock_collective {
	int64_t entered[2], left[2];
};

/* A time t of the second host is t + offset + drift × (t − at) on the first one's clock. */
struct clock_offset {
	int64_t at;    /* ns, on the second host's clock: amid the collectives */
	double offset; /* ns */
	double drift;  /* ns per ns: 1e-6 is one ppm */
	double within; /* ns: from the first collective to the last, the true offset is at most so far from the one said
	                */
	double loosened; /* ns by which bounds had to give way, because no steady drift fits all of them; part of
	                  * `within` and 0 where clocks drift steadily */
	size_t n;        /* collectives that it is from */
};

/* Each collective bounds the offset from both sides: the first host's ranks do not leave before the second's have
 * entered, and the other way round. The offsets and drifts that fit all bounds are a convex region; what is said is its
 * middle, and `within` reaches its farthest corner, so that the truth is inside however long the data moved. Bounds are
 * as tight as the shortest collective in which each host came last. A clock may be set while the program runs, and
 * bounds that are wide do not show it: `within` reaches the corners of what each quarter of the collectives allows by
 * itself, too. False where no drift below 1000 ppm fits within 1 ms: `out` means nothing then. n >= 1. */
bool clock_offset_find(const struct clock_collective *list, size_t n, struct clock_offset *out);

/* What has to be added to a time of the second host, in ns. */
int64_t clock_offset_at(const struct clock_offset *offset, int64_t time);

#endif
