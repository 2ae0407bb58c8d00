/* Which communication kernels of several ranks are one collective, and how long each rank waited in it for the last
 * one. Pure; works on numbers alone. */
#ifndef GAPLINE_CHARGE_COLLECTIVES_H
#define GAPLINE_CHARGE_COLLECTIVES_H

#include "base/arena.h"
#include "base/keymap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who waits for whom in a collective. */
enum bound {
	BOUND_ALL, /* no rank can leave before the last one has entered: all-reduce, all-gather, reduce-scatter, … */
	BOUND_BY_ROOT, /* no rank can leave before the root has entered: broadcast */
	BOUND_OF_ROOT  /* the root cannot leave before the last rank has entered: reduce */
};

/* A communication kernel of a collective. Times in ns, end >= start. */
struct collective_op {
	int64_t start, end;
	int64_t launched; /* when the host launched it: ranks launch the collectives of a communicator in one order */
	uint32_t rank;    /* 0 … n_ranks − 1 */
	uint32_t step;    /* which step it is of, or any number that all ranks agree on */
	uint32_t key;     /* what it is: its communicator and operation, or the kernel's name */
	uint32_t stream;
	int64_t bytes;  /* that NCCL was given, of all calls of the kernel; −1: not known */
	uint32_t root;  /* the same in all ops of one collective, but where it is BOUND_ALL */
	uint32_t phase; /* that it was launched in, whatever its number means */
	uint8_t bound;  /* enum bound, the same in all ops of a key */
	bool point;     /* it is sends or receives (below), but all-to-all: waiting in it is a bubble */

	/* filled: */
	bool matched;
	uint32_t partner; /* the rank that it waited for: of a collective the last one, or the root; of sends and
	                   * receives UINT32_MAX where it waited for none */
	int64_t arrived;  /* when the last rank had entered, in [start, end]: until then it waited, from then on data
	                   * moved. `start` where not matched */
};

struct collective {
	bool matched;             /* its ops are of one collective; nothing else is said of others */
	uint32_t key, step, last; /* the rank that came last; the root where others wait for it alone */
	uint32_t n_ranks;         /* that took part, at least 2 */
	int64_t entered;          /* when it came, ns */
	int64_t bytes;            /* of the op that came last; −1: not known */
	/* filled by collectives_tell: */
	int64_t waited; /* ns, all ranks added up */
	int64_t moved;  /* ns from then on until the last rank left */
	/* used until all is decided: */
	uint8_t bound;
	bool has_root, differs; /* the root takes part; ranks name different ones */
	uint32_t root;
	int64_t shortest;   /* of its ops, ns */
	int64_t first_left; /* when the first one that waits ends */
};

/* What ranks say of their ops, one after the other: once to find out which ops are one collective, and once more, when
 * that is decided, to be told what theirs are. Only collectives are held meanwhile, not ops. */
struct collectives {
	struct collective *list; /* by key and step as they first occur */
	size_t n, room;
	bool one_clock;
	int64_t tolerance;
	struct arena *arena;
	struct keymap places; /* of keys and steps */
	struct collective_place *at;
};

/* The k-th op of a rank with some key in some step is of the same collective as the k-th one of every other rank that
 * has the key; ranks that never have it are not in its communicator. Where ranks disagree about how many there are in a
 * step, those of the step are not matched.
 *
 * With one clock for all ranks the last one is the one whose kernel starts last, and others wait until then. That must
 * be before any of them ends: what is not so is not matched, and of a key of which more than one in twenty is not so
 * nothing is, because then several communicators have the same names, and who belongs to whom cannot be told.
 * `tolerance` (ns) is what two ranks' times may be apart although they are the same. Without one clock, the last one is
 * the one whose kernel is shortest, and the others waited for what theirs are longer; broadcasts and reduces are not
 * matched then. In those, who neither is the root nor waits for it moves data all the time: by when it could have left
 * nobody knows. Ties go to the lower rank. Everything lives in `arena`. */
void collectives_begin(struct collectives *all, bool one_clock, int64_t tolerance, struct arena *arena);

/* The ops of one rank, in any order: all that it has of their keys. Each rank once, the lower ones first. */
void collectives_take(struct collectives *all, const struct collective_op *ops, size_t n);

/* Once all ranks have said theirs; again, when they have said those of more keys. */
void collectives_decide(struct collectives *all);

/* Fills what the same ops are. */
void collectives_tell(struct collectives *all, struct collective_op *ops, size_t n);

/* A stretch of a device's time. */
struct stretch {
	int64_t start, end;
};

/* Stretches in any order, overlapping as they like. */
struct stretches {
	struct stretch *list;
	size_t n;
};

/* How the communication of one device divides the window. At an instant at which several of its kernels run, data
 * moves if it does so in any of them; else it waits if any of them is a collective that does; else it is not known
 * where any is unmatched; else it is a bubble: all that runs are sends and receives that wait. Beside a copy the GPU is
 * not idle, and what would be a bubble counts as moving. */
struct comm_parts {
	int64_t waiting, bubble, moving, unmatched;              /* no kernel computes: exposed */
	int64_t hidden_waiting, hidden_moving, hidden_unmatched; /* beside a computing kernel; bubbles are waiting */
};

/* Divides [start, end). `compute`, `copies`: when kernels compute, and copies and memsets run. `waits` is called for
 * every stretch of exposed waiting, in order of time, and is told whether it is a bubble; no kernel starts or ends
 * inside one. */
struct comm_parts collectives_divide(const struct collective_op *const *ops, size_t n, const struct stretches *compute,
                                     const struct stretches *copies, int64_t start, int64_t end,
                                     void (*waits)(void *context, const struct stretch *stretch, bool bubble),
                                     void *context);

/* Sends and receives of several ranks: which belong together, and how long each waited for its partner. Pure; works on
 * numbers alone. */

/* One send or receive of a kernel, which may have several. */
struct transfer {
	int64_t comm;      /* the communicator */
	uint32_t from, to; /* ranks of the run */
	bool send;         /* the kernel's rank is `from` */
	uint32_t op;       /* index into the kernels */
	uint32_t place;    /* among the transfers of its kernel's calls, for the order of those of one kernel */

	uint32_t partner; /* filled: the other one's kernel, TRACE_NONE-like UINT32_MAX: none was found */
};

/* The k-th send from one rank to another in a communicator and a step is of the k-th receive. A kernel waits until the
 * last of its partners has started: that one's rank is its `partner`. A send whose kernel ended before its partner
 * started had room in NCCL's buffers and waited for nobody. A receive cannot end before its send began: with one that
 * does (by more than `tolerance`, ns) the kernel is not matched, and neither is one of which any transfer has no
 * partner. With a negative tolerance the
 * clocks say nothing, and a kernel waits for as long as it is longer than its partner's. `ops` have `matched` false and
 * `arrived` at their start; `transfers` are sorted by it. */
void point_to_point_match(struct collective_op *ops, size_t n, struct transfer *transfers, size_t n_transfers,
                          int64_t tolerance);

#endif
