#include "render/pictures.h"

#include "base/format.h"
#include "render/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CUT = 0.2; /* of the longer step */
enum { WIDTH = 1200, ROW = 36, WORDS = 18, BAR = 12, MOST_BARS = 9, LABEL = 70 };

struct bar {
	const char *label;
	double from, to;
	int which; /* palette; −1: a whole step */
};

const char *waterfall_label(const struct analysis *a, struct arena *arena, const struct waterfall_part *part)
{
	static const char *const words[PART_COUNT] = {
		[PART_COMPUTE] = "GPU compute",
		[PART_COMM] = "communication not overlapped",
		[PART_COPY] = "copies not overlapped",
		[PART_UNUSUAL] = "steps set aside",
		[PART_RECORDING] = "recording and untimed steps, taken off",
		[PART_OTHER] = "other parts",
		[PART_OUTSIDE] = "start and end of the program",
	};
	if (part->kind != PART_IDLE)
		return words[part->kind];
	const char *phase = names_text(a->names, part->phase);
	const char *where = part->phase          ? arena_format(arena, " in %s", phase)
	                    : view_has_phases(a) ? " between phases"
	                                         : "";
	const char *renamed =
		part->renamed ? arena_format(arena, " (now %s)", names_text(a->names, part->renamed)) : "";
	return arena_format(arena, "idle, %s%s%s", cause_label(part->cause), where, renamed);
}

/* The analysis has them in this order; what is equal stays as it is there. */
static int by_change(const void *a, const void *b)
{
	const struct waterfall_part *const *x = a, *const *y = b;
	double d = fabs((*y)->delta) - fabs((*x)->delta);
	return d > 0 ? 1 : d < 0 ? -1 : *x < *y ? -1 : *x > *y;
}

/* What recording added comes first, where it is among the bars: the way goes up to what was recorded and then down, and
 * not below zero. */
static void begin_with_recording(const struct waterfall_part **parts, uint32_t n, double least)
{
	for (uint32_t i = 0; i < n && i < MOST_BARS - 1; i++) {
		const struct waterfall_part *part = parts[i];
		if (part->kind != PART_RECORDING || fabs(part->delta) < least)
			continue;
		memmove(parts + 1, parts, i * sizeof *parts);
		parts[0] = part;
	}
}

static uint32_t make_bars(const struct analysis *a, struct arena *arena, struct bar *bars)
{
	const struct waterfall_part **parts = ARENA_NEW(arena, a->waterfall.n, const struct waterfall_part *);
	for (uint32_t i = 0; i < a->waterfall.n; i++)
		parts[i] = &a->waterfall.part[i];
	qsort(parts, a->waterfall.n, sizeof *parts, by_change);

	double at = view_time(&a->side[0], a->side[0].headline.step);
	double end = view_time(&a->side[1], a->side[1].headline.step), least = fmax(at, end) * 0.004;
	uint32_t n = 0, i = 0;
	begin_with_recording(parts, a->waterfall.n, least);
	bars[n++] = (struct bar){a->side[0].label, 0, at, -1};
	for (; i < a->waterfall.n && n < MOST_BARS && fabs(parts[i]->delta) >= least; i++) {
		bars[n++] = (struct bar){waterfall_label(a, arena, parts[i]), at, at + parts[i]->delta,
		                         palette_of_part(parts[i])};
		at += parts[i]->delta;
	}
	if (i < a->waterfall.n)
		bars[n++] = (struct bar){format_plural(arena, a->waterfall.n - i, "smaller part", "smaller parts"), at,
		                         end, SHADE_COMPUTE};
	bars[n++] = (struct bar){a->side[1].label, 0, end, -1};
	return n;
}

/* Where bars lie: shares of the picture's width, so that it fits on a phone and its words keep their size. */
struct extent {
	double least, px;
};

static double place(const struct extent *e, double ns)
{
	return (ns - e->least) * e->px;
}

static void draw_bar(const struct bar *b, const struct extent *e, const char *class, double y, xmlNode *svg)
{
	double low = fmin(b->from, b->to), high = fmax(b->from, b->to);
	xmlNode *group = b->which < 0 ? svg_group(svg, class) : svg_swatch(svg, b->which);
	if (b->which < 0)
		svg_attribute(group, "fill", strcmp(class, "after") == 0 ? "#0b6e7d" : "#5c6773");
	xmlNode *rect = svg_rect(group, 0, y, 0, BAR, NULL);
	svg_share(rect, "x", place(e, low));
	svg_share(rect, "width", fmax(place(e, high) - place(e, low), 1.5 / WIDTH));
}

