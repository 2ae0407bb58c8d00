#include "read/nsys.h"
#include "trace/slices.h"

/* Values of eventClass and eventType that matter; nsys numbers them alike in every version since 2020. */
enum {
	CLASS_CUDA_BACKTRACE = 67, /* repeats a call to carry its backtrace */
	CLASS_OSRT_STARTED = 31,   /* notes of the tracer itself, not calls */
	CLASS_OSRT_FINISHED = 32,
	TYPE_THREAD_NAME = 39,
	TYPE_PUSH_POP = 59,
	TYPE_START_END = 60,
	TYPE_TEXT_PUSH_POP = 70, /* imported from an NVTXT file */
	TYPE_TEXT_START_END = 71,
	TYPE_DOMAIN = 75
};

int nsys_read_calls(struct nsys *r)
{
	enum { START, END, THREAD, CORRELATION, NAME, CLASS, N };
	static const char *const columns[] = {"start", "end", "globalTid", "correlationId", "nameId", "eventClass"};
	struct trace_calls *c = &r->trace->calls;
	struct scan s;
	if (scan_open(&s, &r->db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, N) != 0)
		return -1;
	size_t room = 0, want = scan_guess(&s);
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t start = scan_int(&s, START), end = scan_int(&s, END), thread = scan_int_or(&s, THREAD, 0);
		int64_t correlation = scan_int_or(&s, CORRELATION, 0), name = scan_int_or(&s, NAME, -1);
		if (scan_int_or(&s, CLASS, 0) == CLASS_CUDA_BACKTRACE)
			continue;
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw)
			flaw = nsys_time_flaw(start, end, true);
		if (flaw) {
			nsys_drop(r, &s, ROWS_CALLS, flaw);
			continue;
		}
		size_t old = room;
		if (nsys_room(&room, c->n < want ? want : c->n + 1)) {
			c->start = arena_grow(r->arena, c->start, old, room, sizeof *c->start);
			c->end = arena_grow(r->arena, c->end, old, room, sizeof *c->end);
			c->name = arena_grow(r->arena, c->name, old, room, sizeof *c->name);
			c->thread = arena_grow(r->arena, c->thread, old, room, sizeof *c->thread);
			c->correlation = arena_grow(r->arena, c->correlation, old, room, sizeof *c->correlation);
			c->class = arena_grow(r->arena, c->class, old, room, sizeof *c->class);
		}
		size_t i = c->n++;
		c->start[i] = start;
		c->end[i] = end;
		c->name[i] = nsys_string(r, name);
		c->thread[i] = nsys_thread(r, thread);
		c->correlation[i] = correlation > 0 && correlation <= UINT32_MAX ? (uint32_t)correlation : 0;
		nsys_seen(r, end);
	}
	scan_close(&s);
	nsys_keep(r, ROWS_CALLS, c->n);
	return more;
}

/* ---- NVTX ---- */

enum { NVTX_START, NVTX_END, NVTX_TYPE, NVTX_TEXT, NVTX_THREAD, NVTX_TEXT_ID, NVTX_DOMAIN, NVTX_N };
enum { NVTX_END_THREAD = NVTX_N, NVTX_N_DETAILS }; /* on request */

/* The name of an NVTX row: registered (textId) or at hand (text); 0 (empty) when it has neither. */
static uint32_t nvtx_name(struct nsys *r, const char *text, size_t n, int64_t text_id)
{
	if (text)
		return nsys_text(r, names_add(r->names, text, n));
	return text_id >= 0 ? nsys_string(r, text_id) : nsys_text(r, 0);
}

/* Domain ids are a process's own: two processes use one id for different domains. */
static uint32_t domain_of(struct nsys *r, uint32_t process, int64_t id)
{
	uint64_t number = keymap_add(&r->domain_ids, (uint64_t)id);
	uint32_t domain = keymap_add(&r->domains, (uint64_t)process << 32 | number);
	if (domain >= r->domain_room) {
		uint32_t room = domain + domain / 2 + 64;
		r->domain_string =
			arena_grow(r->arena, r->domain_string, r->domain_room, room, sizeof *r->domain_string);
		while (r->domain_room < room)
			r->domain_string[r->domain_room++] = TRACE_NONE;
	}
	return domain;
}

