/* The roofline of the kernels that Nsight Compute measured: both sides' points below their roofs. */
#ifndef GAPLINE_RENDER_ROOFLINE_H
#define GAPLINE_RENDER_ROOFLINE_H

#include "analyse/analysis.h"

#include <libxml/tree.h>

/* Nothing where no point is known. */
void roofline_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

#endif
