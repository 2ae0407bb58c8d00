#include "../common/check.h"
#include "../common/reaction.cuh"
#include "samples.h"

enum { CELLS = 256, SUBSTEPS = 1024 };

/* A block is a sample, a thread a cell. */
static __global__ void sample(uint64_t seed, int step, int first, unsigned long long *sums)
{
	__shared__ unsigned long long total;
	int number = first + blockIdx.x;
	unsigned x = (unsigned)(seed + 1) * 2654435761u ^ (unsigned)step * 40503u ^ (unsigned)number * 2246822519u ^
	             threadIdx.x * 3266489917u;
	float u, v;

	x = (x ^ (x >> 15)) * 2246822519u;
	x ^= x >> 13;
	u = 0.4f + 0.2f * (x & 0xffff) / 65536;
	v = 0.2f + 0.1f * (x >> 16) / 65536;
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	react(&u, &v, (float)REACTION_FEED, (float)REACTION_KILL, SUBSTEPS);
	atomicAdd(&total, (unsigned long long)(u * (1 << 24)));
	__syncthreads();
	if (threadIdx.x == 0)
		atomicAdd(&sums[number % SAMPLE_SUMS], total);
}

void samples_compute(uint64_t seed, int step, int first, int n, unsigned long long *sums, cudaStream_t stream)
{
	if (n > 0)
		sample<<<(unsigned)n, CELLS, 0, stream>>>(seed, step, first, sums);
	CUDA_CHECK(cudaGetLastError());
}
