#include "analyse/side/ranges.h"

#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "trace/order.h"

#include <stdlib.h>
#include <string.h>

struct open {
	int64_t start, end; /* of the stretch in which ranges of the name are open on the thread; end 0: none */
	int64_t host;       /* sum of lengths in the run */
	uint64_t instances;
	int64_t gpu;
	bool touched;
	uint32_t thread; /* 1 + the thread that was seen last to open one */
};

/* Calls that launched measured work, by the thread that they count for, then by start. */
struct launches {
	size_t n;
	int64_t *start;
	int64_t *before; /* n + 1: GPU time of those before it */
	size_t *first;   /* by thread, n_threads + 1: index of its first */
};

struct ranges_builder {
	const struct run *run; /* or its part */
	struct keymap *keys;   /* domain << 32 | name -> row */
	struct open *open;     /* by row, grown with `keys`; of the run at hand */
	uint32_t room;
	uint32_t *seen, n_seen;   /* rows of the thread at hand */
	struct launches launches; /* of the part at hand */
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

/* By range: how far any of its thread's reach that begin no later. */
static const int64_t *reaches(const struct trace *t, struct arena *scratch)
{
	int64_t *reach = ARENA_NEW(scratch, t->ranges.n, int64_t);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++)
			reach[i] = i > t->first_range[thread] && reach[i - 1] > t->ranges.end[i] ? reach[i - 1]
			                                                                         : t->ranges.end[i];
	return reach;
}

/* Goes through the ranges of threads beside their calls, which are in order. */
struct beside {
	const int64_t *reach;
	uint32_t thread, next; /* of its ranges, the first that begins later */
};

/* Whether a range is open on the thread of a call when it begins. PyTorch's backward has a thread of its own, on which
 * a library opens one now and then; what is launched between those belongs to the step like everything else. */
static bool has_open(const struct trace *t, struct beside *b, size_t call)
{
	uint32_t thread = t->calls.thread[call], first = t->first_range[thread], end = t->first_range[thread + 1];
	if (b->thread != thread)
		b->next = first;
	b->thread = thread;
	while (b->next < end && t->ranges.start[b->next] <= t->calls.start[call])
		b->next++;
	return b->next > first && b->reach[b->next - 1] > t->calls.start[call];
}

/* All of it is in `scratch`. */
static struct launches sum_launched(const struct run *run, struct arena *scratch)
{
	const struct trace *t = run->trace;
	struct launches out = {0}, *l = &out;
	int64_t *of_call = ARENA_NEW(scratch, t->calls.n + 1, int64_t);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE && run_measures_op(run, i))
			of_call[t->ops.launch[i]] += t->ops.end[i] - t->ops.start[i];
	for (size_t i = 0; i < t->calls.n; i++)
		l->n += of_call[i] > 0;
	uint32_t *thread = ARENA_NEW(scratch, l->n, uint32_t);
	l->start = ARENA_NEW(scratch, l->n, int64_t);
	int64_t *gpu = of_call; /* by launch, in the same place: there are no more of them than calls */
	const uint32_t *main = main_threads(t, scratch);
	struct beside ranges = {.reach = reaches(t, scratch), .thread = TRACE_NONE};
	for (size_t i = 0, n = 0; i < t->calls.n; i++) {
		if (of_call[i] <= 0)
			continue;
		uint32_t own = t->calls.thread[i], of = main[t->threads[own].process];
		thread[n] = of == TRACE_NONE || has_open(t, &ranges, i) ? own : of;
		l->start[n] = t->calls.start[i];
		gpu[n++] = of_call[i];
	}
	struct order order = {.n = l->n, .group = thread, .n_groups = t->n_threads, .start = l->start};
	const uint32_t *rows = order_rows(&order, scratch);
	if (rows) {
		void *room = ARENA_NEW(scratch, l->n, uint64_t);
		order_column(thread, sizeof *thread, l->n, rows, room);
		order_column(l->start, sizeof *l->start, l->n, rows, room);
		order_column(gpu, sizeof *gpu, l->n, rows, room);
	}
	l->first = ARENA_NEW(scratch, t->n_threads + 1, size_t);
	int64_t sum = 0;
	for (size_t i = 0; i < l->n; i++) {
		int64_t own = gpu[i];
		gpu[i] = sum;
		sum += own;
		l->first[thread[i] + 1] = i + 1;
	}
	gpu[l->n] = sum;
	l->before = gpu;
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (l->first[i + 1] < l->first[i])
			l->first[i + 1] = l->first[i];
	return out;
}

/* GPU time that counts for the threads up to this one and was launched, on this one, before `time`. */
static int64_t launched_before(const struct launches *l, uint32_t thread, int64_t time)
{
	size_t i = l->first[thread];
	SEARCH(i, l->first[thread + 1], l->start[i] < time);
	return l->before[i];
}

/* What was launched in a stretch counts once, however many ranges of the name hold it. */
static void flush(struct ranges_builder *b, uint32_t thread, struct open *o)
{
	if (!o->touched)
		return;
	o->gpu += launched_before(&b->launches, thread, o->end) - launched_before(&b->launches, thread, o->start);
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
	int64_t start, end;
	run_host_window(b->run, t->threads[thread].process, &start, &end);
	b->n_seen = 0;
	for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
		int64_t from = t->ranges.start[i], to = t->ranges.end[i];
		if (from < start || from >= end)
			continue;
		uint64_t key = (uint64_t)t->ranges.domain[i] << 32 | b->run->fold.of[t->ranges.name[i]];
		struct open *o = open_of(b, key, thread);
		o->instances++;
		o->host += to - from;
		if (o->touched && from <= o->end) {
			o->end = to > o->end ? to : o->end;
			continue;
		}
		flush(b, thread, o);
		o->start = from;
		o->end = to;
		o->touched = true;
	}
	for (uint32_t k = 0; k < b->n_seen; k++)
		flush(b, thread, &b->open[b->seen[k]]);
}

static int by_time(const void *a, const void *b, void *names)
{
	const struct range_result *x = a, *y = b;
	if (x->host != y->host)
		return x->host > y->host ? -1 : 1;
	int order = strcmp(names_text(names, x->name), names_text(names, y->name));
	return order ? order : strcmp(names_text(names, x->domain), names_text(names, y->domain));
}

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
	struct arena scratch = {0};
	b->run = part;
	b->launches = sum_launched(part, &scratch);
	for (uint32_t i = 0; i < b->keys->n && i < b->room; i++)
		b->open[i].thread = 0; /* another part's */
	for (uint32_t thread = 0; thread < part->trace->n_threads; thread++)
		add_thread(b, thread);
	b->launches = (struct launches){0};
	arena_release(&scratch);
}

void ranges_end_run(struct ranges_builder *b, const struct run *run)
{
	double weight = 1 / ((double)b->n_runs * run->n_steps);
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
	}
	b->open = NULL;
	b->seen = NULL;
	b->room = 0;
}

struct side_ranges ranges_end(struct ranges_builder *b)
{
	if (b->n_rows)
		qsort_r(b->rows, b->n_rows, sizeof *b->rows, by_time, b->names);
	return (struct side_ranges){b->rows, b->n_rows};
}
