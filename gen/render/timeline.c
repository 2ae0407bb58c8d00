#include "render/timeline.h"

#include "render/format.h"
#include "render/lane.h"
#include "render/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 1200,
	GUTTER = 152, /* for the lanes' labels */
	MOST_CALL_LANES = 3,
	MOST_STREAMS = 6,
	MOST_DEVICES = TIMELINE_DEVICES,
	MOST_LANES = 2 + MOST_CALL_LANES + MOST_DEVICES * (MOST_STREAMS + 1),
	LABELLED = 45,     /* pixels from which on a gap has room for words */
	MOST_HOVERS = 2200 /* rectangles with a text of their own in the whole picture */
};

struct drawing {
	const struct analysis *a;
	struct arena *arena;
	xmlNode *svg;
	struct axis axis;
	double y;
	struct lane lanes[2][MOST_LANES];
	uint32_t n_lanes[2];
	double top[2], bottom[2];
	double seen[SHADE_COUNT]; /* ns in the lanes, for the legend */
};

static struct lane *add_lane(struct drawing *d, int side, enum lane_kind kind, const char *label, uint32_t n)
{
	static const double height[] = {[LANE_PHASES] = 22, [LANE_CALLS] = 12, [LANE_STREAM] = 16, [LANE_GAPS] = 40};
	struct lane *lane = &d->lanes[side][d->n_lanes[side]++];
	*lane = (struct lane){.kind = kind, .label = label, .y = d->y, .height = height[kind]};
	lane->segments = ARENA_NEW(d->arena, n, struct segment);
	d->y += height[kind] + (kind == LANE_GAPS ? 10 : 4);
	return lane;
}

static void add_segment(struct drawing *d, struct lane *lane, struct segment segment)
{
	lane->segments[lane->n++] = segment;
	if (lane->kind != LANE_PHASES)
		d->seen[segment.which] += (double)(segment.end - segment.start);
}

/* Neighbouring phases differ in shade, and a phase has the same one in every step. */
static void add_phases(struct drawing *d, int side, const struct timeline *t)
{
	if (!t->n_phases)
		return;
	struct lane *lane = add_lane(d, side, LANE_PHASES, "phases (host)", t->n_phases);
	uint32_t *known = ARENA_NEW(d->arena, t->n_phases, uint32_t), n_known = 0;
	for (uint32_t i = 0; i < t->n_phases; i++) {
		const struct span *s = &t->phases[i];
		uint32_t k = 0;
		while (k < n_known && known[k] != s->name)
			k++;
		if (k == n_known && n_known < 64)
			known[n_known++] = s->name;
		add_segment(
			d, lane,
			(struct segment){s->start, s->end, k % 2 ? SHADE_PHASE_B : SHADE_PHASE_A, s->name, 0, 0, 0});
	}
}

/* Threads of several processes often have the same name; then their number tells them apart. */
static const char *call_label(struct drawing *d, const struct timeline *t, uint32_t at)
{
	const struct call_lane *lane = &t->calls[at];
	const char *name = lane->thread_name ? names_text(d->a->names, lane->thread_name) : "thread";
	bool alone = true;
	for (uint32_t i = 0; i < t->n_calls; i++)
		alone = alone && (i == at || t->calls[i].thread_name != lane->thread_name);
	if (alone)
		return arena_format(d->arena, "CUDA calls, %s", svg_fit(d->arena, name, GUTTER - 80));
	const char *label = arena_format(d->arena, "CUDA calls, %s %lld", name, (long long)lane->tid);
	return svg_text_width(label) <= GUTTER - 8
	               ? label
	               : arena_format(d->arena, "CUDA calls, tid %lld", (long long)lane->tid);
}

/* The step thread's lane comes first; the others by the number of their calls, and those for which there is no room
 * share the last lane. */
static void add_calls(struct drawing *d, int side, const struct timeline *t)
{
	uint32_t *order = ARENA_NEW(d->arena, t->n_calls, uint32_t);
	for (uint32_t i = 0; i < t->n_calls; i++) {
		const struct call_lane *lane = &t->calls[i];
		uint32_t at = i;
		for (; at > 0; at--) {
			const struct call_lane *before = &t->calls[order[at - 1]];
			if (before->step_thread || (!lane->step_thread && before->n_calls >= lane->n_calls))
				break;
			order[at] = order[at - 1];
		}
		order[at] = i;
	}
	for (uint32_t i = 0; i < t->n_calls;) {
		uint32_t end = i + 1 == MOST_CALL_LANES ? t->n_calls : i + 1, n = 0;
		for (uint32_t k = i; k < end; k++)
			n += t->calls[order[k]].n_calls;
		const char *label = end - i > 1 ? arena_format(d->arena, "CUDA calls, %u threads", end - i)
		                                : call_label(d, t, order[i]);
		struct lane *lane = add_lane(d, side, LANE_CALLS, label, n);
		for (; i < end; i++)
			for (uint32_t k = 0; k < t->calls[order[i]].n_calls; k++) {
				const struct call_span *s = &t->calls[order[i]].calls[k];
				add_segment(d, lane,
				            (struct segment){s->start, s->end, palette_of_call(s->class), s->name, 0, 0,
				                             0});
			}
	}
}

