/* One map over a matrix, in two orders of its threads. */
#ifndef KERNEL_BOUND_SCALE_H
#define KERNEL_BOUND_SCALE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SCALE_COLUMNS_N = 1024, SCALE_ROWS_N = 32, SCALE_BAND = SCALE_ROWS_N * SCALE_COLUMNS_N };
enum scale_order { SCALE_ROWS, SCALE_COLUMNS };

/* A matrix of `bands` x SCALE_ROWS_N rows, on the device, drawn; cudaFree releases it. */
float *scale_new(int bands, uint64_t seed);

/* Draws it (again): numbers from -1 to 1. */
void scale_draw(float *matrix, int bands, uint64_t seed);

/* Queues x -> 1 - 2 x² over the matrix, which stays within its bounds. */
void scale_matrix(float *matrix, int bands, enum scale_order order, cudaStream_t stream);

/* A sum over all elements' bits and places, in no order; 0 when an element left its bounds. Waits. */
uint64_t scale_checksum(const float *matrix, int bands);

#ifdef __cplusplus
}
#endif

#endif
