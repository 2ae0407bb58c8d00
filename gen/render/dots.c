/* The runs that decide, a dot each, on an axis from 0, and where the fixed side lies with 95 % confidence. */
#include "render/pictures.h"

#include "base/format.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 370, LABEL = 62, VALUE = 78, ROW = 26, TOP = 18, DOT = 5, TICKS = 4, ROWS = 3 };
enum { BROAD = 480, NAMED = 120 }; /* of variants: their names are longer than "baseline" */
enum { WIDE = 1200, HIGH = 360, LEFT = 90, RIGHT = 60, BELOW = 56, FROM_LINE = 14 }; /* of a sweep */

/* Of the longest run: where the axis ends, and how far it reaches for an interval at most. */
static const double ROOM = 1.06, WIDEST = 1.6;

struct dot_axis {
	double px; /* of a nanosecond */
	double most;
	double left, width; /* where it begins, and the picture's */
	int rows;
};

static double at(const struct dot_axis *axis, double ns)
{
	return axis->left + fmin(ns, axis->most) * axis->px;
}

uint32_t dots_of(const struct analysis *a, int s, struct arena *arena, const double **ns)
{
	const struct side *side = &a->side[s];
	if (a->verdict.measured == VERDICT_STOPWATCH) {
		double *of = ARENA_NEW(arena, side->headline.n_stopwatch, double);
		for (uint32_t r = 0; side->headline.timed && r < side->headline.n_stopwatch; r++)
			of[r] = view_time(side, side->headline.timed[r]);
		*ns = of;
		return side->headline.timed ? side->headline.n_stopwatch : 0;
	}
	double *of = ARENA_NEW(arena, side->n_runs, double);
	for (uint32_t r = 0; r < side->n_runs; r++) {
		if (!side->runs[r].series)
			return 0;
		of[r] = view_time(side, side->runs[r].series->mean);
	}
	*ns = of;
	return side->n_runs;
}

static void draw_axis(const struct dot_axis *axis, struct arena *arena, xmlNode *svg)
{
	const struct unit unit = format_unit(axis->most);
	const double tick = svg_tick(axis->most, TICKS, NULL), y = TOP + axis->rows * ROW;
	xmlNode *lines = svg_strokes(svg, "grid", "#c3cad1", 1, NULL), *words = svg_filled(svg, "muted", "#555");
	svg_line(lines, axis->left, y, axis->width - VALUE, y);
	for (int i = 0; i * tick <= axis->most; i++) {
		svg_line(lines, at(axis, i * tick), TOP - 8, at(axis, i * tick), y + 4);
		const char *number = arena_format(arena, "%g", i * tick / unit.ns);
		bool last = (i + 1) * tick > axis->most;
		svg_text(words, at(axis, i * tick), y + 17, ANCHOR_MIDDLE,
		         last ? arena_format(arena, "%s %s", number, unit.name) : number);
	}
}

/* What a row of dots shows. */
struct row {
	int at; /* which row, from 0: the baseline's */
	const char *label;
	const double *ns; /* of each run, n of them */
	size_t n;
	double step;
	const char *const *files; /* by run; NULL: none is named */
};

static void draw_row(const struct row *row, const struct dot_axis *axis, struct arena *arena, xmlNode *svg)
{
	const double y = TOP + row->at * ROW;
	xmlNode *dots = svg_filled(svg, row->at ? "after" : "before", row->at ? "#0b6e7d" : "#5c6773");
	svg_attribute(dots, "fill-opacity", "0.75");
	for (size_t i = 0; i < row->n; i++)
		svg_dot(dots, at(axis, row->ns[i]), y, DOT,
		        SAY(NULL, arena, dot, .run = row->n > 1 ? (int64_t)i + 1 : FACT_UNKNOWN,
		            .file = row->files ? row->files[i] : NULL, .time = format_time(arena, row->ns[i])));
	xmlNode *ink = svg_filled(svg, "ink", "#111");
	svg_text(ink, 0, y + 4, ANCHOR_START, row->label);
	svg_attribute(svg_text(ink, axis->width, y + 4, ANCHOR_END, format_short_time(arena, row->step)), "font-weight",
	              "bold");
}

static void draw_runs(const struct analysis *a, const struct dot_axis *axis, int s, struct arena *arena, xmlNode *svg)
{
	const struct side *side = &a->side[s];
	struct row row = {.at = s, .label = side->label, .step = view_time(side, side->headline.step)};
	row.n = dots_of(a, s, arena, &row.ns);
	if (a->verdict.measured != VERDICT_STOPWATCH) {
		const char **files = ARENA_NEW(arena, row.n, const char *);
		for (size_t i = 0; i < row.n; i++)
			files[i] = side->runs[i].file;
		row.files = files;
	}
	draw_row(&row, axis, arena, svg);
}

/* Where a time per step lies, from `low` to `high`. */
static void draw_bar(const struct dot_axis *axis, double low, double high, double y, xmlNode *tone)
{
	const double left = at(axis, low), right = at(axis, high);
	svg_rect(tone, left, y - 4, fmax(right - left, 2), 8, NULL);
	svg_rect(tone, left, y - 8, 2, 16, NULL);
	svg_rect(tone, fmax(right - 2, left), y - 8, 2, 16, NULL);
}

