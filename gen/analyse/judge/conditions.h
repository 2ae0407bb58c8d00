/* The conditions under which two sides ran: clocks, what held them back, captures that broke off, recording. */
#ifndef GAPLINE_ANALYSE_JUDGE_CONDITIONS_H
#define GAPLINE_ANALYSE_JUDGE_CONDITIONS_H

#include "analyse/pair_result.h"
#include "analyse/side/side.h"
#include "fact/fact.h"

/* A fact when the GPUs of the two sides ran at different SM clocks under load, else NULL; `material` when there are
 * samples enough to rely on. */
const struct fact *conditions_difference(const struct side side[2], struct arena *arena, bool *material);

/* ln of how much longer the SM clocks under load make a launch on the fixed side, of the device where they are furthest
 * apart; NAN: samples are too few, or not of the measured time. */
double conditions_clock(const struct side side[2]);

/* ln of how many times as long some kernel computes on a device on the fixed side: of the device where that is least,
 * and where it is most; NAN: no device is on both. */
void conditions_busier(const struct side side[2], double busier[2]);

/* Whether the same was recorded on both of what tells why a thread of the host does nothing. */
bool conditions_host_alike(const struct trace_source *a, const struct trace_source *b);

/* What the ranges of both are: a key of the words "rows", or "ranges" where one side's are of another kind. */
const char *conditions_ranges(const struct trace_source *a, const struct trace_source *b);

/* A fact for each kind of rows (ranges, calls of the operating system, of CUDA) that was recorded of `a` only, or
 * of `b` only. What gapline was asked to trace and did not see the program did not do: that is none. Nor are
 * annotations where PyTorch noted `operators`, with which it notes them. In `arena`. */
struct facts conditions_options(const struct trace_source *a, const struct trace_source *b, bool operators,
                                struct arena *arena);

/* Whether a run of either side was recorded in a way that makes its times another thing than those of another run: by
 * another tool, or with the graphs' kernels on one side alone. In `arena`; NULL: none was. */
const struct fact *conditions_recorded(const struct side_facts facts[2], struct arena *arena);

/* The same of hardware counters; NULL: both sides have them, or neither. */
const struct fact *conditions_metrics(const struct side side[2], struct arena *arena);

/* What stands beside a verdict. */
struct conditions_said {
	const struct fact *first; /* concerns the speedup itself and stands before everything else; may be NULL */
	struct facts rest;        /* stands behind it */
	const struct fact *held_back, *broken_off, *shared; /* of these, what struct turning has; or NULL */
};

/* What held the GPUs of one side back, clocks that were the same, what recording did to the speedup of `verdict`, and a
 * capture that is incomplete on one side, and who else used the GPU. */
struct conditions_said conditions_reasons(const struct side side[2], const struct side_facts facts[2],
                                          const struct verdict *verdict, const struct verdict_conditions *conditions,
                                          struct arena *arena);

/* The verdict with all that is said beside it as its reasons: first what concerns the speedup itself, then the
 * verdict's own, then what the timed runs have to say, then the rest of `said`. In `arena`. */
struct verdict conditions_complete(const struct verdict *v, const struct facts *stopwatch,
                                   const struct conditions_said *said, struct arena *arena);

#endif
