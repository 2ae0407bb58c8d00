#include "render/pictures.h"

#include "base/format.h"
#include "render/view.h"

#include "base/buf.h"
#include "say/say.h"

#include <math.h>

/* Places and widths are shares of the picture's width, so that it fits on a phone and its words keep their size. */
enum { WIDTH = 1200, STRIP = 34, ABOVE = 38, PITCH = ABOVE + STRIP + 36 };

static const int layers[] = {SHADE_COMPUTE, SHADE_COMM, SHADE_COPY, SHADE_IDLE};

static bool is_seen(const struct overview *o, int layer)
{
	const float *const share[] = {o->compute, o->comm, o->copy, o->idle};
	for (int i = 0; i < OVERVIEW_BINS; i++)
		if (round(share[layer][i] * STRIP) > 0)
			return true;
	return false;
}

/* One bar for each run of bins that look alike; `from` and `to` are fractions of the strip's height, from below. */
static void draw_layer(xmlNode *parent, int which, const float *from, const float *to)
{
	BUF_LOCAL(path);
	for (int i = 0, next; i < OVERVIEW_BINS; i = next) {
		double low = round(from[i] * STRIP), high = round(to[i] * STRIP);
		for (next = i + 1; next < OVERVIEW_BINS; next++)
			if (round(from[next] * STRIP) != low || round(to[next] * STRIP) != high)
				break;
		if (high <= low)
			continue;
		svg_move(&path, 'M', i, 6);
		svg_move(&path, ' ', STRIP - high, 6);
		svg_move(&path, 'h', next - i, 6);
		svg_move(&path, 'v', high - low, 6);
		svg_move(&path, 'h', i - next, 6);
		buf_text(&path, "z");
	}
	if (path.n)
		svg_path(svg_swatch(parent, which), path.data);
}

/* Where the steps of the timeline lie; false for a run without steps. */
static bool find_shown(const struct side *s, int64_t *start, int64_t *end)
{
	const struct run_result *run = &s->runs[s->median_run];
	if (!s->steps.found || s->timeline.first_step == 0 || run->warmup == 0)
		return false;
	*start = s->overview.window_start;
	for (size_t i = run->warmup - 1; i + 1 < s->timeline.first_step && i < run->n_periods; i++)
		*start += run->period[i];
	*end = *start + s->timeline.length;
	return true;
}

/* Where a run's picture begins and ends: a range that is measured may begin before the first GPU operation. */
static int64_t begin_of(const struct overview *o)
{
	return o->window_start < 0 ? o->window_start : 0;
}

static int64_t drawn(const struct overview *o)
{
	return (o->window_end > o->length ? o->window_end : o->length) - begin_of(o);
}

static void draw_busy(const struct overview *o, struct arena *arena, xmlNode *svg, double x, double y, double width)
{
	float *level[5];
	for (int k = 0; k < 5; k++)
		level[k] = ARENA_NEW(arena, OVERVIEW_BINS, float);
	for (int i = 0; i < OVERVIEW_BINS; i++) {
		level[1][i] = o->compute[i];
		level[2][i] = level[1][i] + o->comm[i];
		level[3][i] = level[2][i] + o->copy[i];
		level[4][i] = 1;
	}
	xmlNode *window = svg_window(svg, x, y, width, STRIP);
	svg_fill_window(window, OVERVIEW_BINS, STRIP);
	for (int k = 0; k < 4; k++)
		draw_layer(window, layers[k], level[k], level[k + 1]);
}

/* A rectangle from share `from` to share `to`. */
static void draw_part(xmlNode *parent, double from, double to, double y, double height, const char *hover)
{
	xmlNode *rect = svg_rect(parent, 0, y, 0, height, hover);
	svg_share(rect, "x", from);
	svg_share(rect, "width", to > from ? to - from : 0);
}

/* A text that begins where a part begins, or ends where it ends when that lies in the right half. */
static void write_at(xmlNode *parent, double from, double to, double y, const char *text)
{
	bool right = to > 0.5;
	xmlNode *node = svg_text(parent, 0, y, right ? ANCHOR_END : ANCHOR_START, text);
	svg_share(node, "x", right ? to : from);
}

