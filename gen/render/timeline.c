#include "render/pictures.h"

#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

enum {
	WIDTH = 1200,
	GUTTER = LANES_LABEL + 16, /* for the lanes' labels */
	RIGHT = 24,                /* for half of the last time */
	LABELLED = 45,             /* pixels from which on a gap has room for words */
	BAND = 4,                  /* pixels from which on a gap shows through the lanes of its GPU */
	MOST_HOVERS = 2200         /* rectangles with a text of their own in the whole picture */
};

struct drawing {
	const struct analysis *a;
	struct arena *arena;
	xmlNode *svg;
	struct axis axis;
	double width, y;
	struct lanes lanes[2];
	double top[2], bottom[2];
	double seen[SHADE_COUNT]; /* ns in the lanes, for the legend */
};

/* ---- lanes ---- */

/* Gives the lanes of a side their places. `stretch`: 1, or more where there is room to fill. */
static void place_lanes(struct drawing *d, int side, double stretch)
{
	static const double height[] = {[LANE_PHASES] = 22, [LANE_CALLS] = 16,  [LANE_STREAM] = 18,
	                                [LANE_COPIES] = 12, [LANE_METRIC] = 20, [LANE_GAPS] = 44};
	struct lanes *lanes = &d->lanes[side];
	d->top[side] = d->y;
	d->y += 38;
	for (uint32_t i = 0; i < lanes->n; i++) {
		struct lane *lane = &lanes->lane[i];
		lane->y = d->y;
		lane->height = height[lane->kind] * stretch;
		bool labels = false;
		for (uint32_t k = 0; k < lane->n && !labels; k++)
			labels = (double)(lane->segments[k].end - lane->segments[k].start) * d->axis.px >= LABELLED;
		if (lane->kind == LANE_GAPS && !labels) /* nothing to write: room for its own label will do */
			lane->height *= 0.7;
		d->y += lane->height + (lane->kind == LANE_GAPS ? 12 : 4);
	}
	d->bottom[side] = d->y - 8;
	d->y += 10;
}

static void drop_minor_lanes(struct lanes *lanes)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < lanes->n; i++)
		if (!lanes->lane[i].minor)
			lanes->lane[n++] = lanes->lane[i];
	lanes->n = n;
}

static void see_lanes(struct drawing *d, int side)
{
	for (uint32_t i = 0; i < d->lanes[side].n; i++) {
		const struct lane *lane = &d->lanes[side].lane[i];
		for (uint32_t k = 0; lane->kind != LANE_PHASES && lane->kind != LANE_METRIC && k < lane->n; k++)
			d->seen[lane->segments[k].which] += (double)(lane->segments[k].end - lane->segments[k].start);
	}
}

/* ---- what stands around the lanes ---- */

static void draw_steps(struct drawing *d, int side)
{
	const struct side *s = &d->a->side[side];
	const struct timeline *t = &s->timeline;
	double top = d->top[side], bottom = d->bottom[side];
	xmlNode *lines = svg_strokes(d->svg, "boundary", "#555", 1.2, "4 3");
	xmlNode *text = svg_filled(d->svg, "ink", "#333");
	for (uint32_t i = 0; i < t->n_boundaries; i++) {
		double x = d->axis.x + (double)t->boundary[i] * d->axis.px;
		svg_line(lines, x, top + 18, x, bottom);
		if (i + 1 == t->n_boundaries)
			break;
		double room = (double)(t->boundary[i + 1] - t->boundary[i]) * d->axis.px;
		struct step_label words = lanes_step(d->a, side, i, d->arena);
		const char *label = svg_text_width(words.whole) <= room   ? words.whole
		                    : svg_text_width(words.brief) <= room ? words.brief
		                                                          : "";
		if (*label)
			svg_text(text, x + room / 2, top + 30, ANCHOR_MIDDLE, label);
	}
}

