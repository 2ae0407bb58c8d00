#include "model.h"

#include "../common/random.h"
#include "blas.h"
#include "kernels.h"

#include <math.h>

static const float one = 1.0f, zero = 0.0f;

static float *device_floats(size_t n)
{
	float *p;

	CUDA_CHECK(cudaMalloc((void **)&p, n * sizeof(float)));
	CUDA_CHECK(cudaMemset(p, 0, n * sizeof(float)));
	return p;
}

static float *weights(const struct model *m, float *flat, int layer)
{
	return flat + m->offset[2 * layer];
}

static float *bias(const struct model *m, float *flat, int layer)
{
	return flat + m->offset[2 * layer + 1];
}

/* Even in +-sqrt(6 / inputs), the variance that keeps ReLU layers in range (He et al., arXiv:1502.01852); no bias. */
static void parameters_draw(struct model *m, uint64_t seed)
{
	int n = m->offset[MODEL_TENSORS];
	float *host = calloc((size_t)n, sizeof(float));
	uint64_t state = random_mix(seed, 0);

	if (host == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	for (int layer = 0; layer < MODEL_LAYERS; layer++) {
		float range = sqrtf(6.0f / (float)m->width[layer]);
		float *w = weights(m, host, layer);

		for (int i = 0; i < m->width[layer] * m->width[layer + 1]; i++)
			w[i] = range * (2.0f * random_float(&state) - 1.0f);
	}
	CUDA_CHECK(cudaMemcpy(m->parameters, host, (size_t)n * sizeof(float), cudaMemcpyHostToDevice));
	free(host);
}

void model_init(struct model *m, int input, int hidden, int classes, int batch, uint64_t seed, cudaStream_t stream)
{
	const int width[MODEL_LAYERS + 1] = {input, hidden, hidden, classes};

	m->stream = stream;
	m->batch = batch;
	m->offset[0] = 0;
	m->width[0] = input;
	for (int layer = 0; layer < MODEL_LAYERS; layer++) {
		m->width[layer + 1] = width[layer + 1];
		m->offset[2 * layer + 1] = m->offset[2 * layer] + width[layer] * width[layer + 1];
		m->offset[2 * layer + 2] = m->offset[2 * layer + 1] + width[layer + 1];
		m->output[layer] = device_floats((size_t)batch * width[layer + 1]);
		m->by_output[layer] = device_floats((size_t)batch * width[layer + 1]);
	}
	m->parameters = device_floats((size_t)m->offset[MODEL_TENSORS]);
	m->gradient = device_floats((size_t)m->offset[MODEL_TENSORS]);
	m->velocity = device_floats((size_t)m->offset[MODEL_TENSORS]);
	m->row_loss = device_floats((size_t)batch);
	m->loss = device_floats(1);
	parameters_draw(m, seed);
	CUBLAS_CHECK(cublasCreate(&m->blas));
	CUBLAS_CHECK(cublasSetStream(m->blas, stream));
	/* What was set up on the default stream must be there before `stream`, which may not wait for it, goes on. */
	CUDA_CHECK(cudaDeviceSynchronize());
}

void model_release(struct model *m)
{
	CUBLAS_CHECK(cublasDestroy(m->blas));
	for (int layer = 0; layer < MODEL_LAYERS; layer++) {
		CUDA_CHECK(cudaFree(m->output[layer]));
		CUDA_CHECK(cudaFree(m->by_output[layer]));
	}
	CUDA_CHECK(cudaFree(m->parameters));
	CUDA_CHECK(cudaFree(m->gradient));
	CUDA_CHECK(cudaFree(m->velocity));
	CUDA_CHECK(cudaFree(m->row_loss));
	CUDA_CHECK(cudaFree(m->loss));
}

/* cuBLAS counts down the columns: our row-by-row batch x width matrix is its width x batch matrix, so that
 * output = input * weights is asked for as output' = weights' * input'. */
void model_forward(struct model *m, const float *pixels, const int32_t *labels)
{
	const float *input = pixels;

	for (int layer = 0; layer < MODEL_LAYERS; layer++) {
		int in = m->width[layer], out = m->width[layer + 1];

		CUBLAS_CHECK(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_N, out, m->batch, in, &one,
		                         weights(m, m->parameters, layer), out, input, in, &zero, m->output[layer],
		                         out));
		if (layer < MODEL_LAYERS - 1)
			kernel_bias_relu(m->output[layer], bias(m, m->parameters, layer), m->batch, out, m->stream);
		input = m->output[layer];
	}
	kernel_softmax_loss(input, bias(m, m->parameters, MODEL_LAYERS - 1), labels, m->batch, m->width[MODEL_LAYERS],
	                    m->row_loss, m->by_output[MODEL_LAYERS - 1], m->stream);
	kernel_mean(m->row_loss, m->batch, m->loss, m->stream);
}

