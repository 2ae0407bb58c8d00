#include "render/pictures.h"

#include "base/format.h"
#include "render/sections.h"
#include "render/view.h"
#include "say/say.h"

enum { FEW_DEVICES = 2 }; /* up to so many have a lane for each stream and each direction of copies */

struct builder {
	const struct analysis *a;
	const struct side *side;
	struct arena *arena;
	struct lanes *lanes;
	const char *host; /* "rank 5, ": whose phases and calls they are; "": everybody's */
};

static struct lane *add_lane(struct builder *b, enum lane_kind kind, const char *label, uint32_t device, uint32_t n)
{
	struct lane *lane = &b->lanes->lane[b->lanes->n++];
	*lane = (struct lane){.kind = kind, .label = label, .device = device};
	lane->segments = ARENA_NEW(b->arena, n, struct segment);
	return lane;
}

/* Neighbouring phases differ in shade, and a phase has the same one in every step. */
static void add_phases(struct builder *b, const struct timeline *t)
{
	if (!t->n_phases)
		return;
	struct lane *lane =
		add_lane(b, LANE_PHASES, arena_format(b->arena, "%s%s", b->host, say_word(WORDS_picture, "phases")), 0,
	                 t->n_phases);
	uint32_t known[64], n_known = 0;
	for (uint32_t i = 0; i < t->n_phases; i++) {
		const struct span *s = &t->phases[i];
		uint32_t k = 0;
		while (k < n_known && known[k] != s->name)
			k++;
		if (k == n_known && n_known < sizeof known / sizeof *known)
			known[n_known++] = s->name;
		lane->segments[lane->n++] = (struct segment){.start = s->start,
		                                             .end = s->end,
		                                             .which = k % 2 ? SHADE_PHASE_B : SHADE_PHASE_A,
		                                             .name = s->name,
		                                             .launch_start = -1,
		                                             .launch_end = -1};
	}
}

/* ---- CUDA calls ---- */

/* Threads of several processes often have the same name; then their number tells them apart. */
static const char *call_label(struct builder *b, const struct timeline *t, uint32_t at)
{
	const struct call_lane *lane = &t->calls[at];
	const char *name = lane->thread_name ? names_text(b->a->names, lane->thread_name) : "thread";
	bool alone = true;
	for (uint32_t i = 0; i < t->n_calls; i++)
		alone = alone && (i == at || t->calls[i].thread_name != lane->thread_name);
	const char *label = SAY(NULL, b->arena, lane_calls, .host = b->host, .named = true,
	                        .thread = alone ? svg_fit(b->arena, name, LANES_LABEL - 72) : name,
	                        .tid = alone ? FACT_UNKNOWN : (int64_t)lane->tid, .threads = 1);
	return svg_text_width(label) <= LANES_LABEL || (alone && !*b->host)
	               ? label
	               : SAY(NULL, b->arena, lane_calls, .host = b->host,
	                     .tid = alone ? FACT_UNKNOWN : (int64_t)lane->tid, .threads = 1);
}

/* The step thread's lane comes first; the others by the number of their calls. */
static uint32_t *order_calls(struct builder *b, const struct timeline *t)
{
	uint32_t *order = ARENA_NEW(b->arena, t->n_calls, uint32_t);
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
	return order;
}

static void add_calls(struct builder *b, const struct timeline *t)
{
	uint32_t *order = order_calls(b, t);
	for (uint32_t i = 0; i < t->n_calls;) {
		uint32_t end = i + 1 == LANES_CALLS ? t->n_calls : i + 1, n = 0;
		for (uint32_t k = i; k < end; k++)
			n += t->calls[order[k]].n_calls;
		const char *label = end - i > 1 ? SAY(NULL, b->arena, lane_calls, .host = b->host, .tid = FACT_UNKNOWN,
		                                      .threads = end - i)
		                                : call_label(b, t, order[i]);
		struct lane *lane = add_lane(b, LANE_CALLS, label, 0, n);
		for (; i < end; i++)
			for (uint32_t k = 0; k < t->calls[order[i]].n_calls; k++) {
				const struct call_span *s = &t->calls[order[i]].calls[k];
				lane->segments[lane->n++] =
					(struct segment){.start = s->start,
				                         .end = s->end,
				                         .which = s->class == CALL_SYNC ? SHADE_WAIT : SHADE_CALL,
				                         .name = s->name,
				                         .launch_start = -1,
				                         .launch_end = -1};
			}
	}
}

/* ---- GPUs ---- */

enum direction { TO_DEVICE, TO_HOST, ON_DEVICE, DIRECTIONS };

static bool is_copy(const struct op_span *op)
{
	return op->kind == OP_COPY || op->kind == OP_MEMSET;
}

static enum direction direction_of(const struct op_span *op)
{
	switch (op->kind == OP_MEMSET ? COPY_UNKNOWN : op->copy) {
	case COPY_H2D:
	case COPY_H2A:
	case COPY_UM_H2D:
		return TO_DEVICE;
	case COPY_D2H:
	case COPY_A2H:
	case COPY_UM_D2H:
		return TO_HOST;
	default:
		return ON_DEVICE;
	}
}

