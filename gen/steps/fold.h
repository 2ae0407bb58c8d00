/* Normalised range names (docs/method/analysis.md, Names): counters fold, so that step_0, step_1, … are one range
 * `step_#`, and names whose digits mean something stay: h2d, layer_1, layer_2.
 *
 * A number in a name is masked only when the names that are equal up to it occur about once each, or about once a step,
 * or are eight and say that they count steps: batch 0 begins anew in every epoch.
 * Trailing lists of the kind ", seq = 2868, op_id = 28669" are cut. A number right after '#' is dropped: iter#12 is
 * iter#, and step_12 is step_#. */
#ifndef GAPLINE_STEPS_FOLD_H
#define GAPLINE_STEPS_FOLD_H

#include "trace/trace.h"

struct again_ranges;

struct fold {
	uint32_t *of;           /* normalised name of a range's name, indexed by name id; valid for names of ranges */
	uint32_t n;             /* ids below this are covered */
	uint32_t *list, n_list; /* normalised names in the order in which they first occur, some more than once */
};

/* A range's name without its list, and how often it occurs. */
struct fold_count {
	const char *text;
	int64_t instances, threads; /* threads: that use it */
	uint32_t thread;            /* the last one of these */
};

struct fold_counts {
	struct fold_count *list; /* in the order in which they first occur */
	size_t n, room;
	struct names texts;
	uint32_t *of, n_names; /* by name id, of those that there were at first: 1 + index into `list`, 0: none */
};

/* Whether a name that was asked for is this normalised one, with its mask or without. */
bool fold_means(const char *normalised, const char *wanted);

/* Adds the ranges of one file of a run after the other, whose threads are numbered from `first_thread` there. */
void fold_count(const struct names *names, const struct again_ranges *ranges, uint32_t n, uint32_t first_thread,
                struct arena *arena, struct fold_counts *counts);

/* What the names are normalised to. `steps`: the number of steps when known (then counters that occur about once a step
 * fold too), else 0. New names go into `names`. */
void fold_decide(const struct fold_counts *counts, struct names *names, size_t steps, struct arena *arena,
                 struct fold *out);

#endif
