/* The processes of a job with several GPUs, one a GPU, as launchers of distributed training start them. Here there are
 * one or two, the second is a fork of the first, and a socket between them carries what MPI or a store would. */
#ifndef WORKLOADS_COMMON_RANKS_H
#define WORKLOADS_COMMON_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ranks {
	int rank, n;
	int socket;    /* to the other one */
	pid_t partner; /* of rank 0: the process of rank 1 */
};

/* Becomes `n` processes (1 or 2). Before the first CUDA or NVTX call, because neither survives a fork. */
void ranks_start(struct ranks *r, int n);

/* Gives `size` bytes to the other rank, or takes them. A rank whose partner is gone ends without a word, rank 0 with
 * the partner's status: the one that failed has said why. */
void ranks_send(const struct ranks *r, const void *data, size_t size);
void ranks_receive(const struct ranks *r, void *data, size_t size);

/* Sends `mine` and receives the partner's. */
double ranks_swap(const struct ranks *r, double mine);

/* Rank 0: waits for rank 1 to end; returns its exit status. */
int ranks_finish(const struct ranks *r);

#endif
