/* Kernels before and after: a line each, from its time on one side to that on the other. */
#include "render/pictures.h"

#include "analyse/card.h"
#include "base/format.h"
#include "say/say.h"

#include <math.h>

enum { WIDTH = 1000, LEFT = 430, RIGHT = 640, TOP = 34, HEIGHT = 250, LINE = 17, MOST = 9, NAME = 40, LEADER = 26 };
static const double SAME = 0.05;  /* of the longer time: less is drawn as no change */
static const double LEAST = 0.01; /* of a step: of changes that are all less there is no picture */

/* Small kernels are told apart, too: heights are square roots. */
static double height_of(double time, double most)
{
	return TOP + HEIGHT - sqrt(time / most) * HEIGHT;
}

/* Where labels stand, beside their lines' ends and apart from each other: from the lowest up. */
static void place_labels(const struct card_slope *slope, uint32_t n, int side, double most, double *y)
{
	double free = TOP + HEIGHT + LINE;
	for (uint32_t left = n; left > 0; left--) {
		uint32_t lowest = n;
		for (uint32_t i = 0; i < n; i++)
			if (y[i] < 0 && slope[i].time[side] > 0 &&
			    (lowest == n || slope[i].time[side] <= slope[lowest].time[side]))
				lowest = i;
		if (lowest == n)
			return; /* the others are not there */
		y[lowest] = fmin(height_of(slope[lowest].time[side], most), free - LINE);
		free = y[lowest];
	}
}

static const char *label_of(const struct analysis *a, const struct card_slope *slope, int side, struct unit unit,
                            struct arena *arena)
{
	const char *name = format_kernel(arena, slope->name, NAME);
	const struct fact *what = FACT_NEW(
		arena, slope_end, side, .name = side && slope->time[0] > 0 ? NULL : name, .kernels = slope->kernels,
		.time = arena_format(arena, "%s %s", format_number(arena, unit, slope->time[side]), unit.name),
		.launches = slope->count[side]);
	return say_fact(what, a->names, arena);
}

static bool differs(const struct card_slope *slope)
{
	return fabs(slope->time[1] - slope->time[0]) >= SAME * fmax(slope->time[0], slope->time[1]);
}

bool slopes_differ(const struct analysis *a, struct arena *arena)
{
	uint32_t n;
	double step = fmax(a->side[0].headline.step, a->side[1].headline.step);
	const struct card_slope *slope = card_slopes(a, MOST, arena, &n);
	for (uint32_t i = 0; i < n; i++)
		if (differs(&slope[i]) && fabs(slope[i].time[1] - slope[i].time[0]) >= LEAST * step)
			return true;
	return false;
}

void slopes_draw(const struct analysis *a, struct unit unit, struct arena *arena, xmlNode *parent)
{
	uint32_t n;
	double y[2][MOST], most = 0;
	const struct card_slope *slope = card_slopes(a, MOST, arena, &n);
	for (uint32_t i = 0; i < n; i++) {
		most = fmax(most, fmax(slope[i].time[0], slope[i].time[1]));
		y[0][i] = y[1][i] = -1;
	}
	xmlNode *svg = svg_picture(parent, WIDTH, TOP + HEIGHT + 16,
	                           say_fact(FACT_NEW(arena, slopes_title, FACT_NO_SIDE), NULL, arena),
	                           say_fact(FACT_NEW(arena, slopes_means, FACT_NO_SIDE), NULL, arena));
	xmlNode *ink = svg_filled(svg, "ink", "#222"), *same = svg_strokes(svg, "muted-line", "#8794a1", 1.5, NULL);
	xmlNode *less = svg_strokes(svg, "good-line", "#0a6b4f", 2, NULL),
		*more = svg_strokes(svg, "bad-line", "#a83b00", 2, "6 3");
	for (int s = 0; s < 2; s++) {
		svg_attribute(svg_text(ink, s ? RIGHT : LEFT, 14, s ? ANCHOR_START : ANCHOR_END, a->side[s].label),
		              "font-weight", "bold");
		place_labels(slope, n, s, most, y[s]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const double *t = slope[i].time, change = t[1] - t[0];
		xmlNode *way = !differs(&slope[i]) ? same : change < 0 ? less : more;
		const double end[2] = {height_of(t[0], most), height_of(t[1], most)};
		svg_path(way, arena_format(arena, "M%d %.1fL%d %.1fL%d %.1fL%d %.1f", LEFT + 6,
		                           t[0] > 0 ? y[0][i] : end[0], LEFT + LEADER, end[0], RIGHT - LEADER, end[1],
		                           RIGHT - 6, t[1] > 0 ? y[1][i] : end[1]));
		for (int s = 0; s < 2; s++)
			if (t[s] > 0)
				svg_text(ink, s ? RIGHT : LEFT, y[s][i] + 4, s ? ANCHOR_START : ANCHOR_END,
				         label_of(a, &slope[i], s, unit, arena));
	}
}
