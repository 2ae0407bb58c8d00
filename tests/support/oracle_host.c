#include "oracle_walk.h"

uint8_t *oracle_bytes(const struct walk *w)
{
	return ARENA_NEW(w->arena, (size_t)w->horizon, uint8_t);
}

uint32_t *oracle_rows(const struct walk *w)
{
	uint32_t *rows = ARENA_NEW(w->arena, (size_t)w->horizon, uint32_t);
	for (int64_t t = 0; t < w->horizon; t++)
		rows[t] = TRACE_NONE;
	return rows;
}

/* Whether range a was opened before b. */
static bool range_before(const struct trace_ranges *r, uint32_t a, uint32_t b)
{
	if (b == TRACE_NONE)
		return true;
	if (r->start[a] != r->start[b])
		return r->start[a] < r->start[b];
	return r->end[a] > r->end[b];
}

static void range_paint(const struct walk *w, uint32_t *rows, uint32_t i, int64_t from, int64_t to)
{
	for (int64_t t = from; t < to; t++)
		if (range_before(&w->trace->ranges, i, rows[t]))
			rows[t] = i;
}

static bool marks_overlap(const struct walk *w, uint32_t thread)
{
	for (size_t j = 0; j < w->n_marks; j++)
		for (size_t k = 0; k < j; k++)
			if (w->marks[j].thread == thread && w->marks[k].thread == thread &&
			    w->marks[j].start < w->marks[k].end && w->marks[k].start < w->marks[j].end)
				return true;
	return false;
}

static void thread_ranges_walk(struct walk *w, uint32_t thread)
{
	const struct trace_ranges *r = &w->trace->ranges;
	struct thread_walk *walk = &w->threads[thread];
	bool owner = oracle_has_marks(w, thread);
	walk->first = oracle_rows(w);
	if (owner) {
		walk->in_step = oracle_rows(w);
		walk->child = oracle_rows(w);
		walk->outside = oracle_rows(w);
		for (size_t k = 0; k < w->n_marks; k++)
			for (int64_t t = w->marks[k].start; w->marks[k].thread == thread && t < w->marks[k].end; t++)
				walk->in_step[t] = (uint32_t)k;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->thread[i] != thread || (w->steps && r->domain[i] != w->domain))
			continue;
		range_paint(w, walk->first, i, r->start[i], r->end[i]);
		if (!owner || r->name[i] == w->name)
			continue;
		bool contains = false;
		if (marks_overlap(w, thread)) { /* what is open in several instances is a child of none: all the same */
			for (size_t k = 0; k < w->n_marks; k++)
				contains =
					contains || (w->marks[k].thread == thread && r->start[i] <= w->marks[k].start &&
				                     r->end[i] >= w->marks[k].end && r->end[i] > w->marks[k].start);
			for (int j = 0; j < 2 && !contains; j++)
				range_paint(w, j ? walk->child : walk->outside, i, r->start[i], r->end[i]);
			continue;
		}
		for (size_t k = 0; k < w->n_marks; k++) {
			const struct mark *step = &w->marks[k];
			if (step->thread != thread)
				continue;
			bool same = r->start[i] == step->start && r->end[i] == step->end;
			if (!same && r->start[i] <= step->start && r->end[i] >= step->end) {
				contains = true;
			} else if (r->start[i] >= step->start && r->start[i] < step->end) {
				int64_t end = r->end[i] < step->end ? r->end[i] : step->end;
				range_paint(w, walk->child, i, r->start[i], end);
			}
		}
		if (!contains)
			range_paint(w, walk->outside, i, r->start[i], r->end[i]);
	}
}

/* Paints row i where no row that began earlier, or with it and ends later, is open. */
static void outermost_paint(uint32_t *rows, const int64_t *start, const int64_t *end, uint32_t i)
{
	for (int64_t t = start[i]; t < end[i]; t++) {
		uint32_t open = rows[t];
		if (open == TRACE_NONE || start[i] < start[open] || (start[i] == start[open] && end[i] > end[open]))
			rows[t] = i;
	}
}

static void thread_walk(struct walk *w, uint32_t thread)
{
	const struct trace *trace = w->trace;
	struct thread_walk *walk = &w->threads[thread];
	walk->overhead = oracle_rows(w);
	walk->call = oracle_bytes(w);
	walk->sync = oracle_bytes(w);
	walk->waits = oracle_bytes(w);
	walk->os = oracle_rows(w);
	const struct trace_overheads *overheads = &trace->overheads;
	for (uint32_t i = 0; i < overheads->n; i++)
		if (overheads->thread[i] == thread)
			outermost_paint(walk->overhead, overheads->start, overheads->end, i);
	for (size_t i = 0; i < trace->calls.n; i++) {
		if (trace->calls.thread[i] != thread)
			continue;
		for (int64_t t = trace->calls.start[i]; t < trace->calls.end[i]; t++) {
			if (walk->call[t] < 1 + trace->calls.class[i])
				walk->call[t] = 1 + trace->calls.class[i];
			if (trace->calls.class[i] == CALL_SYNC)
				walk->sync[t] = 1;
			if (trace->calls.class[i] == CALL_SYNC || trace->calls.waits[i])
				walk->waits[t] = 1;
		}
		for (size_t k = 0; k < trace->ops.n; k++)
			if (trace->ops.launch[k] == i)
				walk->launches = true;
	}
	for (uint32_t i = 0; i < trace->os_calls.n; i++)
		if (trace->os_calls.thread[i] == thread)
			outermost_paint(walk->os, trace->os_calls.start, trace->os_calls.end, i);
	walk->own_os = oracle_rows(w);
	for (uint32_t i = 0; i < trace->os_calls.n; i++)
		if (trace->os_calls.thread[i] == thread && trace->os_calls.class[i] == OS_OTHER)
			outermost_paint(walk->own_os, trace->os_calls.start, trace->os_calls.end, i);
	for (size_t i = 0; i < trace->gil.n; i++) {
		if (trace->gil.thread[i] != thread)
			continue;
		walk->gil = walk->gil ? walk->gil : oracle_bytes(w);
		for (int64_t t = trace->gil.start[i]; t < trace->gil.end[i]; t++)
			walk->gil[t] = 1;
	}
	thread_ranges_walk(w, thread);
}

