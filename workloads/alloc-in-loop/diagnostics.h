/* What the workspaces are for: the field smoothed over a window, and the mean of that. */
#ifndef ALLOC_IN_LOOP_DIAGNOSTICS_H
#define ALLOC_IN_LOOP_DIAGNOSTICS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WORKSPACE_CELLS = 1 << 20, WORKSPACE_BYTES = WORKSPACE_CELLS * (int)sizeof(float) };

/* Queues on `stream`: the first WORKSPACE_CELLS of `field`, each averaged with the `window` before it, into
 * `workspace`; of these a sample's mean, always summed in the same order, into `*mean`. */
void diagnose(const float *field, int window, float *workspace, float *mean, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
