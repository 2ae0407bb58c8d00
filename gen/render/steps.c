#include "base/sort.h"
#include "render/pictures.h"

#include "base/buf.h"
#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

enum {
	WIDTH = 1200,
	GUTTER = 70,
	TAIL = 150,  /* height of the distributions */
	DEEPEST = 3, /* one step in 1000 */
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

/* ---- how many steps take longer, both sides on one axis from zero ---- */

/* Heights are logarithms of the share of steps that take longer: half of them, one in 10, one in 100 are as far apart
 * as they matter to whoever waits for the slowest. */
struct tails {
	double px, most;  /* of a nanosecond; what the axis ends at */
	double top, high; /* where p100 of the larger side would be, a logarithm; pixels of it */
};

static double height_at(const struct tails *t, double p)
{
	return t->top + TAIL - fmin(-log10(1 - p) * t->high, TAIL);
}

/* All measured periods of a side, the shortest first. */
static size_t measured_of(const struct side *s, struct arena *arena, int64_t **sorted)
{
	size_t n = 0;
	for (uint32_t r = 0; r < s->n_runs; r++)
		n += s->runs[r].n_periods - first_measured(&s->runs[r]);
	*sorted = ARENA_NEW(arena, n, int64_t);
	n = 0;
	for (uint32_t r = 0; r < s->n_runs; r++)
		for (size_t i = first_measured(&s->runs[r]); i < s->runs[r].n_periods; i++)
			(*sorted)[n++] = s->runs[r].period[i];
	sort_times(*sorted, n);
	return n;
}

/* A point for each pixel that the curve passes; steps beyond the axis are counted in words. */
static uint32_t draw_curve(const struct tails *t, const int64_t *period, size_t n, xmlNode *line)
{
	BUF_LOCAL(path);
	uint32_t beyond = 0;
	double last = -1;
	for (size_t i = 0; i < n; i++) {
		double x = GUTTER + (double)period[i] * t->px, y = height_at(t, ((double)i + 0.5) / (double)n);
		beyond += (double)period[i] > t->most;
		if ((double)period[i] > t->most || (i && i + 1 < n && floor(y) == last))
			continue;
		buf_format(&path, "%c%.1f %.1f", path.n ? 'L' : 'M', x, y);
		last = floor(y);
	}
	if (path.n)
		svg_path(line, path.data);
	return beyond;
}

static void draw_tail(const struct analysis *a, int side, const struct tails *t, struct arena *arena, xmlNode *svg)
{
	const struct side *s = &a->side[side];
	int64_t *period;
	size_t n = measured_of(s, arena, &period);
	xmlNode *line = svg_strokes(svg, side ? "after-line" : "before-line", colour[side], 1.8, NULL);
	uint32_t beyond = draw_curve(t, period, n, line);
	xmlNode *dots = svg_filled(svg, class_of[side], colour[side]);
	for (int k = 0; k < QUANTILES; k++) {
		const struct quantile *q = &s->latency[LATENCY_STEP].quantile[k];
		if (!q->known || q->at > t->most || (k && !q->has_interval))
			continue;
		double y = height_at(t, q->p);
		const struct fact *what = FACT_NEW(arena, quantile_is, side, .p = (int64_t)lround(100 * q->p),
		                                   .time = format_time(arena, q->at));
		svg_dot(dots, GUTTER + q->at * t->px, y, 3.5, say_fact(what, a->names, arena));
		if (q->has_interval)
			svg_line(line, GUTTER + q->lo * t->px, y, GUTTER + fmin(q->hi, t->most) * t->px, y);
	}
	xmlNode *ink = svg_filled(svg, "ink", "#222");
	const struct fact *name =
		FACT_NEW(arena, tail_is, side, .whose = s->label, .time = format_time(arena, s->headline.recorded),
	                 .of = view_unit(s), .beyond = beyond);
	svg_rect(dots, GUTTER + side * 420, 0, 12, 12, NULL);
	svg_text(ink, GUTTER + 17 + side * 420, 10, ANCHOR_START, say_fact(name, a->names, arena));
}

static double draw_tails(const struct analysis *a, struct arena *arena, xmlNode *svg)
{
	double most = 0, longest = 1;
	for (int side = 0; side < (int)a->n_sides; side++) {
		const struct side *s = &a->side[side];
		most = fmax(most, fmin(s->steps.max, 2.5 * s->steps.median) * 1.04);
		longest = fmax(longest, (double)s->steps.measured);
	}
	most = most > 0 ? most : 1;
	struct tails t = {(WIDTH - GUTTER - 30) / most, most, 26, TAIL / fmin(log10(2 * longest), DEEPEST)};
	struct unit unit = format_unit(most);
	double tick = svg_tick(most, 12, &unit), bottom = t.top + TAIL;
	xmlNode *grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL), *muted = svg_filled(svg, "muted", "#555");
	for (double at = 0; at <= most; at += tick) {
		svg_line(grid, GUTTER + at * t.px, t.top, GUTTER + at * t.px, bottom);
		svg_text(muted, GUTTER + at * t.px, bottom + 16, ANCHOR_MIDDLE, format_number(arena, unit, at));
	}
	svg_text(muted, 4, bottom + 16, ANCHOR_START, unit.name);
	static const int levels[] = {50, 90, 95, 99};
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		double y = height_at(&t, levels[i] / 100.0);
		if (y <= t.top)
			continue;
		svg_line(grid, GUTTER, y, WIDTH - 30, y);
		svg_text(muted, GUTTER - 8, y + 4, ANCHOR_END, arena_format(arena, "p%d", levels[i]));
	}
	for (int side = 0; side < (int)a->n_sides; side++)
		draw_tail(a, side, &t, arena, svg);
	return bottom + 44;
}

