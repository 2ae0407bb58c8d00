/* Pictures as trees of SVG elements in a page. Everything that gives meaning is a presentation attribute, so that it
 * stays where a server forbids style sheets. Lengths are in the picture's own units, about a pixel each. */
#ifndef GAPLINE_RENDER_SVG_H
#define GAPLINE_RENDER_SVG_H

#include "base/buf.h"
#include "base/format.h"
#include "render/palette.h"

#include <libxml/tree.h>

enum { SVG_TEXT = 12, SVG_SMALL = 11 }; /* font sizes of labels */

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* An <svg> of `width` by `height` in `parent`; `title` and `description` say to a screen reader what it shows; NULL
 * title: decoration beside text that says the same. */
xmlNode *svg_picture(xmlNode *parent, double width, double height, const char *title, const char *description);

/* The same for an <svg> that is a document of its own. */
void svg_picture_root(xmlNode *svg, double width, double height, const char *title, const char *description);

/* Changes the height of a picture, for one whose content decides. */
void svg_resize(xmlNode *svg, double width, double height);

/* Makes a picture as wide as its place, at its own height and without scaling: x and width inside are percentages. */
void svg_stretch(xmlNode *svg);

/* Sets a place or a length to a share of the picture's width: "12.345%". */
void svg_share(xmlNode *node, const char *name, double share);

/* A window in a stretched picture that cuts off what does not fit; x and width are shares. */
xmlNode *svg_window(xmlNode *parent, double x, double y, double width, double height);

/* Gives a window units of its own, `width` by `height` of them, that are stretched to fill it. */
void svg_fill_window(xmlNode *window, double width, double height);

/* A <g> with a class; NULL: without. */
xmlNode *svg_group(xmlNode *parent, const char *class);

/* The same in a colour. */
xmlNode *svg_filled(xmlNode *parent, const char *class, const char *fill);

/* A <g> in a swatch's colour. */
xmlNode *svg_swatch(xmlNode *parent, int which);

/* A <g> for lines: no fill. `dash`: NULL or as in stroke-dasharray. */
xmlNode *svg_strokes(xmlNode *parent, const char *class, const char *colour, double width, const char *dash);

/* `hover` becomes a <title>; NULL: none. */
xmlNode *svg_rect(xmlNode *parent, double x, double y, double width, double height, const char *hover);
xmlNode *svg_dot(xmlNode *parent, double x, double y, double radius, const char *hover);
xmlNode *svg_line(xmlNode *parent, double x1, double y1, double x2, double y2);
xmlNode *svg_path(xmlNode *parent, const char *d);
/* Adds a letter and a number of so many digits to what becomes a path: "h3.25". */
void svg_move(struct buf *path, char letter, double by, int digits);
xmlNode *svg_text(xmlNode *parent, double x, double y, enum anchor anchor, const char *text);

/* A plain ground for a label on stripes, before the label itself, of which these are the place and the width. */
void svg_plate(xmlNode *parent, double x, double y, double width);

void svg_attribute(xmlNode *node, const char *name, const char *value);
void svg_number(xmlNode *node, const char *name, double value);

/* Removes a group in which nothing was drawn. */
void svg_drop_empty(xmlNode *group);

/* The <defs> with the pattern of every swatch that has one; once in a document. */
void svg_patterns(xmlNode *svg);

/* The width of a text in labels' size: an estimate that errs on the wide side, for no font is known here. */
double svg_text_width(const char *text);

/* As much of `text` as fits into `width`; "" when that is not worth it. */
const char *svg_fit(struct arena *arena, const char *text, double width);

/* A legend: swatches with labels beside them, wrapped at `width`. `which` ends with −1. Returns the height used. */
double svg_legend(xmlNode *parent, double x, double y, double width, const int *which);

/* Times that make a good axis: the least of 1, 2, 5 × 10^n ns that gives at most `most` ticks over `length`. `unit`
 * gets the decimals that tell them apart; NULL: nobody needs them. */
double svg_tick(double length, int most, struct unit *unit);

#endif
