#include "trace/samples.h"

#include "base/list.h"
#include "base/search.h"
#include "trace/columns.h"
#include "trace/order.h"

void gil_note(struct gil_looks *l, struct arena *arena, const struct gil_look *look)
{
	LIST_ADD(arena, l->list, l->n, l->room, *look);
}

/* The looks at threads of the trace, in their order. */
struct ordered {
	const struct gil_look *look;
	size_t n;
	int64_t distance, most;
};

/* Whether the lock was the same thread's at looks i and i + 1, which are of one thread, and all the time between. */
static bool is_untouched(const struct ordered *o, size_t i)
{
	const struct gil_look *a = &o->look[i], *b = a + 1;
	return a->switches && a->switches == b->switches && a->waits == b->waits;
}

/* Whether looks i and i + 1 are neighbours: of one thread, and tell what was between them. */
static bool are_neighbours(const struct ordered *o, size_t i)
{
	return i + 1 < o->n && o->look[i].thread == o->look[i + 1].thread &&
	       (o->look[i + 1].time - o->look[i].time <= o->most || is_untouched(o, i));
}

static bool agree(const struct ordered *o, size_t i)
{
	return are_neighbours(o, i) && o->look[i].waits && o->look[i + 1].waits;
}

/* Where what look i + 1 says begins to count. */
static int64_t half_way(const struct ordered *o, size_t i)
{
	int64_t time = o->look[i].time;
	return time + (are_neighbours(o, i) ? o->look[i + 1].time - time : o->distance) / 2;
}

/* Where a thread that waits at `t` came out of a call after `from`; `otherwise` where it made none. Calls nest. */
static int64_t came_out(const struct trace *trace, uint32_t thread, int64_t from, int64_t t, int64_t otherwise)
{
	enum { NESTED = 8 };
	uint32_t first = trace->first_call[thread], i = first;
	int64_t out = INT64_MIN;
	SEARCH(i, trace->first_call[thread + 1], trace->calls.start[i] < t);
	for (uint32_t last = i; i > first && last - i < NESTED; i--) {
		int64_t end = trace->calls.end[i - 1];
		if (end > t)
			return otherwise; /* it waits inside a call, which is what counts */
		out = end > out ? end : out;
	}
	return out > from ? out : otherwise;
}

/* Where it goes into the next one, before `until`. */
static int64_t goes_in(const struct trace *trace, uint32_t thread, int64_t t, int64_t until, int64_t otherwise)
{
	uint32_t i = trace->first_call[thread], end = trace->first_call[thread + 1];
	SEARCH(i, end, trace->calls.start[i] < t);
	return i < end && trace->calls.start[i] < until ? trace->calls.start[i] : otherwise;
}

/* The first and the last of several looks that agree reach to their thread's next call, if there is one before the next
 * look: what is inside a call is known, so a look in there says nothing of the time before it. */
static void add_stretch(const struct ordered *o, size_t i, struct trace *trace)
{
	const struct gil_look *look = &o->look[i];
	struct trace_gil *gil = &trace->gil;
	bool known = look->holder != TRACE_NONE, behind = i > 0 && are_neighbours(o, i - 1),
	     before = are_neighbours(o, i);
	int64_t start = behind ? half_way(o, i - 1) : look->time - o->distance / 2, end = half_way(o, i);
	if (!behind || !agree(o, i - 1))
		start = came_out(trace, look->thread, behind ? look[-1].time : start, look->time, start);
	if (!before || !agree(o, i))
		end = goes_in(trace, look->thread, look->time, before ? look[1].time : end, end);
	gil->start[gil->n] = start;
	gil->end[gil->n] = end;
	gil->thread[gil->n] = look->thread;
	gil->holder[gil->n] = known ? look->holder : look->thread;
	gil->stack[gil->n] = known ? look->stack : 0;
	gil->n += end > start;
}

/* ---- when nobody looked ---- */

/* What lies between two rounds, or beyond the first or the last one, of a process. */
struct hole {
	int64_t start, end;
};

struct unlooked_list {
	struct arena *arena;
	struct trace_unlooked *out;
	size_t room;
};

static void unlooked_add(struct unlooked_list *list, uint32_t thread, int64_t start, int64_t end)
{
	struct trace_unlooked *u = list->out;
	if (start >= end)
		return;
	if (u->n == list->room) {
		list->room = list_more(u->n);
		u->start = arena_grow(list->arena, u->start, u->n, list->room, sizeof *u->start);
		u->end = arena_grow(list->arena, u->end, u->n, list->room, sizeof *u->end);
		u->thread = arena_grow(list->arena, u->thread, u->n, list->room, sizeof *u->thread);
	}
	u->start[u->n] = start;
	u->end[u->n] = end;
	u->thread[u->n++] = thread;
}

