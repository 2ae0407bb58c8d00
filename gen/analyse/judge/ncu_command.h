/* The command with which Nsight Compute measures the kernels that weigh most. */
#ifndef GAPLINE_ANALYSE_JUDGE_NCU_COMMAND_H
#define GAPLINE_ANALYSE_JUDGE_NCU_COMMAND_H

#include "analyse/side/side.h"

/* Of the five heaviest of the first run's first process, one step; "COMMAND" stands for the program. Kernels are asked
 * for by their functions' own names, since ncu spells template arguments in another way than the PyTorch profiler and
 * than nsys. `side`: what files are called. NULL: no kernel is measured,
 * or the GPUs are not NVIDIA's. */
const char *ncu_command(const struct side_facts *facts, const char *side, struct arena *arena);

#endif
