/* What two sides have in common and what not: the same-work guard, the waterfall (docs/analysis.md, Same work and
 * Diagnosis). */
#ifndef GAPLINE_ANALYSE_JUDGE_COMPARE_H
#define GAPLINE_ANALYSE_JUDGE_COMPARE_H

#include "analyse/side/side.h"

/* Fills differences, notes and `comparable` of `out`, whose sides are built. When the sides cannot be judged against
 * each other at all (another collector, another graph tracing mode, steps on one side only), returns the reason, else
 * NULL. `rest`: rows that make no sense were left out, so what one side has and the other has not may be missing in the
 * profile only: the work is not compared. */
const char *compare_work(const struct side_facts facts[2], bool rest, struct arena *arena, struct analysis *out);

/* A sentence when the GPUs of the two sides ran at different SM clocks under load, else NULL; `material` when there are
 * samples enough to rely on (conditions.c). */
const char *conditions_difference(const struct analysis *out, struct arena *arena, bool *material);

/* How much lower and higher the speedup may be without recording, as verdict_conditions.beyond has it (recording.c).
 * The sides are built. */
void recording_bounds(const struct analysis *out, double beyond[2]);

/* After the verdict: whether it is of recorded programs and recording may have changed the speedup by more than 5 %;
 * and a sentence from 1 % on, else NULL. */
bool recording_turns(const struct analysis *a);
const char *recording_reason(const struct analysis *a, struct arena *arena);

/* Adds to the verdict's reasons what held the GPUs of one side back, clocks that were the same, what recording did to
 * the speedup, and a capture that is incomplete on one side. The verdict has been judged before. */
void conditions_reasons(const struct side_facts facts[2], struct arena *arena, struct analysis *out);

/* The parts from the baseline's step to the fixed one's (waterfall.c). */
void waterfall_build(struct arena *arena, struct analysis *out);

#endif
