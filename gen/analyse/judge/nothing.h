/* Sides that cannot be compared whatever their numbers say (docs/method/verdict.md, "Nothing to compare"). */
#ifndef GAPLINE_ANALYSE_JUDGE_NOTHING_H
#define GAPLINE_ANALYSE_JUDGE_NOTHING_H

#include "analyse/side/side.h"

/* Whether two profiles hold the same capture, packed, copied or exported again: every GPU operation at the same time.
 * Few operations are alike by chance: the captures must not have begun at two times then, where both say when. */
bool nothing_same_capture(const struct trace *a, const struct trace *b);

/* When a capture is on both sides, so that there is nothing to compare, else NULL. */
const struct fact *nothing_to_compare(const struct side_facts facts[2], struct arena *arena);

/* When a run repeats nothing that the first run of the baseline repeats (run.stranger), else NULL. `as_often`: what the
 * sides repeat is the same all the same. */
const struct fact *nothing_alike(const struct side_facts facts[2], bool as_often, struct arena *arena);

/* When more than 1 % of a kind of rows of a run had to be dropped, or as many records were lost while it was
 * recorded (of which kind, nobody knows: those of host threads are held against ranges or operating-system calls, the
 * others against GPU work), so that its numbers are those of the rest and prove
 * nothing, else NULL. The worst kind of all runs is named. */
const struct fact *nothing_but_rest(const struct side_facts *facts, int n_sides, struct arena *arena);

/* On rows of the runs of a side that make no sense or were lost, however few; NULL: there are none. */
const struct fact *nothing_left_out(const struct side_facts *facts, int side, struct arena *arena);

#endif
