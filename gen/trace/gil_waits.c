#include "trace/gil_waits.h"

#include "base/list.h"
#include "base/search.h"
#include "trace/columns.h"
#include "trace/order.h"

void gil_note(struct gil_looks *l, struct arena *arena, const struct gil_look *look)
{
	if (l->n == l->room) {
		size_t room = list_more(l->room);
		l->time = arena_grow(arena, l->time, l->room, room, sizeof *l->time);
		l->thread = arena_grow(arena, l->thread, l->room, room, sizeof *l->thread);
		l->holder = arena_grow(arena, l->holder, l->room, room, sizeof *l->holder);
		l->stack = arena_grow(arena, l->stack, l->room, room, sizeof *l->stack);
		l->waits = arena_grow(arena, l->waits, l->room, room, sizeof *l->waits);
		l->room = room;
	}
	l->time[l->n] = look->time;
	l->thread[l->n] = look->thread;
	l->holder[l->n] = look->holder;
	l->stack[l->n] = look->stack;
	l->waits[l->n++] = look->waits;
}

/* The looks in their order: look i is row row[i]. */
struct ordered {
	const struct gil_looks *looks;
	const uint32_t *row, *thread;
	size_t n;
	int64_t distance, most;
};

/* Whether looks i and i + 1 are neighbours: of one thread, and not too far apart. */
static bool are_neighbours(const struct ordered *o, size_t i)
{
	return i + 1 < o->n && o->thread[i] == o->thread[i + 1] &&
	       o->looks->time[o->row[i + 1]] - o->looks->time[o->row[i]] <= o->most;
}

static bool agree(const struct ordered *o, size_t i)
{
	return are_neighbours(o, i) && o->looks->waits[o->row[i]] && o->looks->waits[o->row[i + 1]];
}

/* Where what look i + 1 says begins to count. */
static int64_t half_way(const struct ordered *o, size_t i)
{
	int64_t time = o->looks->time[o->row[i]];
	return time + (are_neighbours(o, i) ? o->looks->time[o->row[i + 1]] - time : o->distance) / 2;
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
static void add_stretch(const struct ordered *o, size_t i, const uint32_t *thread, struct trace *trace)
{
	const struct gil_looks *l = o->looks;
	struct trace_gil *gil = &trace->gil;
	uint32_t row = o->row[i], holder = l->holder[row] == TRACE_NONE ? TRACE_NONE : thread[l->holder[row]];
	int64_t time = l->time[row], start, end = half_way(o, i);
	bool behind = i > 0 && are_neighbours(o, i - 1), before = are_neighbours(o, i);
	start = behind ? half_way(o, i - 1) : time - o->distance / 2;
	if (!behind || !agree(o, i - 1))
		start = came_out(trace, o->thread[i], behind ? l->time[o->row[i - 1]] : start, time, start);
	if (!before || !agree(o, i))
		end = goes_in(trace, o->thread[i], time, before ? l->time[o->row[i + 1]] : end, end);
	gil->start[gil->n] = start;
	gil->end[gil->n] = end;
	gil->thread[gil->n] = o->thread[i];
	gil->holder[gil->n] = holder == TRACE_NONE ? o->thread[i] : holder;
	gil->stack[gil->n] = holder == TRACE_NONE ? 0 : l->stack[row];
	gil->n += end > start;
}

void gil_build(const struct gil_looks *l, const uint32_t *thread, int64_t distance, struct arena *arena,
               struct trace *trace)
{
	enum { LATE = 100 };
	struct arena scratch = {0};
	uint32_t *of = ARENA_NEW(&scratch, l->n, uint32_t), *row = ARENA_NEW(&scratch, l->n, uint32_t);
	int64_t *time = ARENA_NEW(&scratch, l->n, int64_t);
	size_t n = 0, room = 0;
	for (size_t i = 0; i < l->n && distance > 0; i++) {
		if (thread[l->thread[i]] == TRACE_NONE)
			continue;
		of[n] = thread[l->thread[i]];
		time[n] = l->time[i];
		row[n++] = (uint32_t)i;
		room += l->waits[i];
	}
	const struct order order = {.n = n, .group = of, .n_groups = trace->n_threads, .start = time};
	const uint32_t *permutation = order_rows(&order, &scratch);
	if (permutation) {
		uint32_t *place = ARENA_NEW(&scratch, n, uint32_t);
		order_column(of, sizeof *of, n, permutation, place);
		order_column(row, sizeof *row, n, permutation, place);
	}
	const struct ordered o = {l, row, of, n, distance, distance < INT64_MAX / LATE ? LATE * distance : distance};
	trace->gil = (struct trace_gil){.start = ARENA_NEW(arena, room, int64_t),
	                                .end = ARENA_NEW(arena, room, int64_t),
	                                .thread = ARENA_NEW(arena, room, uint32_t),
	                                .holder = ARENA_NEW(arena, room, uint32_t),
	                                .stack = ARENA_NEW(arena, room, uint32_t)};
	for (size_t i = 0; i < n; i++)
		if (agree(&o, i) || (i > 0 && agree(&o, i - 1)))
			add_stretch(&o, i, thread, trace);
	columns_order(trace, ROWS_OF_GIL, arena);
	arena_release(&scratch);
}
