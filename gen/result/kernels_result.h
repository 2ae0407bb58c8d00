/* What Nsight Compute measured of the kernels that weigh most, both sides beside each other (docs/method/analysis.md,
 * Inside the kernels). Plain data, part of struct analysis; numbers that are not known are NAN. */
#ifndef GAPLINE_RESULT_KERNELS_RESULT_H
#define GAPLINE_RESULT_KERNELS_RESULT_H

#include "fact/fact.h"
#include "trace/ncu.h"

/* What is in the CUDA graphs of one side that were traced whole: an estimate, by the nodes of the same graphs in
 * another run (docs/method/analysis.md, Inside CUDA graphs). Plain data, part of struct analysis. */

enum graph_share_of {
	GRAPH_BY_KERNEL, /* copies and memsets, too */
	GRAPH_BY_PHASE,  /* in which nodes were captured */
	GRAPH_BY_RANGE,  /* the innermost one in which they were */
	GRAPH_BY_MODULE, /* that a compiler notes of the call that was captured */
	GRAPH_LISTS
};

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

/* What holds a kernel up. */
enum kernel_bound {
	BOUND_UNKNOWN,
	BOUND_MEMORY,
	BOUND_COMPUTE,
	BOUND_BOTH,   /* memory and SMs alike */
	BOUND_LATENCY /* neither is near its peak */
};

struct kernel_stall {
	enum ncu_stall stall;
	double share; /* of the cycles that warps were stalled, 0 to 1 */
};

/* What limits the occupancy: "registers", "shared_memory"; NULL: nothing, or not known. */
const char *kernel_limit_name(enum ncu_number limit);

enum { KERNEL_STALLS = 3 };

/* A kernel and launch shape on one side. Values are means over the launches that were measured. */
struct kernel_inside {
	uint32_t launches; /* measured; 0: none, and all else is empty */
	uint32_t name;
	uint64_t shape;
	int64_t grid[3], block[3];
	double instances, per_step, share; /* in the profile: launches and ns a step; of all kernels' time, 0 to 1 */
	double value[NCU_NUMBERS];
	enum kernel_bound bound;
	enum ncu_number limit; /* NCU_BY_…; NCU_WAVES: the grid does not fill the GPU; NCU_NUMBERS: none */
	struct kernel_stall stall[KERNEL_STALLS];
	uint32_t n_stalls; /* the largest first */
	uint32_t rule;     /* what Nsight Compute advises, a name; 0: nothing */
	/* The roofline's point: absolute, or in shares of the peaks (struct kernels_inside). */
	double intensity, rate;
};

struct kernel_pair {
	struct kernel_inside side[2];
	const char *text;   /* a sentence: what holds it up, and how that changed */
	const char *advice; /* what usually helps */
};

/* Whether it takes a hundredth of the kernels' time on any side: nothing is advised of one that takes less. */
static inline bool kernel_pair_weighs(const struct kernel_pair *pair)
{
	return pair->side[0].share >= 0.01 || pair->side[1].share >= 0.01;
}

/* What a roofline's points are below: rate = min(peak, bandwidth × intensity). */
struct roof {
	bool known;
	double bandwidth, peak;
};

struct kernels_inside {
	bool given[2]; /* by side: there is a report of Nsight Compute */
	struct kernel_pair *pair;
	uint32_t n;             /* by the longer time a step, at most KERNELS_INSIDE */
	uint32_t more;          /* kernels left out because of that */
	uint32_t groups[2];     /* kernels and shapes measured … */
	uint32_t strangers[2];  /* … and how many of these the profile's steps do not have */
	double covered[2];      /* share of the kernels' time that was measured, 0 to 1 */
	bool absolute;          /* the roofline is in FLOP and bytes; else in shares of the peaks: rate in percent of
	                         * the SMs' peak, intensity in multiples of the one at which both are at their peak */
	struct roof roof[2];    /* by side */
	const char *command[2]; /* how to measure the five heaviest kernels; NULL: the GPU is not the bottleneck, or
	                         * they are measured */
	struct graphs_inside graphs[2]; /* by side */
};
enum { KERNELS_INSIDE = 20 };

#endif