/* ---- each side's periods in order, on its own scale ---- */

struct panel {
	double x, y, low, high, step; /* periods shown; pixels a period */
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
	struct panel p = {.x = x + GUTTER - 10, .y = y + 22};
	p.low = fmax(s->steps.min - 0.15 * spread, 0);
	p.high = fmin(s->steps.max + 0.15 * spread, 3 * s->steps.median);
	if (p.high <= p.low)
		p.high = p.low + 1;
	p.step = (PANEL - GUTTER) / (double)(n ? n : 1);

	xmlNode *ink = svg_filled(svg, "ink", "#222"), *muted = svg_filled(svg, "muted", "#555"),
		*grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL);
	struct unit unit = format_unit(s->steps.median);
	double tick = svg_tick(p.high - p.low, 5, &unit);
	svg_attribute(svg_text(ink, x + 4, y + 10, ANCHOR_START,
	                       say_fact(FACT_NEW(arena, steps_in_order, side, .whose = s->label, .of = view_unit(s),
	                                         .unit = unit.name),
	                                NULL, arena)),
	              "font-weight", "bold");
	for (double t = ceil(p.low / tick) * tick; t <= p.high; t += tick) {
		double at = height_of(&p, t);
		svg_line(grid, p.x, at, p.x + PANEL - GUTTER, at);
		svg_text(muted, p.x - 6, at + 4, ANCHOR_END, format_number(arena, unit, t));
	}

	xmlNode *warm = svg_filled(svg, "warm", "#f3e3c3");
	xmlNode *points = svg_filled(svg, class_of[side], colour[side]);
	size_t offset = 0;
	for (uint32_t r = 0; r < s->n_runs; r++) {
		const struct run_result *run = &s->runs[r];
		size_t cut = first_measured(run);
		if (cut)
			svg_rect(warm, p.x + (double)offset * p.step, p.y, (double)cut * p.step, DEPTH,
			         say_fact(FACT_NEW(arena, warmup_shaded, side), NULL, arena));
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
	const struct fact *shown = FACT_NEW(arena, periods_shown, side, .periods = (int64_t)n, .runs = s->n_runs),
			  *marks = FACT_NEW(arena, panel_marks, side,
	                                    .recorded = a->verdict.measured == VERDICT_STOPWATCH);
	svg_text(muted, p.x, p.y + DEPTH + 16, ANCHOR_START, say_fact(shown, NULL, arena));
	svg_text(muted, p.x, p.y + DEPTH + 33, ANCHOR_START, say_fact(marks, NULL, arena));
}

/* A single run has no order. */
static bool has_periods(const struct side *s)
{
	for (uint32_t r = 0; r < s->n_runs; r++)
		if (s->runs[r].n_periods)
			return true;
	return false;
}

bool steps_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	bool any = has_periods(&a->side[0]) || (a->n_sides > 1 && has_periods(&a->side[1]));
	if (!any)
		return false; /* nothing but the runs' own times, which are dots beside the verdict already */
	xmlNode *svg = svg_picture(parent, WIDTH, 100, SAY(NULL, arena, steps_title, .pair = a->n_sides > 1),
	                           say_fact(FACT_NEW(arena, steps_means, FACT_NO_SIDE), NULL, arena));
	double y = draw_tails(a, arena, svg);
	for (int s = 0; s < (int)a->n_sides; s++)
		if (has_periods(&a->side[s]))
			draw_panel(a, s, arena, svg, s ? WIDTH - PANEL - 10 : 0, y);
	svg_resize(svg, WIDTH, y + DEPTH + 63);
	return true;
}
