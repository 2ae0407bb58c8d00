/* The pictures of the verdict's card: how sure the speedup is, and what a step of either side consists of. */
#include "render/pictures.h"

#include "base/format.h"
#include "render/slices.h"
#include "render/view.h"
#include "render/words.h"

#include <math.h>
#include <string.h>

/* ---- the speedup on an axis around 1 ---- */

enum { SPEEDUP_WIDTH = 460, SPEEDUP_HEIGHT = 74, AXIS = 36, EDGE = 34 };

struct scale {
	double low, px; /* logarithms */
};

static double at(const struct scale *s, double speedup)
{
	return EDGE + (log(speedup) - s->low) * s->px;
}

static struct scale scale_of(const struct analysis *a)
{
	const struct verdict *v = &a->verdict;
	double low = fmin(log(v->lo), 0), high = fmax(log(v->hi), 0);
	double asked = gates_asked_speedup(&a->gates);
	if (asked > 0) {
		low = fmin(low, log(asked));
		high = fmax(high, log(asked));
	}
	/* room for the band of what counts as the same, and around everything */
	double least = 4 * VERDICT_MARGIN, middle = (low + high) / 2, half = fmax((high - low) / 2 * 1.15, least);
	return (struct scale){middle - half, (SPEEDUP_WIDTH - 2 * EDGE) / (2 * half)};
}

/* Names a place on the axis, unless the name of 1 is in its way. */
static void name_place(xmlNode *parent, const struct scale *s, double speedup, const char *text)
{
	double half = svg_text_width(text) / 2 + 6, x = fmin(fmax(at(s, speedup), half), SPEEDUP_WIDTH - half);
	if (fabs(x - at(s, 1)) > half + 14)
		svg_text(parent, x, AXIS + 30, ANCHOR_MIDDLE, text);
}

void speedup_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	const struct verdict *v = &a->verdict;
	struct scale s = scale_of(a);
	xmlNode *svg = svg_picture(parent, SPEEDUP_WIDTH, SPEEDUP_HEIGHT, "The speedup and its 95 % interval",
	                           "The line at 1 is no change, the band around it is what counts as the same.");
	xmlNode *band = svg_group(svg, "band-same"), *muted = svg_group(svg, "muted"), *ink = svg_group(svg, "ink");
	svg_attribute(band, "fill", "#c9d2db");
	svg_attribute(muted, "fill", "#555");
	svg_attribute(ink, "fill", "#111");
	double one = at(&s, 1), left = at(&s, 1 / (1 + VERDICT_MARGIN)), right = at(&s, 1 + VERDICT_MARGIN);
	svg_rect(band, left, AXIS - 26, right - left, 38,
	         arena_format(arena, "within %g %%: counts as the same", 100 * VERDICT_MARGIN));
	xmlNode *lines = svg_strokes(svg, "boundary", "#44505c", 1.2, NULL);
	svg_line(lines, 0, AXIS, SPEEDUP_WIDTH, AXIS);
	double x0 = at(&s, v->lo), x1 = at(&s, v->hi), x = at(&s, v->speedup);
	const char *name = words_speedup(a, arena);
	double middle = words_wide(v) ? (x0 + x1) / 2 : x;
	/* the line keeps out of the name above it */
	bool under = fabs(middle - one) < svg_text_width(name) * 0.6 + 4;
	svg_line(lines, one, AXIS - (under ? 12 : 26), one, AXIS + 12);

	xmlNode *tone = svg_group(svg, "tone");
	svg_attribute(tone, "fill", "#3f5b7a");
	svg_rect(tone, x0, AXIS - 5, fmax(x1 - x0, 2), 10, NULL);
	svg_path(tone, arena_format(arena, "M%.1f %da7 7 0 1 0 .01 0z", x, AXIS - 7));
	svg_text(muted, one, AXIS + 30, ANCHOR_MIDDLE, "1\xC3\x97");
	svg_attribute(svg_text(ink, middle, AXIS - 16, ANCHOR_MIDDLE, name), "font-weight", "bold");
	double target = gates_asked_speedup(&a->gates);
	if (target > 0) {
		double mark = at(&s, target);
		svg_path(lines, arena_format(arena, "M%.1f %dv24", mark, AXIS - 12));
		name_place(muted, &s, target, arena_format(arena, "asked for %s", gates_times(arena, target)));
	} else {
		name_place(muted, &s, exp(s.low), "slower");
		name_place(muted, &s, exp(s.low + (SPEEDUP_WIDTH - 2 * EDGE) / s.px), "faster");
	}
}

/* ---- what a step consists of ---- */

enum { WIDTH = SLICES_WIDTH, BAR = SLICES_BAR, ROW = 76, STRIP = 10, RECORDED_ROW = 110 };

/* Whether a part of a step is as wide as a pixel. */
static bool is_seen(double ns, double most)
{
	return ns / most * WIDTH >= 1;
}

