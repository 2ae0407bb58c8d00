#include "../common/check.h"
#include "gradient.h"

enum { THREADS = 256 };

static __global__ void gradient_kernel(const float *__restrict__ field, int cells, float *__restrict__ gradient,
                                       size_t n)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		gradient[i] = 0.125f * field[i % cells];
}

void gradient_of(const float *field, int cells, float *gradient, size_t n, cudaStream_t stream)
{
	gradient_kernel<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(field, cells, gradient, n);
	CUDA_CHECK(cudaGetLastError());
}
