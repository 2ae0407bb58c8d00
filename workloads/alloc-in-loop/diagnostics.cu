#include "../common/check.h"
#include "diagnostics.h"

enum { THREADS = 256, LONGEST = 8 };

static __global__ void smooth(const float *__restrict__ field, int window, float *__restrict__ out)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	float sum = field[i];

	for (int k = 1; k <= window; k++)
		sum += field[i >= k ? i - k : i];
	out[i] = sum / (window + 1);
}

static __global__ void sample_mean(const float *values, float *mean)
{
	__shared__ float sums[THREADS];
	float sum = 0;

	for (int i = threadIdx.x * LONGEST; i < WORKSPACE_CELLS; i += WORKSPACE_CELLS / 16)
		sum += values[i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (int i = THREADS / 2; i > 0; i /= 2) {
		if (threadIdx.x < i)
			sums[threadIdx.x] += sums[threadIdx.x + i];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*mean = sums[0] / (16 * THREADS);
}

void diagnose(const float *field, int window, float *workspace, float *mean, cudaStream_t stream)
{
	smooth<<<WORKSPACE_CELLS / THREADS, THREADS, 0, stream>>>(field, window % LONGEST, workspace);
	CUDA_CHECK(cudaGetLastError());
	sample_mean<<<1, THREADS, 0, stream>>>(workspace, mean);
	CUDA_CHECK(cudaGetLastError());
}
