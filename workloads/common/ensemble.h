/* Input by the megabyte: in each step an ensemble of measured frames comes from the host, and the simulation is pulled
 * towards its mean. The number of members sets how long the copy takes; the kernel that averages them is short. */
#ifndef WORKLOADS_COMMON_ENSEMBLE_H
#define WORKLOADS_COMMON_ENSEMBLE_H

#include "frames.h"
#include "reaction.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ENSEMBLES = 2, ENSEMBLE_MAX_MEMBERS = 16384 };

struct ensemble {
	int members;
	size_t bytes; /* of one ensemble */
	bool pinned;
	float *host[ENSEMBLES];   /* step i brings number i % ENSEMBLES */
	float *device[ENSEMBLES]; /* two buffers, so that one can be filled while the other is in use */
	float *mean;              /* device, one frame */
};

/* Draws ENSEMBLES ensembles into pinned or pageable memory. */
void ensemble_init(struct ensemble *e, int members, bool pinned, uint64_t seed);
void ensemble_release(struct ensemble *e);

/* Queues on `stream`: averages the ensemble in device buffer `d` and nudges the simulation to it. */
void ensemble_use(struct ensemble *e, int d, struct reaction *r, cudaStream_t stream);

/* Members with which copying an ensemble to the device takes `target_ms` of the host's clock, the GPU idle before. */
int ensemble_calibrate(double target_ms, bool pinned, cudaStream_t stream, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
