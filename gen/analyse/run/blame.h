/* For whom ranks wait in the end. Who comes last in a collective may have waited itself, in another communicator or for
 * a send, and be late for no other reason: then it is not the one whose work is waited for. Pure. */
#ifndef GAPLINE_ANALYSE_RUN_BLAME_H
#define GAPLINE_ANALYSE_RUN_BLAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch in which all that a rank does is to wait for another one. Times in ns, on one clock. */
struct rank_wait {
	int64_t start, end;
	int64_t since; /* when both had entered what they met in before … */
	int64_t came;  /* … when the rank came to what it waits in, and … */
	int64_t last;  /* … the other one, at `end` or later */
	uint32_t whom; /* the other one: the last one of a collective, or a transfer's other end */
	bool bubble;   /* it is in a send or receive */
};

/* The waits of all ranks, until it is asked for whom they are. Zero-initialise. */
struct blame {
	struct arena arena;
	struct blame_rank *ranks;
	uint32_t n_ranks, room;
};

/* Adds those of the next rank, in order of time; none overlap. */
void blame_add(struct blame *blame, const struct rank_wait *list, size_t n);

/* Adds to `ns`, by rank, what others wait for it in collectives: the sum over `ns` is that of all waits that are no
 * bubbles. Since they met before, the one that comes last worked longer than the one that waits for it, or waited
 * longer itself. As much as it worked longer is waited for itself; the rest is waited for those that it waited for, in
 * collectives and bubbles, each by how long, and so on. `follow` is false where times are not of one clock: then all is
 * waited for who came last. Once, when all ranks have been added; nothing is left in `blame`. */
void blame_find(struct blame *blame, bool follow, double *ns);

#endif