/* In the room that the shorter side leaves. */
static void draw_saving(struct drawing *d)
{
	int shorter;
	const char *text = lanes_saving(d->a, &shorter, d->arena);
	if (!text)
		return;
	int64_t length = d->a->side[shorter].timeline.length;
	double x = d->axis.x + (double)length * d->axis.px;
	double room = (double)(d->a->side[!shorter].timeline.length - length) * d->axis.px;
	if (svg_text_width(text) + 30 > room)
		return;
	double y = (d->top[shorter] + d->bottom[shorter]) / 2 + 8;
	xmlNode *arrow = svg_strokes(d->svg, "boundary", "#555", 1.2, NULL);
	svg_path(arrow, arena_format(d->arena, "M%.1f %.1fH%.1fm7-4l-7 4l7 4", x + room - 2, y, x + 4));
	xmlNode *label = svg_filled(d->svg, "ink", "#333");
	svg_text(label, x + room / 2, y - 8, ANCHOR_MIDDLE, text);
}

static void draw_axis(struct drawing *d, double top, double bottom)
{
	struct unit unit = format_unit((double)d->axis.length);
	double tick = svg_tick((double)d->axis.length, 10, &unit);
	xmlNode *grid = svg_strokes(d->svg, "grid", "#d8dde2", 1, NULL);
	xmlNode *text = svg_filled(d->svg, "muted", "#555");
	for (double t = 0; t <= (double)d->axis.length; t += tick) {
		double x = d->axis.x + t * d->axis.px;
		svg_line(grid, x, top, x, bottom + 4);
		svg_text(text, x, bottom + 17, ANCHOR_MIDDLE, format_number(d->arena, unit, t));
	}
	svg_text(text, 4, bottom + 17, ANCHOR_START, SAY(NULL, d->arena, time_axis, .unit = unit.name));
}

/* What the host did while the GPU waited stands in the gap's light, so that the eye goes from one to the other. */
static void draw_bands(struct drawing *d, int side)
{
	const struct lanes *lanes = &d->lanes[side];
	double from = 0;
	for (uint32_t i = 0; i < lanes->n; i++) {
		const struct lane *lane = &lanes->lane[i];
		if (i == 0 || (lanes->lane[i - 1].kind == LANE_GAPS && d->a->side[side].timeline.n_devices > 1))
			from = lane->y;
		if (lane->kind != LANE_GAPS)
			continue;
		xmlNode *bands = svg_group(d->svg, "band");
		svg_attribute(bands, "fill-opacity", "0.13");
		for (uint32_t k = 0; k < lane->n; k++) {
			const struct segment *s = &lane->segments[k];
			double x = (double)s->start * d->axis.px, width = (double)s->end * d->axis.px - x;
			if (width >= BAND)
				svg_attribute(svg_rect(bands, d->axis.x + x, from, width, lane->y - from, NULL), "fill",
				              palette(s->which)->colour);
		}
		svg_drop_empty(bands);
	}
}

static void draw_lanes(struct drawing *d, int side, double least)
{
	draw_bands(d, side);
	xmlNode *labels = svg_filled(d->svg, "muted", "#555"), *floor = svg_strokes(d->svg, "grid", "#c3cad1", 1, NULL);
	double right = d->axis.x + (double)d->a->side[side].timeline.length * d->axis.px;
	for (uint32_t i = 0; i < d->lanes[side].n; i++) {
		const struct lane *lane = &d->lanes[side].lane[i];
		double middle = lane->y + lane->height / 2;
		bool gaps = lane->kind == LANE_GAPS;
		xmlNode *label = svg_text(labels, 4, lane->note ? middle - 3 : middle + 4, ANCHOR_START, lane->label);
		if (gaps)
			svg_attribute(label, "font-weight", "bold");
		if (lane->note)
			svg_text(labels, 4, middle + (gaps ? 12 : 9), ANCHOR_START, lane->note);
		svg_line(floor, d->axis.x, lane->y + lane->height + 0.5, right, lane->y + lane->height + 0.5);
		struct axis axis = d->axis;
		axis.length = d->a->side[side].timeline.length;
		lane_draw(d->a, lane, &axis, least, d->arena, d->svg);
	}
}

