#include "check.h"
#include "frames.h"
#include "memory.h"
#include "reaction.cuh"

#include <math.h>
#include <string.h>

enum { THREADS = 256 };

static __device__ float diffused(const float *field, int edge, int x, int y, float rate)
{
	int left = x > 0 ? x - 1 : edge - 1, right = x + 1 < edge ? x + 1 : 0;
	int up = y > 0 ? y - 1 : edge - 1, down = y + 1 < edge ? y + 1 : 0;
	float centre = field[y * edge + x];
	float sum = field[y * edge + left] + field[y * edge + right] + field[up * edge + x] + field[down * edge + x];

	return centre + rate * (sum - 4 * centre);
}

static __global__ void sweep(const float *__restrict__ u, const float *__restrict__ v, float *__restrict__ to_u,
                             float *__restrict__ to_v, int edge)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < edge) {
		float a = diffused(u, edge, x, y, (float)REACTION_DIFFUSION_U);
		float b = diffused(v, edge, x, y, (float)REACTION_DIFFUSION_V);

		react(&a, &b, (float)REACTION_FEED, (float)REACTION_KILL, REACTION_SUBSTEPS);
		to_u[y * edge + x] = a;
		to_v[y * edge + x] = b;
	}
}

static __global__ void nudge(float *v, const float *frame, int edge)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < edge) {
		float target = frame[y % FRAME_EDGE * FRAME_EDGE + x % FRAME_EDGE];

		v[y * edge + x] += (float)REACTION_GAIN * (target - v[y * edge + x]);
	}
}

static __device__ void block_sum(float *sums)
{
	__syncthreads();
	for (int i = THREADS / 2; i > 0; i /= 2) {
		if (threadIdx.x < i)
			sums[threadIdx.x] += sums[threadIdx.x + i];
		__syncthreads();
	}
}

static __global__ void residual_parts(const float *a, const float *b, size_t n, float *parts)
{
	__shared__ float sums[THREADS];
	float sum = 0;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * THREADS)
		sum += fabsf(a[i] - b[i]);
	sums[threadIdx.x] = sum;
	block_sum(sums);
	if (threadIdx.x == 0)
		parts[blockIdx.x] = sums[0];
}

static __global__ void residual_mean(const float *parts, size_t n, float *mean)
{
	__shared__ float sums[THREADS];
	float sum = 0;

	for (int i = threadIdx.x; i < REACTION_PARTS; i += THREADS)
		sum += parts[i];
	sums[threadIdx.x] = sum;
	block_sum(sums);
	if (threadIdx.x == 0)
		*mean = sums[0] / n;
}

void reaction_init(struct reaction *r, int edge, uint64_t seed)
{
	const int cells = edge * edge;
	const size_t bytes = (size_t)cells * sizeof(float);
	float *host = (float *)memory_array(2 * cells, sizeof(float));

	r->edge = edge;
	r->now = 0;
	reaction_draw(host, host + cells, edge, seed);
	for (int i = 0; i < 2; i++) {
		CUDA_CHECK(cudaMalloc((void **)&r->u[i], bytes));
		CUDA_CHECK(cudaMalloc((void **)&r->v[i], bytes));
		CUDA_CHECK(cudaMemcpy(r->u[i], host, bytes, cudaMemcpyHostToDevice));
		CUDA_CHECK(cudaMemcpy(r->v[i], host + cells, bytes, cudaMemcpyHostToDevice));
	}
	CUDA_CHECK(cudaMalloc((void **)&r->parts, REACTION_PARTS * sizeof(float)));
	CUDA_CHECK(cudaMalloc((void **)&r->residual, sizeof(float)));
	CUDA_CHECK(cudaDeviceSynchronize());
	free(host);
}

void reaction_release(struct reaction *r)
{
	for (int i = 0; i < 2; i++) {
		CUDA_CHECK(cudaFree(r->u[i]));
		CUDA_CHECK(cudaFree(r->v[i]));
	}
	CUDA_CHECK(cudaFree(r->parts));
	CUDA_CHECK(cudaFree(r->residual));
}

static dim3 grid(const struct reaction *r)
{
	return dim3((unsigned)(r->edge + THREADS - 1) / THREADS, (unsigned)r->edge);
}