/* Work first, then waits from the longest on; waits too short to see are one slice. */
static uint32_t make_slices(const struct analysis *a, const struct budget *b, double most, struct arena *arena,
                            struct slice **out)
{
	struct slice *slices = *out = ARENA_NEW(arena, b->n_rows + 4, struct slice);
	uint32_t n = 0;
	const struct slice work[] = {
		{SHADE_COMPUTE, b->compute, "GPU compute", "", "compute"},
		{SHADE_COMM, b->comm_exposed, "communication", "nothing else runs", "communication"},
		{SHADE_COPY, b->copy_exposed, "copies", "nothing else runs", "copies"}};
	for (size_t i = 0; i < sizeof work / sizeof *work; i++)
		if (work[i].ns > 0)
			slices[n++] = work[i];
	double rest = 0;
	for (uint32_t i = 0; i < b->n_rows; i++) {
		const struct idle_row *row = &b->rows[i];
		if (!is_seen(row->per_step, most))
			rest += row->per_step;
		else
			slices[n++] = (struct slice){(int)row->cause, row->per_step,
			                             arena_format(arena, "waits: %s", cause_label(row->cause)),
			                             view_has_phases(a) ? view_phase(a, row->phase) : "",
			                             cause_label(row->cause)};
	}
	if (rest > 0)
		slices[n++] = (struct slice){SHADE_IDLE, rest, "smaller waits", "", "waits"};
	return n;
}

/* Whether a side's step was timed without a profiler, and is the same stretch that was recorded. */
static bool has_recording(const struct analysis *a)
{
	return a->n_sides == 2 && a->verdict.measured == VERDICT_STOPWATCH && a->side[0].steps.found &&
	       a->side[1].steps.found && a->side[0].headline.stopwatch > 0 && a->side[1].headline.stopwatch > 0;
}

/* What is as wide as the picture: the longest step of all that are drawn. */
static double longest(const struct analysis *a)
{
	double most = fmax(a->side[0].budget.period, a->side[1].budget.period);
	for (int side = 0; side < 2 && has_recording(a); side++)
		most = fmax(most, fmax(a->side[side].headline.recorded_timed, a->side[side].headline.stopwatch));
	return most;
}

void glance_keys(const struct analysis *a, struct arena *arena, bool seen[])
{
	const double most = longest(a);
	for (uint32_t side = 0; side < a->n_sides && most > 0; side++) {
		struct slice *slices;
		uint32_t n = make_slices(a, &a->side[side].budget, most, arena, &slices);
		for (uint32_t i = 0; i < n; i++)
			seen[slices[i].which] |= is_seen(slices[i].ns, most);
	}
}

/* "baseline, 55.64 ms a step"; the bar is of the mean step, which may hold steps that the headline sets aside. */
static const char *heading(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const char *name = view_side(s, arena), *shown = format_time(arena, s->headline.step);
	const char *mean = format_time(arena, s->budget.period);
	return has_recording(a) || strcmp(shown, mean) == 0
	               ? arena_format(arena, "%s, %s a %s", name, shown, view_unit(s))
	               : arena_format(arena, "%s, mean %s %s", name, view_unit(s), mean);
}

/* Below what was recorded: the step without a profiler, and hatched what recording added to it. Nothing says to which
 * of the parts above, so none of them is made shorter. */
static void draw_recording(struct arena *arena, xmlNode *svg, const struct side *s, int side, double y, double most)
{
	double added = s->headline.recorded_timed - s->headline.stopwatch;
	xmlNode *whole = svg_group(svg, side ? "after" : "before");
	svg_attribute(whole, "fill", side ? "#0b6e7d" : "#5c6773");
	xmlNode *rect =
		svg_rect(whole, 0, y, 0, STRIP,
	                 arena_format(arena, "without a profiler: %s", format_time(arena, s->headline.stopwatch)));
	svg_share(rect, "width", s->headline.stopwatch / most);
	const double noticed = 1e-3;                            /* of a step */
	const char *by = format_short_time(arena, fabs(added)); /* few words, for a phone */
	bool none = fabs(added) < noticed * s->headline.stopwatch;
	const char *words = none        ? "recording changed less than 0.1 %"
	                    : added > 0 ? arena_format(arena, "recording added %s (hatched)", by)
	                                : arena_format(arena, "recorded, it took %s less", by);
	if (added > 0 && !none) {
		rect = svg_rect(svg_swatch(svg, SHADE_RECORDING), 0, y, 0, STRIP, words);
		svg_share(rect, "x", s->headline.stopwatch / most);
		svg_share(rect, "width", added / most);
	}
	xmlNode *muted = svg_group(svg, "muted");
	svg_attribute(muted, "fill", "#555");
	svg_text(muted, 0, y + STRIP + 15, ANCHOR_START, words);
}

void glance_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	const bool recording = has_recording(a);
	const int row = recording ? RECORDED_ROW : ROW;
	const double most = longest(a);
	xmlNode *svg = svg_picture(parent, WIDTH, (int)a->n_sides * row,
	                           arena_format(arena, "What a mean %s consists of%s", view_unit(&a->side[0]),
	                                        a->n_sides > 1 ? ", baseline above fixed" : ""),
	                           "The GPU's work, then what it waited for, on one scale; the tables below have the "
	                           "numbers.");
	svg_stretch(svg);
	svg_patterns(svg); /* for all pictures of the page: in one that a script hides they would not be drawn */
	xmlNode *ink = svg_group(svg, "ink");
	svg_attribute(ink, "fill", "#111");
	for (int side = 0; side < (int)a->n_sides; side++) {
		const struct side *s = &a->side[side];
		double y = side * row;
		svg_attribute(svg_text(ink, 0, y + 18, ANCHOR_START, heading(a, s, arena)), "font-weight", "bold");
		struct slice *slices = NULL;
		uint32_t n = most > 0 ? make_slices(a, &s->budget, most, arena, &slices) : 0;
		slices_draw(svg, slices, n, y + 26, most, arena);
		if (recording)
			draw_recording(arena, svg, s, side, y + 26 + BAR + 2, most);
	}
}
