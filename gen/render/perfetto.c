/* Both sides as a trace for Perfetto and Chrome's viewer: JSON of the Trace Event Format ("Trace Event Format", by
 * Google, the JSON Object Format), packed with gzip. Both viewers open it, where Perfetto's own binary format is opened
 * by Perfetto alone; its times are decimal microseconds, which hold whole nanoseconds.
 *
 * It is written event by event: never is more of it in memory than what is packed already. */
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/keymap.h"
#include "base/list.h"
#include "base/memory.h"
#include "render/render.h"
#include "render/view.h"
#include "result/say.h"
#include "say/say.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/* Samples of a thread as slices of a track: a function is there as long as it is on the stack. */

struct stack_slice {
	int64_t start, end;
	uint32_t frame; /* index into trace.stacks.frames */
};

/* The slices that are open, the outermost first. */
struct open_stack {
	struct arena *arena;
	struct stack_slice *slice;
	size_t n, room;
	size_t *open, depth, open_room; /* indices of slices */
};

static void close_below(struct open_stack *s, size_t depth, int64_t end)
{
	while (s->depth > depth)
		s->slice[s->open[--s->depth]].end = end;
}

/* How many of the open frames are those of the stack, from its outermost one on. `chain`: innermost first. */
static size_t common(const struct open_stack *s, const uint32_t *chain, size_t n)
{
	size_t depth = 0;
	while (depth < s->depth && depth < n && s->slice[s->open[depth]].frame == chain[n - 1 - depth])
		depth++;
	return depth;
}

/* From `from` on: sorted by start, callers before what they call, which lies within them. A sample stands for the time
 * until the next one, where that comes after about `interval` ns, else for so long; functions that stay go on. */
static struct stack_slice *stack_slices(const struct trace *t, uint32_t thread, int64_t from, int64_t interval,
                                        struct arena *arena, size_t *n)
{
	ARENA_LOCAL(scratch);
	struct open_stack s = {.arena = arena};
	uint32_t *chain = NULL;
	size_t room = 0;
	int64_t until = from; /* what the sample before stands for */
	for (uint32_t i = t->first_sample[thread]; i < t->first_sample[thread + 1]; i++) {
		int64_t time = t->samples.time[i];
		size_t length = 0;
		if (time < from)
			continue;
		for (uint32_t f = t->samples.stack[i]; f; f = t->stacks.frames[f].parent) {
			LIST_ADD(&scratch, chain, length, room, f);
		}
		if (until < time)
			close_below(&s, 0, until);
		close_below(&s, common(&s, chain, length), time);
		while (s.depth < length) {
			LIST_GROW(&scratch, s.open, s.depth, s.open_room);
			LIST_GROW(s.arena, s.slice, s.n, s.room);
			s.slice[s.n] = (struct stack_slice){.start = time, .frame = chain[length - 1 - s.depth]};
			s.open[s.depth++] = s.n++;
		}
		until = time + interval;
		if (i + 1 < t->first_sample[thread + 1] && t->samples.time[i + 1] < until + interval / 2)
			until = t->samples.time[i + 1]; /* they come a little late, too */
	}
	close_below(&s, 0, until);
	*n = s.n;
	return s.slice;
}

enum { PIECE = 64 * 1024 };

struct writer {
	const struct analysis *analysis;
	const struct side *side; /* in turn … */
	const struct events *events;
	int64_t shift;    /* … what makes a time of its the trace's: both sides' windows begin at the same time */
	uint32_t process; /* the last number given to a process, … */
	uint32_t thread;  /* … and to a row */
	int64_t left_out; /* events that overlap too many others */
	struct json json;
	struct buf text; /* not packed yet */
	z_stream z;
	int state;
	struct buf *out;
	struct arena arena; /* of the side in turn */
};

/* ---- bytes ---- */

static void pack(struct writer *w, int flush)
{
	unsigned char packed[PIECE];
	w->z.next_in = (unsigned char *)w->text.data;
	w->z.avail_in = (uInt)w->text.n;
	do {
		w->z.next_out = packed;
		w->z.avail_out = sizeof packed;
		w->state = deflate(&w->z, flush);
		buf_add(w->out, (char *)packed, sizeof packed - w->z.avail_out);
	} while (w->state == Z_OK && (w->z.avail_in || !w->z.avail_out));
	w->text.n = 0;
}

/* ---- events ---- */

static void begin_event(struct writer *w, const char *ph, const char *name, uint32_t process, uint32_t thread)
{
	if (w->text.n > PIECE)
		pack(w, Z_NO_FLUSH);
	json_object(&w->json, NULL);
	json_text(&w->json, "ph", ph);
	json_text(&w->json, "name", name);
	json_integer(&w->json, "pid", process);
	json_integer(&w->json, "tid", thread);
}