/* The holes of a process; `round`: the times of its n looks in order. */
static size_t find_holes(const struct ordered *o, const struct trace *trace, const int64_t *round, size_t n,
                         struct hole *hole)
{
	int64_t half = o->distance / 2;
	size_t n_holes = 0;
	if (!n) {
		hole[0] = (struct hole){trace->first_time, trace->last_time};
		return 1;
	}
	if (round[0] - trace->first_time > o->most)
		hole[n_holes++] = (struct hole){trace->first_time, round[0] - half};
	for (size_t i = 0; i + 1 < n; i++)
		if (round[i + 1] - round[i] > o->most)
			hole[n_holes++] = (struct hole){round[i] + half, round[i + 1] - half};
	if (trace->last_time - round[n - 1] > o->most)
		hole[n_holes++] = (struct hole){round[n - 1] + half, trace->last_time};
	return n_holes;
}

/* The holes as thread `u` has them, of whose looks the first is `i`. */
static void add_holes(const struct ordered *o, uint32_t u, size_t i, const struct hole *hole, size_t n,
                      struct unlooked_list *list)
{
	for (size_t k = 0; k < n; k++) {
		while (i + 1 < o->n && o->look[i + 1].thread == u && o->look[i + 1].time < hole[k].end)
			i++;
		bool between = i + 1 < o->n && o->look[i].thread == u && o->look[i + 1].thread == u &&
		               o->look[i].time <= hole[k].start;
		if (!between || !is_untouched(o, i))
			unlooked_add(list, u, hole[k].start, hole[k].end);
	}
}

static void find_unlooked(const struct ordered *o, struct arena *arena, struct trace *trace)
{
	enum { MOST = 1 << 24 };
	ARENA_LOCAL(scratch);
	struct unlooked_list list = {.arena = arena, .out = &trace->unlooked};
	uint32_t *process = ARENA_NEW(&scratch, o->n, uint32_t);
	int64_t *round = ARENA_NEW(&scratch, o->n, int64_t), *place = ARENA_NEW(&scratch, o->n, int64_t);
	trace->unlooked = (struct trace_unlooked){0};
	for (size_t i = 0; i < o->n; i++) {
		process[i] = trace->threads[o->look[i].thread].process;
		round[i] = o->look[i].time;
	}
	const struct order order = {.n = o->n, .group = process, .n_groups = trace->n_processes, .start = round};
	const uint32_t *permutation = order_rows(&order, &scratch);
	if (permutation) {
		order_column(process, sizeof *process, o->n, permutation, place);
		order_column(round, sizeof *round, o->n, permutation, place);
	}
	struct hole *hole = ARENA_NEW(&scratch, o->n + 2, struct hole);
	for (uint32_t p = 0; p < trace->n_processes && o->n; p++) {
		size_t first = 0, end;
		SEARCH(first, o->n, process[first] < p);
		end = first;
		while (end < o->n && process[end] == p)
			end++;
		size_t n_holes = find_holes(o, trace, round + first, end - first, hole);
		if (n_holes > MOST / trace->n_threads) { /* as good as one */
			hole[0].end = hole[n_holes - 1].end;
			n_holes = 1;
		}
		for (uint32_t u = 0; u < trace->n_threads && n_holes; u++) {
			size_t i = 0;
			if (trace->threads[u].process != p || trace->first_call[u] == trace->first_call[u + 1])
				continue;
			SEARCH(i, o->n, o->look[i].thread < u);
			add_holes(o, u, i, hole, n_holes, &list);
		}
	}
	columns_order(trace, ROWS_OF_UNLOOKED, arena);
}

/* The looks of threads that are known, by thread and time. */
static struct ordered order_looks(const struct gil_looks *l, const uint32_t *thread, int64_t distance,
                                  const struct trace *trace, struct arena *scratch)
{
	enum { FEW = 4 };
	struct gil_look *known = ARENA_TAKE(scratch, l->n, struct gil_look), *look = known;
	uint32_t *of = ARENA_TAKE(scratch, l->n, uint32_t);
	int64_t *time = ARENA_TAKE(scratch, l->n, int64_t);
	size_t n = 0;
	for (size_t i = 0; i < l->n && distance > 0; i++) {
		uint32_t holder = l->list[i].holder;
		known[n] = l->list[i];
		known[n].thread = of[n] = thread[l->list[i].thread];
		known[n].holder = holder == TRACE_NONE ? TRACE_NONE : thread[holder];
		time[n] = l->list[i].time;
		n += of[n] != TRACE_NONE;
	}
	const struct order order = {.n = n, .group = of, .n_groups = trace->n_threads, .start = time};
	const uint32_t *permutation = order_rows(&order, scratch);
	if (permutation)
		look = ARENA_TAKE(scratch, n, struct gil_look);
	for (size_t i = 0; permutation && i < n; i++)
		look[i] = known[permutation[i]];
	return (struct ordered){look, n, distance, distance < INT64_MAX / FEW ? FEW * distance : distance};
}

