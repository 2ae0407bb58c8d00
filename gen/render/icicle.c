#include "render/pictures.h"

#include "base/buf.h"
#include "render/view.h"
#include "result/say.h"
#include "say/say.h"

#include <math.h>

enum {
	WIDTH = 1200,
	EDGE = 2,
	HEADER = 22, /* of a side */
	ROW = 19,
	BETWEEN = 16,
	LABELLED = 34, /* a frame that is so wide has its name on it */
	NAME = 120,    /* characters of a name in what a pointer shows */
	CALLERS = 24   /* of those that stand in one place */
};
static const double THINNEST = 0.7;

/* Light enough for dark names on them, in every theme; told apart by a mark before the name, too. */
static const struct {
	const char *fill, *mark;
} change_look[] = {[STACK_SAME] = {"#d6d6d6", ""},
                   [STACK_LESS] = {"#bfe0f2", "\xE2\x96\xBC "},
                   [STACK_MUCH_LESS] = {"#6fbbe8", "\xE2\x96\xBC "},
                   [STACK_MORE] = {"#f8d9ae", "\xE2\x96\xB2 "},
                   [STACK_MUCH_MORE] = {"#efaa3c", "\xE2\x96\xB2 "}};

static bool is_cause(const struct stack_part *part)
{
	return part->parent == TRACE_NONE;
}

static const char *name_of(const struct analysis *a, const struct stack_part *part, unsigned most, struct arena *arena)
{
	if (is_cause(part))
		return arena_format(arena, "%s%s", cause_label(part->cause), view_in_phase(a, part->phase, arena));
	return say_function(a->names, &part->function, most, arena);
}

/* Everything that stands in the place, the outermost first. */
static const char *whole_name(const struct analysis *a, const struct stack_part *part, unsigned most,
                              struct arena *arena)
{
	BUF_LOCAL(text);
	for (uint32_t i = 0; i < part->n_callers; i++) {
		bool middle = part->n_callers > CALLERS && i >= CALLERS / 2 && i < part->n_callers - CALLERS / 2;
		if (middle && i > CALLERS / 2)
			continue;
		buf_format(&text, "%s \xE2\x86\x92 ",
		           middle ? "\xE2\x80\xA6" : say_function(a->names, &part->callers[i], most, arena));
	}
	buf_text(&text, name_of(a, part, most, arena));
	return arena_copy(arena, text.data, text.n);
}

static const char *hover_of(const struct analysis *a, const struct stack_part *part, int s, struct unit unit,
                            struct arena *arena)
{
	const struct functions *f = &a->functions;
	const char *name = whole_name(a, part, NAME, arena), *module = NULL;
	if (part->function.kind == FRAME_NAMED && part->function.module && !is_cause(part))
		module = format_name(arena, names_text(a->names, part->function.module), 60);
	const char *both[2], *time;
	for (int i = 0; i < 2; i++)
		both[i] = part->time[i] <= 0 && part->untold[i] > 0 ? "\xE2\x80\x93"
		                                                    : format_number(arena, unit, part->time[i]);
	time = f->both ? arena_format(arena, "%s \xE2\x86\x92 %s", both[0], both[1]) : both[s];
	return SAY(NULL, arena, stack_part_is, .name = name, .module = module, .time = time, .unit = unit.name,
	           .per = view_per(a), .share = f->drawn[s] > 0 ? part->time[s] / f->drawn[s] : 0,
	           .samples = part->samples[s]);
}

/* That there are no symbols is said where there is room for it. */
static const char *short_name(const struct analysis *a, const struct stack_part *part, struct arena *arena)
{
	if (!is_cause(part) && part->function.kind == FRAME_MODULE)
		return arena_format(arena, "[%s]", names_text(a->names, part->function.module));
	return name_of(a, part, 60, arena);
}

