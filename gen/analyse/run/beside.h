/* What runs beside the communication kernels of a device. Pure. */
#ifndef GAPLINE_ANALYSE_RUN_BESIDE_H
#define GAPLINE_ANALYSE_RUN_BESIDE_H

#include "analyse/run/collectives.h"
#include "trace/trace.h"

/* When the device computes, and copies, while it communicates: disjoint and in order. */
struct comm_beside {
	struct stretches compute, copies;
};

/* Of a device of the trace. Everything lives in `arena`. */
void beside_find(const struct trace *trace, uint32_t device, struct arena *arena, struct comm_beside *out);

#endif
