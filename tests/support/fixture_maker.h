/* What the files that fabricate analyses share. */
#ifndef GAPLINE_TESTS_FIXTURE_MAKER_H
#define GAPLINE_TESTS_FIXTURE_MAKER_H

#include "fixture_analysis.h"

enum { US = 1000 }; /* ns */

struct maker {
	struct arena *arena;
	struct names *names;
	enum fixture which;
	uint64_t random;
	const char *hostile; /* appended to names of the profile */
};

/* The id of a name of the profile, with what the fixture appends to all of them. */
uint32_t fixture_text(struct maker *m, const char *text);

/* 0 … limit − 1. */
int64_t fixture_draw(struct maker *m, int64_t limit);

/* `n_steps` steps of four phases that last so many µs, the first without GPU work, the others with `kernels` / 3 each;
 * gaps are what the kernels leave. */
void fixture_timeline(struct maker *m, struct side *s, uint32_t n_steps, const int64_t phase_us[4], uint32_t kernels);

/* A run that starts up for half of its time and is `busy` from then on. */
void fixture_overview(struct side *s, int64_t length, double busy);

/* What both sides give, in fixture_pair.c. Without a profiler a step of the baseline takes 50 ms and one of the fixed
 * side 23.8. */
void fixture_stopwatch(struct analysis *a);
void fixture_waterfall(struct maker *m, struct analysis *a);
void fixture_findings(struct maker *m, struct analysis *a);
void fixture_judge(struct maker *m, struct analysis *a, const struct series *series[2]);

#endif
