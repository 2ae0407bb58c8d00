/* The pictures of the report. */
#ifndef GAPLINE_RENDER_PICTURES_H
#define GAPLINE_RENDER_PICTURES_H

#include "analyse/analysis.h"
#include "analyse/judge/variants.h"
#include "base/format.h"
#include "render/svg.h"

#include <libxml/tree.h>

/* The time per step of each run of a side that decides, in order; 0: nothing is known of them. */
uint32_t dots_of(const struct analysis *analysis, int side, struct arena *arena, const double **ns);

/* These as dots on an axis from 0, and below them, where there is an interval, where the fixed side lies. */
void dots_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* A row of dots for each variant, the baseline's first, and where each lies beside it. */
void dots_of_variants(const struct variant *list, size_t n, struct arena *arena, xmlNode *parent);

/* Where the values of a parameter are numbers: the time per step against them, a dot for each run. false: they are not,
 * and nothing is drawn. */
bool dots_of_sweep(const struct variant *list, size_t n, const char *parameter, struct arena *arena, xmlNode *parent);

/* A mean step of each side as a bar: the GPU's work, then its waits by cause and phase, joined by bands. */
void glance_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* Marks the swatches that glance_draw shows: those that are wide enough to be seen, and to be named where they are. */
void glance_keys(const struct analysis *analysis, struct arena *arena, bool seen[], bool named[]);

/* The distribution of both sides' periods on one scale, and each side's periods in order. false: no side has periods,
 * and nothing is drawn. */
bool steps_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The longest kernels, or families of them, before and after. */
bool slopes_differ(const struct analysis *analysis, struct arena *arena); /* else numbers say it better */
void slopes_draw(const struct analysis *analysis, struct unit unit, struct arena *arena, xmlNode *parent);

/* What Nsight Compute measured of kernels, or PyTorch's longest operators whose shapes say how much they calculate and
 * move: rate over intensity, on logarithmic scales, below the GPU's limits. false: nothing is known, and nothing drawn.
 */
bool roofline_of_kernels(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* Two bars, before above after, for a table's cell; `most` is the longest of the table. */
void bars_draw(xmlNode *parent, double before, double after, double most);

/* A square in a swatch's colour, for a table's cell. */
void key_draw(xmlNode *parent, int which);

/* The whole runs as strips. */
void overview_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The gap timeline: both sides' representative steps on one time axis, and the whole runs as strips. */
void timeline_draw(const struct analysis *analysis, struct arena *arena, xmlNode *parent);

/* The timeline without a picture of its own, from `y` on; lanes are `stretch` times as high. Returns where it ends. */
double timeline_draw_at(const struct analysis *analysis, struct arena *arena, xmlNode *parent, double width, double y,
                        double stretch);

/* Stacks as a picture: callers above what they called, as wide as the GPU waited for them; each side that has samples,
 * on one scale, coloured by what changed. */
void icicle_draw(const struct analysis *analysis, struct unit unit, struct arena *arena, xmlNode *parent);

/* A bar that is cut into slices, each with its words in it. Widths are shares of the page's, so that bars fit on a
 * phone and words keep their size; a word that has no room there is put away (the class `desk`). What the page has on a
 * desk, and the height of a bar. */
enum { SLICES_WIDTH = 640, SLICES_BAR = 44 };

struct slice {
	int which; /* a swatch: palette.h */
	double ns;
	const char *first, *second; /* lines of its label; the second may be "" */
	const char *brief;          /* the first line where there is less room */
};

/* Whether a slice has room for its name. */
bool slices_named(const struct slice *slice, double most);

/* Draws `n` slices side by side from the left edge of a stretched picture (svg_stretch), at `y`; `most` is what its
 * whole width stands for. */
void slices_draw(xmlNode *svg, const struct slice *slices, uint32_t n, double y, double most, struct arena *arena);

#endif
