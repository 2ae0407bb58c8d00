/* What cuBLAS has no routine for. All arrays are on the device, matrices row by row; every function only queues work on
 * `stream` and checks its launch. */
#ifndef TRAINING_STEP_KERNELS_H
#define TRAINING_STEP_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most classes that kernel_softmax_loss can take: one warp handles a row. */
enum { KERNEL_CLASSES_MAX = 32 };

/* y[row][column] = max(0, y[row][column] + bias[column]) */
void kernel_bias_relu(float *y, const float *bias, int rows, int columns, cudaStream_t stream);

/* gradient[row][column] = 0 where the activation is 0 (NULL: of a layer without ReLU, nothing is changed), and
 * bias_gradient[column] = the sum of the column, always added in the same order. */
void kernel_bias_gradient(float *gradient, const float *activation, float *bias_gradient, int rows, int columns,
                          cudaStream_t stream);

/* Softmax over logits + bias and its cross entropy with the labels: one loss a row, and the gradient of the mean loss
 * by the logits. */
void kernel_softmax_loss(const float *logits, const float *bias, const int32_t *labels, int rows, int classes,
                         float *row_loss, float *gradient, cudaStream_t stream);

/* *mean = the mean of n values, always summed in the same order. */
void kernel_mean(const float *values, int n, float *mean, cudaStream_t stream);

/* Gradient descent with momentum over n parameters. */
void kernel_descend(float *parameters, float *velocity, const float *gradient, int n, float rate, float momentum,
                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
