/* Return codes of cuBLAS are checked like those of the runtime. */
#ifndef TRAINING_STEP_BLAS_H
#define TRAINING_STEP_BLAS_H

#include "../common/check.h"

#include <cublas_v2.h>

#define CUBLAS_CHECK(call)                                                                                             \
	do {                                                                                                           \
		cublasStatus_t status_ = (call);                                                                       \
		if (status_ != CUBLAS_STATUS_SUCCESS) {                                                                \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cublasGetStatusString(status_)); \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#endif
