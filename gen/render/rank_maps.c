#include "render/rank_maps.h"

#include "analyse/say.h"
#include "base/buf.h"
#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

enum {
	WIDTH = 1200,
	GUTTER = 150, /* for labels; where they are longer, up to: */
	WIDEST_GUTTER = 230,
	TALL = 18, /* heights of a row, by how many there are */
	LOW = 6,
	FEW = 20,
	WIDEST = 48, /* a step's width */
	BETWEEN = 14,
	SHADES = 8
};

/* From light to dark; told apart in grey too. A dark page has its own, from dark to light. */
static const char *const shade[SHADES] = {"#f7efe2", "#f3dfc0", "#eecb98", "#e8b06d",
                                          "#df9147", "#cc6f2a", "#a94f17", "#7b330b"};
static const char *const shade_class[SHADES] = {"shade-0", "shade-1", "shade-2", "shade-3",
                                                "shade-4", "shade-5", "shade-6", "shade-7"};

/* What colours reach from and to, on both sides. */
struct range {
	double low, high;
};

static void add_range(struct range *range, const struct rank_map *map)
{
	if (!map->rows)
		return;
	range->low = fmin(range->low, map->low);
	range->high = fmax(range->high, map->high);
}

/* -1: not known. */
static int shade_of(double step, const struct range *range)
{
	if (step < 0)
		return -1;
	double at = range->high > range->low ? (step - range->low) / (range->high - range->low) * SHADES : 0;
	return at < 0 ? 0 : at >= SHADES ? SHADES - 1 : (int)at;
}

static const char *row_label(const struct side *s, const struct rank_map *map, uint32_t row, struct arena *arena)
{
	uint32_t first = row * map->ranks_a_row, last = first + map->ranks_a_row;
	const char *label = say_rank(s, first, arena);
	last = last < s->n_devices ? last : s->n_devices;
	return last - first > 1 ? arena_format(arena, "%s %s", label, view_more(last - first - 1, arena)) : label;
}

/* One path a shade, in cells, which are stretched; neighbours of one shade are one bar. */
static void draw_cells(const struct rank_map *map, const struct range *range, double x, double y, double width,
                       double height, struct arena *arena, xmlNode *svg)
{
	xmlNode *cells = svg_group(svg, NULL);
	svg_attribute(cells, "transform",
	              arena_format(arena, "translate(%.5g %.5g) scale(%.5g %.5g)", x, y, width, height));
	for (int which = 0; which < SHADES; which++) {
		struct buf path = {0};
		for (uint32_t r = 0; r < map->rows; r++)
			for (uint32_t c = 0, next; c < map->columns; c = next) {
				const float *row = &map->step[(size_t)r * map->columns];
				int mine = shade_of(row[c], range);
				for (next = c + 1; next < map->columns && shade_of(row[next], range) == mine; next++)
					;
				if (mine == which)
					buf_format(&path, "M%u %uh%uv1H%uz", c, r, next - c, c);
			}
		if (path.n) {
			xmlNode *group = svg_group(cells, shade_class[which]);
			svg_attribute(group, "fill", shade[which]);
			svg_path(group, path.data);
		}
		buf_release(&path);
	}
}

/* Labels that would be cut where they differ have room. */
static double gutter_for(const struct side *s, const struct rank_map *map, double gutter, struct arena *arena)
{
	for (uint32_t r = 0; r < map->rows; r++)
		gutter = fmax(gutter, svg_text_width(row_label(s, map, r, arena)) + 12);
	return fmin(gutter, WIDEST_GUTTER);
}

static double row_height(const struct rank_map *map)
{
	return map->rows <= FEW ? TALL : LOW;
}

static void draw_rows(const struct side *s, const struct rank_map *map, double gutter, double y, struct arena *arena,
                      xmlNode *muted)
{
	double height = row_height(map);
	uint32_t every = height < SVG_TEXT ? 4 : 1;
	for (uint32_t r = 0; r < map->rows; r += every)
		svg_text(muted, gutter - 8, y + r * height + (every > 1 ? 8 : height / 2 + 4), ANCHOR_END,
		         svg_fit(arena, row_label(s, map, r, arena), gutter - 12));
}

static void draw_columns(const struct rank_map *map, double x, double y, double width, struct arena *arena,
                         xmlNode *muted)
{
	uint32_t last = map->first_step + (map->columns - 1) * map->steps_a_column;
	svg_text(muted, x, y, ANCHOR_START, SAY(NULL, arena, step_numbered, .step = map->first_step + 1));
	if (map->columns * width > 120)
		svg_text(muted, x + map->columns * width, y, ANCHOR_END,
		         SAY(NULL, arena, step_numbered, .step = last + 1));
}

static void draw_name(const struct side *s, double y, struct arena *arena, xmlNode *ink)
{
	svg_attribute(svg_text(ink, 4, y, ANCHOR_START, view_side(s, arena)), "font-weight", "bold");
}

static xmlNode *new_ink(xmlNode *svg)
{
	xmlNode *ink = svg_group(svg, "ink");
	svg_attribute(ink, "fill", "#222");
	return ink;
}

static xmlNode *new_muted(xmlNode *svg)
{
	xmlNode *muted = svg_group(svg, "muted");
	svg_attribute(muted, "fill", "#555");
	return muted;
}

/* ---- own steps ---- */

static double draw_side(const struct side *s, const struct range *range, double gutter, double y, struct arena *arena,
                        xmlNode *svg)
{
	const struct rank_map *map = &s->ranks.map;
	double width = fmin((WIDTH - gutter - 10) / map->columns, WIDEST);
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	draw_name(s, y + 12, arena, ink);
	y += 20;
	draw_cells(map, range, gutter, y, width, row_height(map), arena, svg);
	draw_rows(s, map, gutter, y, arena, muted);
	y += map->rows * row_height(map);
	draw_columns(map, gutter, y + 15, width, arena, muted);
	return y + 32;
}

