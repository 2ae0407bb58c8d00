#include "side/side_rows.h"

#include "base/heap.h"
#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "charge/captured.h"

#include <string.h>

struct open {
	int64_t end;    /* of the stretch in which ranges of the name are open on the thread, if `touched` */
	int64_t before; /* launched before the stretch */
	int64_t host;   /* sum of lengths in the run */
	uint64_t instances, launching;
	int64_t gpu;
	bool touched;
	uint32_t thread; /* 1 + the thread that was seen last to open one */
};

/* GPU time of measured work between the instants at which ranges begin or end, by when it was launched. All lists are
 * as long as the trace's ranges and, as they are, thread by thread. */
struct launched {
	int64_t *end;               /* of the thread's ranges, the first one first */
	int64_t *by_start, *by_end; /* launched before the range begins, and before that end */
	uint32_t *near, *near_end;  /* by thread: where its last launch was among starts and ends */
};

struct ranges_builder {
	const struct run *run; /* or its part */
	struct keymap *keys;   /* domain << 32 | name -> row */
	struct open *open;     /* by row, grown with `keys`; of the run at hand */
	uint32_t room;
	uint32_t *seen, n_seen;   /* rows of the thread at hand */
	struct launched launched; /* of the part at hand */
	struct arena *work, *arena;
	struct range_result *rows;
	uint32_t n_rows;
	size_t n_runs;
	struct names *names;
};

/* By process: the thread that has ranges open for the longest time. */
static uint32_t *main_threads(const struct trace *t, struct arena *scratch)
{
	uint32_t *main = ARENA_NEW(scratch, t->n_processes, uint32_t);
	int64_t *most = ARENA_NEW(scratch, t->n_processes, int64_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		main[p] = TRACE_NONE;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		int64_t open = 0;
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++)
			open += t->ranges.end[i] - t->ranges.start[i];
		uint32_t p = t->threads[thread].process;
		if (open <= most[p])
			continue;
		most[p] = open;
		main[p] = thread;
	}
	return main;
}

static bool ends_first(const void *a, const void *b, const void *context)
{
	(void)context;
	return *(const int64_t *)a < *(const int64_t *)b;
}

/* The ends of a thread's ranges, in order; no more than are open at a time are looked at together. */
static void order_ends(const struct trace *t, uint32_t thread, int64_t *end)
{
	ARENA_LOCAL(scratch);
	int64_t *open = NULL;
	size_t n = 0, room = 0, at = t->first_range[thread];
	for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
		for (; n && open[0] <= t->ranges.start[i]; heap_pop(open, n--, sizeof *open, ends_first, NULL))
			end[at++] = open[0];
		LIST_GROW(&scratch, open, n, room);
		heap_push(open, n++, sizeof *open, &t->ranges.end[i], ends_first, NULL);
	}
	for (; n; heap_pop(open, n--, sizeof *open, ends_first, NULL))
		end[at++] = open[0];
}

static struct launched launched_begin(const struct trace *t, struct arena *scratch)
{
	struct launched l = {.end = ARENA_NEW(scratch, t->ranges.n, int64_t),
	                     .by_start = ARENA_NEW(scratch, t->ranges.n, int64_t),
	                     .by_end = ARENA_NEW(scratch, t->ranges.n, int64_t),
	                     .near = ARENA_NEW(scratch, t->n_threads, uint32_t),
	                     .near_end = ARENA_NEW(scratch, t->n_threads, uint32_t)};
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		order_ends(t, thread, l.end);
	return l;
}

/* A time in which no range of a thread begins or ends, and what was launched in it; launches come in handfuls. */
struct between {
	uint32_t thread;
	int64_t since, until;
	int64_t *by_start, *by_end; /* where it counts; NULL: no range of the thread begins, or ends, after it */
	bool open;                  /* a range of the thread is */
	int64_t ns;
};

static void between_end(struct between *b)
{
	if (b->by_start)
		*b->by_start += b->ns;
	if (b->by_end)
		*b->by_end += b->ns;
	b->ns = 0;
}

static void between_find(struct between *b, struct launched *l, const struct trace *t, uint32_t thread, int64_t at)
{
	uint32_t first = t->first_range[thread], n = t->first_range[thread + 1] - first;
	const int64_t *start = t->ranges.start + first, *end = l->end + first;
	uint32_t begun = l->near[thread] = search_after(start, n, l->near[thread], at);
	uint32_t ended = l->near_end[thread] = search_after(end, n, l->near_end[thread], at);
	between_end(b);
	*b = (struct between){.thread = thread, .since = INT64_MIN, .until = INT64_MAX, .open = begun > ended};
	if (begun)
		b->since = start[begun - 1];
	if (ended && end[ended - 1] > b->since)
		b->since = end[ended - 1];
	if (begun < n) {
		b->until = start[begun];
		b->by_start = &l->by_start[first + begun];
	}
	if (ended < n) {
		b->until = end[ended] < b->until ? end[ended] : b->until;
		b->by_end = &l->by_end[first + ended];
	}
}

