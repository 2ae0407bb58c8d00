#include "../common/check.h"
#include "../common/hash.h"
#include "../common/memory.h"
#include "../common/random.h"
#include "../common/reaction.cuh"
#include "operators.h"

enum { THREADS = 256 };

static __global__ void react_once(float *u, float *v, struct operator_plan plan)
{
	int i = blockIdx.x * THREADS + threadIdx.x;

	react(&u[i], &v[i], plan.feed, plan.kill, OPERATOR_SUBSTEPS);
}

static __global__ void react_fused(float *u, float *v, const struct operator_plan *plans, int n)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	float x = u[i], y = v[i];

	for (int k = 0; k < n; k++)
		react(&x, &y, plans[k].feed, plans[k].kill, OPERATOR_SUBSTEPS);
	u[i] = x;
	v[i] = y;
}

void operators_init(struct operators *o, const struct operator_plan *plans, int n, uint64_t seed)
{
	CUDA_CHECK(cudaMalloc((void **)&o->u, OPERATOR_CELLS * sizeof(float)));
	CUDA_CHECK(cudaMalloc((void **)&o->v, OPERATOR_CELLS * sizeof(float)));
	CUDA_CHECK(cudaMalloc((void **)&o->plans, (size_t)n * sizeof(*plans)));
	CUDA_CHECK(cudaMemcpy(o->plans, plans, (size_t)n * sizeof(*plans), cudaMemcpyHostToDevice));
	operators_reset(o, seed);
}

void operators_reset(struct operators *o, uint64_t seed)
{
	float *host = (float *)memory_array(2 * OPERATOR_CELLS, sizeof(float));
	uint64_t state = random_mix(seed, 3);

	CUDA_CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < OPERATOR_CELLS; i++) {
		host[i] = 0.4f + 0.2f * random_float(&state);
		host[OPERATOR_CELLS + i] = 0.2f + 0.1f * random_float(&state);
	}
	CUDA_CHECK(cudaMemcpy(o->u, host, OPERATOR_CELLS * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(o->v, host + OPERATOR_CELLS, OPERATOR_CELLS * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaDeviceSynchronize());
	free(host);
}

void operators_release(struct operators *o)
{
	CUDA_CHECK(cudaFree(o->u));
	CUDA_CHECK(cudaFree(o->v));
	CUDA_CHECK(cudaFree(o->plans));
}

void operators_launch(struct operators *o, struct operator_plan plan, cudaStream_t stream)
{
	react_once<<<OPERATOR_CELLS / THREADS, THREADS, 0, stream>>>(o->u, o->v, plan);
	CUDA_CHECK(cudaGetLastError());
}

void operators_launch_fused(struct operators *o, int n, cudaStream_t stream)
{
	react_fused<<<OPERATOR_CELLS / THREADS, THREADS, 0, stream>>>(o->u, o->v, o->plans, n);
	CUDA_CHECK(cudaGetLastError());
}

uint64_t operators_hash(struct operators *o, uint64_t hash)
{
	float *host = (float *)memory_array(2 * OPERATOR_CELLS, sizeof(float));

	CUDA_CHECK(cudaMemcpy(host, o->u, OPERATOR_CELLS * sizeof(float), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaMemcpy(host + OPERATOR_CELLS, o->v, OPERATOR_CELLS * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 2 * OPERATOR_CELLS; i++) {
		if (!(host[i] >= 0 && host[i] < 1.5f)) {
			fprintf(stderr, "an operator left its bounds\n");
			exit(EXIT_WRONG_RESULT);
		}
	}
	hash = hash_bytes(hash, host, 2 * OPERATOR_CELLS * sizeof(float));
	free(host);
	return hash;
}
