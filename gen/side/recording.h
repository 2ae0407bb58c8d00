/* What recording itself costs a side, and what it may have done to a speedup (docs/method/analysis.md, Time without the
 * profiler). */
#ifndef GAPLINE_SIDE_RECORDING_H
#define GAPLINE_SIDE_RECORDING_H

#include "charge/charge.h"
#include "result/side_result.h"
#include "side/run_table.h"
#include "verdict/stopwatch.h"
#include "verdict/verdict.h"

/* What recording a call may cost, ns: 0, and from below the least that was seen to the most. */
extern const double recording_price[RECORDING_PRICES];

/* What recording took of a side with this budget; and a fact when that is worth saying, else NULL: `steps` says
 * whether the budget is of a step or of a whole run. */
struct recording *recording_begin(size_t n_runs, struct arena *work); /* rows are added as in side_facts.h */
void recording_add(struct recording *recording, struct run *run, const struct run *part);
void recording_end_run(struct recording *recording, const struct run *run);
struct recording_cost recording_end(const struct recording *recording, const struct budget *mean, struct arena *arena);
const struct fact *recording_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                                  struct arena *arena);

/* struct recording_cost has the meaning; and the fact that says it, NULL where no ranges were added. */
double recording_ranges(const struct run *runs, size_t n);
const struct fact *recording_ranges_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                                         struct arena *arena);

/* How much lower and higher the speedup may be without recording, as verdict_conditions.beyond has it. `paced`: that
 * the same launches take longer on one side, for the host's sake or the profiler's, is allowed for already
 * (exchange.h). */
void recording_bounds(const struct side side[2], bool paced, double beyond[2]);

/* After the headlines: how much longer a step of each side may be, ns, because recording cost more there than on the
 * other side, as far as launches that both sides make alike tell, and not more than timed runs leave for it; 0 on
 * one side at least. */
void recording_more(const struct side side[2], double more[2]);

/* After the verdict and the headlines: whether the verdict is the stopwatch's and a side's recorded step differs from
 * its own by more than VERDICT_MARGIN. */
bool recording_apart(const struct side side[2], const struct verdict *verdict);

/* Whether the same launches take longer on one side than recording is taken to cost: its host was slower. */
bool recording_leaves_host(const struct side side[2]);

/* After the verdict: whether it is of recorded programs and recording may have changed the speedup by more than 5 %;
 * and a fact from 1 % on, else NULL. */
bool recording_turns(const struct verdict *verdict, const struct verdict_conditions *conditions);
const struct fact *recording_reason(const struct side side[2], const struct verdict *verdict,
                                    const struct verdict_conditions *conditions, struct arena *arena);

/* The timed runs of a side: which of them measure what the side is measured by. */

/* Those that can be used, of all runs of a side: they have to measure its steps, or, where it has none (`steps` is
 * false), the whole process. */
struct stopwatch_side stopwatches_of(const struct run *runs, size_t n, bool steps, struct arena *arena);

/* Time per step, ns, of the recorded runs over as many steps at their ends as `timed` timed, none of them set aside:
 * the mean over both. 0: nothing was timed. */
double stopwatches_recorded(const struct run_table *runs, size_t n, const struct stopwatch_side *timed);

/* How fast a side's threads launch: by what is launched and what its thread calls next, the time from the one's start
 * to the other's. Where both sides do the same in a row, and one takes longer for nearly all of it, its profiler may
 * have cost more (side/recording.c). */

/* How many operators were noted before calls [from, to] of a thread (trace_calls.noted). */
int64_t recording_noted(const struct trace *t, uint32_t from, uint32_t to);

struct paces *paces_begin(struct arena *work);

/* The launches of a part; fills run->pace (run.h) where it has steps, and one process. `own` is the name of calls that
 * the profiler makes inside launches: TRACE_NONE, there are none. */
void paces_add(struct paces *paces, struct run *run, const struct run *part, uint32_t own);

/* Sorted (paces_sort), in `arena`. */
struct launch_paces paces_end(const struct paces *paces, struct arena *arena);

/* Puts them into the order of struct launch_paces. */
void paces_sort(struct launch_paces *paces);

/* Of what both sides launch in the same order: how many ns longer a launch takes on the fixed side (below 0: shorter)
 * than on the baseline, at least, wherever most launches agree on the sign; 0 where they do not. `shared`, 0 to 1: what
 * share of the launches that were kept both sides make, on the side where that is less. */
double paces_apart(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared);

/* ln of how many times as long the same takes in the baseline as on the fixed side: the mean of the middle half, by
 * time, so that a fix of less than a quarter of it, or of one long wait, moves nothing. */
double paces_ratio(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared);

#endif
