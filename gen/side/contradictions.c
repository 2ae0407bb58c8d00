#include "side/side_parts.h"

#include "base/list.h"
#include "base/sort.h"
#include "trace/comm.h"
#include "verdict/evidence.h"

enum { AT_ONCE = 64 };            /* GPU operations that begin in one nanosecond, at most, and are looked at */
static const int64_t TICK = 1000; /* ns, of a clock of microseconds: what is no longer may follow within one */

struct meeting {
	int64_t start, end;
};

SORT_ORDER(by_start, struct meeting, ASCENDING(x->start, y->start))

/* When the communication kernels of a run ran, on the wall clock. */
static struct meeting *find_meetings(const struct trace *t, size_t *n, struct arena *arena)
{
	struct meeting *list = NULL;
	size_t room = 0;
	for (uint32_t piece = 0; piece < comm_kernels_pieces(t) && t->source.started != TRACE_NO_TIME; piece++) {
		ARENA_LOCAL(kernels);
		size_t more;
		const struct comm_kernel *k = comm_kernels_of(t, piece, &kernels, &more);
		for (size_t i = 0; i < more; i++) {
			LIST_ADD(arena, list, *n, room,
			         (struct meeting){t->source.started + k[i].start, t->source.started + k[i].end});
		}
	}
	SORT(list, *n, by_start);
	return list;
}

static bool they_meet(const struct trace *a, const struct trace *b)
{
	ARENA_LOCAL(work);
	size_t n = 0, m = 0, met = 0, k = 0;
	const struct meeting *x = find_meetings(a, &n, &work), *y = find_meetings(b, &m, &work);
	for (size_t i = 0; i < n; i++) {
		while (k < m && y[k].end <= x[i].start)
			k++;
		met += k < m && y[k].start < x[i].end;
	}
	return n > 0 && (double)met >= EVIDENCE_MEETING * (double)n;
}

/* A thread is in one call at a time, or in a call of that call: ns for which it was in two all the same. The clock was
 * set back, or the rows are of two threads. Of one process: rows of several may not be held (trace/again.h). */
static int64_t in_two_calls(const struct trace *t)
{
	const struct trace_calls *c = &t->calls;
	int64_t sum = 0;
	if (t->n_processes != 1 || !c->n)
		return 0;
	const int64_t *start = c->start, *ends = c->end;
	int64_t end = ends[0];
	for (size_t i = 1, outer = 0, n = c->n; i < n; i++) {
		if (start[i] < end && c->thread[i] == c->thread[outer]) {
			if (ends[i] <= end)
				continue;
			sum += end - start[i];
		}
		end = ends[outer = i];
	}
	return sum;
}

/* How long after all that the host did GPU work begins that it had launched, while nothing ran: longer than all before
 * it took. Of one process, as above. What a queue from before the recording delays comes before most of the work. */
static int64_t far_behind(const struct trace *t)
{
	if (t->n_processes != 1 || !t->calls.n)
		return 0;
	int64_t first = t->calls.start[0], last = t->calls.end[t->calls.n - 1], behind = INT64_MAX;
	for (size_t i = 0; i < t->calls.n && last + (last - first) <= t->last_time; i++) {
		first = t->calls.start[i] < first ? t->calls.start[i] : first;
		last = t->calls.end[i] > last ? t->calls.end[i] : last;
	}
	for (size_t i = 0; i < t->ranges.n; i++)
		last = t->ranges.end[i] > last ? t->ranges.end[i] : last;
	const int64_t far = last + (last - first);
	size_t late = 0;
	for (size_t i = 0; i < t->ops.n && far <= t->last_time; i++)
		if (t->ops.start[i] < far) {
			last = t->ops.end[i] > last ? t->ops.end[i] : last;
		} else if (t->ops.launch[i] != TRACE_NONE) {
			behind = t->ops.start[i] < behind ? t->ops.start[i] : behind;
			late++;
		}
	return late && late < t->ops.n - late && behind - last > last - first ? behind - last : 0;
}

/* Whether two rows are of one operation: a stream has none twice at a time, under one name and of one launch. */
static bool is_again(const struct trace *t, size_t i, size_t k)
{
	const struct trace_ops *o = &t->ops;
	const uint32_t a = o->launch[i], b = o->launch[k];
	return o->end[i] == o->end[k] && o->device[i] == o->device[k] && o->stream[i] == o->stream[k] &&
	       o->kind[i] == o->kind[k] && o->name[i] == o->name[k] &&
	       (a == b || (a != TRACE_NONE && b != TRACE_NONE && t->calls.start[a] == t->calls.start[b]));
}

static bool was_there(const struct trace *t, size_t i)
{
	for (size_t k = i; k-- > 0 && i - k <= AT_ONCE && t->ops.start[k] == t->ops.start[i];)
		if (is_again(t, i, k))
			return true;
	return false;
}

/* How many rows of GPU work, in order of their start, are there again. Of one process, as above. */
static size_t count_again(const struct trace *t)
{
	const struct trace_ops *o = &t->ops;
	size_t n = 0;
	for (size_t i = 1; t->n_processes == 1 && i < o->n; i++)
		n += o->start[i - 1] == o->start[i] && o->end[i] - o->start[i] > TICK && was_there(t, i);
	return n;
}

const struct fact *contradictions_find(const struct run *runs, const char *const *files, size_t n, struct arena *arena)
{
	for (size_t r = 0; r < n; r++) {
		double two = (double)in_two_calls(runs[r].trace),
		       window = (double)(runs[r].window.end - runs[r].window.start);
		if (two > EVIDENCE_LOST * window)
			return FACT_NEW(arena, calls_cross, FACT_NO_SIDE, .file = files[r], .time = two);
		const size_t again = count_again(runs[r].trace), rows = runs[r].trace->ops.n;
		if ((double)again > EVIDENCE_LOST * (double)rows)
			return FACT_NEW(arena, rows_again, FACT_NO_SIDE, .file = files[r], .again = (int64_t)again,
			                .rows = (int64_t)rows);
		int64_t behind = far_behind(runs[r].trace);
		if (behind)
			return FACT_NEW(arena, row_far_behind, FACT_NO_SIDE, .file = files[r], .time = (double)behind);
	}
	for (size_t r = 1; r < n; r++)
		for (size_t q = 0; q < r; q++)
			if (they_meet(runs[q].trace, runs[r].trace))
				return FACT_NEW(arena, ranks_as_repeats, FACT_NO_SIDE, .one = files[q],
				                .other = files[r]);
	return NULL;
}
