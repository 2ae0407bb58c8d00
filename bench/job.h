/* A made-up training job: ranks that load data, copy it, launch kernels forward and backward, exchange gradients on a
 * stream of their own and wait for the GPU, with every time known. */
#ifndef GAPLINE_BENCH_JOB_H
#define GAPLINE_BENCH_JOB_H

#include "profile_file.h"
#include "truth.h"

#include <stdbool.h>

struct job_options {
	uint64_t seed;
	int steps, warmup;
	int ranks;      /* processes, each with a GPU of its own */
	int kernels;    /* about so many a step and rank */
	int sync_every; /* steps between two waits for the GPU */
	bool fixed;     /* data is loaded ten times as fast */
	bool numbered;  /* step ranges are called step_0, step_1, … */
	bool repeats;   /* every step launches the same kernels; else any */
};

/* How many rows a step of a rank has, about: to choose `steps` for a size. */
int job_rows_a_step(const struct job_options *options);

/* Writes the rows; fills `truth`, which the caller frees with job_release. */
void job_write(const struct job_options *options, struct profile_file *file, struct truth *truth);
void job_release(struct truth *truth);

#endif
