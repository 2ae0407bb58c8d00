#include "render/pictures.h"

#include "base/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARKS_OPACITY "0.42"
#define FONT "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"

static xmlNode *element(xmlNode *parent, const char *name)
{
	return xmlNewChild(parent, NULL, (const xmlChar *)name, NULL);
}

static void text_node(xmlNode *node, const char *text)
{
	xmlAddChild(node, xmlNewDocText(node->doc, (const xmlChar *)text));
}

void svg_attribute(xmlNode *node, const char *name, const char *value)
{
	xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)value);
}

/* A hundredth of a pixel is more than a screen shows; zeros at the end only cost bytes. */
void svg_number(xmlNode *node, const char *name, double value)
{
	char text[DECIMAL_ROOM];
	decimal_fixed(text, value, 2);
	svg_attribute(node, name, text);
}

static void svg_hover(xmlNode *node, const char *text)
{
	text_node(element(node, "title"), text);
}

void svg_resize(xmlNode *svg, double width, double height)
{
	char box[80];
	snprintf(box, sizeof box, "0 0 %g %g", ceil(width), ceil(height));
	svg_attribute(svg, "viewBox", box);
	svg_number(svg, "width", ceil(width));
	svg_number(svg, "height", ceil(height));
}

static void set_up(xmlNode *svg, double width, double height, const char *title, const char *description)
{
	svg_resize(svg, width, height);
	svg_attribute(svg, "font-family", FONT);
	svg_number(svg, "font-size", SVG_TEXT);
	if (title) {
		svg_attribute(svg, "role", "img");
		svg_hover(svg, title);
		text_node(element(svg, "desc"), description);
	} else {
		svg_attribute(svg, "aria-hidden", "true");
	}
}

xmlNode *svg_picture(xmlNode *parent, double width, double height, const char *title, const char *description)
{
	xmlNode *svg = element(parent, "svg");
	set_up(svg, width, height, title, description);
	return svg;
}

void svg_picture_root(xmlNode *svg, double width, double height, const char *title, const char *description)
{
	svg_attribute(svg, "xmlns", "http://www.w3.org/2000/svg");
	set_up(svg, width, height, title, description);
}

void svg_stretch(xmlNode *svg)
{
	xmlUnsetProp(svg, (const xmlChar *)"viewBox");
	svg_attribute(svg, "width", "100%");
}

void svg_share(xmlNode *node, const char *name, double share)
{
	char text[40];
	snprintf(text, sizeof text, "%.3f%%", share * 100);
	svg_attribute(node, name, text);
}

xmlNode *svg_window(xmlNode *parent, double x, double y, double width, double height)
{
	xmlNode *window = element(parent, "svg");
	svg_share(window, "x", x);
	svg_number(window, "y", y);
	svg_share(window, "width", width);
	svg_number(window, "height", height);
	return window;
}

void svg_fill_window(xmlNode *window, double width, double height)
{
	char box[80];
	snprintf(box, sizeof box, "0 0 %g %g", width, height);
	svg_attribute(window, "viewBox", box);
	svg_attribute(window, "preserveAspectRatio", "none");
}

xmlNode *svg_group(xmlNode *parent, const char *class)
{
	xmlNode *g = element(parent, "g");
	if (class)
		svg_attribute(g, "class", class);
	return g;
}

xmlNode *svg_filled(xmlNode *parent, const char *class, const char *fill)
{
	xmlNode *g = svg_group(parent, class);
	svg_attribute(g, "fill", fill);
	return g;
}

xmlNode *svg_swatch(xmlNode *parent, int which)
{
	return svg_filled(parent, palette(which)->class, palette(which)->fill);
}

xmlNode *svg_strokes(xmlNode *parent, const char *class, const char *colour, double width, const char *dash)
{
	xmlNode *g = svg_filled(parent, class, "none");
	svg_attribute(g, "stroke", colour);
	svg_number(g, "stroke-width", width);
	if (dash)
		svg_attribute(g, "stroke-dasharray", dash);
	return g;
}

xmlNode *svg_rect(xmlNode *parent, double x, double y, double width, double height, const char *hover)
{
	xmlNode *rect = element(parent, "rect");
	svg_number(rect, "x", x);
	svg_number(rect, "y", y);
	svg_number(rect, "width", width > 0 ? width : 0);
	svg_number(rect, "height", height > 0 ? height : 0);
	if (hover)
		svg_hover(rect, hover);
	return rect;
}

xmlNode *svg_dot(xmlNode *parent, double x, double y, double radius, const char *hover)
{
	xmlNode *dot = element(parent, "circle");
	svg_number(dot, "cx", x);
	svg_number(dot, "cy", y);
	svg_number(dot, "r", radius);
	if (hover)
		svg_hover(dot, hover);
	return dot;
}

xmlNode *svg_line(xmlNode *parent, double x1, double y1, double x2, double y2)
{
	xmlNode *line = element(parent, "line");
	svg_number(line, "x1", x1);
	svg_number(line, "y1", y1);
	svg_number(line, "x2", x2);
	svg_number(line, "y2", y2);
	return line;
}

void svg_move(struct buf *path, char letter, double by, int digits)
{
	buf_room(path, 1 + DECIMAL_ROOM);
	path->data[path->n++] = letter;
	path->n += decimal_short(path->data + path->n, by, digits);
}

