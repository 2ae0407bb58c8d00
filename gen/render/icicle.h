/* Stacks as a picture: callers above what they called, as wide as the GPU waited for them. */
#ifndef GAPLINE_RENDER_ICICLE_H
#define GAPLINE_RENDER_ICICLE_H

#include "analyse/analysis.h"
#include "base/format.h"

#include <libxml/tree.h>

/* Each side that has samples, on one scale; coloured by what changed. */
void icicle_draw(const struct analysis *analysis, struct unit unit, struct arena *arena, xmlNode *parent);

#endif
