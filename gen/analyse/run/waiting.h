/* What the ranks of a run wait for each other: its collectives, how each device's communication divides into waiting
 * for the last rank and moving data, and how long each rank's steps are without that waiting. */
#ifndef GAPLINE_ANALYSE_RUN_WAITING_H
#define GAPLINE_ANALYSE_RUN_WAITING_H

#include "analyse/run/comm_ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One device of the run. A rank's step k lasts from the end of its last GPU op of the steps up to k − 1 to that of the
 * steps up to k. */
struct device_waiting {
	struct comm_parts parts; /* of the window; waiting + moving + unmatched is the budget's exposed communication,
	                          * bubbles are idle time */
	struct bubble *bubbles;  /* in order of time */
	size_t n_bubbles;
	double *step;      /* by measured step, n_steps of them: its length without exposed waiting and bubbles, ns */
	double own;        /* their mean; of a run without steps the window without them */
	double waited_for; /* ns of the window that all other ranks waited for this one in collectives, exposed
	                      (below) */
	uint32_t partner;  /* the device that it waits for most in sends and receives; TRACE_NONE: for none */
	uint32_t last;     /* collectives of the window in which it came last */
};

struct waiting {
	struct device_waiting *device; /* by index into run.devices */
	int64_t tolerance; /* ns: what two ranks' times may be apart although they are the same; negative: they are of
	                    * several hosts, and say nothing of each other */
	uint32_t n_collectives; /* of the window */
	struct comm_row *rows;
	uint32_t n_rows;
};

/* The devices are charged already (run_devices). Everything lives in `arena`. */
void waiting_find(const struct run *run, struct arena *arena, struct waiting *out);

/* For whom ranks wait in the end. Who comes last in a collective may have waited itself, in another communicator or for
 * a send, and be late for no other reason: then it is not the one whose work is waited for. Pure. */

/* A stretch in which all that a rank does is to wait for another one. Times in ns, on one clock. */
struct rank_wait {
	int64_t start, end;
	int64_t since;         /* when both had entered what they met in before … */
	int64_t came;          /* … when the rank came to what it waits in, and … */
	int64_t last;          /* … the other one, at `end` or later */
	uint32_t whom;         /* the other one: the last one of a collective, or a transfer's other end */
	uint32_t rank : 30,    /* used while all is found: whose it is … */
		passed_on : 1; /* … likewise … */
	uint32_t bubble : 1;   /* it is in a send or receive */
	double weight;         /* … likewise */
};

/* The stretches of a rank, in order of time; none overlap. */
struct rank_waits {
	struct rank_wait *list;
	size_t n;
};

/* Adds to `ns`, by rank, what others wait for it in collectives: the sum over `ns` is that of all waits that are no
 * bubbles. Since they met before, the one that comes last worked longer than the one that waits for it, or waited
 * longer itself. As much as it worked longer is waited for itself; the rest is waited for those that it waited for, in
 * collectives and bubbles, each by how long, and so on. `follow` is false where times are not of one clock: then all is
 * waited for who came last. */
void blame_find(struct rank_waits *of_rank, uint32_t n_ranks, bool follow, double *ns);

#endif