/* What lies left of the baseline's line is faster; the band around it counts as unchanged. */
static void draw_interval(const struct analysis *a, const struct dot_axis *axis, struct arena *arena, xmlNode *svg)
{
	const struct verdict *v = &a->verdict;
	const double before = view_time(&a->side[0], a->side[0].headline.step), y = TOP + 2 * ROW;
	xmlNode *band = svg_filled(svg, "band-same", "#c9d2db"), *tone = svg_filled(svg, "tone", "#3f5b7a");
	double from = at(axis, before / (1 + VERDICT_MARGIN));
	svg_rect(band, from, y - 9, at(axis, before * (1 + VERDICT_MARGIN)) - from, 18, NULL);
	xmlNode *muted = svg_filled(svg, "muted", "#444");
	svg_text(muted, axis->width, y + 4, ANCHOR_END, SAY(NULL, arena, dots_band, .margin = VERDICT_MARGIN));
	xmlNode *lines = svg_strokes(svg, "boundary", "#44505c", 1.2, "3 3");
	svg_line(lines, at(axis, before), TOP, at(axis, before), TOP + ROWS * ROW);
	draw_bar(axis, before / v->hi, before / v->lo, y, tone);
	double asked = gates_asked_speedup(&a->gates);
	xmlNode *ink = svg_filled(svg, "ink", "#111");
	if (asked > 0) {
		const struct fact *gate = FACT_NEW(arena, dots_gate, FACT_NO_SIDE, .asked = gates_times(arena, asked));
		svg_rect(svg_group(svg, "ink"), at(axis, before / asked) - 1, y - 12, 2, 24,
		         say_fact(gate, NULL, arena));
		/* on the side that the baseline's line is not on */
		svg_text(ink, at(axis, before / asked), y + 22, asked > 1 ? ANCHOR_END : ANCHOR_START,
		         say_form(gate, SAY_SHORT, NULL, arena));
	}
	svg_text(ink, 0, y + 4, ANCHOR_START, say_fact(FACT_NEW(arena, dots_interval, FACT_NO_SIDE), NULL, arena));
}

void dots_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	const struct verdict *v = &a->verdict;
	double most = 0;
	for (int s = 0; s < 2; s++) {
		const double *ns;
		uint32_t n = dots_of(a, s, arena, &ns);
		for (uint32_t i = 0; i < n; i++)
			most = fmax(most, ns[i]);
	}
	if (v->has_interval)
		most = fmax(most, fmin(view_time(&a->side[0], a->side[0].headline.step) / v->lo, WIDEST * most));
	const struct dot_axis axis = {most > 0 ? (WIDTH - LABEL - VALUE) / (ROOM * most) : 0, ROOM * most, LABEL, WIDTH,
	                              ROWS};
	xmlNode *svg = svg_picture(parent, WIDTH, TOP + ROWS * ROW + 24,
	                           say_fact(FACT_NEW(arena, dots_title, FACT_NO_SIDE), NULL, arena),
	                           say_fact(FACT_NEW(arena, dots_means, FACT_NO_SIDE), NULL, arena));
	draw_axis(&axis, arena, svg);
	if (v->has_interval)
		draw_interval(a, &axis, arena, svg);
	for (int s = 0; s < 2; s++)
		draw_runs(a, &axis, s, arena, svg);
}

/* Where the axis of variants ends: behind the longest run, and intervals that reach beyond it, but not far. */
static double most_of(const struct variant *list, size_t n)
{
	double longest = 1, most;
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < list[i].n; r++)
			longest = fmax(longest, list[i].run[r]);
	most = longest;
	for (size_t i = 0; i < n; i++)
		if (list[i].has_interval)
			most = fmax(most, fmin(list[0].step / list[i].lo, WIDEST * longest));
	return ROOM * most;
}

void dots_of_variants(const struct variant *list, size_t n, struct arena *arena, xmlNode *parent)
{
	const double most = most_of(list, n);
	const struct dot_axis axis = {(BROAD - NAMED - VALUE) / most, most, NAMED, BROAD, (int)n};
	xmlNode *svg =
		svg_picture(parent, BROAD, TOP + (double)n * ROW + 24,
	                    SAY(NULL, arena, variants_title, .variants = (int64_t)n - 1, .baseline = list[0].name),
	                    SAY(NULL, arena, variants_means, .baseline = list[0].name,
	                        .intervals = variants_any_interval(list, n)));
	svg_attribute(svg, "class", "small");
	draw_axis(&axis, arena, svg);
	xmlNode *tone = svg_filled(svg, "tone", "#3f5b7a"),
		*lines = svg_strokes(svg, "boundary", "#44505c", 1.2, "3 3");
	svg_line(lines, at(&axis, list[0].step), TOP, at(&axis, list[0].step), TOP + (double)n * ROW);
	for (size_t i = 0; i < n; i++) {
		const struct row row = {
			(int)i, svg_fit(arena, list[i].name, NAMED - 8), list[i].run, list[i].n, list[i].step, NULL};
		if (list[i].has_interval)
			draw_bar(&axis, list[0].step / list[i].hi, list[0].step / list[i].lo, TOP + (double)i * ROW,
			         tone);
		draw_row(&row, &axis, arena, svg);
	}
}

