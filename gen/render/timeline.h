/* The gap timeline: both sides' representative steps on one time axis, and the whole runs as strips. */
#ifndef GAPLINE_RENDER_TIMELINE_H
#define GAPLINE_RENDER_TIMELINE_H

#include "render/svg.h"

void timeline_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);
void overview_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

#endif
