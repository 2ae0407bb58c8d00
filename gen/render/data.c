#include "render/data.h"

#include "base/base64.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/sort.h"
#include "render/lanes.h"
#include "render/view.h"
#include "say/say.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	MOST_SEGMENTS = 60000, /* of both sides: what a script draws in a frame */
	NAME = 300             /* characters of a name */
};

/* A segment as the script gets it: one, or neighbours joined. */
struct item {
	struct segment s;
	uint32_t many;
	int64_t busy;
};

struct items {
	struct item *item;
	uint32_t n;
};

struct writer {
	const struct analysis *a;
	struct arena *arena;
	struct lanes lanes[2];
	struct items *items[2]; /* by lane */
	int64_t least;
	uint32_t *number; /* of a name, by id: in the order in which the page needs them; 0: it has not */
	uint32_t *used;   /* ids by number, from 1 on */
	uint32_t n_used;
	struct json json;
};

/* ---- joining ---- */

SORT_ORDER(by_start, struct segment,
           sort_nested(x->start, x->end, y->start, y->end) ?: ASCENDING(x->stream, y->stream)
                   ?: ASCENDING(x->name, y->name))

static int64_t length_of(const struct segment *s)
{
	return s->end - s->start;
}

/* The share of a bar's length that its height says. */
static int64_t covered(const struct lane *lane, const struct segment *s)
{
	return lane->kind == LANE_METRIC ? llround((double)length_of(s) * s->level) : length_of(s);
}

/* Joins short neighbours from `i` on; what takes the longest of them gives the whole its looks. */
static uint32_t join(const struct lane *lane, uint32_t i, int64_t least, struct item *out)
{
	const struct segment *s = lane->segments;
	int64_t spent[SHADE_COUNT] = {0}, longest = -1;
	uint32_t next = i;
	*out = (struct item){.s = s[i]};
	for (; next < lane->n; next++) {
		const struct segment *o = &s[next];
		if (length_of(o) >= least || (next > i && o->start >= out->s.end + least) ||
		    o->end - out->s.start > 4 * least)
			break;
		spent[o->which] += length_of(o);
		out->busy += covered(lane, o);
		out->many++;
		out->s.end = o->end > out->s.end ? o->end : out->s.end;
		if (length_of(o) > longest) {
			longest = length_of(o);
			out->s.name = o->name;
			out->s.phase = o->phase;
			out->s.call = o->call;
			out->s.group = o->group;
			out->s.stream = o->stream;
		}
	}
	for (int which = 0; which < SHADE_COUNT; which++)
		if (spent[which] > spent[out->s.which])
			out->s.which = which;
	if (out->many > 1)
		out->s.launch_start = out->s.launch_end = -1;
	return next;
}

/* Ends with the first item beyond `most`. */
static void join_lane(const struct lane *lane, int64_t least, uint32_t most, struct items *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < lane->n && out->n <= most;) {
		const struct segment *s = &lane->segments[i];
		struct item *item = &out->item[out->n++];
		if (length_of(s) >= least) {
			*item = (struct item){*s, 1, covered(lane, s)};
			i++;
		} else {
			i = join(lane, i, least, item);
		}
		if (lane->kind == LANE_METRIC && item->many < 2)
			item->many = 2; /* what the script draws lower than its lane */
	}
}

/* Whether all fit; if not, it ends where that is known: a run without steps has many times more than fit. */
static bool join_all(struct writer *w)
{
	uint32_t left = MOST_SEGMENTS;
	for (int side = 0; side < (int)w->a->n_sides; side++)
		for (uint32_t i = 0; i < w->lanes[side].n; i++) {
			struct items *items = &w->items[side][i];
			join_lane(&w->lanes[side].lane[i], w->least, left, items);
			if (items->n > left)
				return false;
			left -= items->n;
		}
	return true;
}

/* ---- columns ---- */

