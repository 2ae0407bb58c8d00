/* When processes ran on a GPU that several of them use. One list serves all of them, so that a GPU with a thousand
 * processes costs no more than its ops. */
#ifndef GAPLINE_ANALYSE_RUN_SHARING_H
#define GAPLINE_ANALYSE_RUN_SHARING_H

#include "analyse/run/collectives.h"
#include "trace/trace.h"

/* Stretches, sorted, disjoint, in each of which the same one process ran, or several did. */
struct sharing {
	size_t n;
	int64_t *start, *end;
	uint32_t *owner;     /* the process, or TRACE_NONE for several */
	int64_t *before;     /* length of all stretches before this one */
	uint32_t *own;       /* stretches by owner: those of p are own[first_own[p] .. first_own[p + 1]) … */
	int64_t *own_before; /* … and the length of its own ones before each */
	uint32_t *first_own;
};

/* n = 0 unless at least two processes ran something on the GPU (index into trace.gpus). */
void sharing_build(const struct trace *trace, uint32_t gpu, struct arena *arena, struct sharing *out);

/* How much of [start, end) other processes than `process` ran. */
int64_t sharing_time(const struct sharing *s, uint32_t process, int64_t start, int64_t end);

/* The first interval that ends after `t` in which others ran all the time: true, and *start and *end; false when none
 * follows. */
bool sharing_next(const struct sharing *s, uint32_t process, int64_t t, int64_t *start, int64_t *end);

/* What runs beside the communication kernels of a device. Pure. */

/* When the device computes, and copies, while it communicates: disjoint and in order. */
struct comm_beside {
	struct stretches compute, copies;
};

/* Of a device of the trace. Everything lives in `arena`. */
void beside_find(const struct trace *trace, uint32_t device, struct arena *arena, struct comm_beside *out);

#endif