xmlNode *svg_path(xmlNode *parent, const char *d)
{
	xmlNode *path = element(parent, "path");
	svg_attribute(path, "d", d);
	return path;
}

void svg_plate(xmlNode *parent, double x, double y, double width)
{
	enum { ABOVE = 11, BESIDE = 3, HEIGHT = 15 };
	xmlNode *rect = svg_rect(parent, x - BESIDE, y - ABOVE, width + 2 * BESIDE, HEIGHT, NULL);
	svg_attribute(rect, "class", "veil");
	svg_attribute(rect, "fill", "#fff");
}

xmlNode *svg_text(xmlNode *parent, double x, double y, enum anchor anchor, const char *text)
{
	xmlNode *node = element(parent, "text");
	svg_number(node, "x", x);
	svg_number(node, "y", y);
	if (anchor != ANCHOR_START)
		svg_attribute(node, "text-anchor", anchor == ANCHOR_MIDDLE ? "middle" : "end");
	text_node(node, text);
	return node;
}

void svg_drop_empty(xmlNode *group)
{
	if (group->children)
		return;
	xmlUnlinkNode(group);
	xmlFreeNode(group);
}

void svg_patterns(xmlNode *svg)
{
	xmlNode *defs = element(svg, "defs");
	for (int which = 0; which < SHADE_COUNT; which++) {
		const struct swatch *swatch = palette(which);
		if (!swatch->striped && !swatch->marks)
			continue;
		const int size = swatch->marks ? 8 : 6;
		xmlNode *pattern = element(defs, "pattern");
		svg_attribute(pattern, "id", swatch->class);
		svg_attribute(pattern, "patternUnits", "userSpaceOnUse");
		svg_number(pattern, "width", size);
		svg_number(pattern, "height", size);
		xmlNode *ground = svg_rect(pattern, 0, 0, size, size, NULL);
		if (swatch->marks) {
			svg_attribute(ground, "fill", swatch->colour);
			xmlNode *marks = svg_path(pattern, swatch->marks);
			svg_attribute(marks, "fill", swatch->ink);
			svg_attribute(marks, "fill-opacity", MARKS_OPACITY);
			continue;
		}
		svg_attribute(pattern, "patternTransform", "rotate(45)");
		xmlNode *stripe = svg_rect(pattern, 0, 0, 3.6, 6, NULL);
		svg_attribute(ground, "fill", "#fff");
		svg_attribute(ground, "class", "ground");
		svg_attribute(stripe, "fill", swatch->colour);
		svg_attribute(stripe, "class", swatch->class);
	}
}

/* Widths at SVG_TEXT of the sans-serif fonts that browsers choose, on the wide side; ideographs are square. */
static double character_width(const char *c)
{
	unsigned char first = (unsigned char)*c;
	if (first >= 0xE2)
		return first == 0xE2 ? 11 : 13;
	if (first >= 0x80)
		return 8;
	if (strchr(" iljftrI.,:;'|!()[]", first))
		return 4.6;
	return strchr("mwMW@%<>=+~&", first) ? 11 : first == '_' ? 6 : first < 'a' ? 8 : 7.4;
}

double svg_text_width(const char *text)
{
	double width = 0;
	for (; *text; text++)
		if (((unsigned char)*text & 0xC0) != 0x80)
			width += character_width(text);
	return width;
}

/* A kernel's name is much longer than most places for it. */
static bool is_wider(const char *text, double than)
{
	double width = 0;
	for (; *text && width <= than; text++)
		if (((unsigned char)*text & 0xC0) != 0x80)
			width += character_width(text);
	return width > than;
}

const char *svg_fit(struct arena *arena, const char *text, double width)
{
	enum { LEAST = 8, SHORTEST = 20 /* wide: what is left of "(anonymous)" when it is shortened, "(…)" */ };
	if (!is_wider(text, width))
		return text;
	if (width < SHORTEST)
		return "";
	unsigned most = format_length(text);
	const char *fitting = text;
	while (svg_text_width(fitting) > width) {
		double over = svg_text_width(fitting) - width;
		unsigned fewer = 1 + (unsigned)(over / 13);
		if (most < LEAST + fewer)
			return "";
		most -= fewer;
		fitting = format_name(arena, text, most);
	}
	return fitting;
}

double svg_legend(xmlNode *parent, double x, double y, double width, const int *which)
{
	xmlNode *text = svg_filled(parent, "ink", "#333");
	double left = x, top = y;
	for (; *which >= 0; which++) {
		const char *label = palette_label(*which);
		double room = 18 + svg_text_width(label) + 14;
		if (left > x && left + room > x + width) {
			left = x;
			top += 19;
		}
		svg_rect(svg_swatch(parent, *which), left, top, 12, 12, NULL);
		svg_text(text, left + 17, top + 10, ANCHOR_START, label);
		left += room;
	}
	return top - y + 19;
}

double svg_tick(double length, int most, struct unit *unit)
{
	double tick = 1;
	for (int i = 0; length / tick > most; i++)
		tick *= i % 3 == 1 ? 2.5 : 2;
	if (unit)
		unit->decimals = tick >= unit->ns ? 0 : (int)ceil(log10(unit->ns / tick));
	return tick;
}
