#include "../common/check.h"
#include "../common/random.h"
#include "scale.h"

enum { THREADS = 256 };

static __global__ void draw(float *matrix, uint64_t seed)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	uint64_t x = (i + seed * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
	matrix[i] = (float)(x >> 40) * 0x1p-23f - 1;
}

static __device__ float scaled(float x)
{
	return 1 - 2 * x * x;
}

/* A warp has 32 elements that lie side by side. */
static __global__ void scale_by_columns(float *matrix)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	matrix[i] = scaled(matrix[i]);
}

/* A warp has 32 elements of one column: each in a row, and a memory transaction, of its own. */
static __global__ void scale_by_rows(float *matrix, size_t rows)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	size_t row = i % rows, column = i / rows;
	float *at = &matrix[row * SCALE_COLUMNS_N + column];

	*at = scaled(*at);
}

static __global__ void checksum(const float *matrix, unsigned long long *sum, int *outside)
{
	size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	float x = matrix[i];

	if (!(x >= -1 && x <= 1))
		*outside = 1;
	atomicAdd(sum, (__float_as_uint(x) + 1ull) * (2 * i + 1));
}

static unsigned blocks(int bands)
{
	return (unsigned)bands * (SCALE_BAND / THREADS);
}

float *scale_new(int bands, uint64_t seed)
{
	float *matrix;

	CUDA_CHECK(cudaMalloc((void **)&matrix, (size_t)bands * SCALE_BAND * sizeof(float)));
	scale_draw(matrix, bands, seed);
	return matrix;
}

void scale_draw(float *matrix, int bands, uint64_t seed)
{
	CUDA_CHECK(cudaDeviceSynchronize());
	draw<<<blocks(bands), THREADS>>>(matrix, seed);
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaDeviceSynchronize());
}

void scale_matrix(float *matrix, int bands, enum scale_order order, cudaStream_t stream)
{
	if (order == SCALE_ROWS)
		scale_by_rows<<<blocks(bands), THREADS, 0, stream>>>(matrix, (size_t)bands * SCALE_ROWS_N);
	else
		scale_by_columns<<<blocks(bands), THREADS, 0, stream>>>(matrix);
	CUDA_CHECK(cudaGetLastError());
}

uint64_t scale_checksum(const float *matrix, int bands)
{
	struct {
		unsigned long long sum;
		int outside;
	} host, *device;

	CUDA_CHECK(cudaMalloc((void **)&device, sizeof(host)));
	CUDA_CHECK(cudaMemset(device, 0, sizeof(host)));
	checksum<<<blocks(bands), THREADS>>>(matrix, &device->sum, &device->outside);
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaMemcpy(&host, device, sizeof(host), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(device));
	return host.outside ? 0 : host.sum | 1;
}
