#include "calibrate.h"
#include "check.h"
#include "clock.h"
#include "ensemble.h"
#include "memory.h"

#include <string.h>

enum { THREADS = 256 };

static __global__ void ensemble_mean(const float *__restrict__ members, int n, float *__restrict__ mean)
{
	int pixel = blockIdx.x * THREADS + threadIdx.x;
	float sum = 0;

#pragma unroll 8
	for (int i = 0; i < n; i++)
		sum += members[(size_t)i * FRAME_PIXELS + pixel];
	mean[pixel] = sum / n;
}

static float *host_memory(size_t bytes, bool pinned)
{
	float *p;

	if (!pinned)
		return (float *)memory_array(1, bytes);
	CUDA_CHECK(cudaMallocHost((void **)&p, bytes));
	return p;
}

/* Member m is the frame moved along by m pixels: quickly drawn, and no two members agree. */
static void draw(float *ensemble, int members, uint64_t seed, uint64_t index)
{
	uint8_t *bytes = (uint8_t *)memory_array(FRAME_PIXELS, 1);
	float *frame = (float *)memory_array(FRAME_PIXELS, sizeof(float));

	frame_draw(bytes, seed, index);
	frame_floats(bytes, frame);
	for (int m = 0; m < members; m++) {
		float *to = ensemble + (size_t)m * FRAME_PIXELS;
		int moved = m % FRAME_PIXELS;

		memcpy(to, frame + moved, (size_t)(FRAME_PIXELS - moved) * sizeof(float));
		memcpy(to + FRAME_PIXELS - moved, frame, (size_t)moved * sizeof(float));
	}
	free(bytes);
	free(frame);
}

void ensemble_init(struct ensemble *e, int members, bool pinned, uint64_t seed)
{
	e->members = members > 0 ? members : 1;
	e->bytes = (size_t)e->members * FRAME_PIXELS * sizeof(float);
	e->pinned = pinned;
	for (int i = 0; i < ENSEMBLES; i++) {
		e->host[i] = host_memory(e->bytes, pinned);
		draw(e->host[i], e->members, seed, (uint64_t)i);
		CUDA_CHECK(cudaMalloc((void **)&e->device[i], e->bytes));
	}
	CUDA_CHECK(cudaMalloc((void **)&e->mean, FRAME_PIXELS * sizeof(float)));
}

void ensemble_release(struct ensemble *e)
{
	for (int i = 0; i < ENSEMBLES; i++) {
		if (e->pinned)
			CUDA_CHECK(cudaFreeHost(e->host[i]));
		else
			free(e->host[i]);
		CUDA_CHECK(cudaFree(e->device[i]));
	}
	CUDA_CHECK(cudaFree(e->mean));
}

void ensemble_use(struct ensemble *e, int d, struct reaction *r, cudaStream_t stream)
{
	ensemble_mean<<<FRAME_PIXELS / THREADS, THREADS, 0, stream>>>(e->device[d], e->members, e->mean);
	CUDA_CHECK(cudaGetLastError());
	reaction_nudge(r, e->mean, stream);
}

struct trial {
	bool pinned;
	cudaStream_t stream;
	uint64_t seed;
	struct ensemble ensemble; /* members 0: none yet */
};

static double copy_ms(void *context, int work)
{
	struct trial *t = (struct trial *)context;
	double start;

	if (t->ensemble.members != work) {
		if (t->ensemble.members > 0)
			ensemble_release(&t->ensemble);
		ensemble_init(&t->ensemble, work, t->pinned, t->seed);
	}
	CUDA_CHECK(cudaStreamSynchronize(t->stream));
	start = clock_ms();
	CUDA_CHECK(cudaMemcpyAsync(t->ensemble.device[0], t->ensemble.host[0], t->ensemble.bytes,
	                           cudaMemcpyHostToDevice, t->stream));
	CUDA_CHECK(cudaStreamSynchronize(t->stream));
	return clock_ms() - start;
}

int ensemble_calibrate(double target_ms, bool pinned, cudaStream_t stream, uint64_t seed)
{
	struct trial trial = {pinned, stream, seed, {}};
	int members = calibrate(target_ms, 16, ENSEMBLE_MAX_MEMBERS, copy_ms, &trial);

	if (trial.ensemble.members > 0)
		ensemble_release(&trial.ensemble);
	return members;
}
