/* Holes in a recording: launches whose kernels were lost, and numbered steps that jump. Counted while rows are gone
 * through, part by part; judged by judge/possible. */
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
};

/* Counts the rows of `part`. */
void holes_add(struct holes *holes, struct run *run, const struct run *part);

/* After all parts: fills the rest of run->holes. */
void holes_end(struct holes *holes, struct run *run);

#endif
