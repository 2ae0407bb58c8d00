#include "../common/check.h"
#include "../common/reaction.cuh"
#include "estimate.h"

enum { THREADS = 256 };

static __global__ void estimate(const float *__restrict__ u, const float *__restrict__ v, int substeps,
                                float *__restrict__ estimates)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	float x = u[i], y = v[i];

	react(&x, &y, (float)REACTION_FEED, (float)REACTION_KILL, substeps);
	estimates[i] = fabsf(x - u[i]);
}

size_t estimate_bytes(const struct reaction *r)
{
	return (size_t)r->edge * r->edge * sizeof(float);
}

void estimate_error(const struct reaction *r, int substeps, float *estimates, cudaStream_t stream)
{
	unsigned blocks = (unsigned)((size_t)r->edge * r->edge / THREADS);

	estimate<<<blocks, THREADS, 0, stream>>>(r->u[r->now], r->v[r->now], substeps, estimates);
	CUDA_CHECK(cudaGetLastError());
}