static void add_stream(struct drawing *d, struct lane *lane, const struct stream_lane *stream)
{
	for (uint32_t i = 0; i < stream->n_ops; i++) {
		const struct op_span *s = &stream->ops[i];
		add_segment(d, lane,
		            (struct segment){s->start, s->end, palette_of_op(s->kind), s->name, s->phase, 0, 0});
	}
}

static void add_device(struct drawing *d, int side, const struct device_lanes *device, bool several)
{
	const char *gpu = several ? arena_format(d->arena, "GPU %u", device->device) : "GPU";
	for (uint32_t i = 0; i < device->n_streams;) {
		uint32_t end = i + 1 == MOST_STREAMS ? device->n_streams : i + 1, n = 0;
		for (uint32_t k = i; k < end; k++)
			n += device->streams[k].n_ops;
		const char *label = end - i > 1
		                            ? arena_format(d->arena, "%s, %u streams", gpu, end - i)
		                            : arena_format(d->arena, "%s, stream %u", gpu, device->streams[i].stream);
		struct lane *lane = add_lane(d, side, LANE_STREAM, label, n);
		for (; i < end; i++)
			add_stream(d, lane, &device->streams[i]);
	}
	struct lane *lane =
		add_lane(d, side, LANE_GAPS, arena_format(d->arena, "%s idle, by cause", gpu), device->n_pieces);
	bool labels = false;
	for (uint32_t g = 0; g < device->n_gaps; g++)
		for (uint32_t p = 0; p < device->gaps[g].n_pieces; p++) {
			const struct gap_piece *s = &device->pieces[device->gaps[g].first_piece + p];
			add_segment(d, lane,
			            (struct segment){s->start, s->end, (int)s->cause, 0, s->phase, s->call, g});
			labels = labels || (double)(s->end - s->start) * d->axis.px >= LABELLED;
		}
	if (!labels) { /* nothing to write: half the height will do */
		d->y -= lane->height / 2;
		lane->height /= 2;
	}
}

/* ---- what stands around the lanes ---- */

static void draw_steps(struct drawing *d, int side)
{
	const struct side *s = &d->a->side[side];
	const struct timeline *t = &s->timeline;
	double top = d->top[side], bottom = d->bottom[side];
	xmlNode *lines = svg_strokes(d->svg, "boundary", "#555", 1.2, "4 3");
	xmlNode *text = svg_group(d->svg, "ink");
	svg_attribute(text, "fill", "#333");
	for (uint32_t i = 0; i < t->n_boundaries; i++) {
		double x = d->axis.x + (double)t->boundary[i] * d->axis.px;
		svg_line(lines, x, top + 18, x, bottom);
		if (i + 1 == t->n_boundaries)
			break;
		double room = (double)(t->boundary[i + 1] - t->boundary[i]) * d->axis.px;
		const char *time = format_time(d->arena, (double)(t->boundary[i + 1] - t->boundary[i]));
		const char *label = s->steps_found ? arena_format(d->arena, "step %u: %s", t->first_step + i, time)
		                                   : arena_format(d->arena, "whole run: %s", time);
		if (svg_text_width(label) > room)
			label = svg_text_width(time) <= room ? time : "";
		if (*label)
			svg_text(text, x + room / 2, top + 30, ANCHOR_MIDDLE, label);
	}
}

/* "the same 3 steps: 96.3 ms less", in the room that the shorter side leaves. */
static void draw_saving(struct drawing *d)
{
	const struct timeline *t[2] = {&d->a->side[0].timeline, &d->a->side[1].timeline};
	int shorter = t[1]->length <= t[0]->length ? 1 : 0;
	if (t[0]->n_boundaries != t[1]->n_boundaries || t[0]->n_boundaries < 2 || !d->a->side[0].steps_found ||
	    !d->a->side[1].steps_found)
		return;
	double less = (double)(t[!shorter]->length - t[shorter]->length);
	double x = d->axis.x + (double)t[shorter]->length * d->axis.px, room = less * d->axis.px;
	unsigned steps = t[0]->n_boundaries - 1;
	const char *text = arena_format(d->arena, "%s in %s less",
	                                steps == 1 ? "1 step" : arena_format(d->arena, "%u steps", steps),
	                                format_time(d->arena, less));
	if (svg_text_width(text) + 30 > room)
		return;
	double y = (d->top[shorter] + d->bottom[shorter]) / 2 + 8;
	xmlNode *arrow = svg_strokes(d->svg, "boundary", "#555", 1.2, NULL);
	svg_path(arrow, arena_format(d->arena, "M%.1f %.1fH%.1fm7-4l-7 4l7 4", x + room - 2, y, x + 4));
	xmlNode *label = svg_group(d->svg, "ink");
	svg_attribute(label, "fill", "#333");
	svg_text(label, x + room / 2, y - 8, ANCHOR_MIDDLE, text);
}