/* The whole name where there is room for it, else its end, which says what is done. */
static const char *label_of(const struct analysis *a, const struct stack_part *part, double width, struct arena *arena)
{
	const char *mark = change_look[part->change].mark, *own = short_name(a, part, arena);
	if (part->n_callers) {
		const char *all = arena_format(arena, "%s%s", mark, whole_name(a, part, 40, arena));
		if (svg_text_width(all) <= width)
			return all;
		const char *end = arena_format(arena, "%s\xE2\x80\xA6 \xE2\x86\x92 %s", mark, own);
		if (svg_text_width(end) <= width)
			return end;
	}
	bool fits = svg_text_width(own) <= width;
	if (!fits && (part->function.kind == FRAME_UNKNOWN || part->function.kind == FRAME_BROKEN))
		return "";
	return svg_fit(arena, arena_format(arena, "%s%s", mark, own), width);
}

static double draw_side(const struct analysis *a, int s, struct unit unit, double y, struct arena *arena, xmlNode *svg)
{
	const struct functions *f = &a->functions;
	double scale = f->width > 0 ? (WIDTH - 2 * EDGE) / f->width : 0, bottom = y;
	xmlNode *ink = svg_filled(svg, "ink", "#222");
	svg_attribute(svg_text(ink, EDGE + 2, y + 13, ANCHOR_START, view_side(&a->side[s], arena)), "font-weight",
	              "bold");
	svg_text(ink, WIDTH - EDGE - 2, y + 13, ANCHOR_END,
	         arena_format(arena, "%s %s %s", format_number(arena, unit, f->drawn[s]), unit.name,
	                      say_word(WORDS_each, view_unit(&a->side[s]))));
	xmlNode *frames = svg_group(svg, NULL), *labels = svg_filled(svg, NULL, "#111");
	svg_attribute(frames, "stroke", "#fff");
	svg_number(frames, "stroke-width", 0.6);
	svg_attribute(labels, "pointer-events", "none");
	svg_number(labels, "font-size", SVG_SMALL);
	for (uint32_t i = 0; i < f->n_parts; i++) {
		const struct stack_part *part = &f->part[i];
		double width = part->time[s] * scale, x = EDGE + part->start[s] * scale;
		double top = y + HEADER + part->depth * ROW;
		if (width < THINNEST)
			continue;
		xmlNode *rect = svg_rect(frames, x, top, width, ROW - 1, hover_of(a, part, s, unit, arena));
		svg_attribute(rect, "fill", change_look[part->change].fill);
		const char *label = width >= LABELLED ? label_of(a, part, width - 6, arena) : "";
		if (*label) {
			xmlNode *text = svg_text(labels, x + 3, top + 13, ANCHOR_START, label);
			if (is_cause(part))
				svg_attribute(text, "font-weight", "bold");
		}
		bottom = fmax(bottom, top + ROW);
	}
	svg_drop_empty(labels);
	svg_drop_empty(frames);
	return bottom + BETWEEN;
}

static double draw_legend(double y, xmlNode *svg)
{
	double x = EDGE;
	xmlNode *muted = svg_filled(svg, "muted", "#555");
	for (size_t i = 0; i < sizeof change_look / sizeof *change_look; i++) {
		svg_attribute(svg_rect(svg, x, y, 14, 12, NULL), "fill", change_look[i].fill);
		const char *label = say_listed(WORDS_stack_change, (unsigned)i)->word;
		svg_text(muted, x + 18, y + 10, ANCHOR_START, label);
		x += 18 + svg_text_width(label) + 18;
	}
	return y + 22;
}

void icicle_draw(const struct analysis *a, struct unit unit, struct arena *arena, xmlNode *parent)
{
	const struct functions *f = &a->functions;
	xmlNode *svg = svg_picture(parent, WIDTH, 100, say_word(WORDS_caption, "functions"),
	                           say_word(WORDS_heading, "stacks"));
	double y = 0;
	for (uint32_t s = 0; s < a->n_sides; s++)
		if (f->both || f->side[s].idle > 0)
			y = draw_side(a, (int)s, unit, y, arena, svg);
	if (f->both)
		y = draw_legend(y, svg);
	svg_resize(svg, WIDTH, y);
}
