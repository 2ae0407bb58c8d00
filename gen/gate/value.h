/* What a gate by expression asks of one side: the number that a profile answers. */
#ifndef GAPLINE_GATE_VALUE_H
#define GAPLINE_GATE_VALUE_H

#include "gate/gate.h"

/* A number of one side; an interval where only a part of it is known. */
struct value {
	double at, lo, hi;
	const struct fact *missing; /* why there is none; else NULL */
	const struct fact *unsure;  /* why the number that there is decides nothing; else NULL */
	bool partly;                /* more of it may be there than the profile says */
};

struct question {
	const struct gate_source *a;
	const struct gate_expression *e;
	struct arena *arena;
};

/* No number, for the reason that there is `what` (a word of the fact gate_lacks) on side s. */
struct value value_missing(const struct fact *why);
const struct fact *value_lacks(const struct question *q, const char *what, int s);

/* The number of side s, in ns, bytes, or times a step. Quantiles are the fixed side's. */
struct value value_of(const struct question *q, int s);

/* Changes in percent that have an interval of their own. */
struct value value_quantile_change(const struct question *q);
struct value value_energy_change(const struct question *q);

bool value_is_quantile(const struct gate_expression *e);

/* A phase by its name; NULL: the side has none. */
const struct phase_result *value_phase(const struct side *side, const struct names *names, const char *name);

#endif