enum column {
	ITEM_START, /* from the start of the one before */
	ITEM_LENGTH,
	ITEM_WHICH,
	ITEM_NAME,
	ITEM_PHASE,
	ITEM_CALL,
	ITEM_STREAM,
	ITEM_WAIT, /* from the launch's start; an op never starts before it, but clocks of host and GPU may say so */
	ITEM_LAUNCH,
	ITEM_GROUP,
	ITEM_MANY,
	ITEM_BUSY
};

/* Ids depend on what else is in a profile, so that those of its digest are others: they do not get onto the page. */
static int64_t use_name(struct writer *w, uint32_t id)
{
	if (id && !w->number[id]) {
		w->number[id] = ++w->n_used;
		w->used[w->n_used] = id;
	}
	return w->number[id];
}

static int64_t value_of(struct writer *w, enum column column, const struct item *item, const struct item *before)
{
	const struct segment *s = &item->s;
	switch (column) {
	case ITEM_START:
		return s->start - (before ? before->s.start : 0);
	case ITEM_LENGTH:
		return length_of(s);
	case ITEM_WHICH:
		return s->which;
	case ITEM_NAME:
		return use_name(w, s->name);
	case ITEM_PHASE:
		return use_name(w, s->phase);
	case ITEM_CALL:
		return use_name(w, s->call);
	case ITEM_STREAM:
		return s->stream;
	case ITEM_WAIT:
		return s->launch_start < 0 || s->launch_start > s->start ? -1 : s->start - s->launch_start;
	case ITEM_LAUNCH:
		return s->launch_start < 0 ? -1 : s->launch_end - s->launch_start;
	case ITEM_GROUP:
		return s->group;
	case ITEM_MANY:
		return item->many;
	default:
		return item->many > 1 ? item->busy : 0;
	}
}

static void write_column(struct writer *w, const char *key, const struct items *items, enum column column)
{
	const int64_t first = items->n ? value_of(w, column, &items->item[0], NULL) : 0;
	bool same = items->n > 0;
	for (uint32_t i = 1; same && i < items->n; i++)
		same = value_of(w, column, &items->item[i], &items->item[i - 1]) == first;
	if (same) {
		json_integer(&w->json, key, first);
		return;
	}
	for (uint32_t i = json_list(&w->json, key); json_more(&w->json, i < items->n); i++)
		json_integer(&w->json, NULL, value_of(w, column, &items->item[i], i ? &items->item[i - 1] : NULL));
}

static void write_lane(struct writer *w, const struct lane *lane, const struct items *items)
{
	static const char *const kind[] = {[LANE_PHASES] = "phases", [LANE_CALLS] = "calls",   [LANE_STREAM] = "stream",
	                                   [LANE_COPIES] = "copies", [LANE_METRIC] = "metric", [LANE_GAPS] = "gaps"};
	bool op = lane->kind == LANE_STREAM || lane->kind == LANE_COPIES;
	json_object(&w->json, NULL);
	json_text(&w->json, "kind", kind[lane->kind]);
	json_text(&w->json, "label", lane->label);
	json_text(&w->json, "note", lane->note);
	json_integer(&w->json, "device", lane->device);
	json_bool(&w->json, "minor", lane->minor);
	write_column(w, "start", items, ITEM_START);
	write_column(w, "length", items, ITEM_LENGTH);
	write_column(w, "which", items, ITEM_WHICH);
	write_column(w, "many", items, ITEM_MANY);
	write_column(w, "busy", items, ITEM_BUSY);
	if (lane->kind != LANE_GAPS)
		write_column(w, "name", items, ITEM_NAME);
	if (op || lane->kind == LANE_GAPS)
		write_column(w, "phase", items, ITEM_PHASE);
	if (op) {
		write_column(w, "stream", items, ITEM_STREAM);
		write_column(w, "wait", items, ITEM_WAIT);
		write_column(w, "launch", items, ITEM_LAUNCH);
	}
	if (lane->kind == LANE_GAPS) {
		write_column(w, "call", items, ITEM_CALL);
		write_column(w, "group", items, ITEM_GROUP);
	}
	json_end_object(&w->json);
}

