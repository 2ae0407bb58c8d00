/* Samples of the threads that a GPU waited for, as a tree: below each cause in a phase, the functions as they called
 * each other. Both sides of a comparison share one tree. */
#ifndef GAPLINE_SIDE_SAMPLE_TREE_H
#define GAPLINE_SIDE_SAMPLE_TREE_H

#include "base/keymap.h"
#include "charge/charge.h"
#include "result/functions_result.h"
#include "result/pair_result.h"

/* A function as it was called, or with function TRACE_NONE a row. Numbers are of itself alone, by side. */
struct sample_node {
	uint32_t parent, function, row;
	bool again; /* the same function stands above it, too */
	double time[2], samples[2];
};

/* Idle time of one cause in one phase; ns a step, by side. */
struct sample_row {
	enum cause cause;
	uint32_t phase;
	double idle[2];   /* without gaps that happened once */
	double looked[2]; /* of it, while samples were taken */
	double time[2];   /* that samples stand for, at their distance */
	double samples[2];
};

/* A thread that held Python's interpreter lock while others waited for it, in a row. */
struct sample_holder {
	uint32_t row, name; /* as in struct lock_holder … */
	bool main;          /* … too */
	double time[2];     /* that samples stand for */
};

enum { SAMPLE_NODES_MOST = 1 << 20 }; /* what would be below more of them counts for the last one that is there */

struct sample_tree {
	struct arena *arena;
	struct keymap function_keys, node_keys, row_keys;
	struct sampled_function *functions;
	struct sample_node *nodes; /* parents before their children */
	struct sample_row *rows;
	struct keymap holder_keys; /* row << 32 | name, TRACE_NONE of a main thread */
	struct sample_holder *holders;
	struct sampling side[2];
};

void sample_tree_init(struct sample_tree *tree, struct arena *arena);

/* Adds what the samples of a side's runs say, which are complete. `renames`: phases go by the baseline's names; NULL:
 * by their own. */
void sample_tree_add(struct sample_tree *tree, struct run *runs, const struct side *of, int side,
                     const struct renames *renames);

#endif
