#include "render/pictures.h"

#include "base/buf.h"
#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

enum { LEVELS = 12, HOVER = 100 };

struct canvas {
	const struct analysis *a;
	const struct lane *lane;
	const struct axis *axis;
	struct arena *arena;
	xmlNode *group[SHADE_COUNT];
	struct buf path[SHADE_COUNT];
	float *cover[SHADE_COUNT]; /* by column; NULL until used */
	int columns;
};

static double clip(const struct axis *axis, int64_t t)
{
	t = t < 0 ? 0 : t > axis->length ? axis->length : t;
	return (double)t * axis->px;
}

uint32_t lane_count(const struct lane *lane, const struct axis *axis, double least)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < lane->n && lane->kind != LANE_METRIC; i++)
		n += clip(axis, lane->segments[i].end) - clip(axis, lane->segments[i].start) >= least;
	return n;
}

static const char *hover(const struct canvas *c, const struct segment *s)
{
	const char *name = format_name(c->arena, names_text(c->a->names, s->name), HOVER);
	const char *phase = view_in_phase(c->a, s->phase, c->arena);
	const char *time = format_time(c->arena, (double)(s->end - s->start));
	switch (c->lane->kind) {
	case LANE_STREAM:
	case LANE_COPIES:
		return arena_format(c->arena, "%s: %s%s", name, time, phase);
	case LANE_GAPS:
		return SAY(c->a->names, c->arena, gap_drawn, .time = time, .cause = cause_name((enum cause)s->which),
		           .call = s->call, .phase = phase);
	case LANE_PHASES:
	case LANE_CALLS:
	case LANE_METRIC:
		break;
	}
	return arena_format(c->arena, "%s: %s", name, time);
}

static xmlNode *group(struct canvas *c, xmlNode *parent, int which)
{
	if (!c->group[which])
		c->group[which] = svg_swatch(parent, which);
	return c->group[which];
}

static void add_bar(struct canvas *c, int which, double x, double width, double height)
{
	double y = c->lane->y + c->lane->height - height;
	struct buf *path = &c->path[which];
	svg_move(path, 'M', c->axis->x + x, 5);
	svg_move(path, ' ', y, 5);
	svg_move(path, 'h', width, 3);
	svg_move(path, 'v', height, 4);
	svg_move(path, 'h', -width, 3);
	buf_text(path, "z");
}

static void add_cover(struct canvas *c, int which, double x, double width, double share)
{
	if (!c->cover[which])
		c->cover[which] = ARENA_NEW(c->arena, (size_t)c->columns, float);
	for (int column = (int)x; width > 0 && column < c->columns; column++) {
		double part = column + 1 - x < width ? column + 1 - x : width;
		c->cover[which][column] += (float)(part * share);
		x += part;
		width -= part;
	}
}

/* The colour that covers most of a column, and in `*level` how high its bar is: 0 to LEVELS. */
static int strongest(const struct canvas *c, int column, int *level)
{
	float most = 0, all = 0;
	int best = -1;
	for (int which = 0; which < SHADE_COUNT; which++) {
		if (!c->cover[which] || c->cover[which][column] <= 0)
			continue;
		all += c->cover[which][column];
		if (c->cover[which][column] > most) {
			most = c->cover[which][column];
			best = which;
		}
	}
	*level = best < 0 ? 0 : all >= 1 ? LEVELS : 1 + (int)(all * (LEVELS - 1));
	return best;
}

static void add_columns(struct canvas *c)
{
	for (int from = 0, to; from < c->columns; from = to) {
		int level, next, which = strongest(c, from, &level);
		for (to = from + 1; to < c->columns; to++)
			if (strongest(c, to, &next) != which || next != level)
				break;
		if (which >= 0)
			add_bar(c, which, from, to - from, c->lane->height * level / LEVELS);
	}
}

/* A gap's cause, and below it its phase and the time. */
static void add_gap_label(struct canvas *c, xmlNode *parent, double x, double room, const struct segment *s,
                          double spent)
{
	const double middle = c->lane->y + c->lane->height / 2;
	const bool striped = palette(s->which)->striped;
	const char *phase = s->phase || view_has_phases(c->a) ? view_phase(c->a, s->phase) : "";
	const char *time = format_short_time(c->arena, spent);
	const char *first = svg_fit(c->arena, cause_label((enum cause)s->which), room * 0.92);
	const char *fitting = svg_fit(c->arena, phase, room - svg_text_width(time) - 12);
	const char *second = *fitting ? arena_format(c->arena, "%s \xC2\xB7 %s", fitting, time) : time;
	if (svg_text_width(second) > room)
		second = "";
	if (!*first && !*second)
		return;
	xmlNode *node = svg_filled(parent, striped ? "ink" : NULL, palette(s->which)->ink);
	double y1 = *second ? middle - 3 : middle + 4, y2 = *first ? middle + 12 : middle + 4;
	if (striped && *first)
		svg_plate(node, x, y1, svg_text_width(first) * 1.08);
	if (striped && *second)
		svg_plate(node, x, y2, svg_text_width(second));
	if (*first)
		svg_attribute(svg_text(node, x, y1, ANCHOR_START, first), "font-weight", "bold");
	if (*second)
		svg_text(node, x, y2, ANCHOR_START, second);
}