static void draw_shades(double x, double y, double width, xmlNode *svg)
{
	for (int i = 0; i < SHADES; i++) {
		xmlNode *rect = svg_rect(svg, x + width * i, y, width, 14, NULL);
		svg_attribute(rect, "class", shade_class[i]);
		svg_attribute(rect, "fill", shade[i]);
	}
}

static void draw_legend(const struct range *range, double gutter, double y, struct arena *arena, xmlNode *svg)
{
	xmlNode *muted = new_muted(svg);
	svg_text(muted, gutter - 8, y + 11, ANCHOR_END, SAY(NULL, arena, scale_end, .time = range->low, .least = true));
	draw_shades(gutter, y, 26, svg);
	svg_text(muted, gutter + 26 * SHADES + 8, y + 11, ANCHOR_START,
	         SAY(NULL, arena, scale_end, .time = range->high, .least = false));
}

void rank_maps_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct range range = {INFINITY, 0};
	double y = 0, gutter = GUTTER;
	for (int s = 0; s < 2; s++) {
		add_range(&range, &a->side[s].ranks.map);
		gutter = gutter_for(&a->side[s], &a->side[s].ranks.map, gutter, arena);
	}
	if (range.high <= 0)
		return;
	range.high = fmax(range.high, range.low * (1 + VERDICT_MARGIN)); /* what differs by less is no pattern */
	xmlNode *svg = svg_picture(parent, WIDTH, 100, say_word(WORDS_picture, "rank_map"),
	                           say_word(WORDS_picture, "rank_map_shows"));
	for (int s = 0; s < 2; s++)
		if (a->side[s].ranks.map.rows)
			y = draw_side(&a->side[s], &range, gutter, y, arena, svg);
	draw_legend(&range, gutter, y, arena, svg);
	svg_resize(svg, WIDTH, y + 24);
}

/* ---- their parts ---- */

const struct rank_map *rank_parts_first(const struct ranks_result *ranks)
{
	for (int p = 0; p < RANK_PARTS; p++)
		if (ranks->parts[p].rows)
			return &ranks->parts[p];
	return NULL;
}

bool rank_parts_any(const struct analysis *a)
{
	return rank_parts_first(&a->side[0].ranks) || rank_parts_first(&a->side[1].ranks);
}

/* `first` is the side's first picture, and like all of them in size. */
static double draw_parts(const struct side *s, const struct rank_map *first, const struct range *range, double gutter,
                         double panel, double y, struct arena *arena, xmlNode *svg)
{
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	double width = fmin(panel / first->columns, WIDEST), x = gutter;
	draw_name(s, y + 12, arena, ink);
	y += 18;
	draw_rows(s, first, gutter, y, arena, muted);
	draw_columns(first, gutter, y + first->rows * row_height(first) + 15, width, arena, muted);
	for (int p = 0; p < RANK_PARTS; p++) {
		if (range[p].high <= 0)
			continue;
		if (s->ranks.parts[p].rows)
			draw_cells(&s->ranks.parts[p], &range[p], x, y, width, row_height(first), arena, svg);
		x += panel + BETWEEN;
	}
	return y + first->rows * row_height(first) + 32;
}

void rank_parts_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct range range[RANK_PARTS], shades[RANK_PARTS];
	double span = fmax(a->side[0].headline.step, a->side[1].headline.step) * VERDICT_MARGIN;
	int n = 0;
	for (int p = 0; p < RANK_PARTS; p++) {
		range[p] = (struct range){INFINITY, 0};
		for (int s = 0; s < 2; s++)
			add_range(&range[p], &a->side[s].ranks.parts[p]);
		n += range[p].high > 0;
		span = fmax(span, range[p].high > 0 ? range[p].high - range[p].low : 0);
	}
	if (!n)
		return;
	double gutter = GUTTER, y = 40;
	for (int s = 0; s < 2; s++) {
		const struct rank_map *first = rank_parts_first(&a->side[s].ranks);
		gutter = first ? gutter_for(&a->side[s], first, gutter, arena) : gutter;
	}
	double panel = (WIDTH - gutter - 10) / n - BETWEEN, x = gutter;
	xmlNode *svg = svg_picture(parent, WIDTH, 100, say_word(WORDS_picture, "rank_parts"),
	                           say_word(WORDS_picture, "rank_parts_show"));
	xmlNode *ink = new_ink(svg), *muted = new_muted(svg);
	for (int p = 0; p < RANK_PARTS; p++) {
		if (range[p].high <= 0)
			continue;
		svg_attribute(svg_text(ink, x, 12, ANCHOR_START,
		                       say_word(WORDS_rank_part, rank_part_name((enum rank_part)p))),
		              "font-weight", "bold");
		svg_text(muted, x, 28, ANCHOR_START,
		         SAY(NULL, arena, time_range, .low = range[p].low, .high = range[p].high));
		x += panel + BETWEEN;
	}
	/* what hardly varies beside the others has one shade: drawn from its own least to its own most it would look as
	 * restless as what matters */
	for (int p = 0; p < RANK_PARTS; p++)
		shades[p] = (struct range){range[p].low, range[p].high > 0 ? range[p].low + span : 0};
	for (int s = 0; s < 2; s++) {
		const struct rank_map *first = rank_parts_first(&a->side[s].ranks);
		if (first)
			y = draw_parts(&a->side[s], first, shades, gutter, panel, y, arena, svg);
	}
	svg_resize(svg, WIDTH, y);
}
