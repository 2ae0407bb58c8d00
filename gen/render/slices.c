
#include "base/format.h"
#include "render/pictures.h"

#include <math.h>

enum { PHONE = 300, PAD = 7 }; /* what the page has on a phone; around words */

static double room_of(const struct slice *slice, double most)
{
	return slice->ns / most * SLICES_WIDTH - 2 * PAD;
}

bool slices_named(const struct slice *slice, double most)
{
	return svg_text_width(slice->brief) <= room_of(slice, most) * 0.92;
}

static void draw_slice(struct arena *arena, xmlNode *svg, const struct slice *slice, double from, double y, double most)
{
	double share = slice->ns / most, room = room_of(slice, most);
	const struct swatch *swatch = palette(slice->which);
	xmlNode *rect = svg_rect(svg_swatch(svg, slice->which), 0, y, 0, SLICES_BAR,
	                         arena_format(arena, "%s%s%s: %s", slice->first, *slice->second ? ", " : "",
	                                      slice->second, format_time(arena, slice->ns)));
	svg_share(rect, "x", from / most);
	svg_share(rect, "width", share);
	const char *time = format_short_time(arena, slice->ns);
	const char *first = svg_text_width(slice->first) <= room * 0.92 ? slice->first : NULL;
	if (!first)
		first = svg_text_width(slice->brief) <= room * 0.92 ? slice->brief : "";
	const char *second = *slice->second ? arena_format(arena, "%s \xC2\xB7 %s", slice->second, time) : time;
	if (svg_text_width(second) > room)
		second = svg_text_width(time) <= room ? time : "";
	if (!*second)
		return;
	xmlNode *label = svg_window(svg, from / most, y, share, SLICES_BAR);
	bool fits = fmax(svg_text_width(first) * 1.08, svg_text_width(second)) <= share * PHONE - 2 * PAD;
	bool grey = slice->which == SHADE_COMPUTE || slice->which == SHADE_CALL;
	const char *tone = grey || swatch->striped ? "ink" : slice->which == SHADE_COPY ? "on-copy" : "label";
	svg_attribute(label, "class", fits ? tone : arena_format(arena, "%s desk", tone));
	svg_attribute(label, "fill", swatch->ink);
	svg_attribute(label, "pointer-events", "none");
	const double y1 = 18, y2 = *first ? 35 : 26;
	if (swatch->striped && *first)
		svg_plate(label, PAD, y1, svg_text_width(first) * 1.08);
	if (swatch->striped)
		svg_plate(label, PAD, y2, svg_text_width(second));
	if (*first)
		svg_attribute(svg_text(label, PAD, y1, ANCHOR_START, first), "font-weight", "bold");
	svg_text(label, PAD, y2, ANCHOR_START, second);
}

void slices_draw(xmlNode *svg, const struct slice *slices, uint32_t n, double y, double most, struct arena *arena)
{
	double x = 0;
	for (uint32_t i = 0; i < n; i++) {
		draw_slice(arena, svg, &slices[i], x, y, most);
		x += slices[i].ns;
	}
}

void bars_draw(xmlNode *parent, double before, double after, double most)
{
	enum { CELL = 190, HALF = 8 };
	double px = most > 0 ? CELL / most : 0;
	xmlNode *svg = svg_picture(parent, CELL, 2 * HALF + 2, NULL, NULL);
	xmlNode *first = svg_filled(svg, "before", "#5c6773"), *second = svg_filled(svg, "after", "#0b6e7d");
	svg_rect(first, 0, 0, before > 0 ? fmax(before * px, 1) : 0, HALF, NULL);
	svg_rect(second, 0, HALF + 2, after > 0 ? fmax(after * px, 1) : 0, HALF, NULL);
}

void key_draw(xmlNode *parent, int which)
{
	xmlNode *svg = svg_picture(parent, 12, 12, NULL, NULL);
	svg_rect(svg_swatch(svg, which), 0, 0, 12, 12, NULL);
}
