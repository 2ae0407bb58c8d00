/* What is in the CUDA graphs of one side that were traced whole: an estimate, by the nodes of the same graphs in
 * another run (docs/method/analysis.md, Inside CUDA graphs). Plain data, part of struct analysis. */
#ifndef GAPLINE_ANALYSE_GRAPHS_RESULT_H
#define GAPLINE_ANALYSE_GRAPHS_RESULT_H

#include "fact/fact.h"

enum graph_share_of {
	GRAPH_BY_KERNEL, /* copies and memsets, too */
	GRAPH_BY_PHASE,  /* in which nodes were captured */
	GRAPH_BY_RANGE,  /* the innermost one in which they were */
	GRAPH_BY_MODULE, /* that a compiler notes of the call that was captured */
	GRAPH_LISTS
};
const char *graph_share_key(enum graph_share_of of); /* "kernel", "phase" */

struct graph_share {
	uint32_t name; /* 0: not known */
	double share;  /* of the times of all nodes of the graph, added up: 0 to 1 */
};

struct graph_list {
	struct graph_share *row;
	uint32_t n; /* the largest first, at most GRAPH_ROWS; none where no name is known */
};
enum { GRAPH_ROWS = 12 };

struct graph_inside {
	uint32_t number;            /* from 1: in the order in which a process's threads, one after the other, first
	                             * launched them; graphs of one number of several processes are taken together */
	double instances, per_step; /* launches, and ns, per step: as they were traced whole */
	struct graph_list list[GRAPH_LISTS];
};

struct graphs_inside {
	const char *file; /* the profile with the nodes, last part only; NULL: there is none, and nothing else */
	const struct fact *unknown; /* why the graphs cannot be divided; NULL: they are */
	struct graph_inside *graph; /* the longest first, at most GRAPHS_SHOWN */
	uint32_t n;
	uint32_t more; /* shorter ones */
};
enum { GRAPHS_SHOWN = 10 };

#endif
