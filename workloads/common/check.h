/* Every return code of the CUDA runtime and of cuBLAS is checked: a workload is a measuring instrument, and one whose
 * kernels silently did not run measures nothing. A failure ends the program with the call, the place and the status
 * EXIT_GPU. */
#ifndef WORKLOADS_COMMON_CHECK_H
#define WORKLOADS_COMMON_CHECK_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* Exit statuses of all workloads. */
enum {
	EXIT_WRONG_RESULT = 1, /* the program ran, but what it computed is not right */
	EXIT_USAGE = 2,        /* wrong options */
	EXIT_GPU = 3           /* no usable GPU, or a CUDA call failed */
};

#define CUDA_CHECK(call)                                                                                               \
	do {                                                                                                           \
		cudaError_t status_ = (call);                                                                          \
		if (status_ != cudaSuccess) {                                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));    \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#define CUBLAS_CHECK(call)                                                                                             \
	do {                                                                                                           \
		cublasStatus_t status_ = (call);                                                                       \
		if (status_ != CUBLAS_STATUS_SUCCESS) {                                                                \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cublasGetStatusString(status_)); \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#endif
