/* Launches of a report of Nsight Compute, put together by kernel and launch shape, and found in the profile. */
#ifndef GAPLINE_ANALYSE_JUDGE_NCU_MATCH_H
#define GAPLINE_ANALYSE_JUDGE_NCU_MATCH_H

#include "analyse/kernels_result.h"
#include "analyse/side/side.h"

struct ncu_side {
	struct kernel_inside *kernel; /* the heaviest in the profile first */
	uint32_t n, strangers;        /* strangers: that the profile's measured steps do not have */
	double covered;               /* share of the kernels' time, 0 to 1 */
};

/* `names`: of the report and of the traces that `facts` are of. */
struct ncu_side ncu_match(const struct side_facts *facts, const struct ncu_report *report, const struct names *names,
                          struct arena *arena);

#endif