static bool instant_known(const struct walk *w, int64_t t)
{
	return t >= 0 && t < w->horizon;
}

static uint32_t range_name(const struct walk *w, uint32_t range)
{
	return w->trace->ranges.name[range];
}

/* The kind of what a thread is launching at an instant, or launches next; of several ops of one call the first's. */
static uint32_t next_kind(const struct walk *w, uint32_t thread, int64_t t)
{
	const struct trace *trace = w->trace;
	for (uint32_t c = 0; c < trace->calls.n; c++)
		for (size_t i = 0; i < trace->ops.n; i++)
			if (trace->calls.thread[c] == thread && trace->calls.end[c] > t && trace->ops.launch[i] == c)
				return w->kind[i];
	return 0;
}

/* The phase of an instant on a thread; 0: none. */
uint32_t oracle_phase_at(const struct walk *w, uint32_t thread, int64_t t)
{
	if (w->by_work)
		return next_kind(w, thread, t);
	if (!instant_known(w, t))
		return 0;
	uint32_t own = w->threads[thread].first[t];
	uint32_t owner = w->steps ? w->owner[w->trace->threads[thread].process] : TRACE_NONE;
	if (oracle_has_marks(w, thread))
		owner = thread;
	if (owner == TRACE_NONE)
		return own == TRACE_NONE ? 0 : range_name(w, own);
	const struct thread_walk *steps = &w->threads[owner];
	uint32_t range = steps->in_step[t] == TRACE_NONE ? steps->outside[t] : steps->child[t];
	if (range == TRACE_NONE && owner != thread)
		range = own;
	return range == TRACE_NONE ? 0 : range_name(w, range);
}

/* Between two slices on a processor: one ended before or now, another starts later, and none holds the instant. */
static bool is_off_processor(const struct trace *trace, uint32_t thread, int64_t t)
{
	bool before = false, after = false;
	for (size_t i = 0; i < trace->slices.n; i++) {
		if (trace->slices.thread[i] != thread)
			continue;
		if (t >= trace->slices.start[i] && t < trace->slices.end[i])
			return false;
		before = before || trace->slices.end[i] <= t;
		after = after || trace->slices.start[i] > t;
	}
	return before && after;
}

static struct doing thread_alone_at(const struct walk *w, uint32_t thread, int64_t t)
{
	static const enum cause by_class[] = {
		[CALL_OTHER] = CAUSE_OTHER_API,  [CALL_LAUNCH] = CAUSE_LAUNCH_API, [CALL_COPY] = CAUSE_COPY_API,
		[CALL_SYNC] = CAUSE_SYNC_RETURN, [CALL_ALLOC] = CAUSE_ALLOC,       [CALL_MODULE] = CAUSE_MODULE_LOAD,
	};
	const struct thread_walk *walk = &w->threads[thread];
	if (!instant_known(w, t))
		return (struct doing){CAUSE_HOST_CODE, 0, false};
	if (walk->overhead[t] != TRACE_NONE) {
		bool own = w->trace->overheads.class[walk->overhead[t]] == OVERHEAD_PROFILER;
		return (struct doing){own ? CAUSE_PROFILER : CAUSE_MODULE_LOAD, 0, false};
	}
	if (walk->call[t])
		return (struct doing){by_class[walk->call[t] - 1], 0, false};
	/* Who waits for the interpreter's lock does so in a call that waits for another thread. */
	uint32_t os = walk->os[t];
	if (walk->gil && walk->own_os[t] != TRACE_NONE)
		os = walk->own_os[t];
	else if (walk->gil && walk->gil[t])
		return (struct doing){CAUSE_GIL, 0, false};
	if (os != TRACE_NONE)
		return (struct doing){CAUSE_HOST_BLOCKED, w->trace->os_calls.name[os],
		                      w->trace->os_calls.class[os] == OS_WAIT};
	if (is_off_processor(w->trace, thread, t))
		return (struct doing){CAUSE_OFF_CPU, 0, false};
	return (struct doing){CAUSE_HOST_CODE, 0, false};
}

struct doing oracle_doing_at(const struct walk *w, uint32_t thread, int64_t t)
{
	struct doing doing = thread_alone_at(w, thread, t);
	if (!doing.waits)
		return doing;
	uint32_t process = w->trace->threads[thread].process;
	uint32_t owner = w->steps ? w->owner[process] : TRACE_NONE;
	bool others = false;
	for (int round = 0; round < 2; round++) /* the step thread first, then by index */
		for (uint32_t u = 0; u < w->trace->n_threads; u++) {
			if (u == thread || w->trace->threads[u].process != process || !w->threads[u].launches ||
			    (round == 0) != (u == owner))
				continue;
			others = true;
			struct doing state = thread_alone_at(w, u, t);
			if (!state.waits)
				return state;
		}
	if (others)
		return (struct doing){CAUSE_HANDOVER, 0, true};
	return doing;
}

void oracle_host_walk(struct walk *w)
{
	w->threads = ARENA_NEW(w->arena, w->trace->n_threads, struct thread_walk);
	for (uint32_t k = 0; k < w->trace->n_threads; k++)
		thread_walk(w, k);
}
