/* The command with which Nsight Compute measures the kernels that weigh most. */
#ifndef GAPLINE_ANALYSE_JUDGE_NCU_COMMAND_H
#define GAPLINE_ANALYSE_JUDGE_NCU_COMMAND_H

#include "analyse/side/side.h"

/* Of the five heaviest of the first run's first process, one step; "COMMAND" stands for the program. A PyTorch trace
 * spells kernels in another way than ncu: there it is the five heaviest functions, by their own names. `side`: what
 * files are called. NULL: no kernel is measured. */
const char *ncu_command(const struct side_facts *facts, const char *side, struct arena *arena);

#endif