static void add_op(struct lane *lane, const struct op_span *s, uint32_t stream)
{
	lane->segments[lane->n++] = (struct segment){.start = s->start,
	                                             .end = s->end,
	                                             .which = palette_of_op(s->kind),
	                                             .name = s->name,
	                                             .phase = s->phase,
	                                             .stream = stream,
	                                             .launch_start = s->launch_start,
	                                             .launch_end = s->launch_end};
}

static uint32_t count_kernels(const struct stream_lane *stream)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < stream->n_ops; i++)
		n += !is_copy(&stream->ops[i]);
	return n;
}

static void add_streams(struct builder *b, const struct device_lanes *device, const char *gpu)
{
	uint32_t *busy = ARENA_NEW(b->arena, device->n_streams, uint32_t), n_busy = 0; /* streams that run kernels */
	for (uint32_t i = 0; i < device->n_streams; i++)
		if (count_kernels(&device->streams[i]))
			busy[n_busy++] = i;
	for (uint32_t i = 0; i < n_busy;) {
		uint32_t end = i + 1 == LANES_STREAMS ? n_busy : i + 1, n = 0;
		for (uint32_t k = i; k < end; k++)
			n += count_kernels(&device->streams[busy[k]]);
		const char *label = SAY(NULL, b->arena, lane_streams, .gpu = gpu, .streams = end - i,
		                        .stream = device->streams[busy[i]].stream);
		struct lane *lane = add_lane(b, LANE_STREAM, label, device->device, n);
		for (; i < end; i++) {
			const struct stream_lane *stream = &device->streams[busy[i]];
			for (uint32_t k = 0; k < stream->n_ops; k++)
				if (!is_copy(&stream->ops[k]))
					add_op(lane, &stream->ops[k], stream->stream);
		}
	}
}

static void add_copies(struct builder *b, const struct device_lanes *device, const char *gpu)
{
	static const char *const label[DIRECTIONS] = {"copies_h2d", "copies_d2h", "copies"};
	for (int d = 0; d < DIRECTIONS; d++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < device->n_streams; i++)
			for (uint32_t k = 0; k < device->streams[i].n_ops; k++) {
				const struct op_span *op = &device->streams[i].ops[k];
				n += is_copy(op) && (int)direction_of(op) == d;
			}
		if (!n)
			continue;
		struct lane *lane = add_lane(b, LANE_COPIES,
		                             arena_format(b->arena, "%s, %s", gpu, say_word(WORDS_picture, label[d])),
		                             device->device, n);
		for (uint32_t i = 0; i < device->n_streams; i++)
			for (uint32_t k = 0; k < device->streams[i].n_ops; k++) {
				const struct op_span *op = &device->streams[i].ops[k];
				if (is_copy(op) && (int)direction_of(op) == d)
					add_op(lane, op, device->streams[i].stream);
			}
	}
}

/* Where there are many GPUs, everything that one of them runs shares a lane. */
static void add_ops(struct builder *b, const struct device_lanes *device, const char *gpu)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < device->n_streams; i++)
		n += device->streams[i].n_ops;
	struct lane *lane =
		add_lane(b, LANE_STREAM, arena_format(b->arena, "%s, %s", gpu, say_word(WORDS_picture, "at_work")),
	                 device->device, n);
	for (uint32_t i = 0; i < device->n_streams; i++)
		for (uint32_t k = 0; k < device->streams[i].n_ops; k++)
			add_op(lane, &device->streams[i].ops[k], device->streams[i].stream);
}

static void add_gaps(struct builder *b, const struct device_lanes *device, const char *gpu)
{
	struct lane *lane =
		add_lane(b, LANE_GAPS, arena_format(b->arena, "%s %s", gpu, say_word(WORDS_picture, "idle")),
	                 device->device, device->n_pieces);
	struct unit unit = view_table_unit(b->a);
	lane->note = arena_format(b->arena, "%s %s %s",
	                          format_number(b->arena, unit, b->side->devices[device->device].budget.idle),
	                          unit.name, say_word(WORDS_each, view_unit(b->side)));
	for (uint32_t g = 0; g < device->n_gaps; g++)
		for (uint32_t p = 0; p < device->gaps[g].n_pieces; p++) {
			const struct gap_piece *s = &device->pieces[device->gaps[g].first_piece + p];
			lane->segments[lane->n++] = (struct segment){.start = s->start,
			                                             .end = s->end,
			                                             .which = (int)s->cause,
			                                             .phase = s->phase,
			                                             .call = s->call,
			                                             .group = g,
			                                             .launch_start = -1,
			                                             .launch_end = -1};
		}
}

