/* Pipelines: schedules as programs of ranks that compute, meet in sends and receives, and in collectives of
 * tensor-parallel and data-parallel groups. They are played, so that who waits how long in what is known. */
#ifndef GAPLINE_TESTS_PIPELINE_JOB_H
#define GAPLINE_TESTS_PIPELINE_JOB_H

#include "trace_maker.h"

enum { PIPELINE_STEPS = 12, PIPELINE_WARM = 3, PIPELINE_MOST = 16, PIPELINE_SENT = 40000 /* ns a transfer takes */ };

struct pipeline_job {
	int stages, microbatches, tensor, data; /* ranks = stages × tensor × data, at most PIPELINE_MOST */
	bool rooted;                            /* data-parallel groups reduce to one rank, which broadcasts */
	bool alternating;                       /* one forward, one backward, as Megatron does; else GPipe */
	int64_t forward, backward;              /* ns, of a stage and microbatch */
	int slow;                               /* this stage takes twice as long; −1: none */
	int number;                             /* of the job: communicators of two have different ids */
	int64_t copies;                         /* ns; rank 0 copies in each of its bubbles for so long, or all of it */
};

/* What a rank did in the measured steps, ns. */
struct pipeline_truth {
	int64_t bubble;  /* in sends and receives, with no copy beside it */
	int64_t waiting; /* in collectives */
	int64_t moving;  /* the rest of its communication */
	int64_t compute;
};

int pipeline_ranks(const struct pipeline_job *job);

/* Its profile, linked, a process and a device a rank, in ranks' order. `truth`: PIPELINE_MOST of them. */
const struct trace *pipeline_make(const struct pipeline_job *job, struct arena *arena, struct names *names,
                                  struct pipeline_truth *truth);

#endif