/* "idle, host code in data_load  −30.25 ms": over its bar, so that both have the whole width. */
static void write_bar(const struct bar *b, struct unit unit, double y, struct arena *arena, xmlNode *parent)
{
	bool whole = b->which < 0;
	const char *value = whole ? format_number(arena, unit, b->to) : format_change(arena, unit, b->to - b->from);
	xmlNode *text =
		svg_text(parent, 0, y, ANCHOR_START, arena_format(arena, "%s  ", format_name(arena, b->label, LABEL)));
	xmlNode *bold = xmlNewTextChild(text, NULL, (const xmlChar *)"tspan",
	                                (const xmlChar *)arena_format(arena, "%s %s", value, unit.name));
	svg_attribute(whole ? text : bold, "font-weight", "bold");
	svg_number(bold, "dx", 6);
}

void waterfall_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct bar bars[MOST_BARS + 3];
	uint32_t n = make_bars(a, arena, bars);
	double most = 0, least = view_time(&a->side[0], a->side[0].headline.step);
	for (uint32_t i = 0; i < n; i++) {
		most = fmax(most, fmax(bars[i].from, bars[i].to));
		least = fmin(least, bars[i].which < 0 ? bars[i].to : fmin(bars[i].from, bars[i].to));
	}
	/* where both steps are nearly as long, what lies between them could not be seen on an axis from zero */
	bool cut = most - least < CUT * most;
	least = cut ? fmax(least - (most - least) / 2, 0) : fmin(least, 0);
	for (uint32_t i = 0; i < n; i++)
		bars[i].from = bars[i].which < 0 ? fmax(least, 0) : bars[i].from;
	struct unit unit = view_time_unit(a);
	struct extent extent = {least, most > least ? 1 / (most - least) : 0};
	xmlNode *svg = svg_picture(parent, WIDTH, n * ROW + (cut ? 18 : 0),
	                           "The way from the baseline's step to the fixed one's",
	                           "Each bar starts where the one above ends; the table below has every number.");
	svg_stretch(svg);
	xmlNode *links = svg_strokes(svg, "grid", "#c3cad1", 1, NULL), *ink = svg_group(svg, "ink halo");
	svg_attribute(ink, "stroke", "#fff");
	svg_number(ink, "stroke-width", 3);
	svg_attribute(ink, "paint-order", "stroke");
	svg_attribute(ink, "fill", "#222");
	for (uint32_t i = 0; i < n; i++) {
		double y = i * ROW;
		draw_bar(&bars[i], &extent, i ? "after" : "before", y + WORDS, svg);
		write_bar(&bars[i], unit, y + 13, arena, ink);
		if (i + 1 == n)
			break;
		xmlNode *link = svg_line(links, 0, y + WORDS + BAR, 0, y + ROW + WORDS);
		svg_share(link, "x1", place(&extent, bars[i].to));
		svg_share(link, "x2", place(&extent, bars[i].to));
	}
	if (cut)
		svg_text(ink, 0, n * ROW + 12, ANCHOR_START,
		         arena_format(arena, "The axis is cut: it starts at %s %s.", format_number(arena, unit, least),
		                      unit.name));
}

void bars_draw(xmlNode *parent, double before, double after, double most)
{
	enum { CELL = 190, HALF = 8 };
	double px = most > 0 ? CELL / most : 0;
	xmlNode *svg = svg_picture(parent, CELL, 2 * HALF + 2, NULL, NULL);
	xmlNode *first = svg_group(svg, "before"), *second = svg_group(svg, "after");
	svg_attribute(first, "fill", "#5c6773");
	svg_attribute(second, "fill", "#0b6e7d");
	svg_rect(first, 0, 0, before > 0 ? fmax(before * px, 1) : 0, HALF, NULL);
	svg_rect(second, 0, HALF + 2, after > 0 ? fmax(after * px, 1) : 0, HALF, NULL);
}

void key_draw(xmlNode *parent, int which)
{
	xmlNode *svg = svg_picture(parent, 12, 12, NULL, NULL);
	svg_rect(svg_swatch(svg, which), 0, 0, 12, 12, NULL);
}
