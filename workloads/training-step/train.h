/* The two variants of the training loop. They run the same steps on the same batches and queue the same kernels; what
 * differs is how a batch gets to the GPU, and when the host waits. */
#ifndef TRAINING_STEP_TRAIN_H
#define TRAINING_STEP_TRAIN_H

#include "../common/options.h"
#include "data.h"
#include "model.h"

/* All borrowed; the loops fill the three arrays, one value a step. */
struct training {
	const struct options *options;
	const struct data *data;
	struct model *model;
	float *losses;
	double *prepare_ms; /* CPU time that the batch took to prepare, on whichever thread */
	double *done_ms;    /* clock_ms when the host saw the step's loss */
};

/* One thread, one after the other: prepare a batch in pageable memory, copy it, train, wait for the loss. */
void train_baseline(struct training *t);

/* Worker threads prepare batches ahead in pinned memory, copies have a stream of their own and overlap the step
 * before, and the host reads a loss two steps late. */
void train_fixed(struct training *t);

#endif
