/* Samples -> the functions that a GPU waited for, both sides beside each other. */
#ifndef GAPLINE_FIND_FUNCTIONS_H
#define GAPLINE_FIND_FUNCTIONS_H

#include "result/functions_result.h"
#include "result/pair_result.h"
#include "side/sample_tree.h"
#include "side/side.h"

/* `renames`: NULL where there is one side. */
struct functions functions_build(const struct side *side, const struct side_facts *facts, uint32_t n_sides,
                                 const struct renames *renames, const struct names *names, struct arena *arena);

/* The findings; those about the host's time say which functions it is in, as far as samples say it: for each cause in a
 * phase the first of them. */
struct findings functions_tell(const struct functions *functions, const struct side *side,
                               const struct renames *renames, const struct findings *findings,
                               const struct names *names, struct arena *arena);

/* What functions*.c share. */

enum {
	FUNCTIONS_ROWS = 40,   /* functions listed */
	FUNCTIONS_CAUSES = 12, /* causes with a list of their own … */
	FUNCTIONS_LEAST = 20   /* … of at least so many samples */
};

/* A finished tree: its times are scaled to the idle time that they stand for. */
struct sample_sums {
	const struct sample_tree *tree;
	const struct names *names;
	uint32_t n_sides;
	double (*self)[2], (*total)[2]; /* by node, ns a step */
	double (*sample)[2];            /* by row: what a sample counts for, or would, ns a step */
	double (*untold)[2];            /* by row: idle time that no sample tells of, if it is more than one would */
	uint32_t *first;                /* by row: its nodes in `sorted` are [first, next row's first) */
	uint32_t *sorted;               /* nodes by row, parents before their children */
};

/* By how much two sums of samples differ, if that is more than they would by chance, and 0 otherwise; of what `untold`
 * leaves open the least. `sample`: what one of them counts for. */
double functions_change(const double time[2], const double untold[2], const double samples[2], const double sample[2]);

/* The functions of one row, or of all (TRACE_NONE). */
struct function_list function_list_of(const struct sample_sums *sums, uint32_t row, bool by_change,
                                      struct arena *arena);

/* The part of the tree that can be seen in a picture. */
void functions_draw(const struct sample_sums *sums, struct functions *out, struct arena *arena);

#endif
