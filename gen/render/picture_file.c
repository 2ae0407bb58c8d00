/* The gap timeline as a file of its own, twice as wide as high, for a README or a pull request. */
#include "render/pictures.h"
#include "render/render.h"
#include "render/words.h"

#include <math.h>

enum { WIDTH = 1200, MARGIN = 14, HEADER = 58 };

static xmlNode *new_picture(const struct analysis *a, struct arena *arena, xmlDoc *doc)
{
	xmlNode *root = xmlNewDocNode(doc, NULL, (const xmlChar *)"svg", NULL);
	xmlDocSetRootElement(doc, root);
	svg_picture_root(
		root, WIDTH, WIDTH / 2.0, words_verdict(a, arena),
		"GPU idle gaps of both sides on one time scale, coloured by cause. Made by gapline " GAPLINE_VERSION
		".");
	return root;
}

/* The height that the picture needs; what is drawn for that is thrown away. */
static double height_of(const struct analysis *a, struct arena *arena, double width, double stretch)
{
	xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
	double height =
		timeline_draw_at(a, arena, new_picture(a, arena, doc), width - 2 * MARGIN, HEADER, stretch) + MARGIN;
	xmlFreeDoc(doc);
	return height;
}

static void draw_words(const struct analysis *a, struct arena *arena, xmlNode *parent, double width)
{
	static const char *const tone[] = {[VERDICT_INCONCLUSIVE] = "#8a5a00",
	                                   [VERDICT_FASTER] = "#0a6b4f",
	                                   [VERDICT_SLOWER] = "#a83b00",
	                                   [VERDICT_UNCHANGED] = "#3f5b7a"};
	const char *text[] = {words_verdict(a, arena), words_change(a, arena)};
	const double room = width - 2 * MARGIN - 8, bold = 1.1, most[] = {19, 13}, least = 13;
	for (int i = 0; i < 2; i++) {
		/* a long verdict is written smaller before it is shortened */
		double wide = svg_text_width(text[i]) * bold / SVG_TEXT,
		       size = fmax(fmin(most[i], room / fmax(wide, 1)), least);
		const char *fitting = svg_fit(arena, text[i], room / bold * SVG_TEXT / size);
		xmlNode *line = svg_text(parent, 4, i ? 48 : 26, ANCHOR_START, fitting);
		svg_number(line, "font-size", size);
		svg_attribute(line, "fill", i ? "#333" : tone[a->verdict.result]);
		if (!i)
			svg_attribute(line, "font-weight", "bold");
	}
}

/* Lanes are stretched where they would leave room; where they need more, the picture becomes wider. */
static double choose_stretch(const struct analysis *a, struct arena *arena, double width)
{
	double low = 1, high = 3;
	for (int i = 0; i < 6; i++) {
		double middle = (low + high) / 2;
		if (height_of(a, arena, width, middle) <= width / 2)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int render_svg(const struct analysis *a, struct buf *out, struct err *err)
{
	if (a->n_sides != 2)
		return err_set(err, "picture: two sides are needed");
	ARENA_LOCAL(arena);
	double width = fmax(WIDTH, 2 * ceil(height_of(a, &arena, WIDTH, 1)));
	double stretch = width > WIDTH ? 1 : choose_stretch(a, &arena, width);
	xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
	xmlNode *svg = new_picture(a, &arena, doc);
	svg_resize(svg, width, width / 2);
	xmlNode *ground = svg_rect(svg, 0.5, 0.5, width - 1, width / 2 - 1, NULL);
	svg_number(ground, "rx", 8);
	svg_attribute(ground, "fill", "#fff");
	svg_attribute(ground, "stroke", "#d8dde2");
	xmlNode *inside = svg_group(svg, NULL);
	svg_attribute(inside, "transform", arena_format(&arena, "translate(%d 0)", MARGIN));
	draw_words(a, &arena, inside, width);
	timeline_draw_at(a, &arena, inside, width - 2 * MARGIN, HEADER, stretch);
	xmlChar *text = NULL;
	int n = 0;
	xmlDocDumpMemoryEnc(doc, &text, &n, "UTF-8");
	if (text)
		buf_add(out, (const char *)text, (size_t)n);
	xmlFree(text);
	xmlFreeDoc(doc);
	return text ? 0 : err_set_id(err, ERR_MEMORY, "picture: out of memory");
}
