#include "render/pictures.h"

#include "base/buf.h"
#include "base/format.h"
#include "render/view.h"

#include <math.h>

enum {
	WIDTH = 1200,
	GUTTER = 70,
	BINS = 140,
	HILL = 46, /* height of a histogram */
	PANEL = 560,
	DEPTH = 140,      /* of the periods in order */
	MOST_POINTS = 400 /* from which on columns replace points */
};
static const char *const colour[2] = {"#5c6773", "#0b6e7d"}, *const class_of[2] = {"before", "after"};

static size_t first_measured(const struct run_result *run)
{
	size_t cut = run->warmup ? run->warmup - 1 : 0;
	return cut < run->n_periods ? cut : run->n_periods;
}

/* ---- both distributions on one scale, from zero ---- */

static void draw_hill(const struct side *s, int side, double most, double px, struct arena *arena, xmlNode *svg,
                      double y)
{
	uint32_t bin[BINS + 1] = {0}, highest = 1, beyond = 0;
	for (uint32_t r = 0; r < s->n_runs; r++)
		for (size_t i = first_measured(&s->runs[r]); i < s->runs[r].n_periods; i++) {
			double at = (double)s->runs[r].period[i] / most * BINS;
			beyond += at >= BINS;
			uint32_t *count = &bin[at >= BINS ? BINS : (int)at];
			*count += 1;
			highest = *count > highest ? *count : highest;
		}
	double width = most * px / BINS;
	xmlNode *hill = svg_group(svg, class_of[side]);
	svg_attribute(hill, "fill", colour[side]);
	for (int i = 0; i < BINS; i++)
		if (bin[i])
			svg_rect(hill, GUTTER + i * width, y + HILL - (double)bin[i] / highest * (HILL - 6),
			         width - 0.5, (double)bin[i] / highest * (HILL - 6), NULL);
	xmlNode *ink = svg_group(svg, "ink"), *mark = svg_strokes(svg, "boundary", "#111", 1.6, NULL);
	svg_attribute(ink, "fill", "#222");
	svg_attribute(svg_text(ink, 4, y + HILL - 8, ANCHOR_START, s->label), "font-weight", "bold");
	double x = GUTTER + s->headline.recorded * px;
	svg_path(mark, arena_format(arena, "M%.1f %.1fv7", x, y + HILL));
	bool left = x > WIDTH - 200;
	svg_text(ink, left ? x - 6 : x + 6, y + 2, left ? ANCHOR_END : ANCHOR_START,
	         arena_format(arena, "%s a %s", format_time(arena, s->headline.recorded), view_unit(s)));
	if (beyond)
		svg_text(ink, WIDTH - 4, y + HILL - 8, ANCHOR_END, arena_format(arena, "%u beyond", beyond));
}

static double draw_hills(const struct analysis *a, struct arena *arena, xmlNode *svg)
{
	double most = 0;
	for (int side = 0; side < (int)a->n_sides; side++) {
		const struct side *s = &a->side[side];
		most = fmax(most, fmin(s->steps.max, 2.5 * s->steps.median) * 1.04);
	}
	double px = most > 0 ? (WIDTH - GUTTER - 80) / most : 0, y = 10, tick = svg_tick(most, 12);
	struct unit unit = format_unit(most);
	unit.decimals = tick >= unit.ns ? 0 : (int)ceil(log10(unit.ns / tick));
	xmlNode *grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL), *muted = svg_group(svg, "muted");
	svg_attribute(muted, "fill", "#555");
	double bottom = y + (int)a->n_sides * (HILL + 18);
	for (double t = 0; t <= most; t += tick) {
		svg_line(grid, GUTTER + t * px, y, GUTTER + t * px, bottom - 6);
		svg_text(muted, GUTTER + t * px, bottom + 8, ANCHOR_MIDDLE, format_number(arena, unit, t));
	}
	svg_text(muted, 4, bottom + 8, ANCHOR_START, unit.name);
	for (int side = 0; side < (int)a->n_sides; side++)
		draw_hill(&a->side[side], side, most > 0 ? most : 1, px, arena, svg, y + side * (HILL + 18));
	return bottom + 30;
}

/* ---- each side's periods in order, on its own scale ---- */

struct panel {
	const struct side *s;
	double x, y, low, high, step; /* periods shown; pixels a period */
	xmlNode *marks, *points;
	struct buf column;
};

static double height_of(const struct panel *p, double period)
{
	double share = (period - p->low) / (p->high - p->low);
	return p->y + DEPTH - fmin(fmax(share, 0), 1) * DEPTH;
}

static void draw_points(struct panel *p, size_t offset, const struct run_result *run)
{
	for (size_t i = 0; i < run->n_periods; i++) {
		double x = p->x + ((double)(offset + i) + 0.5) * p->step, period = (double)run->period[i];
		double y = height_of(p, period);
		if (period > p->high)
			buf_format(&p->column, "M%.4g %.4gl-3.5 6h7z", x, y - 2);
		else
			buf_format(&p->column, "M%.4g %.4ga3 3 0 1 0 .01 0z", x, y - 3);
	}
}

