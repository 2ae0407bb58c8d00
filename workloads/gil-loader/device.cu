/* The GPU work of gil-loader, its ranges and its clock, for a program in Python that loads this with ctypes. */
#include "../common/lock_wait.h"

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCKS = 132, THREADS = 256 };

static uint64_t *state;

/* So many rounds of a generator of pseudo-random numbers in every thread; what they add up to. */
static __global__ void advance(uint64_t *sum, uint64_t seed, int rounds)
{
	uint64_t x = seed + blockIdx.x * blockDim.x + threadIdx.x;
	for (int i = 0; i < rounds; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	atomicAdd((unsigned long long *)sum, (unsigned long long)x);
}

/* The GPU's name; NULL: there is none. */
extern "C" const char *device_begin(void)
{
	static cudaDeviceProp properties;
	int n = 0;
	if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0 || cudaGetDeviceProperties(&properties, 0) != cudaSuccess ||
	    cudaMalloc((void **)&state, sizeof *state) != cudaSuccess)
		return NULL;
	return properties.name;
}

/* Computes on the GPU and reads the result: 0, or 1 where CUDA failed. */
extern "C" int device_advance(uint64_t seed, int rounds, uint64_t *result)
{
	cudaMemsetAsync(state, 0, sizeof *state, 0);
	advance<<<BLOCKS, THREADS>>>(state, seed, rounds);
	cudaError_t failed = cudaMemcpy(result, state, sizeof *result, cudaMemcpyDeviceToHost);
	if (failed != cudaSuccess)
		fprintf(stderr, "gil-loader: %s\n", cudaGetErrorString(failed));
	lock_wait_begin();
	return failed != cudaSuccess;
}

/* ns since device_advance had its result, without those in which the thread was only short of a processor: whoever
 * comes back from there to an interpreter whose lock others hold waited for the lock so long. */
extern "C" int64_t lock_waited(void)
{
	return lock_wait_ns();
}

extern "C" void range_push(const char *name)
{
	nvtxRangePushA(name);
}

extern "C" void range_pop(void)
{
	nvtxRangePop();
}