/* What a counter shows is in the colours of what it belongs to. Issued instructions are in the table. */
static void add_metrics(struct builder *b, const struct device_lanes *device, const char *gpu, bool few)
{
	for (uint32_t i = 0; i < device->n_metrics; i++) {
		const struct metric_lane *m = &device->metrics[i];
		if (m->metric == METRIC_SM_ISSUE || (!few && m->metric != METRIC_SM_ACTIVE))
			continue;
		struct lane *lane =
			add_lane(b, LANE_METRIC, arena_format(b->arena, "%s, %s, %%", gpu, metric_label(m->metric)),
		                 device->device, m->n);
		lane->note = hardware_missing(m->known, b->arena);
		for (uint32_t k = 0; k < m->n; k++)
			lane->segments[lane->n++] =
				(struct segment){.start = m->spans[k].start,
			                         .end = m->spans[k].end,
			                         .which = m->metric <= METRIC_TENSOR ? SHADE_COMPUTE : SHADE_COPY,
			                         .level = m->spans[k].percent < 100 ? m->spans[k].percent / 100 : 1,
			                         .launch_start = -1,
			                         .launch_end = -1};
	}
}

static bool is_minor(const struct lane *lane, int64_t length)
{
	double busy = 0, least = lane->kind == LANE_COPIES || lane->kind == LANE_METRIC ? 0.005 : 0.001;
	for (uint32_t k = 0; k < lane->n; k++)
		busy += (double)(lane->segments[k].end - lane->segments[k].start) *
		        (lane->kind == LANE_METRIC ? lane->segments[k].level : 1);
	return busy < least * (double)length && lane->kind != LANE_GAPS && lane->kind != LANE_PHASES;
}

struct step_label lanes_step(const struct analysis *a, int side, uint32_t i, struct arena *arena)
{
	const struct side *s = &a->side[side];
	const struct timeline *t = &s->timeline;
	const char *time = format_time(arena, (double)(t->boundary[i + 1] - t->boundary[i]));
	return (struct step_label){
		SAY(NULL, arena, step_drawn, .run = !s->steps.found, .step = t->first_step + i, .time = time), time};
}

const char *lanes_saving(const struct analysis *a, int *side, struct arena *arena)
{
	const struct timeline *t[2] = {&a->side[0].timeline, &a->side[1].timeline};
	*side = a->n_sides > 1 && t[1]->length <= t[0]->length ? 1 : 0;
	if (a->n_sides < 2 || t[0]->n_boundaries != t[1]->n_boundaries || t[0]->n_boundaries < 2 ||
	    !a->side[0].steps.found || !a->side[1].steps.found)
		return NULL;
	const char *less = format_time(arena, (double)(t[!*side]->length - t[*side]->length));
	uint32_t steps = t[0]->n_boundaries - 1;
	return SAY(NULL, arena, steps_take_less, .steps = steps, .time = less);
}

/* "rank 5" where the ranks' numbers are known, one GPU each; else "GPU 5", its place. */
static const char *device_label(const struct side *s, uint32_t device, struct arena *arena)
{
	uint32_t of_rank = 0;
	for (uint32_t i = 0; i < s->n_devices; i++)
		of_rank += s->devices[i].rank == s->devices[device].rank;
	const bool rank = s->ranks.n && s->devices[device].rank >= 0 && of_rank == 1;
	return SAY(NULL, arena, device_drawn, .what = rank ? "rank" : "gpu",
	           .n = rank ? s->devices[device].rank : (int64_t)device);
}

void lanes_build(const struct analysis *a, int side, struct arena *arena, struct lanes *out)
{
	const struct timeline *t = &a->side[side].timeline;
	const struct side *s = &a->side[side];
	struct builder b = {a, s, arena, out, ""};
	if (t->host != TRACE_NONE)
		b.host = arena_format(arena, "%s, ", device_label(s, t->host, arena));
	out->n = 0;
	add_phases(&b, t);
	add_calls(&b, t);
	for (uint32_t i = 0; i < t->n_devices && i < LANES_DEVICES; i++) {
		const struct device_lanes *device = &t->devices[i];
		const char *gpu = t->n_devices > 1 ? device_label(s, device->device, arena) : "GPU";
		if (t->n_devices <= FEW_DEVICES) {
			add_streams(&b, device, gpu);
			add_copies(&b, device, gpu);
		} else {
			add_ops(&b, device, gpu);
		}
		add_metrics(&b, device, gpu, t->n_devices <= FEW_DEVICES);
		add_gaps(&b, device, gpu);
	}
	for (uint32_t i = 0; i < out->n; i++)
		out->lane[i].minor = is_minor(&out->lane[i], t->length);
}

const char *lanes_drawn(const struct side *s, struct arena *arena)
{
	const struct device_lanes *d = s->timeline.devices;
	if (s->timeline.n_devices <= LANES_DEVICES || !s->ranks.n)
		return "";
	return arena_format(arena, "%s: %s, %s, %s", s->label, device_label(s, d[0].device, arena),
	                    device_label(s, d[1].device, arena), device_label(s, d[2].device, arena));
}
