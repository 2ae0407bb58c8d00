#include "analyse/side/tables.h"

#include "analyse/run/middle.h"
#include "base/list.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Rows found by name: slot[name] is 1 + the index of its row. */
struct tables {
	struct side_tables out;
	struct arena *arena;
	uint32_t *kernel_slot, *call_slot, *copy_slot[2]; /* copies: not pageable, pageable */
	uint32_t kernel_room, call_room, copy_room;
	double weight; /* 1 / (runs × steps of the run) */
};

static void add_row(struct arena *arena, uint32_t *slot, void **rows, uint32_t *n, uint32_t *room, size_t size)
{
	if (*n == *room) {
		uint32_t more = (uint32_t)list_more(*room);
		*rows = arena_grow(arena, *rows, *room, more, size);
		*room = more;
	}
	*slot = ++*n;
}

static inline void *row_of(struct arena *arena, uint32_t *slot, void **rows, uint32_t *n, uint32_t *room, size_t size)
{
	if (__builtin_expect(!*slot, 0))
		add_row(arena, slot, rows, n, room, size);
	return (char *)*rows + (size_t)(*slot - 1) * size;
}

static void add_kernel(struct tables *b, const struct trace *t, size_t i)
{
	void *rows = b->out.kernels;
	struct kernel_result *k =
		row_of(b->arena, &b->kernel_slot[t->ops.name[i]], &rows, &b->out.n_kernels, &b->kernel_room, sizeof *k);
	b->out.kernels = rows;
	k->name = t->ops.name[i];
	k->comm = t->ops.kind[i] == OP_COMM;
	k->graph = t->ops.kind[i] == OP_GRAPH;
	k->instances += b->weight;
	k->per_step += (double)(t->ops.end[i] - t->ops.start[i]) * b->weight;
	if (k->graph)
		b->out.counts.graph_launches += b->weight;
	else
		b->out.counts.launches += b->weight;
	if (k->comm)
		b->out.counts.collectives += b->weight;
}

static void add_copy(struct tables *b, const struct trace *t, size_t i)
{
	bool pageable = t->ops.flags[i] & OPF_PAGEABLE;
	void *rows = b->out.copies;
	struct copy_result *c = row_of(b->arena, &b->copy_slot[pageable][t->ops.name[i]], &rows, &b->out.n_copies,
	                               &b->copy_room, sizeof *c);
	b->out.copies = rows;
	double time = (double)(t->ops.end[i] - t->ops.start[i]) * b->weight;
	double bytes = (double)t->ops.bytes[i] * b->weight;
	c->name = t->ops.name[i];
	c->kind = (enum copy_kind)t->ops.copy[i];
	c->memset = t->ops.kind[i] == OP_MEMSET;
	c->pageable = pageable;
	c->instances += b->weight;
	c->bytes += bytes;
	c->per_step += time;
	if (pageable) {
		b->out.work.pageable_copies += b->weight;
		b->out.work.pageable_bytes += bytes;
	}
	if (t->ops.flags[i] & OPF_MANAGED)
		b->out.work.managed_copies += b->weight;
	if (c->memset)
		return;
	switch (c->kind) {
	case COPY_H2D:
	case COPY_UM_H2D:
		b->out.counts.bytes_h2d += bytes;
		break;
	case COPY_D2H:
	case COPY_UM_D2H:
		b->out.counts.bytes_d2h += bytes;
		break;
	default:
		b->out.counts.bytes_d2d += bytes;
	}
}

static void add_ops(struct tables *b, const struct run *run)
{
	const struct trace *t = run->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (!run_measures_op(run, i))
			continue;
		if (t->ops.kind[i] == OP_COPY || t->ops.kind[i] == OP_MEMSET)
			add_copy(b, t, i);
		else
			add_kernel(b, t, i);
	}
}

static void add_calls(struct tables *b, const struct run *run)
{
	const struct trace *t = run->trace;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		int64_t start, end;
		run_host_window(run, t->threads[thread].process, &start, &end);
		bool launches = run->activity.launches[thread];
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			if (t->calls.start[i] < start || t->calls.start[i] >= end)
				continue;
			void *rows = b->out.api;
			struct api_result *a = row_of(b->arena, &b->call_slot[t->calls.name[i]], &rows, &b->out.n_api,
			                              &b->call_room, sizeof *a);
			b->out.api = rows;
			enum call_class class = (enum call_class)t->calls.class[i];
			a->name = t->calls.name[i];
			if (class > a->class)
				a->class = class;
			a->calls += b->weight;
			a->per_step += (double)(t->calls.end[i] - t->calls.start[i]) * b->weight;
			b->out.counts.syncs += t->calls.waits[i] ? b->weight : 0;
			if (!launches)
				continue;
			b->out.work.blocking_syncs += t->calls.waits[i] ? b->weight : 0;
			if (class == CALL_LAUNCH)
				b->out.work.launch_calls += b->weight;
			else if (class == CALL_MODULE)
				b->out.work.module_calls += b->weight;
			if (class != CALL_ALLOC)
				continue;
			b->out.work.alloc_calls += b->weight;
			b->out.work.alloc_time += (double)(t->calls.end[i] - t->calls.start[i]) * b->weight;
		}
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++)
			if (t->ranges.start[i] >= start && t->ranges.start[i] < end)
				b->out.counts.ranges += b->weight;
		for (uint32_t i = t->first_overhead[thread]; launches && i < t->first_overhead[thread + 1]; i++) {
			int64_t a = t->overheads.start[i] > start ? t->overheads.start[i] : start;
			int64_t z = t->overheads.end[i] < end ? t->overheads.end[i] : end;
			if (t->overheads.class[i] == OVERHEAD_PROFILER && z > a)
				b->out.counts.overhead += (double)(z - a) * b->weight;
		}
	}
}

