/* One colour, and where colours run out a pattern, for each thing that a picture shows; the same in every picture.
 * Based on Okabe and Ito's palette, which colour-blind readers can tell apart (https://jfly.uni-koeln.de/color/). The
 * GPU's work is grey, so that the eye lands on the gaps. Colours are presentation attributes, so pictures keep them
 * without CSS; the classes let a style sheet change the grey ones for a dark page. */
#ifndef GAPLINE_RENDER_PALETTE_H
#define GAPLINE_RENDER_PALETTE_H

#include "analyse/analysis.h"

struct swatch {
	const char *class; /* for CSS; also the id of the pattern */
	const char *fill;  /* the presentation attribute: a colour, or "url(#…)" */
	const char *colour;
	const char *ink; /* for text on it */
	const char *key; /* of a shade, among its words; NULL: a cause */
	bool striped;
	const char *marks; /* a path in a tile of 8 by 8, darker than the colour; NULL: plain. Beside the colour, for
	                    * those who see less of it, and for paper without any */
};

enum shade {
	SHADE_COMPUTE = CAUSE_COUNT,
	SHADE_COMM,
	SHADE_COPY,
	SHADE_IDLE,
	SHADE_CALL, /* what the host does is grey too, so that only waits have a colour */
	SHADE_WAIT,
	SHADE_PHASE_A,
	SHADE_PHASE_B,
	SHADE_RECORDING,
	SHADE_FIRST_LAUNCH,
	SHADE_SEARCH,
	SHADE_COUNT
};

/* `which`: an enum cause or an enum shade. */
const struct swatch *palette(int which);

/* What it is called in a legend; not an arena's. */
const char *palette_label(int which);

int palette_of_op(enum op_kind kind);

int palette_of_startup(enum startup_part part);

/* The swatch that fits a part of the waterfall; SHADE_IDLE if none does. */
int palette_of_part(const struct waterfall_part *part);

#endif
