/* The reaction in one cell, for all kernels that need it. */
#ifndef WORKLOADS_COMMON_REACTION_CUH
#define WORKLOADS_COMMON_REACTION_CUH

#include "reaction.h"

static __device__ __forceinline__ void react(float *u, float *v, float feed, float kill, int substeps)
{
	const float dt = 1.0f / REACTION_SUBSTEPS;
	float x = *u, y = *v;

	for (int i = 0; i < substeps; i++) {
		float xyy = x * y * y;

		x += dt * (feed * (1 - x) - xyy);
		y += dt * (xyy - (feed + kill) * y);
	}
	*u = x;
	*v = y;
}

#endif
