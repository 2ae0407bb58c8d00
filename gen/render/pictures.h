/* The smaller pictures of the report. */
#ifndef GAPLINE_RENDER_PICTURES_H
#define GAPLINE_RENDER_PICTURES_H

#include "analyse/judge/variants.h"
#include "base/format.h"
#include "render/svg.h"

/* The time per step of each run of a side that decides, in order; 0: nothing is known of them. */
uint32_t dots_of(const struct analysis *analysis, int side, struct arena *arena, const double **ns);

/* These as dots on an axis from 0, and below them, where there is an interval, where the fixed side lies. */
void dots_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* A row of dots for each variant, the baseline's first, and where each lies beside it. */
void dots_of_variants(const struct variant *list, size_t n, struct arena *arena, xmlNode *parent);

/* A mean step of each side as a bar: the GPU's work, then its waits by cause and phase, joined by bands. */
void glance_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* Marks the swatches that glance_draw shows: those that are wide enough to be seen, and to be named where they are. */
void glance_keys(const struct analysis *analysis, struct arena *arena, bool seen[], bool named[]);

/* The distribution of both sides' periods on one scale, and each side's periods in order. */
void steps_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The longest kernels, or families of them, before and after. */
void slopes_draw(const struct analysis *analysis, struct unit unit, struct arena *arena, xmlNode *parent);

/* Two bars, before above after, for a table's cell; `most` is the longest of the table. */
void bars_draw(xmlNode *parent, double before, double after, double most);

/* A square in a swatch's colour, for a table's cell. */
void key_draw(xmlNode *parent, int which);

#endif
