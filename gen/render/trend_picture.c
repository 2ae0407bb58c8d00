#include "base/format.h"
#include "base/sort.h"
#include "render/pictures.h"
#include "render/trend.h"
#include "say/say.h"

#include <math.h>

enum {
	WIDTH = 1200,
	GUTTER = 64,
	RIGHT = 14,
	LABELS = 54,
	DEPTH = 230,
	FOOT = 30,
	ROW = 17,
	LABEL_ROWS = 3,
	LEVEL_LEAST = 5
};

struct picture {
	const struct trend *t;
	const struct trend_series *s;
	struct arena *arena;
	double low, high, step; /* ns shown; pixels a commit */
};

static double x_of(const struct picture *p, size_t place)
{
	return GUTTER + ((double)place + 0.5) * p->step;
}

static double y_of(const struct picture *p, double ns)
{
	double share = (ns - p->low) / (p->high - p->low);
	return LABELS + DEPTH - fmin(fmax(share, 0), 1) * DEPTH;
}

static double value(const struct picture *p, size_t place)
{
	return trend_commit_at(p->t, p->s, place)->step;
}

/* From the hundredth to the ninety-ninth percentile and a margin: one outlier must not flatten all the rest. */
static void choose_scale(struct picture *p)
{
	size_t n = p->s->n, cut = n / 100;
	double *sorted = ARENA_NEW(p->arena, n, double);
	for (size_t i = 0; i < n; i++)
		sorted[i] = value(p, i);
	sort_doubles(sorted, n);
	double low = sorted[cut], high = sorted[n - 1 - cut];
	double margin = fmax(0.12 * (high - low), 0.01 * high);
	p->low = fmax(low - margin, 0);
	p->high = high + margin;
	p->step = (double)(WIDTH - GUTTER - RIGHT) / (double)n;
}

static void draw_grid(const struct picture *p, xmlNode *svg)
{
	xmlNode *grid = svg_strokes(svg, "grid", "#d8dde2", 1, NULL), *muted = svg_filled(svg, "muted", "#555");
	struct unit unit = format_unit(p->high);
	double tick = svg_tick(p->high - p->low, 6, &unit);
	for (double t = ceil(p->low / tick) * tick; t <= p->high; t += tick) {
		double y = y_of(p, t);
		svg_line(grid, GUTTER, y, WIDTH - RIGHT, y);
		svg_text(muted, GUTTER - 6, y + 4, ANCHOR_END, format_number(p->arena, unit, t));
	}
	svg_text(muted, 4, LABELS - 8, ANCHOR_START, unit.name);
	size_t n = p->s->n;
	double y = LABELS + DEPTH + 20;
	const char *first = format_name(p->arena, trend_commit_at(p->t, p->s, 0)->name, 40);
	const char *last = format_name(p->arena, trend_commit_at(p->t, p->s, n - 1)->name, 40);
	svg_text(muted, GUTTER, y, ANCHOR_START, first);
	if (n > 1)
		svg_text(muted, WIDTH - RIGHT, y, ANCHOR_END, last);
}

static const char *hover(const struct picture *p, size_t place)
{
	const struct trend_commit *c = trend_commit_at(p->t, p->s, place);
	return SAY(NULL, p->arena, commit_dot, .commit = c->name, .step = c->step, .runs = c->runs, .least = c->least,
	           .most = c->most);
}

/* From the shortest to the longest run of each commit. */
static void draw_runs(const struct picture *p, xmlNode *svg)
{
	xmlNode *lines = svg_strokes(svg, "runs", "#9aa5b1", 1.2, NULL);
	for (size_t i = 0; i < p->s->n; i++) {
		const struct trend_commit *c = trend_commit_at(p->t, p->s, i);
		double x = x_of(p, i), low = y_of(p, c->least), high = y_of(p, c->most);
		if (c->runs > 1 && low - high > 0.5)
			svg_line(lines, x, low, x, high);
	}
	svg_drop_empty(lines);
}

