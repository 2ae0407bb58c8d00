/* What a step of each side consists of: bars on one scale with their parts in one order, joined by bands. */
#include "base/sort.h"
#include "render/pictures.h"

#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SLICES_WIDTH, BAR = SLICES_BAR, HEAD = 20, STRIP = 8, BAND = 34, BANDS_WIDE = 10000 };

/* A part of a step on both sides. */
struct part {
	struct slice slice; /* without its length */
	double ns[2];
};

static bool is_pair(const struct analysis *a)
{
	return a->n_sides > 1 && view_is_pair(a);
}

/* Whether a side's step was timed without a profiler, and is the same stretch that was recorded. */
static bool has_recording(const struct analysis *a)
{
	return a->n_sides == 2 && a->verdict.measured == VERDICT_STOPWATCH && a->side[0].steps.found &&
	       a->side[1].steps.found && a->side[0].headline.stopwatch > 0 && a->side[1].headline.stopwatch > 0;
}

static double longest(const struct analysis *a)
{
	double most = 0;
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct side *side = &a->side[s];
		most = fmax(most, view_time(side, side->budget.period));
		if (has_recording(a))
			most = fmax(most,
			            view_time(side, fmax(side->headline.recorded_timed, side->headline.stopwatch)));
	}
	return most;
}

static struct part idle_part(const struct analysis *a, enum cause cause, uint32_t phase, struct arena *arena)
{
	const char *brief = cause_label(cause);
	const char *label = SAY(NULL, arena, bar_wait, .cause = brief);
	return (struct part){.slice = {(int)cause, 0, label, view_has_phases(a) ? view_phase(a, phase) : "", brief}};
}

static struct part work_part(const struct analysis *a, int shade, double before, double after)
{
	const char *label = palette_label(shade);
	return (struct part){.slice = {shade, 0, label, "", label},
	                     .ns = {view_time(&a->side[0], before), view_time(&a->side[1], after)}};
}

static int by_length(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	double d = fmax(y->ns[0], y->ns[1]) - fmax(x->ns[0], x->ns[1]);
	return d > 0 ? 1 : d < 0 ? -1 : x->slice.which - y->slice.which;
}

/* Waits of both sides, joined as the way from one to the other joins them; of sides of which nothing is the change of
 * anything each side's own. */
static uint32_t make_waits(const struct analysis *a, struct part *parts, struct arena *arena)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->waterfall.n && is_pair(a); i++) {
		const struct waterfall_part *p = &a->waterfall.part[i];
		if (p->kind != PART_IDLE)
			continue;
		parts[n] = idle_part(a, p->cause, p->phase, arena);
		parts[n].ns[0] = p->baseline;
		parts[n++].ns[1] = p->fixed;
	}
	for (uint32_t s = 0; s < a->n_sides && !(a->waterfall.n && is_pair(a)); s++)
		for (uint32_t i = 0; i < a->side[s].budget.n_rows; i++) {
			const struct idle_row *row = &a->side[s].budget.rows[i];
			uint32_t at = is_pair(a) && s ? i : n++; /* nothing differs: rows are the same, one by one */
			if (at + 1 == n && !(is_pair(a) && s))
				parts[at] = idle_part(a, row->cause, row->phase, arena);
			parts[at].ns[s] = view_time(&a->side[s], row->per_step);
		}
	return n;
}

/* Work first, then waits, the longest first; waits too short to see on either side are one part. */
static uint32_t make_parts(const struct analysis *a, double most, struct arena *arena, struct part **out)
{
	const struct budget *b = &a->side[0].budget, *f = &a->side[1].budget;
	struct part *parts = *out = ARENA_NEW(arena, 4 + a->waterfall.n + b->n_rows + f->n_rows, struct part);
	uint32_t n = 3, kept;
	parts[0] = work_part(a, SHADE_COMPUTE, b->compute, f->compute);
	parts[1] = work_part(a, SHADE_COMM, b->comm_exposed, f->comm_exposed);
	parts[2] = work_part(a, SHADE_COPY, b->copy_exposed, f->copy_exposed);
	n += make_waits(a, parts + n, arena);
	SORT(parts + 3, n - 3, by_length);
	struct part rest = work_part(a, SHADE_IDLE, 0, 0);
	rest.slice.first = rest.slice.brief = say_fact(FACT_NEW(arena, bar_rest, FACT_NO_SIDE), NULL, arena);
	for (kept = 3; kept < n && fmax(parts[kept].ns[0], parts[kept].ns[1]) / most * WIDTH >= 1; kept++)
		;
	for (uint32_t i = kept; i < n; i++)
		for (int s = 0; s < 2; s++)
			rest.ns[s] += parts[i].ns[s];
	if (kept < n)
		parts[kept++] = rest;
	return kept;
}

void glance_keys(const struct analysis *a, struct arena *arena, bool seen[], bool named[])
{
	const double most = longest(a);
	struct part *parts;
	uint32_t n = most > 0 ? make_parts(a, most, arena, &parts) : 0;
	for (uint32_t i = 0; i < n; i++) {
		parts[i].slice.ns = fmax(parts[i].ns[0], parts[i].ns[1]);
		seen[parts[i].slice.which] |= parts[i].slice.ns / most * WIDTH >= 1;
		named[parts[i].slice.which] |= slices_named(&parts[i].slice, most);
	}
}

