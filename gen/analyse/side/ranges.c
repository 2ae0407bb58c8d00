/* NVTX ranges of the measured steps, by domain and normalised name: how many, how long on the host, and how long the
 * GPU work ran that was launched inside them. */
#include "analyse/side/side.h"
#include "base/keymap.h"

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

/* A call that launched measured work. */
struct launch {
	uint32_t thread; /* that it counts for */
	int64_t start, gpu;
};

struct builder {
	const struct run *run;
	struct keymap *keys; /* domain << 32 | name -> row */
	struct open *open;   /* by row, grown with `keys` */
	uint32_t room;
	uint32_t *seen, n_seen; /* rows of the thread at hand */
	struct launch *launch;  /* by thread, then by start */
	size_t n_launches;
	size_t *first; /* by thread, n + 1: index into launch */
	int64_t *gpu;  /* by launch, n + 1: GPU time of those before it */
	struct arena *scratch;
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

static int by_thread(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void sum_launched(struct builder *b)
{
	const struct trace *t = b->run->trace;
	int64_t *gpu = ARENA_NEW(b->scratch, t->calls.n, int64_t);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE && run_measures_op(b->run, i))
			gpu[t->ops.launch[i]] += t->ops.end[i] - t->ops.start[i];
	for (size_t i = 0; i < t->calls.n; i++)
		b->n_launches += gpu[i] > 0;
	b->launch = ARENA_NEW(b->scratch, b->n_launches, struct launch);
	const uint32_t *main = main_threads(t, b->scratch);
	size_t n = 0;
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t thread = t->calls.thread[i], of = main[t->threads[thread].process];
		if (gpu[i] <= 0)
			continue;
		bool ranges = t->first_range[thread] < t->first_range[thread + 1];
		b->launch[n++] = (struct launch){ranges || of == TRACE_NONE ? thread : of, t->calls.start[i], gpu[i]};
	}
	qsort(b->launch, n, sizeof *b->launch, by_thread);
	b->first = ARENA_NEW(b->scratch, t->n_threads + 1, size_t);
	b->gpu = ARENA_NEW(b->scratch, n + 1, int64_t);
	for (size_t i = 0; i < n; i++) {
		b->gpu[i + 1] = b->gpu[i] + b->launch[i].gpu;
		b->first[b->launch[i].thread + 1] = i + 1;
	}
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		if (b->first[thread + 1] < b->first[thread])
			b->first[thread + 1] = b->first[thread];
}

/* GPU time that counts for the threads up to this one and was launched, on this one, before `time`. */
static int64_t launched_before(const struct builder *b, uint32_t thread, int64_t time)
{
	size_t from = b->first[thread], to = b->first[thread + 1];
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (b->launch[middle].start < time)
			from = middle + 1;
		else
			to = middle;
	}
	return b->gpu[from];
}

/* What was launched in a stretch counts once, however many ranges of the name hold it. */
static void flush(struct builder *b, uint32_t thread, struct open *o)
{
	if (!o->touched)
		return;
	o->gpu += launched_before(b, thread, o->end) - launched_before(b, thread, o->start);
	o->touched = false;
}

static struct open *open_of(struct builder *b, uint64_t key, uint32_t thread)
{
	uint32_t row = keymap_add(b->keys, key);
	if (row >= b->room) {
		uint32_t more = b->room ? 2 * b->room : 64;
		b->open = arena_grow(b->scratch, b->open, b->room, more, sizeof *b->open);
		b->seen = arena_grow(b->scratch, b->seen, b->room, more, sizeof *b->seen);
		b->room = more;
	}
	struct open *o = &b->open[row];
	if (o->thread != thread + 1)
		b->seen[b->n_seen++] = row;
	o->thread = thread + 1;
	return o;
}

static void add_thread(struct builder *b, uint32_t thread)
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

void ranges_build(const struct run *runs, size_t n, struct arena *arena, struct side *side)
{
	struct arena scratch = {0};
	struct keymap keys;
	keymap_init(&keys, &scratch);
	uint32_t room = 0;
	struct range_result *rows = NULL;
	for (size_t r = 0; r < n; r++) {
		struct builder b = {.run = &runs[r], .keys = &keys, .scratch = &scratch};
		double weight = 1 / ((double)n * runs[r].n_steps);
		sum_launched(&b);
		for (uint32_t thread = 0; thread < runs[r].trace->n_threads; thread++)
			add_thread(&b, thread);
		if (keys.n > room) {
			rows = arena_grow(arena, rows, room, keys.n, sizeof *rows);
			room = keys.n;
		}
		for (uint32_t i = 0; i < keys.n && i < b.room; i++) {
			rows[i].domain = (uint32_t)(keys.keys[i] >> 32);
			rows[i].name = (uint32_t)keys.keys[i];
			rows[i].instances += (double)b.open[i].instances * weight;
			rows[i].host += (double)b.open[i].host * weight;
			rows[i].gpu += (double)b.open[i].gpu * weight;
		}
	}
	side->ranges = rows;
	side->n_ranges = keys.n;
	if (keys.n)
		qsort_r(rows, keys.n, sizeof *rows, by_time, runs[0].trace->names);
	arena_release(&scratch);
}