void model_backward(struct model *m, const float *pixels)
{
	for (int layer = MODEL_LAYERS - 1; layer >= 0; layer--) {
		int in = m->width[layer], out = m->width[layer + 1];
		const float *input = layer > 0 ? m->output[layer - 1] : pixels;
		float *by_output = m->by_output[layer];

		kernel_bias_gradient(by_output, layer < MODEL_LAYERS - 1 ? m->output[layer] : NULL,
		                     bias(m, m->gradient, layer), m->batch, out, m->stream);
		CUBLAS_CHECK(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_T, out, in, m->batch, &one, by_output, out,
		                         input, in, &zero, weights(m, m->gradient, layer), out));
		if (layer > 0)
			CUBLAS_CHECK(cublasSgemm(m->blas, CUBLAS_OP_T, CUBLAS_OP_N, in, m->batch, out, &one,
			                         weights(m, m->parameters, layer), out, by_output, out, &zero,
			                         m->by_output[layer - 1], in));
	}
}

void model_descend(struct model *m)
{
	kernel_descend(m->parameters, m->velocity, m->gradient, m->offset[MODEL_TENSORS], 0.03f, 0.9f, m->stream);
}

/* The mean loss of the batch, summed in double: finite differences need more digits than a float has. */
static double loss_exact(struct model *m, const float *pixels, const int32_t *labels, float *rows)
{
	double sum = 0;

	model_forward(m, pixels, labels);
	CUDA_CHECK(cudaMemcpyAsync(rows, m->row_loss, (size_t)m->batch * sizeof(float), cudaMemcpyDeviceToHost,
	                           m->stream));
	CUDA_CHECK(cudaStreamSynchronize(m->stream));
	for (int i = 0; i < m->batch; i++)
		sum += rows[i];
	return sum / m->batch;
}

double model_gradient_error(struct model *m, const float *pixels, const int32_t *labels)
{
	const double change =
		2e-3; /* of the loss: far above rounding, well inside the range where slopes are straight */
	float *rows = malloc((size_t)m->batch * sizeof(float));
	double worst = 0;

	if (rows == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(EXIT_FAILURE);
	}
	model_forward(m, pixels, labels);
	model_backward(m, pixels);
	for (int t = 0; t < MODEL_TENSORS; t++) {
		int n = m->offset[t + 1] - m->offset[t];
		float *p = m->parameters + m->offset[t], *g = m->gradient + m->offset[t];
		float length, up, down, *saved = m->velocity + m->offset[t];
		double above, below, error;

		CUBLAS_CHECK(cublasSnrm2(m->blas, n, g, 1, &length));
		if (!(length > 0)) {
			worst = 1;
			continue;
		}
		up = (float)(change / ((double)length * length));
		down = -up;
		CUBLAS_CHECK(cublasScopy(m->blas, n, p, 1, saved, 1));
		CUBLAS_CHECK(cublasSaxpy(m->blas, n, &up, g, 1, p, 1));
		above = loss_exact(m, pixels, labels, rows);
		CUBLAS_CHECK(cublasScopy(m->blas, n, saved, 1, p, 1));
		CUBLAS_CHECK(cublasSaxpy(m->blas, n, &down, g, 1, p, 1));
		below = loss_exact(m, pixels, labels, rows);
		CUBLAS_CHECK(cublasScopy(m->blas, n, saved, 1, p, 1));
		error = fabs((above - below) / (2 * change) - 1);
		if (!isfinite(error))
			error = 1;
		worst = error > worst ? error : worst;
	}
	CUDA_CHECK(cudaMemsetAsync(m->velocity, 0, (size_t)m->offset[MODEL_TENSORS] * sizeof(float), m->stream));
	CUDA_CHECK(cudaStreamSynchronize(m->stream));
	free(rows);
	return worst;
}
