/* What else ran on a GPU, and sums of idle time. */
#ifndef GAPLINE_CHARGE_SUMS_H
#define GAPLINE_CHARGE_SUMS_H

#include "base/arena.h"
#include "charge/collectives.h"
#include "result/words.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* When processes ran on a GPU that several of them use. One list serves all of them, so that a GPU with a thousand
 * processes costs no more than its ops. */

/* Stretches, sorted, disjoint, in each of which the same one process ran, or several did. */
struct sharing {
	size_t n;
	int64_t *start, *end;
	uint32_t *owner;     /* the process, or TRACE_NONE for several */
	int64_t *before;     /* length of all stretches before this one */
	uint32_t *own;       /* stretches by owner: those of p are own[first_own[p] .. first_own[p + 1]) … */
	int64_t *own_before; /* … and the length of its own ones before each */
	uint32_t *first_own;
};

/* n = 0 unless at least two processes ran something on the GPU (index into trace.gpus). */
void sharing_build(const struct trace *trace, uint32_t gpu, struct arena *arena, struct sharing *out);

/* How much of [start, end) other processes than `process` ran. */
int64_t sharing_time(const struct sharing *s, uint32_t process, int64_t start, int64_t end);

/* The first interval that ends after `t` in which others ran all the time: true, and *start and *end; false when none
 * follows. */
bool sharing_next(const struct sharing *s, uint32_t process, int64_t t, int64_t *start, int64_t *end);

/* What runs beside the communication kernels of a device. Pure. */

/* When the device computes, and copies, while it communicates: disjoint and in order. */
struct comm_beside {
	struct stretches compute, copies;
};

/* Of a device of the trace. Everything lives in `arena`. */
void beside_find(const struct trace *trace, uint32_t device, struct arena *arena, struct comm_beside *out);

/* Idle time by everything that findings ask of it. */

/* Idle time of one device in the window, by everything that findings ask of it. */
struct cell_key {
	enum cause cause;
	uint32_t phase;     /* index into run.phases.names */
	uint32_t call;      /* CAUSE_HOST_BLOCKED: name of the OS call; else 0 */
	enum opened opened; /* what opened the gap */
	bool mutex;         /* the OS call waits for a lock */
	bool blocked;       /* the launching thread made a blocking call in the gap */
	bool input;         /* the gap ended with a host-to-device copy of a good part of a step's input */
	bool returned; /* … or with one of what was read back before in the same step, or, unmarked, in the one before,
	                or came from a peer */
	bool pageable; /* the gap ended with a copy from or to pageable memory */
	bool lasting;  /* the gap is longer than any launch takes: LASTING_GAP */
	bool alloc;    /* after an allocation or free that waited for the GPU: it would have been hidden otherwise */
	bool once;     /* of a gap like which there are hardly any others: see once.c */
};
enum { LASTING_GAP = 1000 * 1000 }; /* ns */

/* A key as two numbers that say all of it and sort as keys do. */
struct cell_number {
	uint64_t high, low;
};

/* Sorts keys by cause, phase and call, then by the rest; 0: every field is the same. */
int cell_compare(const struct cell_key *a, const struct cell_key *b);

struct cell {
	struct cell_key key;
	struct cell_number number; /* the key's */
	int64_t ns;
	int64_t noted; /* of these, in the step table (step_table.h) */
};

/* Cells by key. */
struct cells {
	struct arena *arena;
	struct cell *cell;
	uint32_t n, room;
	uint32_t *slots, n_slots; /* open addressing: 1 + index */
};

/* Adds `ns` to the cell of `key`, whose index it returns: for good. */
uint32_t cells_add(struct cells *cells, const struct cell_key *key, int64_t ns);

#endif