/* ---- the document ---- */

/* Whole gaps, for what opened them: as a lane of their own, whose `which` is an enum opened and `group` the gap that
 * pieces name. */
static void write_gaps(struct writer *w, const struct timeline *t)
{
	json_array(&w->json, "gaps");
	for (uint32_t d = 0; d < t->n_devices && d < LANES_DEVICES; d++) {
		const struct device_lanes *device = &t->devices[d];
		struct items items = {ARENA_NEW(w->arena, device->n_gaps, struct item), 0};
		for (uint32_t g = 0; g < device->n_gaps; g++) {
			const struct gap_span *gap = &device->gaps[g];
			if (gap->end - gap->start >= w->least)
				items.item[items.n++] = (struct item){.s = {.start = gap->start,
				                                            .end = gap->end,
				                                            .which = (int)gap->opened,
				                                            .group = g}};
		}
		json_object(&w->json, NULL);
		json_integer(&w->json, "device", device->device);
		write_column(w, "start", &items, ITEM_START);
		write_column(w, "length", &items, ITEM_LENGTH);
		write_column(w, "opened", &items, ITEM_WHICH);
		write_column(w, "group", &items, ITEM_GROUP);
		json_end_object(&w->json);
	}
	json_end_array(&w->json);
}

static void write_side(struct writer *w, int side)
{
	const struct side *s = &w->a->side[side];
	const struct timeline *t = &s->timeline;
	json_object(&w->json, NULL);
	json_text(&w->json, "label", view_side(s, w->arena));
	json_integer(&w->json, "length", t->length);
	for (uint32_t i = json_list(&w->json, "boundary"); json_more(&w->json, i < t->n_boundaries); i++)
		json_integer(&w->json, NULL, t->boundary[i]);
	json_array(&w->json, "steps");
	for (uint32_t i = 0; i + 1 < t->n_boundaries; i++) {
		struct step_label label = lanes_step(w->a, side, i, w->arena);
		json_array(&w->json, NULL);
		json_text(&w->json, NULL, label.whole);
		json_text(&w->json, NULL, label.brief);
		json_end_array(&w->json);
	}
	json_end_array(&w->json);
	json_integer(&w->json, "least", w->least);
	for (uint32_t i = json_list(&w->json, "lanes"); json_more(&w->json, i < w->lanes[side].n); i++)
		write_lane(w, &w->lanes[side].lane[i], &w->items[side][i]);
	write_gaps(w, t);
	json_end_object(&w->json);
}

static void write_palette(struct writer *w)
{
	for (int which = json_list(&w->json, "palette"); json_item(&w->json, which, SHADE_COUNT); which++) {
		const struct swatch *swatch = palette(which);
		json_text(&w->json, "class", swatch->class);
		json_text(&w->json, "colour", swatch->colour);
		json_text(&w->json, "ink", swatch->ink);
		json_text(&w->json, "label", palette_label(which));
		json_bool(&w->json, "striped", swatch->striped);
		json_text(&w->json, "marks", swatch->marks);
		json_text(&w->json, "cause", which < CAUSE_COUNT ? cause_name((enum cause)which) : NULL);
	}
	for (int opened = json_list(&w->json, "opened"); json_more(&w->json, opened < OPENED_COUNT); opened++)
		json_text(&w->json, NULL, say_listed(WORDS_opened, (unsigned)opened)->word);
}

static void write_names(struct writer *w)
{
	const struct names *names = w->a->names;
	for (uint32_t i = 1 + json_list(&w->json, "keys"); json_more(&w->json, i <= w->n_used); i++)
		json_text(&w->json, NULL, view_key(w->a, w->used[i], w->arena));
	for (uint32_t i = 1 + json_list(&w->json, "names"); json_more(&w->json, i <= w->n_used); i++)
		json_text(&w->json, NULL, format_name(w->arena, names_text(names, w->used[i]), NAME));
}