/* What lies beyond the scale is a triangle at its edge. */
static void draw_points(const struct picture *p, xmlNode *svg)
{
	enum { MOST_HOVERS = 1000 };
	xmlNode *points = svg_filled(svg, "before", "#5c6773");
	double r = fmin(fmax(p->step / 3, 1.2), 3.2);
	BUF_LOCAL(path);
	for (size_t i = 0; i < p->s->n; i++) {
		double x = x_of(p, i), v = value(p, i), y = y_of(p, v);
		BUF_LOCAL(one);
		if (v > p->high || v < p->low)
			buf_format(&one, v > p->high ? "M%.5g %.5gl-4 7h8z" : "M%.5g %.5gl-4 -7h8z", x, y);
		else
			buf_format(&one, "M%.5g %.5ga%.3g %.3g 0 1 0 .01 0z", x, y - r, r, r);
		if (p->s->n <= MOST_HOVERS)
			xmlNewTextChild(svg_path(points, one.data), NULL, (const xmlChar *)"title",
			                (const xmlChar *)hover(p, i));
		else
			buf_text(&path, one.data);
	}
	if (path.n)
		svg_path(points, path.data);
}

/* Of few commits a level would be a line that goes through none of their points. */
static void draw_levels(const struct picture *p, xmlNode *svg)
{
	xmlNode *levels = svg_filled(svg, "after", "#0b6e7d");
	for (size_t i = 0; i <= p->s->n_changes; i++) {
		size_t begin = i ? p->s->changes[i - 1].change.at : 0;
		size_t end = i < p->s->n_changes ? p->s->changes[i].change.at : p->s->n;
		if (end - begin < LEVEL_LEAST)
			continue;
		/* of the levels beside a change, as in the table; what drifts comes there from its beginning */
		double level = i < p->s->n_changes ? p->s->changes[i].before : p->s->level;
		double drift = i < p->s->n_changes ? p->s->changes[i].change.drift : log1p(p->s->drift);
		double x = GUTTER + (double)begin * p->step, first = level * exp(drift * ((double)begin - (double)end));
		svg_path(levels,
		         arena_format(p->arena, "M%.5g %.5gL%.5g %.5gv2.5L%.5g %.5gz", x, y_of(p, first) - 1.25,
		                      GUTTER + (double)end * p->step, y_of(p, level) - 1.25, x, y_of(p, first) + 1.25));
	}
}

/* Names above the picture, in rows so that they do not lie on each other; a name without room is left to the table. */
static void draw_changes(const struct picture *p, xmlNode *svg)
{
	xmlNode *lines = svg_strokes(svg, "boundary", "#44505c", 1.4, "4 3"), *ink = svg_filled(svg, "ink", "#222");
	double free_from[LABEL_ROWS] = {0};
	for (size_t i = 0; i < p->s->n_changes; i++) {
		const struct trend_change *c = &p->s->changes[i];
		double x = GUTTER + (double)c->change.at * p->step;
		const char *text =
			arena_format(p->arena, "%s %s %s", c->change.shift > 0 ? "▲" : "▼",
		                     format_name(p->arena, trend_commit_at(p->t, p->s, c->change.at)->name, 20),
		                     trend_percent(p->arena, c->change.shift));
		double width = svg_text_width(text), begin = fmin(x - 5, WIDTH - RIGHT - width);
		int row = 0;
		while (row < LABEL_ROWS && begin < free_from[row])
			row++;
		double top = row < LABEL_ROWS ? 6 + row * ROW + 8 : LABELS;
		svg_line(lines, x, top, x, LABELS + DEPTH);
		if (row == LABEL_ROWS)
			continue;
		svg_text(ink, begin, 6 + row * ROW + 5, ANCHOR_START, text);
		free_from[row] = begin + width + 10;
	}
	svg_drop_empty(lines);
	svg_drop_empty(ink);
}

void trend_draw(const struct trend *t, const struct trend_series *s, struct arena *arena, xmlNode *parent)
{
	struct picture p = {.t = t, .s = s, .arena = arena};
	choose_scale(&p);
	xmlNode *svg = svg_picture(parent, WIDTH, LABELS + DEPTH + FOOT, say_word(WORDS_trend, "picture"),
	                           say_word(WORDS_trend, s->n_changes ? "changes" : "quiet"));
	draw_grid(&p, svg);
	draw_changes(&p, svg);
	draw_runs(&p, svg);
	draw_points(&p, svg);
	draw_levels(&p, svg);
}
