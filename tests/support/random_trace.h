/* Random small traces for property tests: hostile to every assumption that docs/method/analysis.md forbids under Step.
 * The same seed gives the same trace. */
#ifndef GAPLINE_TESTS_RANDOM_TRACE_H
#define GAPLINE_TESTS_RANDOM_TRACE_H

#include "trace_maker.h"

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);
int64_t random_between(struct random *r, int64_t lo, int64_t hi); /* both included */
bool random_chance(struct random *r, int percent);

/* What a trace is made of. */
struct random_shape {
	int64_t length;  /* about the trace's last nanosecond */
	bool causal;     /* ops start soon after their launch and one after the other; else anywhere */
	bool steps;      /* step threads have ranges named "step" */
	bool one_domain; /* ranges of the default domain only */
	int processes;
	int max_calls; /* a thread */
};

/* Fills `m` (initialised, empty), not linked. The step threads' ranges are "step" in the default domain, as many in
 * each process; every other range has another name; names hold no digits. */
void random_trace(struct maker *m, const struct random_shape *shape, struct random *r);

#endif