/* What a process or a row is called, and where it stands. */
static void add_metadata(struct writer *w, const char *what, const char *name, uint32_t process, uint32_t thread)
{
	const char *const words[] = {arena_format(&w->arena, "%s_name", what),
	                             arena_format(&w->arena, "%s_sort_index", what)};
	begin_event(w, "M", words[0], process, thread);
	json_object(&w->json, "args");
	json_text(&w->json, "name", name);
	json_end_object(&w->json);
	json_end_object(&w->json);
	begin_event(w, "M", words[1], process, thread);
	json_object(&w->json, "args");
	json_integer(&w->json, "sort_index", *what == 'p' ? process : thread);
	json_end_object(&w->json);
	json_end_object(&w->json);
}

static uint32_t add_process(struct writer *w, const char *name)
{
	const char *side = view_side(w->side, &w->arena);
	add_metadata(w, "process", arena_format(&w->arena, "%s: %s", side, name), ++w->process, 0);
	return w->process;
}

static uint32_t add_row(struct writer *w, const char *name)
{
	add_metadata(w, "thread", name, w->process, ++w->thread);
	return w->thread;
}

/* A complete event up to its arguments; end_slice closes it. */
static void begin_slice(struct writer *w, const char *category, const char *name, uint32_t row, int64_t start,
                        int64_t end)
{
	begin_event(w, "X", name, w->process, row);
	json_text(&w->json, "cat", category);
	json_us(&w->json, "ts", start + w->shift);
	json_us(&w->json, "dur", end - start);
	json_object(&w->json, "args");
}

static void end_slice(struct writer *w)
{
	json_end_object(&w->json);
	json_end_object(&w->json);
}

enum { TRACK_ROWS = 64 }; /* more are no help to a reader, and every event would have to look at all of them */

/* A track, in which events must nest: what overlaps otherwise goes to further rows of it. They begin to be used in
 * their order, and are named then: "stream 7", "stream 7 (2)". */
struct rows {
	const char *name;
	bool nested; /* what lies within another event is a part of it (calls, ranges); GPU work only overlaps */
	uint32_t n;
	struct row {
		uint32_t number;
		int64_t *end; /* of the events that are open, the outermost first */
		size_t n, room;
	} row[TRACK_ROWS];
};

static struct rows *new_rows(struct writer *w, const char *name, bool nested)
{
	struct rows *rows = ARENA_NEW(&w->arena, 1, struct rows);
	rows->name = name;
	rows->nested = nested;
	return rows;
}

static bool fits(struct row *row, bool nested, int64_t start, int64_t end)
{
	while (row->n && row->end[row->n - 1] <= start)
		row->n--;
	return !row->n || (nested && end <= row->end[row->n - 1]);
}

/* The row of an event; 0: it is left out. Events come sorted by their start, and nested ones that start together with
 * the longest first. */
static uint32_t row_of(struct writer *w, struct rows *rows, int64_t start, int64_t end)
{
	uint32_t i = 0;
	while (i < rows->n && !fits(&rows->row[i], rows->nested, start, end))
		i++;
	if (i == TRACK_ROWS) {
		w->left_out++;
		return 0;
	}
	struct row *row = &rows->row[i];
	if (i == rows->n) {
		rows->n++;
		row->number = add_row(w, i ? arena_format(&w->arena, "%s (%u)", rows->name, i + 1) : rows->name);
	}
	LIST_ADD(&w->arena, row->end, row->n, row->room, end);
	return row->number;
}

static const char *text_of(const struct writer *w, uint32_t name)
{
	return names_text(w->analysis->names, name);
}

/* What a row, a process or an event of gapline's own is called. */
static const char *track(struct writer *w, const char *what, int64_t n, uint32_t name)
{
	return SAY(w->analysis->names, &w->arena, track, .what = what, .n = n, .name = name ? text_of(w, name) : NULL);
}

static void add_name(struct writer *w, const char *key, uint32_t name)
{
	if (name)
		json_text(&w->json, key, text_of(w, name));
}

/* ---- what analysis says ---- */

/* Steps within what is measured. Step k reaches from the end of the one before to its own end. */
static void add_steps(struct writer *w)
{
	const struct events *e = w->events;
	uint32_t row = add_row(w, track(w, "steps", 0, 0));
	if (!e->step_name) {
		begin_slice(w, "step", "measured", row, e->window_start, e->window_end);
		end_slice(w);
		return;
	}
	for (uint32_t k = 1; k < e->n_steps; k++) {
		if (e->step_end[k - 1] == e->window_start) {
			begin_slice(w, "step", "measured", row, e->window_start, e->window_end);
			end_slice(w);
		}
		begin_slice(w, "step", track(w, "step", k, 0), row, e->step_start[k], e->step_end[k]);
		add_name(w, "steps are", e->step_name);
		json_bool(&w->json, "measured",
		          e->step_end[k - 1] >= e->window_start && e->step_end[k] <= e->window_end);
		end_slice(w);
	}
}

