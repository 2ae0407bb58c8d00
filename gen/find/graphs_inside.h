/* CUDA graphs that were traced whole, divided by a profile of the same program that has their nodes
 * (docs/method/analysis.md, Inside CUDA graphs). */
#ifndef GAPLINE_FIND_GRAPHS_INSIDE_H
#define GAPLINE_FIND_GRAPHS_INSIDE_H

#include "result/kernels_result.h"
#include "side/side.h"

/* A side, `which` of two or FACT_NO_SIDE, and the run that has the nodes, with names of its own. */
struct graphs_input {
	const struct side *side;
	const struct side_facts *facts;
	const struct trace *nodes;
	const char *nodes_file;
	int which;
};

/* Asks for the side's rows again; names of what is in graphs are added to `names`, the side's. */
struct graphs_inside graphs_look_inside(const struct graphs_input *of, struct names *names, struct arena *arena);

#endif
