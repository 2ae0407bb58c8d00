#include "trace/slices.h"

#include "base/list.h"
#include "trace/order.h"

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
	struct arena scratch = {0};
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
	arena_release(&scratch);
}
