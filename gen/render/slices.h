/* A bar that is cut into slices, each with its words in it. */
#ifndef GAPLINE_RENDER_SLICES_H
#define GAPLINE_RENDER_SLICES_H

#include "render/svg.h"

/* Widths are shares of the page's, so that bars fit on a phone and words keep their size; a word that has no room there
 * is put away (the class `desk`). What the page has on a desk, and the height of a bar. */
enum { SLICES_WIDTH = 760, SLICES_BAR = 44 };

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
