/* A chain of operators on a small state: each lets the two chemicals of every cell react for a while, at rates of its
 * own. About ten microseconds each, whatever the GPU: they are as long as their arithmetic, not as wide as the GPU. */
#ifndef TINY_KERNELS_OPERATORS_H
#define TINY_KERNELS_OPERATORS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { OPERATOR_CELLS = 32768, OPERATOR_SUBSTEPS = 1024 };

struct operator_plan {
	float feed, kill;
};

struct operators {
	float *u, *v;                /* the cells, device */
	struct operator_plan *plans; /* of all operators, device: for the fused kernel */
};

void operators_init(struct operators *o, const struct operator_plan *plans, int n, uint64_t seed);
void operators_reset(struct operators *o, uint64_t seed); /* back to the start */
void operators_release(struct operators *o);

/* Queues one operator; and the first `n` as a single kernel, with the same arithmetic to the last bit. */
void operators_launch(struct operators *o, struct operator_plan plan, cudaStream_t stream);
void operators_launch_fused(struct operators *o, int n, cudaStream_t stream);

/* Waits, and goes on from `hash` with the cells; ends the program when they left their bounds. */
uint64_t operators_hash(struct operators *o, uint64_t hash);

#ifdef __cplusplus
}
#endif

#endif
