/* Kernels before and after: a line each, from its time on one side to that on the other. */
#include "render/pictures.h"

#include "analyse/shown.h"
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

/* Of those with a label on this side and none yet, the one of the shortest time; `n`: there is none. */
static uint32_t find_lowest(const struct card_slope *slope, uint32_t n, int side, const double *y)
{
	uint32_t lowest = n;
	for (uint32_t i = 0; i < n; i++)
		if (isinf(y[i]) && slope[i].time[side] > 0 &&
		    (lowest == n || slope[i].time[side] <= slope[lowest].time[side]))
			lowest = i;
	return lowest;
}

/* Where labels stand, beside their lines' ends and apart from each other: from the lowest up, and what this moves into
 * the heading down again, with what is in its way. */
static void place_labels(const struct card_slope *slope, uint32_t n, int side, double most, double *y)
{
	uint32_t placed[MOST] = {0}, n_placed = 0, lowest;
	double free = TOP + HEIGHT + LINE;
	for (uint32_t i = 0; i < n; i++)
		y[i] = -INFINITY;
	while ((lowest = find_lowest(slope, n, side, y)) < n) {
		y[lowest] = fmin(height_of(slope[lowest].time[side], most), free - LINE);
		free = y[lowest];
		placed[n_placed++] = lowest;
	}
	for (double least = TOP; n_placed > 0; least += LINE) {
		double *label = &y[placed[--n_placed]];
		*label = fmax(*label, least);
		least = *label;
	}
}

/* Names of n kernels, short and told apart. */
static void name_them(const struct card_slope *slope, uint32_t n, const char **shown, struct arena *arena)
{
	const char *name[MOST];
	for (uint32_t i = 0; i < n; i++) {
		name[i] = slope[i].name;
		shown[i] = format_kernel(arena, name[i], NAME);
	}
	format_apart(arena, name, shown, n, NAME);
}

static const char *label_of(const struct analysis *a, const struct card_slope *slope, const char *name, int side,
                            struct unit unit, struct arena *arena)
{
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
	double y[2][MOST], most = 0, end[2][MOST] = {{0}}, lowest = TOP;
	const struct card_slope *slope = card_slopes(a, MOST, arena, &n);
	const char *name[MOST];
	name_them(slope, n, name, arena);
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fmax(slope[i].time[0], slope[i].time[1]));
	for (int s = 0; s < 2; s++) {
		place_labels(slope, n, s, most, y[s]);
		for (uint32_t i = 0; i < n; i++) {
			end[s][i] = height_of(slope[i].time[s], most);
			y[s][i] = slope[i].time[s] > 0 ? y[s][i] : end[s][i];
			lowest = fmax(lowest, fmax(y[s][i], end[s][i]));
		}
	}
	xmlNode *svg = svg_picture(parent, WIDTH, (int)lowest + 16,
	                           say_fact(FACT_NEW(arena, slopes_title, FACT_NO_SIDE), NULL, arena),
	                           say_fact(FACT_NEW(arena, slopes_means, FACT_NO_SIDE), NULL, arena));
	xmlNode *ink = svg_filled(svg, "ink", "#222"), *same = svg_strokes(svg, "muted-line", "#8794a1", 1.5, NULL);
	xmlNode *less = svg_strokes(svg, "good-line", "#0a6b4f", 2, NULL),
		*more = svg_strokes(svg, "bad-line", "#a83b00", 2, "6 3");
	for (int s = 0; s < 2; s++)
		svg_attribute(svg_text(ink, s ? RIGHT : LEFT, 14, s ? ANCHOR_START : ANCHOR_END, a->side[s].label),
		              "font-weight", "bold");
	for (uint32_t i = 0; i < n; i++) {
		const double *t = slope[i].time, change = t[1] - t[0];
		xmlNode *way = !differs(&slope[i]) ? same : change < 0 ? less : more;
		svg_path(way, arena_format(arena, "M%d %.1fL%d %.1fL%d %.1fL%d %.1f", LEFT + 6, y[0][i], LEFT + LEADER,
		                           end[0][i], RIGHT - LEADER, end[1][i], RIGHT - 6, y[1][i]));
		for (int s = 0; s < 2; s++)
			if (t[s] > 0)
				svg_text(ink, s ? RIGHT : LEFT, y[s][i] + 4, s ? ANCHOR_START : ANCHOR_END,
				         label_of(a, &slope[i], name[i], s, unit, arena));
	}
}
