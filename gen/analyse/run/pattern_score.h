/* Which of two cuts of a sequence says better what a step is. */
#ifndef GAPLINE_ANALYSE_RUN_PATTERN_SCORE_H
#define GAPLINE_ANALYSE_RUN_PATTERN_SCORE_H

#include "analyse/run/pattern_cuts.h"

/* What cycles are. Layers and micro-batches: an input, or an optimizer's kernel, comes with some of them only. Layers,
 * or iterations of which some are logged: the host has to do with some of them only, or other kernels follow on some,
 * and what that is does not look like a log: it is the input of the next step; kernels without the host having to do
 * with them; a wait; or as much as a good part of a cycle (of an embedding, a head and what picks the next token there
 * is always more than of a loss that is printed now and then). Steps. */
enum pattern_level { LEVEL_PARTS, LEVEL_OPEN, LEVEL_STEP };

struct pattern_score {
	/* ops that the cycles explain; of those whose names vary, what the names do not say counts less: it takes more
	 * to describe it */
	double weight;
	enum pattern_level level;
	bool told;  /* each has an input, or an optimizer */
	bool asked; /* the host has to do with each */
	bool varied;
	uint32_t cycles, ops;
	uint32_t least; /* cycles of which the parts of steps are told */
	/* of parts: how many steps they make at most, and how many of them are between two ends of a step */
	uint32_t steps, fewest, most;
};

struct pattern_score pattern_score_of(const struct pattern_sequence *s, const struct pattern_found *found);

/* Whether `a` is better than `b`. Steps are better than what may be their parts; else what explains more, and of those
 * that explain as much what has the shorter cycle. */
bool pattern_score_is_better(const struct pattern_score *a, const struct pattern_score *b);

#endif
