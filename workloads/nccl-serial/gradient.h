/* The gradient of a layer, made from the state that the backward pass has reached. */
#ifndef NCCL_SERIAL_GRADIENT_H
#define NCCL_SERIAL_GRADIENT_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues on `stream`: `n` numbers from 0 to 0.2 from the `cells` of `field`, again and again if need be. */
void gradient_of(const float *field, int cells, float *gradient, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
