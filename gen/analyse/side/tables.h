/* Kernels, calls, copies and counts of a side. */
#ifndef GAPLINE_ANALYSE_SIDE_TABLES_H
#define GAPLINE_ANALYSE_SIDE_TABLES_H

#include "analyse/side/side.h"

/* Kernels, calls, copies and counts of `side` and `facts`; part of side_build. */
void tables_build(struct run *runs, size_t n, struct arena *arena, struct side *side, struct side_facts *facts);

#endif
