/* A multilayer perceptron with two hidden layers: forward, backward and optimizer with cuBLAS, in float32.
 *
 * Everything is queued on one stream and in one order, and nothing is summed with atomics, so the same batches give the
 * same losses to the last bit, whatever happens on other streams. */
#ifndef TRAINING_STEP_MODEL_H
#define TRAINING_STEP_MODEL_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

enum { MODEL_LAYERS = 3, MODEL_TENSORS = 2 * MODEL_LAYERS };

struct model {
	cublasHandle_t blas;
	cudaStream_t stream; /* borrowed */
	int batch;
	int width[MODEL_LAYERS + 1];   /* of the input and of each layer's output */
	int offset[MODEL_TENSORS + 1]; /* of the tensors in the flat arrays: a layer's weights, its bias, the next... */
	float *parameters;             /* device, as all that follows */
	float *gradient;               /* by the parameters, same layout */
	float *velocity;               /* of the momentum, same layout */
	float *output[MODEL_LAYERS];   /* of each layer: batch x width */
	float *by_output[MODEL_LAYERS]; /* gradient by these */
	float *row_loss;                /* `batch` losses */
	float *loss;                    /* their mean */
};

/* Weights drawn from the seed. */
void model_init(struct model *m, int input, int hidden, int classes, int batch, uint64_t seed, cudaStream_t stream);
void model_release(struct model *m);

/* `pixels` (batch x input) and `labels` lie on the device and stay there until the backward pass is done. The forward
 * pass leaves the mean loss in `loss`, the backward pass the gradient, model_descend one step of the optimizer. */
void model_forward(struct model *m, const float *pixels, const int32_t *labels);
void model_backward(struct model *m, const float *pixels);
void model_descend(struct model *m);

/* Holds the gradient of the batch against finite differences of the loss: for each tensor, the loss is computed a
 * little up and a little down the tensor's own gradient, where its slope must be the gradient's length. Returns the
 * largest relative error over the tensors (1 for a gradient of zero). Leaves the parameters as they were. */
double model_gradient_error(struct model *m, const float *pixels, const int32_t *labels);

#endif