void gil_build(const struct gil_looks *l, const uint32_t *thread, int64_t distance, struct arena *arena,
               struct trace *trace)
{
	ARENA_LOCAL(scratch);
	const struct ordered o = order_looks(l, thread, distance, trace, &scratch);
	size_t room = 0;
	for (size_t i = 0; i < o.n; i++)
		room += o.look[i].waits;
	trace->gil = (struct trace_gil){.start = ARENA_NEW(arena, room, int64_t),
	                                .end = ARENA_NEW(arena, room, int64_t),
	                                .thread = ARENA_NEW(arena, room, uint32_t),
	                                .holder = ARENA_NEW(arena, room, uint32_t),
	                                .stack = ARENA_NEW(arena, room, uint32_t)};
	for (size_t i = 0; i < o.n; i++)
		if (agree(&o, i) || (i > 0 && agree(&o, i - 1)))
			add_stretch(&o, i, trace);
	columns_order(trace, ROWS_OF_GIL, arena);
	find_unlooked(&o, arena, trace);
}

void slices_note(struct slice_events *e, struct arena *arena, int64_t time, uint32_t thread, bool in)
{
	if (e->n == e->room) {
		size_t room = list_more(e->room);
		e->time = arena_grow(arena, e->time, e->room, room, sizeof *e->time);
		e->thread = arena_grow(arena, e->thread, e->room, room, sizeof *e->thread);
		e->in = arena_grow(arena, e->in, e->room, room, sizeof *e->in);
		e->room = room;
	}
	e->time[e->n] = time;
	e->thread[e->n] = thread;
	e->in[e->n++] = in;
}

/* Of events at one instant: how many of the `n` put the thread on a processor. The thread goes on and off in turns, so
 * their number and where it was before tell their order. */
static size_t count_in(const struct slice_events *e, const uint32_t *sorted, size_t i, size_t *n)
{
	size_t first = sorted ? sorted[i] : i, in = 0, row = first;
	for (*n = 0; i + *n < e->n; ++*n) {
		row = sorted ? sorted[i + *n] : i + *n;
		if (e->time[row] != e->time[first] || e->thread[row] != e->thread[first])
			break;
		in += e->in[row];
	}
	return in;
}

void slices_build(const struct slice_events *e, uint32_t n_threads, struct arena *arena, struct trace_slices *s)
{
	ARENA_LOCAL(scratch);
	const struct order order = {.n = e->n, .group = e->thread, .n_groups = n_threads, .start = e->time};
	const uint32_t *sorted = order_rows(&order, &scratch);
	*s = (struct trace_slices){.start = ARENA_NEW(arena, e->n, int64_t),
	                           .end = ARENA_NEW(arena, e->n, int64_t),
	                           .thread = ARENA_NEW(arena, e->n, uint32_t)};
	bool off = true; /* since the event before this one */
	for (size_t i = 0, n = 0; i < e->n; i += n) {
		size_t row = sorted ? sorted[i] : i, in = count_in(e, sorted, i, &n), out = n - in;
		bool other_thread = !s->n || s->thread[s->n - 1] != e->thread[row];
		off = other_thread || off;
		while (in || out) {
			bool is_in = in && (off || !out);
			/* A thread's first event opens a slice even where it takes the thread off: nothing is known
			 * before. */
			if (other_thread || (off && is_in)) {
				s->start[s->n] = e->time[row];
				s->thread[s->n++] = e->thread[row];
			}
			s->end[s->n - 1] = e->time[row];
			off = !is_in;
			other_thread = false;
			in -= is_in;
			out -= !is_in;
		}
	}
	s->start = arena_trim(arena, s->start, e->n, s->n, sizeof *s->start);
	s->end = arena_trim(arena, s->end, e->n, s->n, sizeof *s->end);
	s->thread = arena_trim(arena, s->thread, e->n, s->n, sizeof *s->thread);
}
