/* Runs of the same programs in which nothing but NVTX ranges was noted (`gapline run`): what their steps took says what
 * recording does to the recorded ones. */
#ifndef GAPLINE_ANALYSE_JUDGE_UNPROFILED_H
#define GAPLINE_ANALYSE_JUDGE_UNPROFILED_H

#include "analyse/pair_result.h"
#include "analyse/run/run.h"

/* The step periods of the unprofiled run beside a run: from the end of one instance of the run's step range to that of
 * the next, on the host, on the thread that has most of them. (Of a recorded run they are taken on the GPU; where steps
 * follow each other for long, both are the same on average, unless the host runs ahead of the GPU: unprofiled_judge
 * sees to that.) n is 0 when there is no such run, when the run has no
 * steps, and when several instances make a step and there are not as many of them as in the recorded run. */
struct verdict_run unprofiled_periods(const struct run *run, struct arena *arena);

/* Judges the unprofiled runs of both sides, n[s] runs at runs[s], of which `warmup` steps are left out as of the
 * recorded ones. Nothing is known unless each side has such runs, and enough for an interval; and where, in a recorded
 * run beside one, the host's steps do not take what the GPU's take (within 1 %): then `unused` says so. */
struct unprofiled unprofiled_judge(const struct run *const runs[2], const size_t n[2], int warmup, struct arena *arena);

/* A sentence beside the verdict on the recorded ones, or NULL without such runs. *first: recording changes the speedup
 * by 1 % or more, so that it belongs before everything else. */
const char *unprofiled_reason(const struct unprofiled *unprofiled, const struct verdict *verdict, struct arena *arena,
                              bool *first);

#endif
