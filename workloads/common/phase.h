/* NVTX ranges of the step and its phases; they nest, on the calling thread. */
#ifndef WORKLOADS_COMMON_PHASE_H
#define WORKLOADS_COMMON_PHASE_H

#include <nvtx3/nvToolsExt.h>
#include <stdbool.h>
#include <stdio.h>

/* With neutral names, all phases but the step are called a, b, c …, in the order in which they come up: what a report
 * then says of their causes cannot come from their names. Before the first phase. */
void phase_names(bool neutral);

/* `name` lasts as long as the program. */
void phase_begin(const char *name);

static inline void phase_end(void)
{
	nvtxRangePop();
}

/* Writes the phases so far as an array of JSON, in the order in which they came up: what a, b, c … stand for. */
void phase_print(FILE *out);

#endif
