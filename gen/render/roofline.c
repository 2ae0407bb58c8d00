/* Rooflines: what does so much per byte, below what the GPU can do; both sides' points, and a line from one to the
 * other. */
#include "render/pictures.h"

#include "render/sections.h"
#include "say/say.h"

#include <libxml/tree.h>
#include <math.h>

enum { WIDTH = 900, HEIGHT = 380, LEFT = 92, RIGHT = 30, TOP = 46, BOTTOM = 52 };
static const char *const colour[2] = {"#5c6773", "#0b6e7d"}, *const class_of[2] = {"before", "after"};

struct plot {
	const struct kernels_inside *k;
	bool operators; /* instead of kernels: by name, not by number */
	struct arena *arena;
	double x0, x1, y0, y1; /* log10 of what the edges stand for */
};

static double x_of(const struct plot *p, double intensity)
{
	double share = (log10(intensity) - p->x0) / (p->x1 - p->x0);
	return LEFT + fmin(fmax(share, 0), 1) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct plot *p, double rate)
{
	double share = (log10(rate) - p->y0) / (p->y1 - p->y0);
	return HEIGHT - BOTTOM - fmin(fmax(share, 0), 1) * (HEIGHT - TOP - BOTTOM);
}

static bool has_point(const struct kernel_inside *k)
{
	return k->launches && k->rate > 0 && k->intensity > 0;
}

/* A decade of room around all points and both ends of the slope. */
static bool find_edges(struct plot *p)
{
	double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
	bool any = false;
	for (uint32_t i = 0; i < p->k->n; i++)
		for (int s = 0; s < 2; s++) {
			const struct kernel_inside *k = &p->k->pair[i].side[s];
			if (!has_point(k))
				continue;
			any = true;
			low_x = fmin(low_x, k->intensity);
			high_x = fmax(high_x, k->intensity);
			low_y = fmin(low_y, k->rate);
			high_y = fmax(high_y, k->rate);
		}
	for (int s = 0; s < 2; s++) {
		const struct roof *roof = &p->k->roof[s];
		if (!roof->known)
			continue;
		low_x = fmin(low_x, roof->peak / roof->bandwidth);
		high_x = fmax(high_x, roof->peak / roof->bandwidth);
		high_y = fmax(high_y, roof->peak);
	}
	p->x0 = floor(log10(low_x / 2));
	p->x1 = ceil(log10(high_x * 2));
	p->y0 = floor(log10(low_y / 1.5));
	p->y1 = log10(high_y * 1.6);
	return any;
}

static const char *power(const struct plot *p, double exponent, bool rate)
{
	static const struct {
		double from;
		const char *name;
	} units[] = {{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}};
	double value = pow(10, exponent);
	if (!rate)
		return arena_format(p->arena, "%g", value);
	if (!p->k->absolute)
		return arena_format(p->arena, "%g %%", value);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (value >= units[i].from)
			return arena_format(p->arena, "%g %s", value / units[i].from, units[i].name);
	return arena_format(p->arena, "%g", value);
}

static void draw_axes(const struct plot *p, xmlNode *svg)
{
	xmlNode *grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL), *muted = svg_filled(svg, "muted", "#555");
	for (double e = p->x0; e <= p->x1; e++) {
		double x = x_of(p, pow(10, e));
		svg_line(grid, x, TOP, x, HEIGHT - BOTTOM);
		svg_text(muted, x, HEIGHT - BOTTOM + 16, ANCHOR_MIDDLE, power(p, e, false));
	}
	for (double e = p->y0; e <= p->y1; e++) {
		double y = y_of(p, pow(10, e));
		svg_line(grid, LEFT, y, WIDTH - RIGHT, y);
		svg_text(muted, LEFT - 8, y + 4, ANCHOR_END, power(p, e, true));
	}
	svg_text(muted, WIDTH - RIGHT, HEIGHT - BOTTOM + 34, ANCHOR_END,
	         say_word(WORDS_picture, p->operators     ? "flop_per_byte_needed"
	                                 : p->k->absolute ? "flop_per_byte"
	                                                  : "intensity"));
	svg_text(muted, 4, 16, ANCHOR_START,
	         say_word(WORDS_picture, p->operators     ? "flop_rate_operators"
	                                 : p->k->absolute ? "flop_rate"
	                                                  : "sm_share"));
}

