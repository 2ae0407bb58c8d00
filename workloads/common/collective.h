/* Collectives between the ranks, by NCCL. */
#ifndef WORKLOADS_COMMON_COLLECTIVE_H
#define WORKLOADS_COMMON_COLLECTIVE_H

#include "check.h"
#include "ranks.h"

#include <nccl.h>

struct collective {
	ncclComm_t comm;
	cudaStream_t stream; /* of higher priority than others, for collectives beside kernels that fill the GPU */
};

/* Connects the ranks, and holds a sum over them against what it must be. */
void collective_open(struct collective *c, const struct ranks *ranks);
void collective_close(struct collective *c);

#define NCCL_CHECK(call)                                                                                               \
	do {                                                                                                           \
		ncclResult_t status_ = (call);                                                                         \
		if (status_ != ncclSuccess) {                                                                          \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetErrorString(status_));    \
			exit(EXIT_GPU);                                                                                \
		}                                                                                                      \
	} while (0)

#endif