/* Medians, not means: a launch that waits for a full queue takes a thousand times as long as the others. */
struct launch_calls {
	const struct run *run;
	const int64_t *start, *end; /* of the host's part of the window, by process */
};

static bool launch_length(const void *context, size_t i, int64_t *length)
{
	const struct launch_calls *l = context;
	const struct trace_calls *calls = &l->run->trace->calls;
	if (calls->class[i] != CALL_LAUNCH)
		return false;
	uint32_t process = l->run->trace->threads[calls->thread[i]].process;
	*length = calls->end[i] - calls->start[i];
	return calls->start[i] >= l->start[process] && calls->start[i] < l->end[process];
}

static double median_launch_call(const struct run *run)
{
	const struct trace *t = run->trace;
	struct arena scratch = {0};
	int64_t *start = ARENA_NEW(&scratch, t->n_processes, int64_t);
	int64_t *end = ARENA_NEW(&scratch, t->n_processes, int64_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		run_host_window(run, p, &start[p], &end[p]);
	struct launch_calls launches = {run, start, end};
	double median = middle_median(&(struct middle_values){launch_length, &launches, t->calls.n});
	arena_release(&scratch);
	return median;
}

static bool kernel_length(const void *context, size_t i, int64_t *length)
{
	const struct run *run = context;
	const struct trace_ops *ops = &run->trace->ops;
	*length = ops->end[i] - ops->start[i];
	return ops->kind[i] == OP_KERNEL && run_measures_op(run, i);
}

/* Share of the measured steps that launch as many kernels as most of them do. */
static double steady_launches(const struct run *run)
{
	if (!run->steps.found)
		return 0;
	struct arena scratch = {0};
	uint32_t *count = ARENA_NEW(&scratch, run->steps.n, uint32_t), longest = 0;
	for (size_t i = 0; i < run->trace->ops.n; i++)
		if (run->trace->ops.kind[i] == OP_KERNEL && run->steps.op_step[i] != TRACE_NONE &&
		    !(run->trace->ops.flags[i] & OPF_GRAPH_NODE))
			count[run->steps.op_step[i]]++;
	sort_counts(count + run->warmup, run->n_steps);
	for (uint32_t i = run->warmup, equal = 0; i < run->steps.n; i++) {
		equal = i > run->warmup && count[i] == count[i - 1] ? equal + 1 : 1;
		if (equal > longest)
			longest = equal;
	}
	arena_release(&scratch);
	return (double)longest / run->n_steps;
}

/* ---- order: by time, then by name, so that output is the same on every machine ---- */

static int compare_rows(double time_a, double time_b, uint32_t name_a, uint32_t name_b, const struct names *names)
{
	if (time_a != time_b)
		return time_a > time_b ? -1 : 1;
	return strcmp(names_text(names, name_a), names_text(names, name_b));
}
static int compare_kernels(const void *a, const void *b, void *names)
{
	const struct kernel_result *x = a, *y = b;
	return compare_rows(x->per_step, y->per_step, x->name, y->name, names);
}
static int compare_api(const void *a, const void *b, void *names)
{
	const struct api_result *x = a, *y = b;
	return compare_rows(x->per_step, y->per_step, x->name, y->name, names);
}
static int compare_copies(const void *a, const void *b, void *names)
{
	const struct copy_result *x = a, *y = b;
	int order = compare_rows(x->per_step, y->per_step, x->name, y->name, names);
	return order ? order : (int)x->pageable - (int)y->pageable;
}

struct side_tables tables_build(const struct run *runs, size_t n, struct arena *arena)
{
	struct arena scratch = {0};
	struct tables b = {.arena = arena};
	struct side_tables *out = &b.out;
	uint32_t n_names = runs[0].trace->names->n;
	b.kernel_slot = ARENA_NEW(&scratch, n_names, uint32_t);
	b.call_slot = ARENA_NEW(&scratch, n_names, uint32_t);
	b.copy_slot[0] = ARENA_NEW(&scratch, n_names, uint32_t);
	b.copy_slot[1] = ARENA_NEW(&scratch, n_names, uint32_t);
	for (size_t r = 0; r < n; r++) {
		b.weight = 1 / ((double)n * runs[r].n_steps);
		add_ops(&b, &runs[r]);
		add_calls(&b, &runs[r]);
		struct middle_values kernels = {kernel_length, &runs[r], runs[r].trace->ops.n};
		out->work.launch_call += median_launch_call(&runs[r]) / (double)n;
		out->work.steady_launches += steady_launches(&runs[r]) / (double)n;
		out->work.kernel_median += middle_median(&kernels) / (double)n;
	}
	struct names *names = runs[0].trace->names;
	if (out->n_kernels)
		qsort_r(out->kernels, out->n_kernels, sizeof *out->kernels, compare_kernels, names);
	if (out->n_api)
		qsort_r(out->api, out->n_api, sizeof *out->api, compare_api, names);
	if (out->n_copies)
		qsort_r(out->copies, out->n_copies, sizeof *out->copies, compare_copies, names);
	arena_release(&scratch);
	return b.out;
}
