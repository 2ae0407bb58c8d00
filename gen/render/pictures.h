/* One colour, and where colours run out a pattern, for each thing that a picture shows; the same in every picture.
 * Based on Okabe and Ito's palette, which colour-blind readers can tell apart (https://jfly.uni-koeln.de/color/). The
 * GPU's work is grey, so that the eye lands on the gaps. Colours are presentation attributes, so pictures keep them
 * without CSS; the classes let a style sheet change the grey ones for a dark page. */
#ifndef GAPLINE_RENDER_PICTURES_H
#define GAPLINE_RENDER_PICTURES_H

#include "analyse/analysis.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/format.h"
#include "verdict/variants.h"

#include <libxml/tree.h>

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

/* Pictures as trees of SVG elements in a page. Everything that gives meaning is a presentation attribute, so that it
 * stays where a server forbids style sheets. Lengths are in the picture's own units, about a pixel each. */

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

/* The pictures of the report. */

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
	int which; /* a swatch */
	double ns;
	const char *first, *second; /* lines of its label; the second may be "" */
	const char *brief;          /* the first line where there is less room */
};

/* Whether a slice has room for its name. */
bool slices_named(const struct slice *slice, double most);

/* Draws `n` slices side by side from the left edge of a stretched picture (svg_stretch), at `y`; `most` is what its
 * whole width stands for. */
void slices_draw(xmlNode *svg, const struct slice *slices, uint32_t n, double y, double most, struct arena *arena);

/* A lane of a timeline: coloured segments on a time axis, at any density. What is at least a few pixels wide is a
 * rectangle of its own with a hover text; what is at least one pixel wide is drawn at full height; what is narrower is
 * summed up by pixel column, and the height of the column says how much of it is covered, its colour by what most. So
 * nothing wider than a pixel disappears, and the number of elements is bounded by the number of pixels. */

struct segment {
	int64_t start, end;
	int which; /* palette */
	uint32_t name, phase, call;
	uint32_t group; /* labels of gaps join pieces of one gap only */
	uint32_t stream;
	int64_t launch_start, launch_end; /* of the op's launch; both -1: unknown or not an op */
	double level;                     /* of a counter: how high it stands, 0 to 1 */
};

enum lane_kind { LANE_PHASES, LANE_CALLS, LANE_STREAM, LANE_COPIES, LANE_METRIC, LANE_GAPS };

struct lane {
	enum lane_kind kind;
	const char *label;
	const char *note; /* of gaps: idle time a step; of counters: what was not sampled; NULL: nothing */
	uint32_t device;  /* of streams, copies, counters and gaps: index into timeline.devices */
	struct segment *segments;
	uint32_t n;
	bool minor; /* next to nothing happens in it: it would look empty */
	double y, height;
};

/* Where time runs: from `x` on, `px` pixels a nanosecond, cut at `width`. */
struct axis {
	double x, width, px;
	int64_t length; /* what lies outside [0, length) is cut off */
};

/* How many rectangles with hover texts lane_draw would make. */
uint32_t lane_count(const struct lane *lane, const struct axis *axis, double least);

/* Draws into `parent`. `least`: pixels from which on a segment has a hover text. */
void lane_draw(const struct analysis *analysis, const struct lane *lane, const struct axis *axis, double least,
               struct arena *arena, xmlNode *parent);

/* The lanes of a side's timeline, from the host down to what the GPU lacks: phases of the step thread, CUDA calls of
 * the launching threads, and for every GPU its streams, its copies by direction, its hardware counters where
 * they were sampled, and its idle time by cause. The
 * picture and the page's data have the same lanes. */

enum {
	LANES_LABEL = 168,                /* pixels for a lane's label */
	LANES_DEVICES = TIMELINE_DEVICES, /* so many GPUs of a side are shown */
	LANES_CALLS = 3,
	LANES_STREAMS = 6, /* what has no room shares the last lane */
	LANES_MOST = 1 + LANES_CALLS + LANES_DEVICES * (LANES_STREAMS + 4 + METRIC_COUNT)
};

struct lanes {
	struct lane lane[LANES_MOST];
	uint32_t n;
};

/* Without y and height. */
void lanes_build(const struct analysis *analysis, int side, struct arena *arena, struct lanes *out);

/* What stands over shown step `i` of a side: "step 12: 24.22 ms", and where there is less room the time alone. */
struct step_label {
	const char *whole, *brief;
};
struct step_label lanes_step(const struct analysis *analysis, int side, uint32_t i, struct arena *arena);

/* "3 steps take 93.1 ms less": where both sides show as many steps; `side` is the shorter one. NULL where there is
 * nothing to compare. */
const char *lanes_saving(const struct analysis *analysis, int *side, struct arena *arena);

/* Which of many GPUs are drawn first, the slowest, the median and the fastest: "baseline: rank 5, rank 11, rank 6"; ""
 * where all are drawn, or nothing is known. */
const char *lanes_drawn(const struct side *side, struct arena *arena);

/* What the page's script draws: the lanes of both sides' timelines to the nanosecond, as JSON, deflated (zlib) and in
 * base64. The script reads it, and the page works without either.
 *
 *     {"names": ["…", …], "keys": [view_key, …],
 *      "palette": [{"class", "colour", "ink", "label", "striped", "marks" (a path, or null), "cause"}, …], "unit":
 * "step", "no_phase": "(between phases)", "outside": " between phases", "inside": " in " (what stands behind a cause),
 *      "opened": ["…", …], "saving": "3 steps take …" or null, "shorter": side,
 *      "sides": [{"label", "length", "boundary": [ns, …], "steps": [["step 12: 24.22 ms", "24.22 ms"], …], "least",
 *                 "lanes": [{"kind": "phases|calls|stream|copies|gaps", "label", "device",
 *                            "start": [ns since the segment before, …], "length": [ns, …], "which": [palette, …],
 *                            "name": [place in names from 1 on, 0: none, …], "phase": […], "call": […], "stream": […],
 *                            "wait": [ns from launch to start, −1: unknown, …], "launch": [ns inside the launch, …],
 *                            "group": [gap, …], "many": [segments joined into one, …], "busy": [ns of them, …]}, …],
 *                 "gaps": [{"device", "start", "length", "opened"}: columns likewise, …]}, …]}
 *
 * Columns that would hold one value only are that value. Where all segments would be too much, neighbours shorter than
 * `least` ns are joined. */

/* Appends to `out`. At most DATA_MOST characters. */
enum { DATA_MOST = 550 * 1024 };
int data_write(const struct analysis *analysis, struct buf *out, struct err *err);

#endif
