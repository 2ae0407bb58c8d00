/* The work that the GPU does in most workloads: two chemicals react and diffuse on a torus (the Gray-Scott system; see
 * Pearson, "Complex patterns in a simple system", Science 261, 1993). It is plain arithmetic in one order, so that the
 * same steps give the same numbers to the last bit, whatever else runs beside them.
 *
 * One sweep is a step of diffusion and REACTION_SUBSTEPS short steps of the reaction, one kernel; at REACTION_EDGE a
 * sweep takes about a quarter of a millisecond on an H200, and longer on smaller GPUs. */
#ifndef WORKLOADS_COMMON_REACTION_H
#define WORKLOADS_COMMON_REACTION_H

#include "reaction_host.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REACTION_EDGE = 2048, REACTION_PARTS = 1024 };

/* On the device: edge x edge numbers each, u[now] and v[now] hold the present, the others the sweep before. */
struct reaction {
	int edge, now;
	float *u[2], *v[2];
	float *parts;    /* of the residual */
	float *residual; /* one number */
};

/* Draws the start from the seed. Waits until it is there. */
void reaction_init(struct reaction *r, int edge, uint64_t seed);
void reaction_release(struct reaction *r);

/* All that follow only queue work on `stream`. */

/* `sweeps` sweeps. */
void reaction_advance(struct reaction *r, int sweeps, cudaStream_t stream);

/* Pulls v a little towards `frame` (device, FRAME_EDGE x FRAME_EDGE, laid over the torus again and again). */
void reaction_nudge(struct reaction *r, const float *frame, cudaStream_t stream);

/* How far the last sweep moved u in the mean, into r->residual; always summed in the same order. */
void reaction_residual(struct reaction *r, cudaStream_t stream);

/* Holds two sweeps, a nudge and a residual on a small torus against reaction_reference. Returns the largest error,
 * relative to numbers of about 1; above REACTION_TOLERANCE something is wrong. */
double reaction_error(uint64_t seed, cudaStream_t stream);
#define REACTION_TOLERANCE 1e-3

#ifdef __cplusplus
}
#endif

#endif
