/* Fabricated analyses for the renderers' tests: consistent (budgets add up, waterfalls lead from one headline to the
 * other), deterministic, and without any profile behind them. */
#ifndef GAPLINE_TESTS_FIXTURE_ANALYSIS_H
#define GAPLINE_TESTS_FIXTURE_ANALYSIS_H

#include "analyse/analysis.h"

enum fixture {
	FIXTURE_PAIR,         /* a training loop whose data loading was fixed: faster, diagnosis confirmed */
	FIXTURE_DEVICES,      /* one device, then two with communication; not comparable, and the gate asks for it */
	FIXTURE_NO_STEPS,     /* three runs a side of a batch job */
	FIXTURE_INCONCLUSIVE, /* too few steps for an interval */
	FIXTURE_SELF,         /* a profile against itself: empty waterfall */
	FIXTURE_STOPWATCH,    /* the pair, where five runs a side without a profiler decide */
	FIXTURE_HOSTILE,      /* names made to break out of HTML, JSON and terminals, and very long ones */
	FIXTURE_LARGE,        /* more of everything than a page can hold */
	FIXTURE_ONE,          /* one profile, for `gapline show` */
	FIXTURE_COUNT
};
const char *fixture_name(enum fixture which);

/* Everything comes from `arena`. */
void fixture_analysis(enum fixture which, struct arena *arena, struct analysis *out);

#endif
