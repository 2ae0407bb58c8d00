/* What a reader should know about the data of a side before believing its numbers. */
#ifndef GAPLINE_ANALYSE_SIDE_QUALITY_H
#define GAPLINE_ANALYSE_SIDE_QUALITY_H

#include "analyse/run/run.h"

/* Dropped rows, diagnostics, missing launches and notes of all runs of a side that is built but for these. */
struct quality quality_build(const struct run *runs, size_t n, const struct side *side, struct arena *arena);

/* Adds a note, a sentence in `arena`, unless it is there already. */
void quality_add(struct quality *quality, struct arena *arena, const char *note);

#endif
