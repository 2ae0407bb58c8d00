/* The smaller pictures of the report. */
#ifndef GAPLINE_RENDER_PICTURES_H
#define GAPLINE_RENDER_PICTURES_H

#include "render/svg.h"

/* The speedup's interval on an axis around 1; only where there is one. */
void speedup_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* A mean step of each side as a bar: the GPU's work, then its waits by cause and phase. */
void glance_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* Marks the swatches that glance_draw shows, those that are wide enough to be seen. */
void glance_keys(const struct analysis *analysis, struct arena *arena, bool seen[]);

/* From the baseline's step to the fixed one's; parts too small to see are folded into one bar. */
void waterfall_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* A part's name for a reader: "idle: host_code in data_load" -> "idle, host code in data_load". */
const char *waterfall_label(const struct analysis *analysis, struct arena *arena, const struct waterfall_part *part);

/* The distribution of both sides' periods on one scale, and each side's periods in order. */
void steps_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* Two bars, before above after, for a table's cell; `most` is the longest of the table. */
void bars_draw(xmlNode *parent, double before, double after, double most);

/* A square in a swatch's colour, for a table's cell. */
void key_draw(xmlNode *parent, int which);

#endif