static void between_at(struct between *b, struct launched *l, const struct trace *t, uint32_t thread, int64_t at)
{
	if (b->thread != thread || at < b->since || at >= b->until)
		between_find(b, l, t, thread, at);
}

/* What a thread launches while it has no range open counts for its process's main thread: PyTorch's backward has a
 * thread of its own, on which a library opens one now and then; what is launched between those belongs to the step like
 * everything else. */
static struct launched sum_launched(const struct run *run, struct arena *scratch)
{
	const struct trace *t = run->trace;
	struct launched l = launched_begin(t, scratch);
	struct between own = {.thread = TRACE_NONE}, other = own;
	const uint32_t *main = main_threads(t, scratch);
	for (size_t i = 0; i < t->ops.n && t->ranges.n; i++) {
		uint32_t call = t->ops.launch[i];
		if (call == TRACE_NONE || !run_measures_op(run, i))
			continue;
		uint32_t thread = t->calls.thread[call], counts = main[t->threads[thread].process];
		int64_t at = t->calls.start[call];
		struct between *b = &own;
		between_at(b, &l, t, thread, at);
		if (!b->open && counts != TRACE_NONE && counts != thread) {
			b = &other;
			between_at(b, &l, t, counts, at);
		}
		b->ns += t->ops.end[i] - t->ops.start[i];
	}
	between_end(&own);
	between_end(&other);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		for (uint32_t i = t->first_range[thread] + 1; i < t->first_range[thread + 1]; i++) {
			l.by_start[i] += l.by_start[i - 1];
			l.by_end[i] += l.by_end[i - 1];
		}
	return l;
}

/* What was launched in a stretch counts once, however many ranges of the name hold it. */
static void flush(struct ranges_builder *b, uint32_t thread, struct open *o)
{
	const struct launched *l = &b->launched;
	if (!o->touched)
		return;
	uint32_t first = b->run->trace->first_range[thread], n = b->run->trace->first_range[thread + 1] - first;
	uint32_t before = l->near_end[thread] = search_after(l->end + first, n, l->near_end[thread], o->end - 1);
	o->gpu += l->by_end[first + before] - o->before;
	o->launching += l->by_end[first + before] > o->before;
	o->touched = false;
}

static struct open *open_of(struct ranges_builder *b, uint64_t key, uint32_t thread)
{
	uint32_t row = keymap_add(b->keys, key);
	if (row >= b->room) {
		uint32_t more = (uint32_t)list_more(b->room);
		b->open = arena_grow(b->work, b->open, b->room, more, sizeof *b->open);
		b->seen = arena_grow(b->work, b->seen, b->room, more, sizeof *b->seen);
		b->room = more;
	}
	struct open *o = &b->open[row];
	if (o->thread != thread + 1)
		b->seen[b->n_seen++] = row;
	o->thread = thread + 1;
	return o;
}

static void add_thread(struct ranges_builder *b, uint32_t thread)
{
	const struct trace *t = b->run->trace;
	struct host_window host = run_host(b->run, t->threads[thread].process);
	b->n_seen = 0;
	for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
		int64_t from = t->ranges.start[i], to = t->ranges.end[i];
		if (!host_window_has(&host, from))
			continue;
		uint64_t key = (uint64_t)t->ranges.domain[i] << 32 | b->run->fold.of[t->ranges.name[i]];
		struct open *o = open_of(b, key, thread);
		o->instances++;
		o->host += to - from;
		if (o->touched && from < o->end) {
			o->end = to > o->end ? to : o->end;
			continue;
		}
		flush(b, thread, o);
		o->before = b->launched.by_start[i];
		o->end = to;
		o->touched = true;
	}
	for (uint32_t k = 0; k < b->n_seen; k++)
		flush(b, thread, &b->open[b->seen[k]]);
}

/* ---- what was captured in a range counts for it at every replay ---- */

struct replays {
	struct ranges_builder *b;
	const uint32_t *main; /* by process */
	uint32_t *
		*rows; /* by call that captured a node: its rows, and how many there are before them; NULL: not asked */
	uint32_t *launch;    /* by row: 1 + the last launch that a range of it held */
	uint32_t room, last; /* … of rows; 1 + the launch at hand */
	struct arena *scratch;
};

static uint64_t key_of(const struct run *run, uint32_t range)
{
	const struct trace_ranges *r = &run->trace->ranges;
	return (uint64_t)r->domain[range] << 32 | run->fold.of[r->name[range]];
}