void nsys_name_thread(struct nsys *r, uint32_t thread, uint32_t string)
{
	if (thread >= r->thread_room) {
		uint32_t room = thread + thread / 2 + 64;
		r->thread_string =
			arena_grow(r->arena, r->thread_string, r->thread_room, room, sizeof *r->thread_string);
		while (r->thread_room < room)
			r->thread_string[r->thread_room++] = TRACE_NONE;
	}
	r->thread_string[thread] = string;
}

static void resize_ranges(struct nsys *r, nsys_resize *resize, size_t old, size_t n)
{
	struct trace_ranges *x = &r->trace->ranges;
	x->start = resize(r->arena, x->start, old, n, sizeof *x->start);
	x->end = resize(r->arena, x->end, old, n, sizeof *x->end);
	x->name = resize(r->arena, x->name, old, n, sizeof *x->name);
	x->domain = resize(r->arena, x->domain, old, n, sizeof *x->domain);
	x->thread = resize(r->arena, x->thread, old, n, sizeof *x->thread);
	x->kind = resize(r->arena, x->kind, old, n, sizeof *x->kind);
	x->clipped = resize(r->arena, x->clipped, old, n, sizeof *x->clipped);
	if (r->wish->details)
		x->moved = resize(r->arena, x->moved, old, n, sizeof *x->moved);
}

static void add_range(struct nsys *r, size_t *room, int64_t start, int64_t end, uint32_t name, uint32_t domain,
                      uint32_t thread, enum range_kind kind, bool clipped)
{
	struct trace_ranges *x = &r->trace->ranges;
	size_t old = *room;
	if (nsys_room(room, x->n + 1))
		resize_ranges(r, arena_grow, old, *room);
	size_t i = x->n++;
	x->start[i] = start;
	x->end[i] = end;
	x->name[i] = name;
	x->domain[i] = domain;
	x->thread[i] = thread;
	x->kind[i] = (uint8_t)kind;
	x->clipped[i] = clipped;
	nsys_seen(r, end);
}

int nsys_read_ranges(struct nsys *r)
{
	static const char *const columns[] = {"start",     "end",    "eventType", "text",
	                                      "globalTid", "textId", "domainId",  "endGlobalTid"};
	struct trace_ranges *x = &r->trace->ranges;
	struct scan s;
	bool details = r->wish->details;
	if (scan_open(&s, &r->db, "NVTX_EVENTS", columns, details ? NVTX_N_DETAILS : NVTX_N) != 0)
		return -1;
	size_t room = 0;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t type = scan_int(&s, NVTX_TYPE), start = scan_int(&s, NVTX_START);
		int64_t end = scan_int_or(&s, NVTX_END, INT64_MIN), global_tid = scan_int_or(&s, NVTX_THREAD, 0);
		int64_t text_id = scan_int_or(&s, NVTX_TEXT_ID, -1), domain_id = scan_int_or(&s, NVTX_DOMAIN, 0);
		size_t n;
		const char *text = scan_text(&s, NVTX_TEXT, &n);
		bool push_pop = type == TYPE_PUSH_POP || type == TYPE_TEXT_PUSH_POP;
		bool range = push_pop || type == TYPE_START_END || type == TYPE_TEXT_START_END;
		const char *flaw = nsys_value_flaw(&s);
		bool open = end == INT64_MIN;
		if (!flaw && range)
			flaw = nsys_time_flaw(start, open ? (start > 0 ? start : 1) : end, false);
		if (flaw) {
			nsys_drop(r, &s, ROWS_RANGES, flaw);
			continue;
		}
		if (start > x->last_time && start <= NSYS_TIME_FAR)
			x->last_time = start;
		if (!open && end > x->last_time && end <= NSYS_TIME_FAR)
			x->last_time = end;
		if (range) {
			uint32_t thread = nsys_thread(r, global_tid), process = r->trace->threads[thread].process;
			add_range(r, &room, start, open ? start : end, nvtx_name(r, text, n, text_id),
			          domain_of(r, process, domain_id), thread, push_pop ? RANGE_PUSH_POP : RANGE_START_END,
			          open);
			if (details && !push_pop)
				x->moved[x->n - 1] = scan_int_or(&s, NVTX_END_THREAD, -1) != -1;
		} else if (type == TYPE_DOMAIN) {
			uint32_t process = nsys_process(r, global_tid);
			uint32_t domain = domain_of(r, process, domain_id);
			r->domain_string[domain] = nvtx_name(r, text, n, text_id);
		} else if (type == TYPE_THREAD_NAME) {
			nsys_name_thread(r, nsys_thread(r, global_tid), nvtx_name(r, text, n, text_id));
		}
	}
	scan_close(&s);
	nsys_keep(r, ROWS_RANGES, x->n);
	resize_ranges(r, arena_trim, room, r->trace->ranges.n);
	return more;
}

