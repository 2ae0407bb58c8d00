/* Reports of Nsight Compute beside the profiles: which of their kernels are which, and what they say
 * (docs/method/analysis.md, Inside the kernels). */
#ifndef GAPLINE_FIND_NCU_H
#define GAPLINE_FIND_NCU_H

#include "result/kernels_result.h"
#include "side/side.h"

/* What is known of the kernels of one or two sides. `report`: by side, NULL without; the names of both are the traces'.
 * `gpu_bound`: by side, whether the GPU is the bottleneck there. */
struct ncu_input {
	const struct side_facts *facts;
	const struct ncu_report *report[2];
	bool gpu_bound[2];
	int n_sides;
	const struct names *names;
};
struct kernels_inside ncu_evidence(const struct ncu_input *input, struct arena *arena);

/* Launches of a report of Nsight Compute, put together by kernel and launch shape, and found in the profile. */

struct ncu_side {
	struct kernel_inside *kernel; /* the heaviest in the profile first */
	uint32_t n, strangers;        /* strangers: that the profile's measured steps do not have */
	double covered;               /* share of the kernels' time, 0 to 1 */
};

/* `names`: of the report and of the traces that `facts` are of. */
struct ncu_side ncu_match(const struct side_facts *facts, const struct ncu_report *report, const struct names *names,
                          struct arena *arena);

/* The command with which Nsight Compute measures the kernels that weigh most. */

/* Of the five heaviest of the first run's first process, one step; "COMMAND" stands for the program. Kernels are asked
 * for by their functions' own names, since ncu spells template arguments in another way than the PyTorch profiler and
 * than nsys. `side`: what files are called. NULL: no kernel is measured,
 * or the GPUs are not NVIDIA's. */
const char *ncu_command(const struct side_facts *facts, const char *side, struct arena *arena);

#endif
