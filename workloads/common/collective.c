#include "collective.h"

/* Few blocks: beside a collective that may take any number of them, kernels would be short of processors. */
enum { MOST_BLOCKS = 4, SAMPLE = 1000 };

static void check_sum(struct collective *c, const struct ranks *ranks)
{
	float host[SAMPLE], *device;

	for (int i = 0; i < SAMPLE; i++)
		host[i] = (float)((ranks->rank + 1) * i);
	CUDA_CHECK(cudaMalloc((void **)&device, sizeof(host)));
	CUDA_CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	NCCL_CHECK(ncclAllReduce(device, device, SAMPLE, ncclFloat, ncclSum, c->comm, c->stream));
	CUDA_CHECK(cudaStreamSynchronize(c->stream));
	CUDA_CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaFree(device));
	for (int i = 0; i < SAMPLE; i++) {
		if (host[i] != (float)(ranks->n * (ranks->n + 1) / 2 * i)) {
			fprintf(stderr, "an all-reduce over %d ranks gives %g for %d\n", ranks->n, (double)host[i], i);
			exit(EXIT_WRONG_RESULT);
		}
	}
}

void collective_open(struct collective *c, const struct ranks *ranks)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id;
	int lowest, highest;

	if (ranks->rank == 0) {
		NCCL_CHECK(ncclGetUniqueId(&id));
		ranks_send(ranks, &id, sizeof(id));
	} else {
		ranks_receive(ranks, &id, sizeof(id));
	}
	config.maxCTAs = MOST_BLOCKS;
	NCCL_CHECK(ncclCommInitRankConfig(&c->comm, ranks->n, id, ranks->rank, &config));
	CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(cudaStreamCreateWithPriority(&c->stream, cudaStreamNonBlocking, highest));
	check_sum(c, ranks);
}

void collective_close(struct collective *c)
{
	NCCL_CHECK(ncclCommDestroy(c->comm));
	CUDA_CHECK(cudaStreamDestroy(c->stream));
}
