/* The simulation on the host, in double: what the kernels are held against. */
#ifndef WORKLOADS_COMMON_REACTION_HOST_H
#define WORKLOADS_COMMON_REACTION_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of the system; kernels take them from here too. */
#define REACTION_DIFFUSION_U 0.16
#define REACTION_DIFFUSION_V 0.08
#define REACTION_FEED 0.035
#define REACTION_KILL 0.065
#define REACTION_GAIN 0.01 /* of a nudge */

enum { REACTION_SUBSTEPS = 256 }; /* of a sweep */

/* The start: u is 1 with holes, v is 0 with drops. */
void reaction_draw(float *u, float *v, int edge, uint64_t seed);

/* One sweep of u and v, edge x edge each, with room for as many again in `scratch_u` and `scratch_v`. */
void reaction_reference(double *u, double *v, int edge, double *scratch_u, double *scratch_v);

/* What the reaction does with one cell in `substeps` of a step's REACTION_SUBSTEPS. */
void reaction_react(double *u, double *v, int substeps);

#ifdef __cplusplus
}
#endif

#endif