void reaction_advance(struct reaction *r, int sweeps, cudaStream_t stream)
{
	for (int i = 0; i < sweeps; i++) {
		sweep<<<grid(r), THREADS, 0, stream>>>(r->u[r->now], r->v[r->now], r->u[!r->now], r->v[!r->now],
		                                       r->edge);
		CUDA_CHECK(cudaGetLastError());
		r->now = !r->now;
	}
}

void reaction_nudge(struct reaction *r, const float *frame, cudaStream_t stream)
{
	nudge<<<grid(r), THREADS, 0, stream>>>(r->v[r->now], frame, r->edge);
	CUDA_CHECK(cudaGetLastError());
}

void reaction_residual(struct reaction *r, cudaStream_t stream)
{
	size_t n = (size_t)r->edge * r->edge;

	residual_parts<<<REACTION_PARTS, THREADS, 0, stream>>>(r->u[0], r->u[1], n, r->parts);
	CUDA_CHECK(cudaGetLastError());
	residual_mean<<<1, THREADS, 0, stream>>>(r->parts, n, r->residual);
	CUDA_CHECK(cudaGetLastError());
}

/* ---- the check ---- */

enum { SMALL = 64, CELLS = SMALL * SMALL };

static double worst_error(const double *expected, const float *device, double worst)
{
	float *host = (float *)memory_array(CELLS, sizeof(float));

	CUDA_CHECK(cudaMemcpy(host, device, CELLS * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < CELLS; i++) {
		double error = fabs(host[i] - expected[i]);

		worst = error <= worst ? worst : isfinite(error) ? error : 1; /* NaN is never <= */
	}
	free(host);
	return worst;
}

double reaction_error(uint64_t seed, cudaStream_t stream)
{
	double *u = (double *)memory_array(5 * CELLS, sizeof(double)), *v = u + CELLS, *scratch = v + CELLS;
	double *before = scratch + 2 * CELLS, moved = 0, worst = 0, error;
	float *start = (float *)memory_array(2 * CELLS, sizeof(float));
	float *frame = (float *)memory_array(FRAME_PIXELS, sizeof(float)), *device_frame, residual;
	uint8_t *bytes = (uint8_t *)memory_array(FRAME_PIXELS, 1);
	struct reaction r;

	reaction_draw(start, start + CELLS, SMALL, seed);
	frame_draw(bytes, seed, 0);
	frame_floats(bytes, frame);
	for (int i = 0; i < CELLS; i++) {
		u[i] = start[i];
		v[i] = start[CELLS + i] +
		       REACTION_GAIN * (frame[i / SMALL * FRAME_EDGE + i % SMALL] - start[CELLS + i]);
	}
	reaction_reference(u, v, SMALL, scratch, scratch + CELLS);
	memcpy(before, u, CELLS * sizeof(double));
	reaction_reference(u, v, SMALL, scratch, scratch + CELLS);
	for (int i = 0; i < CELLS; i++)
		moved += fabs(u[i] - before[i]) / CELLS;

	reaction_init(&r, SMALL, seed);
	CUDA_CHECK(cudaMalloc((void **)&device_frame, FRAME_PIXELS * sizeof(float)));
	CUDA_CHECK(cudaMemcpyAsync(device_frame, frame, FRAME_PIXELS * sizeof(float), cudaMemcpyHostToDevice, stream));
	reaction_nudge(&r, device_frame, stream);
	reaction_advance(&r, 2, stream);
	reaction_residual(&r, stream);
	CUDA_CHECK(cudaMemcpyAsync(&residual, r.residual, sizeof(float), cudaMemcpyDeviceToHost, stream));
	CUDA_CHECK(cudaStreamSynchronize(stream));
	worst = worst_error(u, r.u[r.now], worst);
	worst = worst_error(v, r.v[r.now], worst);
	error = fabs(residual / moved - 1); /* a mean of small numbers: held against itself */
	worst = error <= worst ? worst : isfinite(error) ? error : 1;
	reaction_release(&r);
	CUDA_CHECK(cudaFree(device_frame));
	free(u);
	free(start);
	free(frame);
	free(bytes);
	return worst;
}
