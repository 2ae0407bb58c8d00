/* Holes in a recording: launches whose kernels were lost, numbered steps that jump, whole steps of which nothing was
 * recorded, or their marks alone, and marks that were lost, so that one step holds the kernels of several. Counted
 * while rows are gone through, part by part; judged by judge/possible. */
#ifndef GAPLINE_ANALYSE_SIDE_HOLES_H
#define GAPLINE_ANALYSE_SIDE_HOLES_H

#include "analyse/run/run.h"

/* From one numbered step range of a thread to the next. */
struct numbered {
	int64_t from, to;
	double time; /* ns from start to start */
};

/* What is collected of one run, in `work`. */
struct holes {
	struct arena *work;
	struct numbered *list;
	size_t n, room;
	/* By step, the sum over its kernels of a number for the name: a step that holds k times every kernel of another
	 * one has k times its sum. NULL: steps are not marked. */
	uint64_t *sum;
	uint32_t *silent; /* steps before a silent stretch that is as long as whole steps, */
	size_t n_silent, silent_room;
	uint32_t *others;     /* by step: operations that are no kernels, or, where it has none, a launch; likewise */
	uint32_t *optimizers; /* by step that gapline marked: how many optimizers' ranges begin in it; likewise */
};

/* Counts the rows of `part`. */
void holes_add(struct holes *holes, struct run *run, const struct run *part);

/* After all parts: fills the rest of run->holes. */
void holes_end(struct holes *holes, struct run *run);

#endif