static void draw_roof(const struct plot *p, int side, bool alike, xmlNode *svg)
{
	const struct roof *roof = &p->k->roof[side];
	double ridge = roof->peak / roof->bandwidth, left = pow(10, p->x0), floor_rate = pow(10, p->y0);
	double from = fmax(left, floor_rate / roof->bandwidth);
	xmlNode *line = svg_strokes(svg, "boundary", "#444", 2, side && !alike ? "6 4" : NULL);
	svg_path(line, arena_format(p->arena, "M%.1f %.1fL%.1f %.1fH%d", x_of(p, from), y_of(p, roof->bandwidth * from),
	                            x_of(p, ridge), y_of(p, roof->peak), WIDTH - RIGHT));
	xmlNode *ink = svg_filled(svg, "ink", "#222");
	svg_text(ink, WIDTH - RIGHT, y_of(p, roof->peak) - 7 - (side && !alike ? 14 : 0), ANCHOR_END,
	         SAY(NULL, p->arena, roof_is, .absolute = p->k->absolute, .peak = roof->peak / 1e12,
	             .bandwidth = roof->bandwidth / 1e12,
	             .of = alike  ? "both"
	                   : side ? "fixed"
	                          : "baseline"));
}

/* How many kernels before this one have their number at the same place. */
static int crowd(const struct plot *p, uint32_t i, double x, double y)
{
	int n = 0;
	while (i-- > 0) {
		const struct kernel_inside *k = p->k->pair[i].side;
		k = has_point(&k[1]) ? &k[1] : &k[0];
		n += has_point(k) && fabs(x_of(p, k->intensity) - x) < (p->operators ? 250 : 16) &&
		     fabs(y_of(p, k->rate) - y) < 16;
	}
	return n;
}

/* The baseline's are hollow squares, the fixed side's full circles; a line joins what is one kernel. */
static void draw_points(const struct plot *p, const struct analysis *a, xmlNode *svg)
{
	xmlNode *ways = svg_strokes(svg, "boundary", "#888", 1, "2 3"), *group[2],
		*ink = svg_filled(svg, "ink", "#222");
	group[0] = svg_strokes(svg, "before-line", colour[0], 2, NULL);
	group[1] = svg_filled(svg, class_of[1], colour[1]);
	for (uint32_t i = 0; i < p->k->n; i++) {
		const struct kernel_inside *k = p->k->pair[i].side;
		for (int s = 0; s < 2; s++) {
			if (!has_point(&k[s]))
				continue;
			double x = x_of(p, k[s].intensity), y = y_of(p, k[s].rate);
			xmlNode *mark =
				svg_path(group[s], s ? arena_format(p->arena, "M%.1f %.1fa5 5 0 1 0 .01 0z", x, y - 5)
			                             : arena_format(p->arena, "M%.1f %.1fh10v10h-10z", x - 5, y - 5));
			xmlNode *title = xmlNewChild(mark, NULL, BAD_CAST "title", NULL);
			xmlAddChild(title,
			            xmlNewText(BAD_CAST arena_format(p->arena, "%s: %u, %s", a->side[s].label, i + 1,
			                                             inside_name(a, &p->k->pair[i], 120, p->arena))));
			if (p->operators && (s || !has_point(&k[1])))
				svg_text(ink, x + 8, y - 6 - (SVG_TEXT + 4) * crowd(p, i, x, y), ANCHOR_START,
				         inside_name(a, &p->k->pair[i], 30, p->arena));
			else if (s || !has_point(&k[1]))
				svg_text(ink, x + 8 + 20 * crowd(p, i, x, y), y - 6, ANCHOR_START,
				         arena_format(p->arena, "%u", i + 1));
		}
		if (has_point(&k[0]) && has_point(&k[1]))
			svg_line(ways, x_of(p, k[0].intensity), y_of(p, k[0].rate), x_of(p, k[1].intensity),
			         y_of(p, k[1].rate));
	}
	svg_drop_empty(group[0]);
	svg_drop_empty(group[1]);
	svg_drop_empty(ways);
}

static void draw_legend(const struct plot *p, const struct analysis *a, xmlNode *svg)
{
	xmlNode *ink = svg_filled(svg, "ink", "#222");
	bool pair = a->n_sides > 1;
	const char *last = a->side[pair].label;
	last = p->operators ? last : SAY(NULL, p->arena, roof_numbers, .label = last);
	svg_path(svg_strokes(svg, "before-line", colour[0], 2, NULL), "M4 26h10v10h-10z");
	svg_text(ink, 20, 35, ANCHOR_START, pair ? a->side[0].label : last);
	if (!pair)
		return;
	svg_path(svg_filled(svg, class_of[1], colour[1]), "M91 26a5 5 0 1 0 .01 0z");
	svg_text(ink, 102, 35, ANCHOR_START, last);
}

