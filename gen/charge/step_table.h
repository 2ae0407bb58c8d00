/* What each measured step of a run consists of, part by part of its budget: the columns of the run's step table. Steps
 * are taken together in blocks, so that a long run takes no more room than a short one. */
#ifndef GAPLINE_CHARGE_STEP_TABLE_H
#define GAPLINE_CHARGE_STEP_TABLE_H

#include "base/arena.h"
#include "result/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STEP_TABLE_BLOCKS = 512, /* at most: of 2^k steps each, the last may hold fewer */
	STEP_TABLE_SLOW = 100,   /* of a run of so many steps and more, one in so many are its slowest … */
	STEP_TABLE_GROUP = 1024, /* … of at most so many of these; … */
	STEP_TABLE_USUAL = 256,  /* … beside a tenth of the steps, those about the median, at most so many */
	STEP_TABLE_MOST = 4096   /* parts of idle time that have a column: the first so many that occur */
};

struct step_column {
	enum part_kind kind;
	enum cause cause; /* of PART_IDLE … */
	uint32_t phase;   /* … in that phase, an index into run.phases.names */
	uint32_t way;     /* of PART_COPY, below COPY_WAYS */
	int64_t *ns;      /* by piece, added up over the run's devices */
};

/* Some of the steps: from when to when each lasts. */
struct step_group {
	uint32_t n;
	int64_t (*span)[2];
	int64_t ns;                   /* how long they take together */
	uint32_t *step;               /* which measured steps */
	int64_t *work[REQUEST_WORKS]; /* of each, ns (side/request_work.c); NULL: not known */
};
enum { GROUP_USUAL, GROUP_SLOW, STEP_GROUPS };

/* The first two columns are PART_COMPUTE and PART_COMM; those of copies and of idle time follow as they occur. */
struct step_table {
	struct arena *arena;
	struct step_column *list;
	uint32_t n, room;
	uint32_t n_blocks, steps; /* steps of a block; n_steps of all */
	uint32_t n_steps;
	uint32_t n_pieces;        /* blocks, divided where a step of a group begins or ends */
	const int64_t *end;       /* of each piece: the last one's is the window's */
	const uint32_t *block_of; /* by piece */
	struct step_group group[STEP_GROUPS];
	uint32_t copy[COPY_WAYS];    /* 1 + the column, 0 for none */
	uint32_t *idle[CAUSE_COUNT]; /* by phase: 1 + its column, 0 for none; NULL: the cause has not occurred */
	uint32_t n_phases;
	int64_t start;       /* the window's */
	uint32_t piece;      /* the one in turn, … */
	int64_t from, until; /* … from when to when */
};

/* `end`: when each of the n_steps > 0 measured steps ends. Nothing is added yet. */
void step_table_begin(struct step_table *table, int64_t start, const int64_t *end, uint32_t n_steps, uint32_t n_phases,
                      struct arena *arena);

/* Has the slowest steps and those about the median apart, of `start` and `ns` of each of the n_steps; before anything
 * else, and nothing where they are too few. */
void step_table_groups(struct step_table *table, const int64_t *start, const int64_t *ns);

/* What a column has of each step of a group, ns. */
void step_table_of_group(const struct step_table *table, const struct step_column *column, int group, int64_t *ns);

/* The column of idle time of a cause in a phase; TRACE_NONE beyond STEP_TABLE_MOST, and where a table was not begun, to
 * which nothing is added. */
uint32_t step_table_idle(struct step_table *table, enum cause cause, uint32_t phase);

/* The column of copies that go one way; TRACE_NONE where a table was not begun. */
uint32_t step_table_copy(struct step_table *table, uint32_t way);

/* Adds [start, end), which lies in the window, to a column, `sign` times; nothing to TRACE_NONE. */
void step_table_add(struct step_table *table, uint32_t column, int64_t start, int64_t end, int sign);

/* Who goes through a device in order of time adds to a column what came since the last piece's end, at each piece's
 * end and at the last. Back to the first piece; whether there is another one after the piece in turn and `time` is
 * beyond its end; on to that one. */
void step_table_rewind(struct step_table *table);
static inline bool step_table_passes(const struct step_table *table, int64_t time)
{
	return time > table->until && table->piece + 1 < table->n_pieces;
}
void step_table_next(struct step_table *table);
void step_table_put(struct step_table *table, uint32_t column, int64_t ns);

/* Steps of a block, of n_steps in blocks of `steps`. */
uint32_t step_table_steps(uint32_t n_steps, uint32_t steps, uint32_t block);

#endif
