#include "train.h"

#include "../common/check.h"
#include "../common/clock.h"
#include "../common/phase.h"

#include <pthread.h>

enum {
	SLOTS = 2,     /* batches in flight: one trains while the next is prepared and copied */
	LOSS_DELAY = 2 /* steps after which the host reads a loss; it never runs further ahead of the GPU */
};

/* What the producer and the training thread share. Batch i lives in slot i % SLOTS. */
struct pipeline {
	struct training *training;
	float *host[SLOTS];        /* pinned */
	cudaEvent_t copied[SLOTS]; /* the slot's host buffer has been copied and may be filled again */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* either count */
	int prepared;           /* batches that lie ready in their slot */
	int submitted;          /* batches whose copy is queued and whose `copied` is recorded */
};

static void advance(struct pipeline *p, int *count)
{
	pthread_mutex_lock(&p->lock);
	++*count;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void wait_beyond(struct pipeline *p, const int *count, int value)
{
	pthread_mutex_lock(&p->lock);
	while (*count <= value)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void *produce(void *argument)
{
	struct pipeline *p = argument;
	struct training *t = p->training;

	for (int i = 0; i < t->options->steps; i++) {
		if (i >= SLOTS) {
			wait_beyond(p, &p->submitted, i - SLOTS);
			CUDA_CHECK(cudaEventSynchronize(p->copied[i % SLOTS]));
		}
		phase_begin("prepare");
		t->prepare_ms[i] = clock_ms();
		data_batch(t->data, i, t->options->batch, p->host[i % SLOTS]);
		t->prepare_ms[i] = clock_ms() - t->prepare_ms[i];
		phase_end();
		advance(p, &p->prepared);
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

void train_fixed(struct training *t)
{
	const int batch = t->options->batch, steps = t->options->steps;
	const size_t bytes = data_batch_bytes(batch);
	struct pipeline p = {.training = t, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	cudaStream_t compute = t->model->stream, copy;
	float *pixels[SLOTS], *losses; /* losses: pinned */
	cudaEvent_t consumed[SLOTS];   /* the step no longer needs the slot's device buffer */
	cudaEvent_t done[LOSS_DELAY + 1];
	pthread_t producer;
	int status;

	CUDA_CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
	CUDA_CHECK(cudaMallocHost((void **)&losses, (size_t)steps * sizeof(float)));
	for (int s = 0; s < SLOTS; s++) {
		CUDA_CHECK(cudaMallocHost((void **)&p.host[s], bytes));
		CUDA_CHECK(cudaMalloc((void **)&pixels[s], bytes));
		p.copied[s] = event_new();
		consumed[s] = event_new();
	}
	for (int i = 0; i <= LOSS_DELAY; i++)
		done[i] = event_new();
	status = pthread_create(&producer, NULL, produce, &p);
	if (status != 0) {
		fprintf(stderr, "cannot start the producer thread: status %d\n", status);
		exit(EXIT_FAILURE);
	}

	for (int i = 0; i < steps; i++) {
		const int s = i % SLOTS;
		const int32_t *labels = (const int32_t *)(pixels[s] + (size_t)batch * PICTURE_SIZE);

		phase_begin("step");

		phase_begin("data_load");
		wait_beyond(&p, &p.prepared, i);
		phase_end();

		phase_begin("h2d");
		if (i >= SLOTS)
			CUDA_CHECK(cudaStreamWaitEvent(copy, consumed[s], 0));
		CUDA_CHECK(cudaMemcpyAsync(pixels[s], p.host[s], bytes, cudaMemcpyHostToDevice, copy));
		CUDA_CHECK(cudaEventRecord(p.copied[s], copy));
		advance(&p, &p.submitted);
		CUDA_CHECK(cudaStreamWaitEvent(compute, p.copied[s], 0));
		phase_end();

		phase_begin("forward");
		model_forward(t->model, pixels[s], labels);
		phase_end();

		phase_begin("backward");
		model_backward(t->model, pixels[s]);
		CUDA_CHECK(cudaEventRecord(consumed[s], compute));
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

	pthread_join(producer, NULL);
	for (int s = 0; s < SLOTS; s++) {
		CUDA_CHECK(cudaFreeHost(p.host[s]));
		CUDA_CHECK(cudaFree(pixels[s]));
		CUDA_CHECK(cudaEventDestroy(p.copied[s]));
		CUDA_CHECK(cudaEventDestroy(consumed[s]));
	}
	for (int i = 0; i <= LOSS_DELAY; i++)
		CUDA_CHECK(cudaEventDestroy(done[i]));
	CUDA_CHECK(cudaFreeHost(losses));
	CUDA_CHECK(cudaStreamDestroy(copy));
}
