/* How much device memory a side's program had allocated at most (docs/reference/gates.md). */
#ifndef GAPLINE_ANALYSE_SIDE_MEMORY_H
#define GAPLINE_ANALYSE_SIDE_MEMORY_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

/* Notes what the rows of a part say of the run's steps: run.held. */
void memory_note(struct run *run, const struct run *part);

/* The largest peak over the devices of all runs; known only where it is of each of them. */
struct side_memory memory_build(const struct run *runs, size_t n);

#endif
