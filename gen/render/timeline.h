/* The gap timeline: both sides' representative steps on one time axis, and the whole runs as strips. */
#ifndef GAPLINE_RENDER_TIMELINE_H
#define GAPLINE_RENDER_TIMELINE_H

#include "render/svg.h"

void timeline_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The timeline without a picture of its own, from `y` on; lanes are `stretch` times as high. Returns where it ends. */
double timeline_draw_at(const struct analysis *analysis, struct arena *arena, xmlNode *parent, double width, double y,
                        double stretch);

#endif
