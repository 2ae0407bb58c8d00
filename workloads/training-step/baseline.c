#include "train.h"

#include "../common/check.h"
#include "../common/clock.h"
#include "../common/phase.h"

void train_baseline(struct training *t)
{
	const int batch = t->options->batch;
	const size_t bytes = data_batch_bytes(batch);
	float *host, *pixels;
	int32_t *labels;

	host = malloc(bytes);
	if (host == NULL) {
		fprintf(stderr, "out of memory: %zu bytes\n", bytes);
		exit(EXIT_FAILURE);
	}
	CUDA_CHECK(cudaMalloc((void **)&pixels, bytes));
	labels = (int32_t *)(pixels + (size_t)batch * PICTURE_SIZE);
	for (int i = 0; i < t->options->steps; i++) {
		phase_begin("step");

		phase_begin("data_load");
		t->prepare_ms[i] = clock_ms();
		data_batch(t->data, i, batch, host);
		t->prepare_ms[i] = clock_ms() - t->prepare_ms[i];
		phase_end();

		phase_begin("h2d");
		CUDA_CHECK(cudaMemcpy(pixels, host, bytes, cudaMemcpyHostToDevice));
		phase_end();

		phase_begin("forward");
		model_forward(t->model, pixels, labels);
		phase_end();

		phase_begin("backward");
		model_backward(t->model, pixels);
		phase_end();

		phase_begin("optimizer");
		model_descend(t->model);
		phase_end();

		phase_begin("loss");
		CUDA_CHECK(cudaMemcpy(&t->losses[i], t->model->loss, sizeof(float), cudaMemcpyDeviceToHost));
		t->done_ms[i] = clock_ms();
		phase_end();

		phase_end();
	}
	CUDA_CHECK(cudaFree(pixels));
	free(host);
}
