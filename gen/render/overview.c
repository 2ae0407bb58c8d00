/* The whole run of each side as a strip: how busy the GPU was, and which part of it is measured. */
#include "render/format.h"
#include "render/timeline.h"

#include "base/buf.h"

#include <math.h>

enum { WIDTH = 1200, GUTTER = 160, STRIP = 34, ABOVE = 18, PITCH = ABOVE + STRIP + 30 };

/* One bar for each run of bins that look alike; `from` and `to` are fractions of the strip's height, from below. */
static void draw_layer(xmlNode *parent, int which, const float *from, const float *to, double x, double y, double bin)
{
	struct buf path = {0};
	for (int i = 0, next; i < OVERVIEW_BINS; i = next) {
		double low = round(from[i] * STRIP), high = round(to[i] * STRIP);
		for (next = i + 1; next < OVERVIEW_BINS; next++)
			if (round(from[next] * STRIP) != low || round(to[next] * STRIP) != high)
				break;
		if (high > low)
			buf_format(&path, "M%.5g %.4gh%.4gv%gh-%.4gz", x + i * bin, y + STRIP - high, (next - i) * bin,
			           high - low, (next - i) * bin);
	}
	if (path.n)
		svg_path(svg_swatch(parent, which), path.data);
	buf_release(&path);
}

/* Where the steps of the timeline lie; false for a run without steps. */
static bool find_shown(const struct side *s, int64_t *start, int64_t *end)
{
	const struct run_result *run = &s->runs[s->median_run];
	if (!s->steps_found || s->timeline.first_step == 0 || run->warmup == 0)
		return false;
	*start = s->overview.window_start;
	for (size_t i = run->warmup - 1; i + 1 < s->timeline.first_step && i < run->n_periods; i++)
		*start += run->period[i];
	*end = *start + s->timeline.length;
	return true;
}

static void draw_strip(const struct side *s, struct arena *arena, xmlNode *svg, double y, double width)
{
	const struct overview *o = &s->overview;
	float *level[5];
	for (int k = 0; k < 5; k++)
		level[k] = ARENA_NEW(arena, OVERVIEW_BINS, float);
	for (int i = 0; i < OVERVIEW_BINS; i++) {
		level[1][i] = o->compute[i];
		level[2][i] = level[1][i] + o->comm[i];
		level[3][i] = level[2][i] + o->copy[i];
		level[4][i] = 1;
	}
	static const int which[] = {SHADE_COMPUTE, SHADE_COMM, SHADE_COPY, SHADE_IDLE};
	for (int k = 0; k < 4; k++)
		draw_layer(svg, which[k], level[k], level[k + 1], GUTTER, y, width / OVERVIEW_BINS);

	xmlNode *text = svg_group(svg, "ink"), *muted = svg_group(svg, "muted");
	svg_attribute(text, "fill", "#111");
	svg_attribute(muted, "fill", "#555");
	svg_attribute(svg_text(text, 4, y + 15, ANCHOR_START, s->label), "font-weight", "bold");
	svg_text(muted, 4, y + 30, ANCHOR_START, format_time(arena, (double)o->length));

	double px = o->length > 0 ? width / (double)o->length : 0;
	double from = GUTTER + (double)o->window_start * px, to = GUTTER + (double)o->window_end * px;
	xmlNode *veil = svg_group(svg, "veil");
	svg_attribute(veil, "fill", "#fff");
	svg_attribute(veil, "fill-opacity", "0.6");
	svg_rect(veil, GUTTER, y, from - GUTTER, STRIP, "before the measured window: start-up and warm-up");
	svg_rect(veil, to, y, GUTTER + width - to, STRIP, "after the measured window");
	xmlNode *bracket = svg_strokes(svg, "boundary", "#333", 1.6, NULL);
	svg_path(bracket, arena_format(arena, "M%.1f %.1fv5H%.1fv-5", from, y + STRIP + 2, to));
	const char *label =
		arena_format(arena, "measured: %s", format_time(arena, (double)(o->window_end - o->window_start)));
	double half = svg_text_width(label) / 2, middle = (from + to) / 2;
	middle = middle - half < GUTTER ? GUTTER + half : middle + half > WIDTH ? WIDTH - half : middle;
	svg_text(muted, middle, y + STRIP + 20, ANCHOR_MIDDLE, label);
	if (from - GUTTER > svg_text_width("start-up and warm-up") + 10)
		svg_text(muted, GUTTER + (from - GUTTER) / 2, y + STRIP + 20, ANCHOR_MIDDLE, "start-up and warm-up");
	int64_t start, end;
	if (!find_shown(s, &start, &end))
		return;
	xmlNode *shown = svg_group(svg, "after");
	svg_attribute(shown, "fill", "#0b6e7d");
	double x0 = GUTTER + (double)start * px, x1 = GUTTER + (double)end * px;
	svg_rect(shown, x0, y - 6, fmax(x1 - x0, 2), 4, "the steps of the timeline above");
	const char *here = "shown above";
	double room = svg_text_width(here) / 2;
	svg_text(muted, fmin(fmax((x0 + x1) / 2, GUTTER + room), WIDTH - room), y - 9, ANCHOR_MIDDLE, here);
}

void overview_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	const double room = WIDTH - GUTTER - 24;
	int64_t length[2] = {a->side[0].overview.length, a->side[1].overview.length};
	int64_t longest = length[0] > length[1] ? length[0] : length[1];
	xmlNode *svg = svg_picture(
		parent, WIDTH, 2 * PITCH + 19, "The whole run of both sides",
		"How busy the GPU was from the first to the last GPU operation, and which part is measured.");
	for (int side = 0; side < 2; side++) {
		/* one time scale, unless the shorter run would be too small to see */
		double share = longest > 0 ? (double)length[side] / (double)longest : 1;
		draw_strip(&a->side[side], arena, svg, side * PITCH + ABOVE, share < 0.2 ? room : room * share);
	}
	static const int which[] = {SHADE_COMPUTE, SHADE_COMM, SHADE_COPY, SHADE_IDLE, -1};
	svg_legend(svg, GUTTER, 2 * PITCH, room, which);
}
