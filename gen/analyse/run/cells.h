/* Idle time by everything that findings ask of it. */
#ifndef GAPLINE_ANALYSE_RUN_CELLS_H
#define GAPLINE_ANALYSE_RUN_CELLS_H

#include "analyse/analysis.h"

#include <stdbool.h>
#include <stdint.h>

/* Idle time of one device in the window, by everything that findings ask of it. */
struct cell_key {
	enum cause cause;
	uint32_t phase;     /* index into run.phases */
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
	bool once;     /* of a gap like which there are hardly any others: see once.h */
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