static void add_phases(struct writer *w, const struct phase_events *p)
{
	const struct trace_thread *thread = &w->events->trace->threads[p->thread];
	uint32_t row = p->n ? add_row(w, track(w, "phases", thread->tid, 0)) : 0;
	for (size_t i = 0; i < p->n; i++) {
		begin_slice(w, "phase", view_phase(w->analysis, p->list[i].phase), row, p->list[i].start,
		            p->list[i].end);
		end_slice(w);
	}
}

static void add_idle(struct writer *w, const struct device_events *d)
{
	uint32_t row = add_row(w, track(w, "idle", d->id, 0));
	for (size_t i = 0; i < d->n_idle; i++) {
		const struct idle_event *idle = &d->idle[i];
		begin_slice(w, "idle", cause_name(idle->cause), row, idle->start, idle->end);
		json_text(&w->json, "cause", cause_label(idle->cause));
		json_text(&w->json, "phase", view_phase(w->analysis, idle->phase));
		json_integer(&w->json, "gpu", d->id);
		add_name(w, "call", idle->call);
		end_slice(w);
	}
}

static void add_result(struct writer *w)
{
	const struct events *e = w->events;
	add_process(w, "gapline");
	add_steps(w);
	for (uint32_t i = 0; i < e->n_phases; i++)
		add_phases(w, &e->phases[i]);
	for (uint32_t i = 0; i < e->n_devices; i++)
		add_idle(w, &e->devices[i]);
}

/* ---- what was recorded ---- */

static const char *category_of(uint8_t kind)
{
	static const char *const categories[] = {[OP_KERNEL] = "kernel",
	                                         [OP_COMM] = "communication",
	                                         [OP_GRAPH] = "graph",
	                                         [OP_COPY] = "copy",
	                                         [OP_MEMSET] = "memset"};
	return categories[kind];
}

static void add_op(struct writer *w, size_t i, uint32_t row)
{
	const struct trace_ops *ops = &w->events->trace->ops;
	begin_slice(w, category_of(ops->kind[i]), text_of(w, ops->name[i]), row, ops->start[i], ops->end[i]);
	add_name(w, "phase", w->events->op_phase[i]);
	if (ops->kind[i] == OP_COPY || ops->kind[i] == OP_MEMSET)
		json_integer(&w->json, "bytes", ops->bytes[i]);
	if (ops->correlation[i])
		json_integer(&w->json, "correlation", ops->correlation[i]);
	end_slice(w);
}

/* As its row of idle time and the report call it; one without work in the window is in neither. */
static const char *device_name(struct writer *w, uint32_t device)
{
	const struct events *e = w->events;
	for (uint32_t i = 0; i < e->n_devices; i++)
		if (e->devices[i].device == device)
			return track(w, "gpu", e->devices[i].id, 0);
	return track(w, "unmeasured", 0, 0);
}

static void add_device(struct writer *w, uint32_t device)
{
	const struct trace *t = w->events->trace;
	const struct trace_device *d = &t->devices[device];
	struct keymap streams;
	struct rows **rows = NULL;
	uint32_t room = 0;
	keymap_init(&streams, &w->arena);
	add_process(w, SAY(w->analysis->names, &w->arena, track_device, .gpu = device_name(w, device),
	                   .ordinal = d->ordinal, .process = t->processes[d->process].pid,
	                   .model = d->gpu == TRACE_NONE ? NULL : text_of(w, t->gpus[d->gpu].name)));
	for (size_t i = d->first_op; i < (size_t)d->first_op + d->n_ops; i++) {
		uint32_t n = streams.n, at = keymap_add(&streams, t->ops.stream[i]);
		if (at == n) {
			LIST_GROW(&w->arena, rows, n, room);
			rows[at] = new_rows(w, track(w, "stream", t->ops.stream[i], 0), false);
		}
		uint32_t row = row_of(w, rows[at], t->ops.start[i], t->ops.end[i]);
		if (row)
			add_op(w, i, row);
	}
}

