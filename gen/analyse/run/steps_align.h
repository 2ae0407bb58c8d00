/* Which step of one rank is which of another, where their recordings begin or end at different ones. */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_ALIGN_H
#define GAPLINE_ANALYSE_RUN_STEPS_ALIGN_H

#include "analyse/run/steps_lanes.h"

/* What is known of the steps that all ranks recorded: `n` of them, from the first[lane]-th instance of each lane on.
 * `by_time`: ranks were recorded from different steps on. `known` is false where it cannot be told which step is which;
 * the rest is a guess then. */
struct steps_shared {
	uint32_t *first;
	uint32_t n;
	bool by_time, known;
};

/* `place`: the places of the instances, by lane and start, count[lane] of each. Lanes whose ranks communicate are
 * matched by time: all instances of a lane, but for one in ten, and five at least, have to overlap the instance most
 * that is the same number of steps before or after, of the lane with the most instances. Where fewer do, the k-th is
 * the k-th, which is known where the first ones overlap most. Of two hosts it has to be the same however far, by what
 * is known, their clocks may be apart; where nothing is known of them, only ranks that have as many, and overlap most
 * as they were recorded, are matched. Ranks that do not communicate keep no step: the k-th is the k-th. What is
 * returned lives in build->scratch; out->lacking, of `build`, is filled where ranks were recorded from different steps
 * on. */
struct steps_shared steps_align(struct steps_build *build, const uint32_t *place, const uint32_t *count);

#endif
