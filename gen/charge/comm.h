/* Ranks that wait for each other: in which kernels, for whom, and what of it is idle time. */
#ifndef GAPLINE_CHARGE_COMM_H
#define GAPLINE_CHARGE_COMM_H

#include "base/arena.h"
#include "charge/charge.h"
#include "charge/collectives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The communication kernels of a run: what each is, which of several ranks' belong together, when the last rank came.
 */

enum comm_kind {
	COMM_TOGETHER, /* collectives in which it is known who waits for whom */
	COMM_POINT,    /* sends and receives with known partners */
	COMM_OTHER     /* broadcast and reduce whose root is not known, and what cannot be told */
};

/* Kernels that are alike: of one operation in one communicator; where NCCL's payloads are not recorded, of one name. */
struct comm_row {
	enum comm_kind kind;
	uint32_t name;  /* "ncclAllReduce", else the kernel's */
	int64_t comm;   /* 0: not known */
	uint32_t ranks; /* of the communicator, as it says itself; 0: it does not */
	/* Of what lies in the window, ns, all ranks and kernels added up: */
	uint32_t devices;          /* of the run that have any of these kernels */
	uint32_t kernels, matched; /* kernels; of them with known partners */
	uint32_t collectives;      /* of matched kernels */
	double waiting, moving;    /* of matched kernels: until the last rank had come, from then on */
	double hidden, exposed;    /* beside a computing kernel, or not */
	double bytes;              /* of matched collectives whose bytes are all known, or of transfers … */
	double span;               /* … and from their last coming to their last leaving */
	uint32_t known;            /* how many these are */
	uint32_t took_part;        /* most ranks that a matched one had */
	uint32_t *last;            /* by device of the run: in how many it came last; NULL: none is matched */
};

/* Kernels are not held: they are made again, device by device, when it is decided what belongs together. */
struct comm_ops {
	struct comm_row *rows; /* in the arena */
	uint32_t n_rows;
	struct collectives collectives; /* `key` is an index into rows */
	struct comm_view *view;         /* what is needed to make kernels again */
};

/* `tolerance`: struct waiting. Kernels whose NCCL calls are recorded are told apart by their communicators; names alone
 * serve the others, and where one name is of several communicators, the streams that they run on. Nothing is matched
 * where it is not known which step of one rank is which of another, and of what only some ranks recorded nothing is.
 * Everything but rows is there until comm_ops_release. */
void comm_ops_match(const struct run *run, int64_t tolerance, struct arena *arena, struct comm_ops *out);

/* The kernels of device `d`, an index into charge.devices, by start, n of them; until they are asked for again. Devices
 * are asked for in order, each once. `rank` is the device, `key` an index into rows. What the collectives say that
 * others are told (collectives_tell) is complete when all have been. */
const struct collective_op *comm_ops_of(struct comm_ops *ops, uint32_t d, size_t *n);

void comm_ops_release(struct comm_ops *ops);

/* For whom ranks wait in the end. Who comes last in a collective may have waited itself, in another communicator or for
 * a send, and be late for no other reason: then it is not the one whose work is waited for. Pure. */

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

/* What the ranks of a run wait for each other: its collectives, how each device's communication divides into waiting
 * for the last rank and moving data, and how long each rank's steps are without that waiting. */

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
	struct device_waiting *device; /* by index into charge.devices */
	int64_t tolerance; /* ns: what two ranks' times may be apart although they are the same; negative: they are of
	                    * several hosts, and say nothing of each other */
	uint32_t n_collectives; /* of the window */
	struct comm_row *rows;
	uint32_t n_rows;
};

/* The devices are charged already (run_devices). Everything lives in `arena`. */
void waiting_find(const struct run *run, struct arena *arena, struct waiting *out);

/* Bubbles: time in which all that runs on a device are sends and receives that wait for another rank to get there. A
 * stage of a pipeline is idle then, although a kernel runs, and its budget says so. */

/* The bubbles of one device, found in order of time. */
struct bubble_list {
	const struct collective_op *const *ops; /* the device's, by start */
	size_t n_ops, next;                     /* the first that has not started yet */
	const struct collective_op **running;   /* a heap; room for all ops */
	size_t n_running;
	struct arena *arena; /* of the list */
	struct bubble *bubble;
	size_t n, room;
};

/* Adds a stretch, later than all before, in which no op starts or ends. Its phase is that of the op that was launched
 * first of those that run in it, as for every busy instant: the cost of phases stays what it is. */
void bubbles_add(struct bubble_list *list, const struct stretch *stretch);

/* Moves the bubbles of all devices of a charged run from communication to idle time, CAUSE_BUBBLE. Once. */
void bubbles_charge(struct run *run, const struct waiting *waiting);

/* The idle stretches of a device in order of time: its gaps, and the bubbles between them. They may be held by two runs
 * of one device: the gaps by that of its part (run/parts.h). */
struct idle_walk {
	const struct run *run; /* of the gaps */
	const struct device_run *gaps, *bubbles;
	size_t gap, bubble; /* the next ones */
};

/* The next one that ends after `after`: false, there is none; else `bubble` is it, or NULL, and `gap` is it. */
bool idle_next(struct idle_walk *walk, int64_t after, struct gap *gap, const struct bubble **bubble);

/* A bubble as a piece of idle time. */
struct doing bubble_piece(const struct run *run, const struct bubble *bubble);

#endif
