/* Quantiles of a side's step times, each with its 95 % interval, and how they changed (docs/method/verdict.md, "The
 * slowest steps"). Steps that depend on each other tell less than as many independent ones; where they are too few for
 * a quantile it has no interval. The numbers are of the recorded steps, after the warm-up, with nothing set aside. */
#ifndef GAPLINE_FIND_QUANTILES_H
#define GAPLINE_FIND_QUANTILES_H

#include "result/pair_result.h"
#include "side/side.h"
#include "verdict/verdict.h"

/* The quantiles 0.5, 0.9, 0.95 and 0.99 of `periods`, n of them, each > 0, in the order in which they were measured. */
void quantiles_of_run(const int64_t *periods, size_t n, struct quantile out[QUANTILES]);

/* Those of a side's runs together; `series` says, run by run, how many leading periods are warm-up. Without steps
 * nothing is known. */
void quantiles_of_side(const struct verdict_side *side, const struct series *series, struct quantile out[QUANTILES]);

/* How they changed, beside a verdict that says what may be compared: its `apart` widens the intervals, and runs of
 * other lengths add what they have in common. */
void quantiles_changes(const struct verdict_side side[2], const struct verdict *verdict,
                       struct quantile_change out[QUANTILES]);

/* What is timed of the steps of two sides, or of one. What not all of their runs have is no side's; `steps` is false
 * then. */
struct latencies {
	struct verdict_side of[LATENCIES][2];
	bool requests; /* the steps are requests in all runs: each takes as long as it took, not the time between two
	                * ends
	                */
};

/* `steps` are the sides' periods; `series` as above, by side; NULL: a side without steps. */
void latencies_find(const struct verdict_side *steps, const struct side_facts *facts,
                    const struct series *const series[], int n_sides, struct arena *arena, struct latencies *out);
void latencies_of_side(const struct latencies *times, int side, const struct series *series,
                       struct latency out[LATENCIES]);

/* Where the slowest steps of a side wait. `requests`: its steps are timed as such. */
void slowest_of_side(const struct side_facts *facts, bool requests, struct slowest *out);

#endif