static void draw_bands(const struct part *parts, uint32_t n, double most, double y, struct arena *arena, xmlNode *svg)
{
	xmlNode *window = svg_window(svg, 0, y, 1, BAND);
	svg_fill_window(window, BANDS_WIDE, BAND);
	double x[2] = {0, 0}, px = BANDS_WIDE / most;
	for (uint32_t i = 0; i < n; i++) {
		const double end[2] = {x[0] + parts[i].ns[0] * px, x[1] + parts[i].ns[1] * px};
		const struct swatch *swatch = palette(parts[i].slice.which);
		xmlNode *path = svg_path(
			window, arena_format(arena, "M%.0f 0H%.0fL%.0f %dH%.0fz", x[0], end[0], end[1], BAND, x[1]));
		svg_attribute(path, "class", "band");
		svg_attribute(path, "fill", swatch->colour);
		svg_attribute(path, "fill-opacity", "0.3");
		memcpy(x, end, sizeof x);
	}
}

static void draw_bar(const struct part *parts, uint32_t n, int side, double most, double y, struct arena *arena,
                     xmlNode *svg)
{
	struct slice *slices = ARENA_NEW(arena, n, struct slice);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		slices[kept] = parts[i].slice;
		slices[kept].ns = parts[i].ns[side];
		kept += slices[kept].ns > 0;
	}
	slices_draw(svg, slices, kept, y, most, arena);
}

/* The step without a profiler, and hatched what the profiler added to it. Nothing says to which of the parts, so none
 * of them is made shorter. */
static void draw_recording(const struct analysis *a, int side, double y, double most, struct arena *arena, xmlNode *svg)
{
	const struct side *s = &a->side[side];
	const double timed_ns = view_time(s, s->headline.stopwatch);
	double added = view_time(s, s->headline.recorded_timed) - timed_ns;
	xmlNode *whole = svg_filled(svg, side ? "after" : "before", side ? "#0b6e7d" : "#5c6773");
	const struct fact *timed = FACT_NEW(arena, bar_timed, side, .time = format_time(arena, timed_ns));
	svg_share(svg_rect(whole, 0, y, 0, STRIP, say_fact(timed, NULL, arena)), "width", timed_ns / most);
	if (added <= 0)
		return;
	const struct fact *what = FACT_NEW(arena, bar_recording, side, .time = format_time(arena, added));
	xmlNode *rect = svg_rect(svg_swatch(svg, SHADE_RECORDING), 0, y, 0, STRIP, say_fact(what, NULL, arena));
	svg_share(rect, "x", timed_ns / most);
	svg_share(rect, "width", added / most);
}

/* The bar is of the mean step, which may hold steps that the headline sets aside, or that no timed run timed. */
static void draw_heading(const struct analysis *a, int side, double y, struct arena *arena, xmlNode *svg)
{
	const struct side *s = &a->side[side];
	const char *time = format_time(arena, view_time(s, s->headline.step));
	const char *mean = format_time(arena, view_time(s, s->budget.period));
	const bool recording = has_recording(a) && a->recorded_apart, timed = a->verdict.measured == VERDICT_STOPWATCH;
	const char *profiled = recording ? format_time(arena, view_time(s, s->headline.recorded_timed)) : NULL;
	const struct fact *what = FACT_NEW(arena, bar_is, side, .whose = view_side(s, arena), .time = time,
	                                   .of = a->items_name ? "item" : view_unit(s), .item = view_item(a, arena),
	                                   .mean = timed || strcmp(time, mean) == 0 ? NULL : mean, .profiled = profiled,
	                                   .all = timed && profiled && strcmp(profiled, mean) != 0 ? mean : NULL);
	xmlNode *ink = svg_filled(svg, "ink", "#111");
	svg_attribute(svg_text(ink, 0, y, ANCHOR_START, say_fact(what, NULL, arena)), "font-weight", "bold");
}

void glance_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	const double most = longest(a);
	const int strip = has_recording(a) && a->recorded_apart ? STRIP + 3 : 0, two = a->n_sides > 1;
	const struct fact *title = FACT_NEW(arena, bars_title, FACT_NO_SIDE,
	                                    .of = view_is_pair(a) ? view_unit(&a->side[0]) : "both", .pair = two);
	const struct fact *means = FACT_NEW(arena, bars_means, FACT_NO_SIDE, .pair = two);
	xmlNode *svg = svg_picture(parent, WIDTH, HEAD + BAR + strip + 4 + two * (BAND + BAR + strip + HEAD),
	                           say_fact(title, NULL, arena), say_fact(means, NULL, arena));
	svg_stretch(svg);
	svg_patterns(svg); /* for all pictures of the page: in one that a script hides they would not be drawn */
	if (most <= 0)
		return;
	struct part *parts;
	const uint32_t n = make_parts(a, most, arena, &parts);
	double y = HEAD;
	draw_heading(a, 0, y - 7, arena, svg);
	if (strip)
		draw_recording(a, 0, y, most, arena, svg);
	draw_bar(parts, n, 0, most, y + strip, arena, svg);
	y += strip + BAR;
	if (!two)
		return;
	if (is_pair(a))
		draw_bands(parts, n, most, y, arena, svg);
	y += BAND;
	draw_bar(parts, n, 1, most, y, arena, svg);
	if (strip)
		draw_recording(a, 1, y + BAR + 3, most, arena, svg);
	draw_heading(a, 1, y + BAR + strip + 15, arena, svg);
}
