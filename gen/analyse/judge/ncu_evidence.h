/* Reports of Nsight Compute beside the profiles: which of their kernels are which, and what they say
 * (docs/method/analysis.md, Inside the kernels). */
#ifndef GAPLINE_ANALYSE_JUDGE_NCU_EVIDENCE_H
#define GAPLINE_ANALYSE_JUDGE_NCU_EVIDENCE_H

#include "analyse/kernels_result.h"
#include "analyse/side/side.h"

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

#endif
