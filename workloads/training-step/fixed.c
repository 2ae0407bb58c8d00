#include "train.h"

#include "../common/check.h"
#include "../common/clock.h"
#include "../common/phase.h"

#include <pthread.h>
#include <string.h>

enum {
	WORKERS = 2,    /* threads that prepare batches: one alone would set the pace where a batch takes it longer than
	                   the GPU */
	HOST_SLOTS = 4, /* batches prepared or in preparation */
	DEVICE_SLOTS = 2, /* one trains while the next is copied */
	LOSS_DELAY = 2    /* steps after which the host reads a loss; it never runs further ahead of the GPU */
};

/* What the workers and the training thread share. Batch i lies in host slot i % HOST_SLOTS and is worker
 * i % WORKERS's. */
struct pipeline {
	struct training *training;
	float *host[HOST_SLOTS];        /* pinned */
	cudaEvent_t copied[HOST_SLOTS]; /* the slot has been copied and may be filled again */
	pthread_mutex_t lock;
	pthread_cond_t changed;   /* either of: */
	int prepared[HOST_SLOTS]; /* batches that have been ready in the slot so far */
	int submitted;            /* batches whose copy is queued and whose `copied` is recorded */
};

struct worker {
	struct pipeline *pipeline;
	pthread_t thread;
	int number;
};

static void advance(struct pipeline *p, int *count)
{
	pthread_mutex_lock(&p->lock);
	++*count;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void wait_beyond(struct pipeline *p, const int *count, int value)
{
	pthread_mutex_lock(&p->lock);
	while (*count <= value)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct pipeline *p = w->pipeline;
	struct training *t = p->training;

	for (int i = w->number; i < t->options->steps; i += WORKERS) {
		const int s = i % HOST_SLOTS;

		if (i >= HOST_SLOTS) {
			wait_beyond(p, &p->submitted, i - HOST_SLOTS);
			CUDA_CHECK(cudaEventSynchronize(p->copied[s]));
		}
		phase_begin("prepare");
		t->prepare_ms[i] = clock_ms();
		data_batch(t->data, i, t->options->batch, p->host[s]);
		t->prepare_ms[i] = clock_ms() - t->prepare_ms[i];
		phase_end();
		advance(p, &p->prepared[s]);
	}
	return NULL;
}

static cudaEvent_t event_new(void)
{
	cudaEvent_t event;

	/* Blocking: a waiting thread gives its core to the others. */
	CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
	return event;
}

static void workers_start(struct worker *workers, struct pipeline *p)
{
	for (int i = 0; i < WORKERS; i++) {
		int status;

		workers[i] = (struct worker){.pipeline = p, .number = i};
		status = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (status != 0) {
			fprintf(stderr, "cannot start a worker thread: %s\n", strerror(status));
			exit(EXIT_FAILURE);
		}
	}
}

void train_fixed(struct training *t)
{
	const int batch = t->options->batch, steps = t->options->steps;
	const size_t bytes = data_batch_bytes(batch);
	struct pipeline p = {.training = t, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct worker workers[WORKERS];
	cudaStream_t compute = t->model->stream, copy;
	float *pixels[DEVICE_SLOTS], *losses; /* losses: pinned */
	cudaEvent_t consumed[DEVICE_SLOTS];   /* the step no longer needs the slot */
	cudaEvent_t done[LOSS_DELAY + 1];

	CUDA_CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMallocHost((void **)&losses, (size_t)steps * sizeof(float)));
	for (int s = 0; s < HOST_SLOTS; s++) {
		CUDA_CHECK(cudaMallocHost((void **)&p.host[s], bytes));
		p.copied[s] = event_new();
	}
	for (int s = 0; s < DEVICE_SLOTS; s++) {
		CUDA_CHECK(cudaMalloc((void **)&pixels[s], bytes));
		consumed[s] = event_new();
	}
	for (int i = 0; i <= LOSS_DELAY; i++)
		done[i] = event_new();
	workers_start(workers, &p);

	for (int i = 0; i < steps; i++) {
		const int s = i % HOST_SLOTS, d = i % DEVICE_SLOTS;
		const int32_t *labels = (const int32_t *)(pixels[d] + (size_t)batch * PICTURE_SIZE);

		phase_begin("step");

		phase_begin("data_load");
		wait_beyond(&p, &p.prepared[s], i / HOST_SLOTS);
		phase_end();

		phase_begin("h2d");
		if (i >= DEVICE_SLOTS)
			CUDA_CHECK(cudaStreamWaitEvent(copy, consumed[d], 0));
		CUDA_CHECK(cudaMemcpyAsync(pixels[d], p.host[s], bytes, cudaMemcpyHostToDevice, copy));
		CUDA_CHECK(cudaEventRecord(p.copied[s], copy));
		advance(&p, &p.submitted);
		CUDA_CHECK(cudaStreamWaitEvent(compute, p.copied[s], 0));
		phase_end();

		phase_begin("forward");
		model_forward(t->model, pixels[d], labels);
		phase_end();

		phase_begin("backward");
		model_backward(t->model, pixels[d]);
		CUDA_CHECK(cudaEventRecord(consumed[d], compute));
		phase_end();

		phase_begin("optimizer");
		model_descend(t->model);
		phase_end();

		phase_begin("loss");
		CUDA_CHECK(cudaMemcpyAsync(&losses[i], t->model->loss, sizeof(float), cudaMemcpyDeviceToHost, compute));
		CUDA_CHECK(cudaEventRecord(done[i % (LOSS_DELAY + 1)], compute));
		if (i >= LOSS_DELAY) {
			CUDA_CHECK(cudaEventSynchronize(done[(i - LOSS_DELAY) % (LOSS_DELAY + 1)]));
			t->losses[i - LOSS_DELAY] = losses[i - LOSS_DELAY];
			t->done_ms[i - LOSS_DELAY] = clock_ms();
		}
		phase_end();

		phase_end();
	}
	for (int i = steps > LOSS_DELAY ? steps - LOSS_DELAY : 0; i < steps; i++) {
		CUDA_CHECK(cudaEventSynchronize(done[i % (LOSS_DELAY + 1)]));
		t->losses[i] = losses[i];
		t->done_ms[i] = clock_ms();
	}

	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	for (int s = 0; s < HOST_SLOTS; s++) {
		CUDA_CHECK(cudaFreeHost(p.host[s]));
		CUDA_CHECK(cudaEventDestroy(p.copied[s]));
	}
	for (int s = 0; s < DEVICE_SLOTS; s++) {
		CUDA_CHECK(cudaFree(pixels[s]));
		CUDA_CHECK(cudaEventDestroy(consumed[s]));
	}
	for (int i = 0; i <= LOSS_DELAY; i++)
		CUDA_CHECK(cudaEventDestroy(done[i]));
	CUDA_CHECK(cudaFreeHost(losses));
	CUDA_CHECK(cudaStreamDestroy(copy));
}
