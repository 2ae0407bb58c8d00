/* A batch of samples: small reactions that have nothing to do with each other. What they come to is summed up in whole
 * numbers, so that the total does not depend on who computed what, or in which order. */
#ifndef STRAGGLER_SAMPLES_H
#define STRAGGLER_SAMPLES_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SAMPLE_SUMS = 64 };

/* Queues on `stream`: adds the samples first … first + n − 1 of step `step` to `sums` (SAMPLE_SUMS, device). */
void samples_compute(uint64_t seed, int step, int first, int n, unsigned long long *sums, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