/* The rows of the ranges that a call captured a node in, each once. */
static uint32_t *captured_rows(struct replays *p, uint32_t call)
{
	const struct run *run = p->b->run;
	const struct trace *t = run->trace;
	uint32_t own = t->calls.thread[call], main = p->main[t->threads[own].process], *rows = NULL, n = 0;
	size_t room = 0;
	uint32_t i = captured_in(run->phases.captured, own, call);
	if (i == TRACE_NONE && main != TRACE_NONE)
		i = captured_in(run->phases.captured, main, call);
	LIST_GROW(p->scratch, rows, n, room);
	for (n = 1; i != TRACE_NONE; i = captured_around(run->phases.captured, i, call)) {
		open_of(p->b, key_of(run, i), t->n_threads);
		uint32_t row = keymap_find(p->b->keys, key_of(run, i)), k = 1;
		while (k < n && rows[k] != row)
			k++;
		if (k < n)
			continue;
		LIST_ADD(p->scratch, rows, n, room, row);
	}
	rows[0] = n - 1;
	return rows;
}

/* Notes which rows hold a launch, for which it counted already: as sum_launched has it. */
static void note_launch(struct replays *p, uint32_t call)
{
	const struct run *run = p->b->run;
	const struct trace *t = run->trace;
	int64_t at = t->calls.start[call];
	uint32_t main = p->main[t->threads[t->calls.thread[call]].process];
	uint32_t i = captured_open(run->phases.captured, t->calls.thread[call], at);
	if (i == TRACE_NONE && main != TRACE_NONE)
		i = captured_open(run->phases.captured, main, at);
	for (; i != TRACE_NONE; i = captured_outside(run->phases.captured, i, at)) {
		uint32_t row = keymap_find(p->b->keys, key_of(run, i));
		if (row < p->room)
			p->launch[row] = call + 1;
	}
	p->last = call + 1;
}

static void add_captured(struct ranges_builder *b, struct arena *scratch)
{
	const struct run *run = b->run;
	const struct trace *t = run->trace;
	struct replays p = {.b = b, .main = main_threads(t, scratch), .scratch = scratch};
	p.rows = ARENA_NEW(scratch, t->calls.n, uint32_t *);
	b->n_seen = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t call = t->ops.creator[i], launch = t->ops.launch[i];
		if (call == TRACE_NONE || launch == TRACE_NONE || !run_measures_op(run, i))
			continue;
		if (!p.rows[call])
			p.rows[call] = captured_rows(&p, call);
		if (p.room < b->keys->n) {
			p.launch = arena_grow(scratch, p.launch, p.room, b->keys->n, sizeof *p.launch);
			p.room = b->keys->n;
			p.last = 0;
		}
		if (p.last != launch + 1)
			note_launch(&p, launch);
		for (uint32_t k = 1; k <= p.rows[call][0]; k++)
			if (p.launch[p.rows[call][k]] != launch + 1)
				b->open[p.rows[call][k]].gpu += t->ops.end[i] - t->ops.start[i];
	}
}

SORT_ORDER_BY(by_time, struct range_result, names,
              DESCENDING(x->host, y->host) ?: strcmp(names_text(names, x->name), names_text(names, y->name))
              ?: strcmp(names_text(names, x->domain), names_text(names, y->domain)))

struct ranges_builder *ranges_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena)
{
	struct ranges_builder *b = ARENA_NEW(work, 1, struct ranges_builder);
	b->keys = ARENA_NEW(work, 1, struct keymap);
	keymap_init(b->keys, work);
	b->work = work;
	b->arena = arena;
	b->n_runs = n;
	b->names = runs[0].trace->names;
	return b;
}

void ranges_add(struct ranges_builder *b, const struct run *part)
{
	ARENA_LOCAL(scratch);
	b->run = part;
	b->launched = sum_launched(part, &scratch);
	for (uint32_t i = 0; i < b->keys->n && i < b->room; i++)
		b->open[i].thread = 0; /* another part's */
	for (uint32_t thread = 0; thread < part->trace->n_threads; thread++)
		add_thread(b, thread);
	b->launched = (struct launched){0};
	if (part->phases.captured)
		add_captured(b, &scratch);
}

void ranges_end_run(struct ranges_builder *b, const struct run *run)
{
	double weight = 1 / ((double)b->n_runs * run->window.n_steps);
	if (b->keys->n > b->n_rows) {
		b->rows = arena_grow(b->arena, b->rows, b->n_rows, b->keys->n, sizeof *b->rows);
		b->n_rows = b->keys->n;
	}
	for (uint32_t i = 0; i < b->keys->n && i < b->room; i++) {
		b->rows[i].domain = (uint32_t)(b->keys->keys[i] >> 32);
		b->rows[i].name = (uint32_t)b->keys->keys[i];
		b->rows[i].instances += (double)b->open[i].instances * weight;
		b->rows[i].host += (double)b->open[i].host * weight;
		b->rows[i].gpu += (double)b->open[i].gpu * weight;
		b->rows[i].launching += (double)b->open[i].launching * weight;
	}
	b->open = NULL;
	b->seen = NULL;
	b->room = 0;
}

struct range_result *ranges_end(struct ranges_builder *b, uint32_t *n)
{
	SORT_BY(b->rows, b->n_rows, by_time, b->names);
	*n = b->n_rows;
	return b->rows;
}