/* For what lies from x0 to x1, within that, so that labels do not overlap. */
static void add_label(struct canvas *c, xmlNode *parent, double x0, double x1, const struct segment *s, double spent)
{
	const struct lane *lane = c->lane;
	const double left = 0.6, least = 90; /* of stripes so much may be under a label's ground: they mean something */
	bool striped = palette(s->which)->striped;
	bool meant = striped && lane->kind != LANE_CALLS; /* a waiting call is one by its name, too */
	double room = meant ? left * (x1 - x0) : x1 - x0 - 8, x = c->axis->x + x0 + 4;
	if (meant && room < least)
		return;
	if (lane->kind == LANE_GAPS) {
		add_gap_label(c, parent, x, room, s, spent);
		return;
	}
	double y = lane->y + lane->height / 2 + 4;
	const char *text = svg_fit(c->arena, names_text(c->a->names, s->name), room);
	if (*text && striped)
		svg_plate(parent, x, y, svg_text_width(text) * SVG_SMALL / SVG_TEXT);
	if (*text)
		svg_text(parent, x, y, ANCHOR_START, text);
}

/* Pieces of one gap with one cause and phase carry one label, though pieces too narrow to see lie between them. */
static void add_labels(struct canvas *c, xmlNode *parent)
{
	const struct lane *lane = c->lane;
	xmlNode *labels = svg_filled(parent, lane->kind == LANE_GAPS ? NULL : "ink", "#222");
	if (lane->kind == LANE_CALLS || lane->kind == LANE_STREAM)
		svg_number(labels, "font-size", SVG_SMALL);
	svg_attribute(labels, "pointer-events", "none");
	for (uint32_t i = 0, next; i < lane->n; i = next) {
		const struct segment *s = &lane->segments[i];
		double x0 = clip(c->axis, s->start), x1 = clip(c->axis, s->end), spent = (double)(s->end - s->start);
		next = i + 1;
		if (x1 - x0 < 1)
			continue;
		for (uint32_t k = i + 1; lane->kind == LANE_GAPS && k < lane->n; k++) {
			const struct segment *o = &lane->segments[k];
			bool same = o->which == s->which && o->phase == s->phase;
			if (o->group != s->group || (!same && clip(c->axis, o->end) - clip(c->axis, o->start) >= 1.5))
				break;
			if (same) {
				x1 = clip(c->axis, o->end);
				spent += (double)(o->end - o->start);
				next = k + 1;
			}
		}
		add_label(c, labels, x0, x1, s, spent);
	}
	svg_drop_empty(labels);
}

void lane_draw(const struct analysis *a, const struct lane *lane, const struct axis *axis, double least,
               struct arena *arena, xmlNode *parent)
{
	struct canvas c = {.a = a, .lane = lane, .axis = axis, .arena = arena, .columns = (int)ceil(axis->width)};
	/* calls nest, and a wait is not to be hidden by a call around it */
	if (lane->kind == LANE_CALLS) {
		group(&c, parent, SHADE_CALL);
		group(&c, parent, SHADE_WAIT);
	}
	for (uint32_t i = 0; i < lane->n; i++) {
		const struct segment *s = &lane->segments[i];
		double x = clip(axis, s->start), width = clip(axis, s->end) - x;
		double share = lane->kind == LANE_METRIC ? s->level : 1;
		if (width >= least && lane->kind != LANE_METRIC)
			svg_rect(group(&c, parent, s->which), axis->x + x, lane->y, width, lane->height, hover(&c, s));
		else if (width >= 1)
			add_bar(&c, s->which, x, width, lane->height * share);
		else if (width > 0)
			add_cover(&c, s->which, x, width, share);
	}
	add_columns(&c);
	for (int which = 0; which < SHADE_COUNT; which++) {
		if (c.path[which].n)
			svg_path(group(&c, parent, which), c.path[which].data);
		buf_release(&c.path[which]);
		if (c.group[which])
			svg_drop_empty(c.group[which]);
	}
	if (lane->kind != LANE_COPIES && lane->kind != LANE_METRIC)
		add_labels(&c, parent);
}
