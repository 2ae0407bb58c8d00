/* The whole runs as strips. */
#ifndef GAPLINE_RENDER_OVERVIEW_H
#define GAPLINE_RENDER_OVERVIEW_H

#include "render/svg.h"

void overview_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

#endif