static double hover_width(const struct drawing *d)
{
	for (double least = 3;; least *= 1.5) {
		uint32_t n = 0;
		for (uint32_t side = 0; side < d->a->n_sides; side++)
			for (uint32_t i = 0; i < d->lanes[side].n; i++)
				n += lane_count(&d->lanes[side].lane[i], &d->axis, least);
		if (n <= MOST_HOVERS)
			return least;
	}
}

static double draw_legend(struct drawing *d, double y)
{
	int which[SHADE_COUNT + 1], n = 0;
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (d->seen[i] * d->axis.px >= 1)
			which[n++] = i;
	for (int i = SHADE_COMPUTE; i < SHADE_PHASE_A; i++)
		if (d->seen[i] * d->axis.px >= 1)
			which[n++] = i;
	which[n] = -1;
	return svg_legend(d->svg, 4, y, d->width - 8, which);
}

static const char *describe(struct arena *arena, const struct analysis *a)
{
	const char *text = "";
	for (uint32_t s = 0; s < a->n_sides; s++)
		text = arena_format(arena, "%s%s ", text,
		                    SAY(NULL, arena, timeline_side, .label = a->side[s].label,
		                        .time = a->side[s].budget.period, .of = view_unit(&a->side[s]),
		                        .idle = a->side[s].budget.idle));
	return text;
}

static void draw_heading(struct drawing *d, int side)
{
	xmlNode *text = svg_filled(d->svg, "ink", "#111");
	xmlNode *heading = svg_text(text, 4, d->top[side] + 30, ANCHOR_START, view_side(&d->a->side[side], d->arena));
	svg_attribute(heading, "font-weight", "bold");
	svg_number(heading, "font-size", 15);
}

static struct drawing *begin(const struct analysis *a, struct arena *arena, double width)
{
	struct drawing *d = ARENA_NEW(arena, 1, struct drawing);
	int64_t length = a->side[0].timeline.length > a->side[1].timeline.length ? a->side[0].timeline.length
	                                                                         : a->side[1].timeline.length;
	*d = (struct drawing){.a = a, .arena = arena, .width = width};
	d->axis = (struct axis){.x = GUTTER, .width = width - GUTTER - RIGHT, .length = length > 0 ? length : 1};
	d->axis.px = d->axis.width / (double)d->axis.length;
	for (int side = 0; side < (int)a->n_sides; side++) {
		lanes_build(a, side, arena, &d->lanes[side]);
		drop_minor_lanes(&d->lanes[side]);
		see_lanes(d, side);
	}
	return d;
}

/* Everything below `d->y`, which moves on. */
static void draw(struct drawing *d, xmlNode *svg, double stretch)
{
	double top = d->y + 20;
	d->svg = svg;
	for (int side = 0; side < (int)d->a->n_sides; side++)
		place_lanes(d, side, stretch);
	draw_axis(d, top, d->y);
	double least = hover_width(d);
	for (int side = 0; side < (int)d->a->n_sides; side++) {
		draw_heading(d, side);
		draw_lanes(d, side, least);
		draw_steps(d, side);
	}
	draw_saving(d);
	d->y += 30;
	d->y += draw_legend(d, d->y);
}

void timeline_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct drawing *d = begin(a, arena, WIDTH);
	xmlNode *svg =
		svg_picture(parent, WIDTH, 100, say_word(WORDS_picture, a->n_sides > 1 ? "gaps_of_both" : "gaps"),
	                    describe(arena, a));
	draw(d, svg, 1);
	svg_resize(svg, WIDTH, d->y);
}

double timeline_draw_at(const struct analysis *a, struct arena *arena, xmlNode *parent, double width, double y,
                        double stretch)
{
	struct drawing *d = begin(a, arena, width);
	d->y = y;
	svg_patterns(parent);
	draw(d, parent, stretch);
	return d->y;
}
