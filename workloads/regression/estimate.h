/* How far the reaction is from what shorter steps would give. */
#ifndef REGRESSION_ESTIMATE_H
#define REGRESSION_ESTIMATE_H

#include "../common/reaction.h"

#ifdef __cplusplus
extern "C" {
#endif

size_t estimate_bytes(const struct reaction *r);

/* Queues on `stream`: for every cell, how much u moves in `substeps` short steps of the reaction, into `estimates`.
 * Does not touch the simulation. */
void estimate_error(const struct reaction *r, int substeps, float *estimates, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
