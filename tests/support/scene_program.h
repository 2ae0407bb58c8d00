/* A little model of a training step on one thread and one stream, with its faults set by hand. */
#ifndef GAPLINE_TESTS_SCENE_PROGRAM_H
#define GAPLINE_TESTS_SCENE_PROGRAM_H

#include "scene.h"

/* What one step does, in order: host work, an allocation, a copy of the input, kernels, a wait for the GPU. */
struct program {
	int64_t host, alloc, copy, kernel; /* ns; 0: not there */
	int64_t launch;                    /* ns of a launch call, 0: 2 µs */
	int kernels, per_launch;           /* per_launch > 1: nodes of a graph */
	bool pageable, sync, epochs;       /* epochs: a range around every eight steps */
	int syncs, of;                     /* sync: in the last so many of so many steps, 0: in each */
	bool pool;                         /* the allocation is one from a pool */
	int64_t blocked;                   /* ns of the host work that are in fsync, … */
	bool polls, mixed;                 /* … or in poll; allocations are calls of three kinds in turn */
};

/* Runs it for 40 steps, each in a range "step": another trace of the scene, linked. */
const struct trace *scene_program(struct scene *s, const struct program *p);

#endif
