/* NVTX ranges of the step and its phases; they nest, on the calling thread. */
#ifndef WORKLOADS_COMMON_PHASE_H
#define WORKLOADS_COMMON_PHASE_H

#include <nvtx3/nvToolsExt.h>

static inline void phase_begin(const char *name)
{
	nvtxRangePushA(name);
}

static inline void phase_end(void)
{
	nvtxRangePop();
}

#endif
