/* Every return code of the CUDA runtime is checked: a workload is a measuring instrument, and one whose
 * kernels silently did not run measures nothing. A failure ends the program with the call, the place and the status
 * EXIT_GPU. */
#ifndef WORKLOADS_COMMON_CHECK_H
#define WORKLOADS_COMMON_CHECK_H

#include "status.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                                               \
	do {                                                                                                           \
		cudaError_t status_ = (call);                                                                          \
		if (status_ != cudaSuccess) {                                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));    \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#endif