/* Values further apart than this are drawn as their logarithms. */
static const double FAR_APART = 8;

/* Where the runs of each variant are drawn. false: a value is no number, or comes twice. */
static bool places(const struct variant *list, size_t n, double x[], bool *logarithms)
{
	double least = INFINITY, most = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		char *end = NULL;
		x[i] = list[i].value ? strtod(list[i].value, &end) : NAN;
		if (!end || *end || !isfinite(x[i]))
			return false;
		for (size_t k = 0; k < i; k++)
			if (x[k] == x[i])
				return false;
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	*logarithms = least > 0 && most >= FAR_APART * least;
	for (size_t i = 0; i < n; i++) {
		double part = *logarithms ? log(x[i] / least) / log(most / least) : (x[i] - least) / (most - least);
		x[i] = LEFT + RIGHT + part * (WIDE - LEFT - 3 * RIGHT);
	}
	return true;
}

static double height(double ns, double most)
{
	return TOP + (HIGH - TOP - BELOW) * (1 - ns / most);
}

static void draw_sweep_axes(const struct variant *list, size_t n, const double x[], const char *name, double most,
                            struct arena *arena, xmlNode *svg)
{
	const struct unit unit = format_unit(most);
	const double tick = svg_tick(most, TICKS, NULL), bottom = height(0, most);
	xmlNode *lines = svg_strokes(svg, "grid", "#c3cad1", 1, NULL), *words = svg_filled(svg, "muted", "#555");
	for (int i = 0; i * tick <= most; i++) {
		svg_line(lines, LEFT, height(i * tick, most), WIDE - RIGHT, height(i * tick, most));
		svg_text(words, LEFT - 8, height(i * tick, most) + 4, ANCHOR_END,
		         arena_format(arena, "%g %s", i * tick / unit.ns, unit.name));
	}
	for (size_t i = 0; i < n; i++) {
		svg_line(lines, x[i], bottom, x[i], bottom + 5);
		svg_text(words, x[i], bottom + 19, ANCHOR_MIDDLE, svg_fit(arena, list[i].value, RIGHT));
	}
	svg_text(words, WIDE / 2.0, bottom + 40, ANCHOR_MIDDLE, svg_fit(arena, name, WIDE / 2.0));
}

/* From each variant to the one with the next larger value. */
static void draw_course(const struct variant *list, size_t n, const double x[], double most, xmlNode *svg)
{
	xmlNode *lines = svg_strokes(svg, "after", "#0b6e7d", 1.5, NULL);
	for (size_t i = 0; i < n; i++) {
		size_t next = i;
		for (size_t k = 0; k < n; k++)
			if (x[k] > x[i] && (next == i || x[k] < x[next]))
				next = k;
		if (next != i)
			svg_line(lines, x[i], height(list[i].step, most), x[next], height(list[next].step, most));
	}
}

bool dots_of_sweep(const struct variant *list, size_t n, const char *parameter, struct arena *arena, xmlNode *parent)
{
	double x[VARIANTS_MOST];
	const double most = most_of(list, n);
	bool logarithms;
	if (!places(list, n, x, &logarithms))
		return false;
	xmlNode *svg = svg_picture(parent, WIDE, HIGH, SAY(NULL, arena, sweep_title, .parameter = parameter),
	                           SAY(NULL, arena, variants_means, .baseline = list[0].name,
	                               .intervals = variants_any_interval(list, n)));
	draw_sweep_axes(list, n, x, SAY(NULL, arena, sweep_axis, .parameter = parameter, .logarithms = logarithms),
	                most, arena, svg);
	draw_course(list, n, x, most, svg);
	xmlNode *tone = svg_filled(svg, "tone", "#3f5b7a");
	for (size_t i = 0; i < n; i++) {
		xmlNode *dots = svg_filled(svg, i ? "after" : "before", i ? "#0b6e7d" : "#5c6773");
		svg_attribute(dots, "fill-opacity", "0.75");
		for (size_t r = 0; r < list[i].n; r++)
			svg_dot(dots, x[i], height(list[i].run[r], most), DOT,
			        SAY(NULL, arena, dot, .run = (int64_t)r + 1, .file = NULL,
			            .time = format_time(arena, list[i].run[r])));
		if (!list[i].has_interval)
			continue;
		const double high = height(fmin(list[0].step / list[i].lo, most), most),
			     low = height(list[0].step / list[i].hi, most);
		svg_rect(tone, x[i] + FROM_LINE - 1, high, 3, fmax(low - high, 2), NULL);
		svg_rect(tone, x[i] + FROM_LINE - 5, high, 11, 2, NULL);
		svg_rect(tone, x[i] + FROM_LINE - 5, fmax(low - 2, high), 11, 2, NULL);
	}
	return true;
}