static bool draw(struct plot *p, const struct analysis *a, xmlNode *parent)
{
	if (!find_edges(p))
		return false;
	xmlNode *svg = svg_picture(parent, WIDTH, HEIGHT,
	                           say_word(WORDS_picture, p->operators ? "roofline_operators" : "roofline"),
	                           say_word(WORDS_picture, "roofline_shows"));
	draw_axes(p, svg);
	const struct roof *roof = p->k->roof;
	bool alike =
		a->n_sides < 2 || (roof[0].known && roof[1].known && fabs(roof[0].peak / roof[1].peak - 1) < 0.01 &&
	                           fabs(roof[0].bandwidth / roof[1].bandwidth - 1) < 0.01);
	for (int s = 0; s < 2; s++)
		if (roof[s].known && !(s && alike))
			draw_roof(p, s, alike, svg);
	draw_points(p, a, svg);
	draw_legend(p, a, svg);
	return true;
}

bool roofline_of_kernels(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct plot p = {.k = &a->inside, .arena = arena};
	return draw(&p, a, parent);
}

/* ---- operators ---- */

enum { OPERATORS = 10 }; /* the longest; the table has all */

/* Of one whose work and bytes are both known, of nearly all of its time. */
static bool add_point(const struct owner_result *o, struct kernel_inside *out, struct roof *roof)
{
	static const double ALL = 0.99;
	if (o->flops <= 0 || o->moved <= 0 || o->flops_known < ALL * o->per_step || o->moved_known < ALL * o->per_step)
		return false;
	*out = (struct kernel_inside){.launches = 1,
	                              .name = o->name,
	                              .intensity = o->flops / o->moved,
	                              .rate = o->flops / o->flops_known * 1e9};
	if (o->ideal > 0 && o->copied > 0) {
		roof->peak = fmax(roof->peak, o->flops / o->ideal * 1e9);
		roof->bandwidth = o->moved / o->copied * 1e9;
		roof->known = true;
	}
	return true;
}

static struct kernel_pair *pair_of(struct kernels_inside *in, uint32_t name)
{
	for (uint32_t i = 0; i < in->n; i++)
		if (in->pair[i].side[0].launches && in->pair[i].side[0].name == name)
			return &in->pair[i];
	return in->n < OPERATORS ? &in->pair[in->n] : NULL;
}

static bool draw_operators(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	static const double LEAST =
		0.05; /* of operators' time on a side: of less, the points say nothing of the program */
	double share = 0;
	struct kernels_inside in = {.pair = ARENA_NEW(arena, OPERATORS, struct kernel_pair), .absolute = true};
	struct plot p = {.k = &in, .operators = true, .arena = arena};
	for (uint32_t s = 0; s < a->n_sides; s++) {
		double all = 0, drawn = 0;
		for (uint32_t i = 0; i < a->side[s].n_operators; i++) {
			const struct owner_result *o = &a->side[s].operators[i];
			struct kernel_pair *pair = pair_of(&in, o->name);
			all += o->per_step;
			if (!pair || !add_point(o, &pair->side[s], &in.roof[s]))
				continue;
			in.n += pair == &in.pair[in.n];
			drawn += o->per_step;
		}
		share = fmax(share, all > 0 ? drawn / all : 0);
	}
	return share >= LEAST && draw(&p, a, parent);
}

/* ---- for how much of the GPU's time something is known of operators and modules ---- */

void known_modules_fill(const struct analysis *a, struct page *page)
{
	const struct side *before = &a->side[0], *after = &a->side[1];
	const bool pair = a->n_sides > 1;
	page_fill(&page->top, "modules.known",
	          SAY(NULL, page->arena, modules_known, .before = before->modules_share,
	              .after = pair ? after->modules_share : NAN,
	              .forward = before->modules_by_ranges || (pair && after->modules_by_ranges)));
}

void known_operators_fill(const struct analysis *a, struct page *page)
{
	const struct side *before = &a->side[0], *after = &a->side[1];
	const bool pair = a->n_sides > 1, rates = before->flops_share + before->moved_share > 0 ||
	                                          (pair && after->flops_share + after->moved_share > 0);
	page_fill(&page->top, "operators.flops",
	          rates ? SAY(NULL, page->arena, flops_known, .before = before->flops_share,
	                      .after = pair ? after->flops_share : NAN,
	                      .peak_before = before->peak_share > 0 ? before->peak_share : NAN,
	                      .mfu_before = before->mfu,
	                      .peak_after = pair && after->peak_share > 0 ? after->peak_share : NAN,
	                      .mfu_after = after->mfu, .moved_before = before->moved_share,
	                      .moved_after = pair ? after->moved_share : NAN)
	                : "");
	if (!rates)
		page_attribute(&page->top, "operators", "class", "part without-rates");
	page_if(&page->top, "operators.roof",
	        draw_operators(a, page->arena, page_draw(&page->top, "operators.roofline")));
}