/* Where there are more periods than room, each pixel column shows the range of its periods. */
static void draw_columns(struct panel *p, size_t offset, const struct run_result *run)
{
	for (size_t i = 0, next; i < run->n_periods; i = next) {
		double column = floor((double)(offset + i) * p->step);
		int64_t least = run->period[i], most = least;
		for (next = i + 1; next < run->n_periods && floor((double)(offset + next) * p->step) == column;
		     next++) {
			least = run->period[next] < least ? run->period[next] : least;
			most = run->period[next] > most ? run->period[next] : most;
		}
		double top = height_of(p, (double)most), bottom = height_of(p, (double)least);
		buf_format(&p->column, "M%.4g %.4gh1v%.3gh-1z", p->x + column, top - 0.5, bottom - top + 1);
	}
}

static void draw_panel(const struct analysis *a, int side, struct arena *arena, xmlNode *svg, double x, double y)
{
	const struct side *s = &a->side[side];
	size_t n = 0;
	for (uint32_t r = 0; r < s->n_runs; r++)
		n += s->runs[r].n_periods;
	double spread = fmax(s->steps.max - s->steps.min, 0.02 * s->steps.median);
	struct panel p = {.s = s, .x = x + GUTTER - 10, .y = y + 22};
	p.low = fmax(s->steps.min - 0.15 * spread, 0);
	p.high = fmin(s->steps.max + 0.15 * spread, 3 * s->steps.median);
	if (p.high <= p.low)
		p.high = p.low + 1;
	p.step = (PANEL - GUTTER) / (double)(n ? n : 1);

	xmlNode *ink = svg_group(svg, "ink"), *muted = svg_group(svg, "muted"),
		*grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL);
	svg_attribute(ink, "fill", "#222");
	svg_attribute(muted, "fill", "#555");
	double tick = svg_tick(p.high - p.low, 5);
	struct unit unit = format_unit(s->steps.median);
	unit.decimals = tick >= unit.ns ? 0 : (int)ceil(log10(unit.ns / tick));
	svg_attribute(svg_text(ink, x + 4, y + 10, ANCHOR_START,
	                       arena_format(arena, "%s, %ss in order, %s", s->label, view_unit(s), unit.name)),
	              "font-weight", "bold");
	for (double t = ceil(p.low / tick) * tick; t <= p.high; t += tick) {
		double at = height_of(&p, t);
		svg_line(grid, p.x, at, p.x + PANEL - GUTTER, at);
		svg_text(muted, p.x - 6, at + 4, ANCHOR_END, format_number(arena, unit, t));
	}

	xmlNode *warm = svg_group(svg, "warm");
	svg_attribute(warm, "fill", "#f3e3c3");
	xmlNode *points = svg_group(svg, class_of[side]);
	svg_attribute(points, "fill", colour[side]);
	size_t offset = 0;
	for (uint32_t r = 0; r < s->n_runs; r++) {
		const struct run_result *run = &s->runs[r];
		size_t cut = first_measured(run);
		if (cut)
			svg_rect(warm, p.x + (double)offset * p.step, p.y, (double)cut * p.step, DEPTH,
			         "warm-up, left out");
		if (offset)
			svg_line(grid, p.x + (double)offset * p.step, p.y, p.x + (double)offset * p.step, p.y + DEPTH);
		if (n > MOST_POINTS)
			draw_columns(&p, offset, run);
		else
			draw_points(&p, offset, run);
		offset += run->n_periods;
	}
	if (p.column.n)
		svg_path(points, p.column.data);
	buf_release(&p.column);
	double mean = height_of(&p, s->headline.recorded);
	svg_line(svg_strokes(svg, "boundary", "#111", 1, "5 3"), p.x, mean, p.x + PANEL - GUTTER, mean);
	const char *periods = format_plural(arena, (int64_t)n, "period", "periods");
	if (s->n_runs > 1)
		periods = arena_format(arena, "%s in %u runs", periods, s->n_runs);
	svg_text(muted, p.x, p.y + DEPTH + 16, ANCHOR_START, periods);
	svg_text(muted, p.x, p.y + DEPTH + 33, ANCHOR_START,
	         a->verdict.measured == VERDICT_STOPWATCH
	                 ? "dashed: recorded time per step; shaded: warm-up; triangle: off scale"
	                 : "dashed: time per step; shaded: warm-up; triangle: off scale");
}

/* A single run has no order. */
static bool has_periods(const struct side *s)
{
	for (uint32_t r = 0; r < s->n_runs; r++)
		if (s->runs[r].n_periods)
			return true;
	return false;
}

void steps_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	xmlNode *svg =
		svg_picture(parent, WIDTH, 100, a->n_sides > 1 ? "Step times of both sides" : "Step times",
	                    "Above: how often each period was measured, both sides on one scale from zero. Below: the "
	                    "periods in order, each side on a scale of its own, warm-up shaded.");
	double y = draw_hills(a, arena, svg);
	bool any = false;
	for (int s = 0; s < (int)a->n_sides; s++)
		if (has_periods(&a->side[s])) {
			draw_panel(a, s, arena, svg, s ? WIDTH - PANEL - 10 : 0, y);
			any = true;
		}
	svg_resize(svg, WIDTH, any ? y + DEPTH + 63 : y);
}
