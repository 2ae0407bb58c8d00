/* Kernels that a program makes anew while it runs, under names that it counts: spec0, spec1, … */
#ifndef GAPLINE_ANALYSE_RUN_OP_VERSIONS_H
#define GAPLINE_ANALYSE_RUN_OP_VERSIONS_H

#include "trace/trace.h"

/* By name id: of a kernel that is another version of one before it the name of the first, else the name itself.
 * Versions have names that differ in the number at the end, each is launched only after the one before, over as many
 * blocks, and takes as long. Variants that a program tries out take another time, and kernels of one step come in
 * turns. */
uint32_t *op_versions(const struct trace *trace, struct arena *arena);

#endif