int nsys_read_thread_names(struct nsys *r)
{
	enum { NAME, THREAD, N };
	static const char *const columns[] = {"nameId", "globalTid"};
	struct scan s;
	if (scan_open(&s, &r->db, "ThreadNames", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t name = scan_int(&s, NAME), global_tid = scan_int(&s, THREAD);
		if (s.flaws)
			continue; /* a name less, no event less */
		uint32_t thread = keymap_find(&r->threads, (uint64_t)global_tid);
		bool named = thread < r->thread_room && r->thread_string[thread] != TRACE_NONE;
		if (thread != UINT32_MAX && !named) /* the program's own name for it wins */
			nsys_name_thread(r, thread, nsys_string(r, name));
	}
	scan_close(&s);
	return more;
}

/* ---- operating system and profiler ---- */

int nsys_read_os_calls(struct nsys *r)
{
	enum { START, END, THREAD, NAME, CLASS, N };
	static const char *const columns[] = {"start", "end", "globalTid", "nameId", "eventClass"};
	struct trace_os_calls *o = &r->trace->os_calls;
	struct scan s;
	if (scan_open(&s, &r->db, "OSRT_API", columns, N) != 0)
		return -1;
	size_t room = 0, want = scan_guess(&s);
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t start = scan_int(&s, START), end = scan_int(&s, END), thread = scan_int_or(&s, THREAD, 0);
		int64_t name = scan_int_or(&s, NAME, -1), class = scan_int_or(&s, CLASS, 0);
		if (class == CLASS_OSRT_STARTED || class == CLASS_OSRT_FINISHED)
			continue;
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw)
			flaw = nsys_time_flaw(start, end, false);
		if (flaw) {
			nsys_drop(r, &s, ROWS_OS_CALLS, flaw);
			continue;
		}
		size_t old = room;
		if (nsys_room(&room, o->n < want ? want : o->n + 1)) {
			o->start = arena_grow(r->arena, o->start, old, room, sizeof *o->start);
			o->end = arena_grow(r->arena, o->end, old, room, sizeof *o->end);
			o->name = arena_grow(r->arena, o->name, old, room, sizeof *o->name);
			o->thread = arena_grow(r->arena, o->thread, old, room, sizeof *o->thread);
			o->class = arena_grow(r->arena, o->class, old, room, sizeof *o->class);
		}
		size_t i = o->n++;
		o->start[i] = start;
		o->end[i] = end;
		o->name[i] = nsys_string(r, name);
		o->thread[i] = nsys_thread(r, thread);
		nsys_seen(r, end);
	}
	scan_close(&s);
	nsys_keep(r, ROWS_OS_CALLS, o->n);
	return more;
}

/* CUPTI's overhead types (CUpti_ActivityOverheadKind, as nsys numbers them in ENUM_CUPTI_OVERHEAD_TYPE). Compiling and
 * loading are the program's own work, and so is waiting for a full command buffer, which the launch call around it
 * shows already. */
enum {
	OVERHEAD_TYPE_JIT = 2,
	OVERHEAD_TYPE_MODULE_LOADING = 6,
	OVERHEAD_TYPE_FUNCTION_LOADING = 7,
	OVERHEAD_TYPE_COMMAND_BUFFER_FULL = 8
};