static int write_json(struct writer *w, struct buf *out, struct err *err)
{
	memset(w->number, 0, w->a->names->n * sizeof *w->number);
	w->n_used = 0;
	json_init(&w->json, out);
	json_compact(&w->json);
	json_object(&w->json, NULL);
	json_text(&w->json, "unit", view_unit(&w->a->side[0]));
	json_bool(&w->json, "phases", view_has_phases(w->a));
	json_text(&w->json, "no_phase", view_phase(w->a, 0));
	json_text(&w->json, "outside", view_in_phase(w->a, 0, w->arena));
	json_text(&w->json, "inside", view_inside(w->a, w->arena));
	int shorter;
	json_text(&w->json, "saving", lanes_saving(w->a, &shorter, w->arena));
	json_integer(&w->json, "shorter", shorter);
	write_palette(w);
	for (int side = json_list(&w->json, "sides"); json_more(&w->json, side < (int)w->a->n_sides); side++)
		write_side(w, side);
	write_names(w);
	json_end_object(&w->json);
	return json_finish(&w->json, err);
}

/* ---- packing ---- */

/* 1: packed; 0: too long, nothing added; -1 with `err`. Compression ends where it is known to be too long. The best
 * that zlib can do takes longer than all else here and saves a fiftieth, so it is asked for only where that decides:
 * not where a tenth of what there is has no room. */
static int pack(const struct buf *json, struct buf *out, struct err *err)
{
	static const int level[] = {5, 9};
	enum { ROOM = DATA_MOST / 4 * 3 };
	int status = json->n <= UINT_MAX ? Z_OK : Z_BUF_ERROR; /* Z_OK: there is no room for more */
	size_t packed = json->n;
	unsigned char *bytes = memory_take(ROOM);
	for (size_t i = 0; i < 2 && status == Z_OK && packed >= json->n / 10 * 9; i++) {
		z_stream z = {.next_in = (unsigned char *)json->data,
		              .avail_in = (uInt)json->n,
		              .next_out = bytes,
		              .avail_out = ROOM};
		status = deflateInit(&z, level[i]);
		if (status == Z_OK) {
			status = deflate(&z, Z_FINISH);
			deflateEnd(&z);
		}
		packed = z.total_in;
		if (status == Z_STREAM_END)
			base64_add(out, bytes, z.total_out);
	}
	free(bytes);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return err_set(err, "report: the data cannot be compressed (zlib status %d)", status);
	return status == Z_STREAM_END;
}

int data_write(const struct analysis *a, struct buf *out, struct err *err)
{
	ARENA_LOCAL(arena);
	struct writer w = {.a = a, .arena = &arena};
	w.number = ARENA_NEW(&arena, a->names->n, uint32_t);
	w.used = ARENA_NEW(&arena, a->names->n, uint32_t);
	for (int side = 0; side < (int)a->n_sides; side++) {
		struct lanes *lanes = &w.lanes[side];
		lanes_build(a, side, &arena, lanes);
		w.items[side] = ARENA_NEW(&arena, lanes->n, struct items);
		for (uint32_t i = 0; i < lanes->n; i++) {
			SORT(lanes->lane[i].segments, lanes->lane[i].n, by_start);
			uint32_t n = lanes->lane[i].n < MOST_SEGMENTS ? lanes->lane[i].n : MOST_SEGMENTS + 1;
			w.items[side][i].item = ARENA_NEW(&arena, n, struct item);
		}
	}
	int status = 0;
	do {
		while (!join_all(&w))
			w.least = w.least ? 2 * w.least : 250;
		BUF_LOCAL(json);
		status = write_json(&w, &json, err) ? -1 : pack(&json, out, err);
		w.least = w.least ? 2 * w.least : 250;
	} while (status == 0);
	return status < 0 ? -1 : 0;
}
