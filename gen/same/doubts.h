/* Sides that cannot be compared whatever their numbers say (docs/method/verdict.md, "Nothing to compare"). */
#ifndef GAPLINE_SAME_DOUBTS_H
#define GAPLINE_SAME_DOUBTS_H

#include "fact/fact.h"
#include "result/pair_result.h"
#include "side/side.h"

/* Whether two profiles hold the same capture, packed, copied or exported again: every GPU operation at the same time.
 * Few operations are alike by chance: the captures must not have begun at two times then, where both say when. */
bool nothing_same_capture(const struct trace *a, const struct trace *b);

/* When a capture is on both sides, so that there is nothing to compare, else NULL. */
const struct fact *nothing_to_compare(const struct side_facts facts[2], struct arena *arena);

/* When a run repeats nothing that the first run of the baseline repeats (run_agreed.stranger), else NULL. `as_often`:
 * what the sides repeat is the same all the same. */
const struct fact *nothing_alike(const struct side_facts facts[2], bool as_often, struct arena *arena);

/* When more than 1 % of a kind of rows of a run had to be dropped, or as many records were lost while it was
 * recorded (of which kind, nobody knows: those of host threads are held against ranges or operating-system calls, the
 * others against GPU work), so that its numbers are those of the rest and prove
 * nothing, else NULL. The worst kind of all runs is named. */
const struct fact *nothing_but_rest(const struct side_facts *facts, int n_sides, struct arena *arena);

/* On rows of the runs of a side that make no sense or were lost, however few; NULL: there are none. */
const struct fact *nothing_left_out(const struct side_facts *facts, int side, struct arena *arena);

/* Recordings that cannot be true (docs/method/verdict.md, "Recordings that cannot be true"): their side is doubtful,
 * whatever its numbers say. */

/* Why a run of either side cannot be whole, or its runs not be independent: launches whose kernels
 * are not there, numbered steps that jump, repeats whose collectives meet, another process's work on the GPU of one
 * side only. NULL: nothing contradicts. In `arena`. */
const struct fact *possible_recording(const struct side_facts *facts, int n_sides, struct arena *arena);

/* The fact that a side's timed runs are shorter than what its GPU was busy in the same steps; else NULL. */
const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena);

/* What timed runs say beside their verdict. */

/* Where timed runs decide, and the recorded ones point in the other direction, both beyond what counts as the same:
 * a fact that says so; else NULL. */
const struct fact *timed_opposite(const struct side side[2], const struct verdict *verdict, struct arena *arena);

/* Which timed runs were not used, and why they do not decide where they do not; what whole programs took where
 * their steps were not timed; timed_opposite. */
struct facts timed_reasons(const struct side side[2], const struct stopwatch_side timed[2],
                           const struct verdict *verdict, struct arena *arena);

/* The conditions under which two sides ran: clocks, what held them back, captures that broke off, recording. */

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
