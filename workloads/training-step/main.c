/* A training step whose input pipeline is the fault. See README.md. */
#include "../common/check.h"
#include "../common/clock.h"
#include "../common/gpu.h"
#include "../common/phase.h"
#include "train.h"

#include <inttypes.h>
#include <math.h>

enum { PICTURES = 16384, SIZE_MAX_HIDDEN = 16384 };

/* Of the loss along the gradient, by finite differences in float32: seen below 1e-4 with right code, 1 with a sign or a
 * transposition wrong. */
static const double gradient_tolerance = 0.02;

static const struct options_text text = {(const char *const[]){"baseline", "fixed", NULL}, "width of the hidden layers",
                                         "rounds of the storage filter"};

/* The gradient against finite differences, on batch 0, before training. */
static double gradient_check(const struct data *data, struct model *model, int batch, void *host)
{
	size_t bytes = data_batch_bytes(batch);
	float *pixels;
	double error;

	data_batch(data, 0, batch, host);
	CUDA_CHECK(cudaMalloc((void **)&pixels, bytes));
	CUDA_CHECK(cudaMemcpy(pixels, host, bytes, cudaMemcpyHostToDevice));
	error = model_gradient_error(model, pixels, (const int32_t *)(pixels + (size_t)batch * PICTURE_SIZE));
	CUDA_CHECK(cudaFree(pixels));
	return error;
}

/* FNV-1a over the bits of all losses: two runs with the same hash trained the same network. */
static uint64_t losses_hash(const float *losses, int n)
{
	const unsigned char *bytes = (const unsigned char *)losses;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < (size_t)n * sizeof(*losses); i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static double mean(const float *values, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

/* Has the network learnt? The first and last quarter are compared, as single steps jump; too few steps prove nothing
 * but that the losses are numbers. */
static bool losses_good(const float *losses, int n)
{
	for (int i = 0; i < n; i++) {
		if (!isfinite(losses[i]))
			return false;
	}
	return n < 16 || mean(losses + n - n / 4, n / 4) < 0.9 * mean(losses, n / 4);
}

static void *array(int n, size_t size)
{
	void *p = calloc((size_t)n, size);

	if (p == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	return p;
}

/* One line of JSON. Times leave the warm-up out; a step lasts from loss to loss as the host sees them. */
static void result_print(const struct training *t, const char *gpu, double gradient_error)
{
	const struct options *o = t->options;
	int n = o->steps - o->warmup;
	double *steps = array(n, sizeof(*steps)), prepare = 0, mean_ms;

	mean_ms = (t->done_ms[o->steps - 1] - t->done_ms[o->warmup - 1]) / n;
	for (int i = 0; i < n; i++) {
		steps[i] = t->done_ms[o->warmup + i] - t->done_ms[o->warmup + i - 1];
		prepare += t->prepare_ms[o->warmup + i] / n;
	}
	printf("{\"workload\":\"training-step\",\"variant\":\"%s\",\"gpu\":\"%s\",\"steps\":%d,\"warmup\":%d,"
	       "\"size\":%d,\"batch\":%d,\"fault_ms\":%g,\"seed\":%" PRIu64 ",\"fault_work\":%d,"
	       "\"prepare_ms\":%.4f,\"step_ms\":%.4f,\"step_ms_median\":%.4f,\"gradient_error\":%.2g,"
	       "\"loss_first\":%.9g,\"loss_last\":%.9g,\"loss_hash\":\"%016" PRIx64 "\"}\n",
	       text.variants[o->variant], gpu, o->steps, o->warmup, o->size, o->batch, o->fault_ms, o->seed,
	       t->data->rounds, prepare, mean_ms, clock_median(steps, n), gradient_error, (double)t->losses[0],
	       (double)t->losses[o->steps - 1], losses_hash(t->losses, o->steps));
	free(steps);
}

int main(int argc, char **argv)
{
	struct options o = {.steps = 80, .warmup = 10, .size = 2048, .batch = 4096, .fault_ms = 3, .seed = 1};
	struct data data;
	struct model model;
	struct training t = {.options = &o, .data = &data, .model = &model};
	cudaStream_t stream;
	char gpu[256];
	double gradient_error;
	void *host;
	int result = EXIT_SUCCESS;

	options_parse(&o, &text, argc, argv);
	if (o.size > SIZE_MAX_HIDDEN) {
		fprintf(stderr, "%s: --size is at most %d\n", argv[0], SIZE_MAX_HIDDEN);
		return EXIT_USAGE;
	}
	gpu_open("training-step", 0, 1, gpu, sizeof(gpu));
	phase_names(o.neutral_names);
	t.losses = array(o.steps, sizeof(*t.losses));
	t.prepare_ms = array(o.steps, sizeof(*t.prepare_ms));
	t.done_ms = array(o.steps, sizeof(*t.done_ms));
	host = array(1, data_batch_bytes(o.batch));
	CUDA_CHECK(cudaStreamCreate(&stream));
	data_init(&data, PICTURES, o.seed);
	if (o.fault_work >= 0)
		data_filter(&data, o.fault_work);
	else
		data_calibrate(&data, o.fault_ms, o.batch, host);
	model_init(&model, PICTURE_SIZE, o.size, PICTURE_CLASSES, o.batch, o.seed, stream);
	gradient_error = gradient_check(&data, &model, o.batch, host);
	free(host);
	if (!(gradient_error <= gradient_tolerance)) {
		fprintf(stderr, "training-step: the gradient is wrong: relative error %.2g\n", gradient_error);
		result = EXIT_WRONG_RESULT;
	}

	if (o.variant == 1)
		train_fixed(&t);
	else
		train_baseline(&t);

	result_print(&t, gpu, gradient_error);
	if (!losses_good(t.losses, o.steps)) {
		fprintf(stderr, "training-step: the loss does not go down\n");
		result = EXIT_WRONG_RESULT;
	}
	model_release(&model);
	data_release(&data);
	CUDA_CHECK(cudaStreamDestroy(stream));
	free(t.losses);
	free(t.prepare_ms);
	free(t.done_ms);
	return result;
}