static const char *overhead_name(int64_t type)
{
	switch (type) {
	case OVERHEAD_TYPE_JIT:
		return "JIT compiler";
	case OVERHEAD_TYPE_MODULE_LOADING:
		return "Module loading";
	case OVERHEAD_TYPE_FUNCTION_LOADING:
		return "Lazy function loading";
	default:
		return "Profiler overhead";
	}
}

static int read_overheads(struct nsys *r, const char *table, size_t *room)
{
	enum { START, END, THREAD, NAME, TYPE, N };
	static const char *const columns[] = {"start", "end", "globalTid", "nameId", "overheadType"};
	struct trace_overheads *v = &r->trace->overheads;
	size_t before = v->n;
	struct scan s;
	if (scan_open(&s, &r->db, table, columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t start = scan_int(&s, START), end = scan_int(&s, END), thread = scan_int_or(&s, THREAD, 0);
		int64_t name = scan_int_or(&s, NAME, -1), type = scan_int_or(&s, TYPE, 0);
		if (type == OVERHEAD_TYPE_COMMAND_BUFFER_FULL)
			continue;
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw)
			flaw = nsys_time_flaw(start, end, false);
		if (flaw) {
			nsys_drop(r, &s, ROWS_OVERHEADS, flaw);
			continue;
		}
		size_t old = *room;
		if (nsys_room(room, v->n + 1)) {
			v->start = arena_grow(r->arena, v->start, old, *room, sizeof *v->start);
			v->end = arena_grow(r->arena, v->end, old, *room, sizeof *v->end);
			v->name = arena_grow(r->arena, v->name, old, *room, sizeof *v->name);
			v->thread = arena_grow(r->arena, v->thread, old, *room, sizeof *v->thread);
			v->class = arena_grow(r->arena, v->class, old, *room, sizeof *v->class);
		}
		size_t i = v->n++;
		v->start[i] = start;
		v->end[i] = end;
		v->name[i] =
			name >= 0 ? nsys_string(r, name) : nsys_text(r, names_add_text(r->names, overhead_name(type)));
		v->thread[i] = nsys_thread(r, thread);
		bool loading = type == OVERHEAD_TYPE_JIT || type == OVERHEAD_TYPE_MODULE_LOADING ||
		               type == OVERHEAD_TYPE_FUNCTION_LOADING;
		v->class[i] = loading ? OVERHEAD_MODULE_LOAD : OVERHEAD_PROFILER; /* or told by its name, later */
		nsys_seen(r, end);
	}
	scan_close(&s);
	nsys_keep(r, ROWS_OVERHEADS, v->n - before);
	return more;
}

int nsys_read_overheads(struct nsys *r)
{
	size_t room = 0;
	if (read_overheads(r, "PROFILER_OVERHEAD", &room) != 0)
		return -1;
	return read_overheads(r, "CUPTI_ACTIVITY_KIND_OVERHEAD", &room);
}

/* Threads of which nothing else is known are left out: nsys notes those of the whole process tree, or of the system. */
int nsys_read_slices(struct nsys *r)
{
	enum { TIME, IN, THREAD, N };
	static const char *const columns[] = {"start", "isSchedIn", "globalTid"};
	struct slice_events events = {0};
	struct arena scratch = {0};
	struct scan s;
	if (scan_open(&s, &r->db, "SCHED_EVENTS", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t time = scan_int(&s, TIME), in = scan_int(&s, IN), global_tid = scan_int_or(&s, THREAD, 0);
		const char *flaw = nsys_value_flaw(&s);
		flaw = flaw ? flaw : nsys_time_flaw(time, time, false);
		if (flaw) {
			nsys_drop(r, &s, ROWS_SLICES, flaw);
			continue;
		}
		uint32_t thread = keymap_find(&r->threads, (uint64_t)global_tid);
		nsys_keep(r, ROWS_SLICES, 1);
		if (thread != UINT32_MAX)
			slices_note(&events, &scratch, time, thread, in != 0);
	}
	scan_close(&s);
	slices_build(&events, r->threads.n, r->arena, &r->trace->slices);
	arena_release(&scratch);
	return more;
}