static void add_thread(struct writer *w, uint32_t thread)
{
	const struct trace *t = w->events->trace;
	const struct trace_ranges *r = &t->ranges;
	const struct trace_thread *who = &t->threads[thread];
	struct rows *ranges = new_rows(w, track(w, "ranges", who->tid, who->name), true);
	struct rows *calls = new_rows(w, track(w, "calls", who->tid, who->name), true);
	for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
		uint32_t row = row_of(w, ranges, r->start[i], r->end[i]);
		if (!row)
			continue;
		begin_slice(w, "nvtx", text_of(w, r->name[i]), row, r->start[i], r->end[i]);
		add_name(w, "domain", r->domain[i]);
		end_slice(w);
	}
	for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
		uint32_t row = row_of(w, calls, t->calls.start[i], t->calls.end[i]);
		if (!row)
			continue;
		begin_slice(w, "cuda", text_of(w, t->calls.name[i]), row, t->calls.start[i], t->calls.end[i]);
		if (t->calls.correlation[i])
			json_integer(&w->json, "correlation", t->calls.correlation[i]);
		end_slice(w);
	}
}

/* What the thread was seen to do, function by function. */
static void add_samples(struct writer *w, uint32_t thread)
{
	enum { NAME = 120 };
	const struct trace *t = w->events->trace;
	size_t n = 0;
	int64_t interval = (int64_t)w->analysis->functions.side[w->side - w->analysis->side].interval;
	const struct stack_slice *slice = stack_slices(t, thread, t->first_time, interval, &w->arena, &n);
	uint32_t row = n ? add_row(w, track(w, "samples", t->threads[thread].tid, 0)) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct trace_function *f = &t->stacks.functions[t->stacks.frames[slice[i].frame].function];
		const struct sampled_function function = {f->name, f->module, f->kind};
		ARENA_LOCAL(scratch);
		begin_slice(w, "function", say_function(w->analysis->names, &function, NAME, &scratch), row,
		            slice[i].start, slice[i].end);
		add_name(w, "module", f->module);
		end_slice(w);
	}
}

static void add_recorded(struct writer *w)
{
	const struct trace *t = w->events->trace;
	for (uint32_t d = 0; d < t->n_devices; d++)
		add_device(w, d);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		bool named = false;
		for (uint32_t thread = 0; thread < t->n_threads; thread++) {
			if (t->threads[thread].process != p || (t->first_call[thread] == t->first_call[thread + 1] &&
			                                        t->first_range[thread] == t->first_range[thread + 1]))
				continue;
			if (!named)
				add_process(w, track(w, "process", t->processes[p].pid, t->processes[p].name));
			named = true;
			add_thread(w, thread);
			add_samples(w, thread);
		}
	}
}

/* ---- all of it ---- */

/* Where both sides' windows begin: so late that nothing is before 0. */
static int64_t find_start(const struct analysis *a)
{
	int64_t start = 0;
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct events *e = a->side[s].events;
		int64_t lead = e->window_start - e->trace->first_time;
		start = lead > start ? lead : start;
	}
	return start;
}

static void add_all(struct writer *w)
{
	const struct analysis *a = w->analysis;
	int64_t start = find_start(a);
	json_object(&w->json, NULL);
	json_text(&w->json, "displayTimeUnit", "ns");
	json_array(&w->json, "traceEvents");
	for (uint32_t s = 0; s < a->n_sides; s++) {
		w->side = &a->side[s];
		w->events = w->side->events;
		w->shift = start - w->events->window_start;
		add_result(w);
		add_recorded(w);
		arena_release(&w->arena);
	}
	begin_event(w, "i", track(w, "begin", 0, 0), 0, 0);
	json_text(&w->json, "s", "g");
	json_us(&w->json, "ts", start);
	json_end_object(&w->json);
	json_end_array(&w->json);
	json_object(&w->json, "otherData");
	json_text(&w->json, "made by", "gapline");
	json_text(&w->json, "times", track(w, "times", 0, 0));
	json_integer(&w->json, "left out: overlap too many others", w->left_out);
	json_end_object(&w->json);
	json_end_object(&w->json);
}

int render_perfetto(const struct analysis *analysis, struct buf *out, struct err *err)
{
	struct writer w = {.analysis = analysis, .out = out};
	enum {
		LEVEL = 4
	}; /* of 9: the same words over and over pack well enough, and it takes less time than writing them */
	if (deflateInit2(&w.z, LEVEL, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) /* 16: gzip */
		memory_exhausted();
	json_init(&w.json, &w.text);
	json_compact(&w.json);
	add_all(&w);
	int result = json_finish(&w.json, err);
	pack(&w, Z_FINISH);
	if (result == 0 && w.state != Z_STREAM_END)
		result = err_set(err, "the trace cannot be packed: zlib status %d", w.state);
	deflateEnd(&w.z);
	buf_release(&w.text);
	arena_release(&w.arena);
	return result;
}
