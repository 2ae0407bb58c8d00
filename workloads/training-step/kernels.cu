#include "kernels.h"

#include "../common/check.h"

enum { THREADS = 256, WARP = 32, SUMMANDS = 32, AHEAD = 8 };

static int blocks(size_t n)
{
	return (int)((n + THREADS - 1) / THREADS);
}

static __global__ void bias_relu(float *y, const float *bias, size_t n, int columns)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = fmaxf(0.0f, y[i] + bias[i % columns]);
}

/* A block has WARP columns and goes down them with one warp for every SUMMANDS-th row; each thread has AHEAD loads
 * under way at a time, or it would wait for one after the other. */
static __global__ void bias_gradient(float *__restrict__ gradient, const float *__restrict__ activation, float *sums,
                                     int rows, int columns)
{
	__shared__ float parts[SUMMANDS][WARP];
	int column = blockIdx.x * WARP + threadIdx.x;
	float sum = 0;

	for (int first = threadIdx.y; first < rows && column < columns; first += SUMMANDS * AHEAD) {
		float g[AHEAD], a[AHEAD];

#pragma unroll
		for (int k = 0; k < AHEAD; k++) {
			int row = first + k * SUMMANDS;
			size_t i = (size_t)row * columns + column;

			g[k] = row < rows ? gradient[i] : 0.0f;
			a[k] = row < rows && activation != NULL ? activation[i] : 1.0f;
		}
#pragma unroll
		for (int k = 0; k < AHEAD; k++) {
			if (a[k] == 0.0f)
				gradient[(size_t)(first + k * SUMMANDS) * columns + column] = 0.0f;
			else
				sum += g[k];
		}
	}
	parts[threadIdx.y][threadIdx.x] = sum;
	__syncthreads();
	for (int i = SUMMANDS / 2; i > 0; i /= 2) {
		if (threadIdx.y < i)
			parts[threadIdx.y][threadIdx.x] += parts[threadIdx.y + i][threadIdx.x];
		__syncthreads();
	}
	if (threadIdx.y == 0 && column < columns)
		sums[column] = parts[0][threadIdx.x];
}

/* One warp a row, one lane a class. */
static __global__ void softmax_loss(const float *logits, const float *bias, const int32_t *labels, int rows,
                                    int classes, float *row_loss, float *gradient)
{
	int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
	int lane = threadIdx.x % WARP;
	float x, high, part, sum;

	if (row >= rows)
		return;
	x = lane < classes ? logits[(size_t)row * classes + lane] + bias[lane] : -INFINITY;
	high = x;
	for (int i = WARP / 2; i > 0; i /= 2)
		high = fmaxf(high, __shfl_xor_sync(~0u, high, i));
	part = expf(x - high);
	sum = part;
	for (int i = WARP / 2; i > 0; i /= 2)
		sum += __shfl_xor_sync(~0u, sum, i);
	if (lane < classes)
		gradient[(size_t)row * classes + lane] = (part / sum - (lane == labels[row] ? 1.0f : 0.0f)) / rows;
	if (lane == labels[row])
		row_loss[row] = logf(sum) - (x - high);
}

static __global__ void mean_of(const float *values, int n, float *mean)
{
	__shared__ float sums[THREADS];
	float sum = 0;

	for (int i = threadIdx.x; i < n; i += THREADS)
		sum += values[i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (int i = THREADS / 2; i > 0; i /= 2) {
		if (threadIdx.x < i)
			sums[threadIdx.x] += sums[threadIdx.x + i];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*mean = sums[0] / n;
}

static __global__ void descend(float *parameters, float *velocity, const float *gradient, int n, float rate,
                               float momentum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		velocity[i] = momentum * velocity[i] + gradient[i];
		parameters[i] -= rate * velocity[i];
	}
}

void kernel_bias_relu(float *y, const float *bias, int rows, int columns, cudaStream_t stream)
{
	size_t n = (size_t)rows * columns;

	bias_relu<<<blocks(n), THREADS, 0, stream>>>(y, bias, n, columns);
	CUDA_CHECK(cudaGetLastError());
}

void kernel_bias_gradient(float *gradient, const float *activation, float *sums, int rows, int columns,
                          cudaStream_t stream)
{
	bias_gradient<<<(columns + WARP - 1) / WARP, dim3(WARP, SUMMANDS), 0, stream>>>(gradient, activation, sums,
	                                                                                rows, columns);
	CUDA_CHECK(cudaGetLastError());
}

void kernel_softmax_loss(const float *logits, const float *bias, const int32_t *labels, int rows, int classes,
                         float *row_loss, float *gradient, cudaStream_t stream)
{
	softmax_loss<<<blocks((size_t)rows * WARP), THREADS, 0, stream>>>(logits, bias, labels, rows, classes, row_loss,
	                                                                  gradient);
	CUDA_CHECK(cudaGetLastError());
}

void kernel_mean(const float *values, int n, float *mean, cudaStream_t stream)
{
	mean_of<<<1, THREADS, 0, stream>>>(values, n, mean);
	CUDA_CHECK(cudaGetLastError());
}

void kernel_descend(float *parameters, float *velocity, const float *gradient, int n, float rate, float momentum,
                    cudaStream_t stream)
{
	descend<<<blocks((size_t)n), THREADS, 0, stream>>>(parameters, velocity, gradient, n, rate, momentum);
	CUDA_CHECK(cudaGetLastError());
}