static void draw_bracket(xmlNode *svg, double from, double to, double y)
{
	xmlNode *lines = svg_strokes(svg, "boundary", "#333", 1.6, NULL);
	const double ends[][4] = {{from, y, from, y + 6}, {from, y + 6, to, y + 6}, {to, y, to, y + 6}};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		xmlNode *line = svg_line(lines, 0, ends[i][1], 0, ends[i][3]);
		svg_share(line, "x1", ends[i][0]);
		svg_share(line, "x2", ends[i][2]);
	}
}

static void draw_strip(const struct side *s, struct arena *arena, xmlNode *svg, double y, double width)
{
	const struct overview *o = &s->overview;
	const int64_t begin = begin_of(o), all = drawn(o);
	const double px = all > 0 ? width / (double)all : 0, first = (double)-begin * px,
		     last = first + (double)o->length * px;
	if (all > o->length)
		draw_part(svg_swatch(svg, SHADE_IDLE), 0, width, y, STRIP, NULL);
	draw_busy(o, arena, svg, first, y, last - first);
	xmlNode *ink = svg_filled(svg, "ink", "#111"), *muted = svg_filled(svg, "muted", "#555");
	svg_attribute(svg_text(ink, 0, y - 22, ANCHOR_START,
	                       arena_format(arena, "%s, %s", view_side(s, arena), format_time(arena, (double)all))),
	              "font-weight", "bold");

	double from = (double)(o->window_start - begin) * px, to = (double)(o->window_end - begin) * px;
	xmlNode *veil = svg_filled(svg, "veil", "#fff");
	svg_attribute(veil, "fill-opacity", "0.6");
	draw_part(veil, 0, from, y, STRIP, say_word(WORDS_picture, "before_window"));
	draw_part(veil, to, width, y, STRIP, say_word(WORDS_picture, "after_window"));
	draw_bracket(svg, from, to, y + STRIP + 2);
	write_at(muted, from, to, y + STRIP + 22,
	         SAY(NULL, arena, measured_window, .time = (double)(o->window_end - o->window_start)));
	if (from > 0.35) {
		/* a phone has no room for it beside what was measured; the veil's own words say it there */
		xmlNode *start = svg_text(muted, 0, y + STRIP + 22, ANCHOR_START, say_word(WORDS_picture, "warm"));
		svg_attribute(start, "class", "desk");
	}
	int64_t start, end;
	if (!find_shown(s, &start, &end))
		return;
	xmlNode *shown = svg_filled(svg, "after", "#0b6e7d");
	double x0 = (double)(start - begin) * px, x1 = (double)(end - begin) * px;
	draw_part(shown, x0, fmax(x1, x0 + 2.0 / WIDTH), y - 6, 4, say_word(WORDS_picture, "steps_above"));
	write_at(muted, x0, x1, y - 9, say_word(WORDS_picture, "shown_above"));
}

void overview_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	int64_t length[2] = {drawn(&a->side[0].overview), drawn(&a->side[1].overview)};
	int64_t longest = length[0] > length[1] ? length[0] : length[1];
	xmlNode *svg = svg_picture(parent, WIDTH, (int)a->n_sides * PITCH + 19,
	                           say_word(WORDS_picture, a->n_sides > 1 ? "whole_runs" : "whole_run"),
	                           say_word(WORDS_picture, "overview"));
	svg_stretch(svg);
	for (int side = 0; side < (int)a->n_sides; side++) {
		/* one time scale, unless the shorter run would be too small to see */
		double share = longest > 0 ? (double)length[side] / (double)longest : 1;
		draw_strip(&a->side[side], arena, svg, side * PITCH + ABOVE, share < 0.2 ? 1 : share);
	}
	int seen[5], n = 0;
	for (int k = 0; k < 4; k++)
		if (is_seen(&a->side[0].overview, k) || is_seen(&a->side[1].overview, k))
			seen[n++] = layers[k];
	seen[n] = -1;
	svg_legend(svg, 0, (int)a->n_sides * PITCH, WIDTH, seen);
}