static void draw_axis(struct drawing *d, double top, double bottom)
{
	double tick = svg_tick((double)d->axis.length, 10);
	struct unit unit = format_unit((double)d->axis.length);
	unit.decimals = tick >= unit.ns ? 0 : (int)ceil(log10(unit.ns / tick));
	xmlNode *grid = svg_strokes(d->svg, "grid", "#d8dde2", 1, NULL);
	xmlNode *text = svg_group(d->svg, "muted");
	svg_attribute(text, "fill", "#555");
	for (double t = 0; t <= (double)d->axis.length; t += tick) {
		double x = d->axis.x + t * d->axis.px;
		svg_line(grid, x, top, x, bottom + 4);
		svg_text(text, x, bottom + 17, ANCHOR_MIDDLE, format_number(d->arena, unit, t));
	}
	svg_text(text, 4, bottom + 17, ANCHOR_START, arena_format(d->arena, "time, %s", unit.name));
}

static void draw_lanes(struct drawing *d, int side, double least)
{
	xmlNode *labels = svg_group(d->svg, "muted"), *floor = svg_strokes(d->svg, "grid", "#c3cad1", 1, NULL);
	svg_attribute(labels, "fill", "#555");
	double right = d->axis.x + (double)d->a->side[side].timeline.length * d->axis.px;
	for (uint32_t i = 0; i < d->n_lanes[side]; i++) {
		const struct lane *lane = &d->lanes[side][i];
		xmlNode *label = svg_text(labels, 4, lane->y + lane->height / 2 + 4, ANCHOR_START, lane->label);
		if (lane->kind == LANE_GAPS)
			svg_attribute(label, "font-weight", "bold");
		svg_line(floor, d->axis.x, lane->y + lane->height + 0.5, right, lane->y + lane->height + 0.5);
		struct axis axis = d->axis;
		axis.length = d->a->side[side].timeline.length;
		lane_draw(d->a, lane, &axis, least, d->arena, d->svg);
	}
}

static double hover_width(const struct drawing *d)
{
	for (double least = 3;; least *= 1.5) {
		uint32_t n = 0;
		for (int side = 0; side < 2; side++)
			for (uint32_t i = 0; i < d->n_lanes[side]; i++)
				n += lane_count(&d->lanes[side][i], &d->axis, least);
		if (n <= MOST_HOVERS)
			return least;
	}
}

static double draw_legend(struct drawing *d, double y)
{
	int which[SHADE_COUNT + 1], n = 0;
	for (int i = SHADE_COMPUTE; i <= SHADE_COPY; i++)
		if (d->seen[i] * d->axis.px >= 1)
			which[n++] = i;
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (d->seen[i] * d->axis.px >= 1)
			which[n++] = i;
	which[n] = -1;
	return svg_legend(d->svg, 4, y, WIDTH - 8, which);
}

static const char *describe(struct arena *arena, const struct analysis *a)
{
	const char *text = "";
	for (int s = 0; s < 2; s++)
		text = arena_format(arena, "%s%s: %s a %s, of which the GPU is idle for %s. ", text, a->side[s].label,
		                    format_time(arena, a->side[s].budget.period), view_unit(&a->side[s]),
		                    format_time(arena, a->side[s].budget.idle));
	return text;
}

static void add_side(struct drawing *d, int side)
{
	const struct timeline *t = &d->a->side[side].timeline;
	d->top[side] = d->y;
	d->y += 38;
	add_phases(d, side, t);
	add_calls(d, side, t);
	for (uint32_t i = 0; i < t->n_devices && i < MOST_DEVICES; i++)
		add_device(d, side, &t->devices[i], t->n_devices > 1);
	d->bottom[side] = d->y - 8;
	d->y += 8;
}

static void draw_heading(struct drawing *d, int side)
{
	xmlNode *text = svg_group(d->svg, "ink");
	svg_attribute(text, "fill", "#111");
	xmlNode *heading = svg_text(text, 4, d->top[side] + 30, ANCHOR_START, d->a->side[side].label);
	svg_attribute(heading, "font-weight", "bold");
	svg_number(heading, "font-size", 15);
}

void timeline_draw(const struct analysis *a, struct arena *arena, xmlNode *parent)
{
	struct drawing *d = ARENA_NEW(arena, 1, struct drawing);
	int64_t length = a->side[0].timeline.length > a->side[1].timeline.length ? a->side[0].timeline.length
	                                                                         : a->side[1].timeline.length;
	*d = (struct drawing){.a = a, .arena = arena};
	d->axis = (struct axis){.x = GUTTER, .width = WIDTH - GUTTER - 24, .length = length > 0 ? length : 1};
	d->axis.px = d->axis.width / (double)d->axis.length;
	d->svg = svg_picture(parent, WIDTH, 100, "GPU idle gaps, baseline above fixed, on one time scale",
	                     describe(arena, a));
	svg_patterns(d->svg);
	add_side(d, 0);
	add_side(d, 1);
	draw_axis(d, 20, d->y);
	double least = hover_width(d);
	for (int side = 0; side < 2; side++) {
		draw_heading(d, side);
		draw_lanes(d, side, least);
		draw_steps(d, side);
	}
	draw_saving(d);
	svg_resize(d->svg, WIDTH, d->y + 30 + draw_legend(d, d->y + 30));
}
