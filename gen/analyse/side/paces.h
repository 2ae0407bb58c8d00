/* How fast a side's threads launch: by what is launched and what its thread calls next, the time from the one's start
 * to the other's. Where both sides do the same in a row, and one takes longer for nearly all of it, its profiler may
 * have cost more (side/recording.c). */
#ifndef GAPLINE_ANALYSE_SIDE_PACES_H
#define GAPLINE_ANALYSE_SIDE_PACES_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

struct paces *paces_begin(struct arena *work);

/* The launches of a part. `own` is the name of calls that the profiler makes inside launches: TRACE_NONE, there are
 * none. */
void paces_add(struct paces *paces, const struct run *part, uint32_t own);

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
