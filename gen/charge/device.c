#include "charge/idle.h"

#include "base/heap.h"
#include "base/list.h"
#include "run/run.h"

/* A heap of running ops of one class, the earliest-launched first. Finished ones are thrown away when they come up. */
struct running {
	uint32_t *op;
	size_t n, room;
};

enum busy_with { CLASS_COMPUTE, CLASS_COMM, CLASS_COPY, CLASS_COUNT };

struct sweep {
	struct run *run;
	const struct trace *trace;
	struct device_run *out;
	struct step_table *table;
	struct overview *overview;
	struct running running[CLASS_COUNT];
	size_t n_running; /* in all of them */
	struct arena scratch;
	int64_t noted[2];          /* of compute and comm, in the step table up to the last block's end */
	int64_t copied[COPY_WAYS]; /* since then, copies by their way */
	uint32_t latest;           /* of the ops so far, the one that ends last; TRACE_NONE: none yet */
	double bin;                /* ns of the overview's */
};

static enum busy_with class_of(enum op_kind kind)
{
	switch (kind) {
	case OP_KERNEL:
	case OP_GRAPH:
		return CLASS_COMPUTE;
	case OP_COMM:
		return CLASS_COMM;
	case OP_COPY:
	case OP_MEMSET:
		break;
	}
	return CLASS_COPY;
}

/* Whose phase an instant is (docs/method/analysis.md, Budget): by launch, start, end, stream. */
static bool is_earlier(const void *x, const void *y, const void *trace)
{
	const struct trace *t = trace;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int64_t launch_a = op_launch_start(t, a), launch_b = op_launch_start(t, b);
	if (launch_a != launch_b)
		return launch_a < launch_b;
	if (t->ops.start[a] != t->ops.start[b])
		return t->ops.start[a] < t->ops.start[b];
	if (t->ops.end[a] != t->ops.end[b])
		return t->ops.end[a] < t->ops.end[b];
	if (t->ops.stream[a] != t->ops.stream[b])
		return t->ops.stream[a] < t->ops.stream[b];
	return a < b;
}

static void running_add(struct sweep *s, struct running *r, uint32_t op)
{
	LIST_GROW(&s->scratch, r->op, r->n, r->room);
	heap_push(r->op, r->n++, sizeof *r->op, &op, is_earlier, s->trace);
	s->n_running++;
}

/* The earliest-launched op that still runs at `t`, or TRACE_NONE. */
static uint32_t running_first(struct sweep *s, struct running *r, int64_t t)
{
	for (; r->n && s->trace->ops.end[r->op[0]] <= t; s->n_running--)
		heap_pop(r->op, r->n--, sizeof *r->op, is_earlier, s->trace);
	return r->n ? r->op[0] : TRACE_NONE;
}

static int64_t clip(const struct run *run, int64_t *start, int64_t *end)
{
	if (*start < run->window.start)
		*start = run->window.start;
	if (*end > run->window.end)
		*end = run->window.end;
	return *end > *start ? *end - *start : 0;
}

/* Adds [start, end) to the bins of the whole run, each `width` ns long. */
static void add_to_overview(const struct run *run, double width, float *bins, int64_t start, int64_t end)
{
	if (width <= 0)
		return;
	double a = (double)(start - run->extent.first_op) / width, b = (double)(end - run->extent.first_op) / width;
	int first = (int)a;
	if (b <= first + 1 && first < OVERVIEW_BINS) { /* most ops are short */
		bins[first] += (float)(b - a);
		return;
	}
	for (int i = first; i < OVERVIEW_BINS && i < b; i++) {
		double low = a > i ? a : i, high = b < i + 1 ? b : i + 1;
		if (high > low)
			bins[i] += (float)(high - low);
	}
}

/* What came since the last block's end, into the block in turn. */
static void note_block(struct sweep *s)
{
	const int64_t now[] = {s->out->compute, s->out->comm};
	for (uint32_t k = 0; k < 2; k++) {
		step_table_put(s->table, k, now[k] - s->noted[k]);
		s->noted[k] = now[k];
	}
	for (uint32_t way = 0; way < COPY_WAYS; way++) {
		if (!s->copied[way])
			continue;
		step_table_put(s->table, step_table_copy(s->table, way), s->copied[way]);
		s->copied[way] = 0;
	}
}

static void charge_busy(struct sweep *s, enum busy_with kind, uint32_t op, int64_t ns)
{
	s->out->cost[s->run->phases.of_op[op]] += ns;
	switch (kind) {
	case CLASS_COMPUTE:
		s->out->compute += ns;
		s->out->computes[s->run->phases.of_op[op]] += ns;
		break;
	case CLASS_COMM:
		s->out->comm += ns;
		break;
	default:
		s->out->copy += ns;
		s->copied[s->trace->ops.kind[op] == OP_MEMSET ? WAY_MEMSET : s->trace->ops.copy[op]] += ns;
		if (s->trace->ops.kind[op] == OP_MEMSET)
			s->out->memset += ns;
		if (s->trace->ops.flags[op] & OPF_PAGEABLE)
			s->out->copy_pageable += ns;
		if (s->trace->ops.flags[op] & OPF_MANAGED)
			s->out->copy_managed += ns;
	}
}

static inline void charge_part(struct sweep *s, enum busy_with kind, uint32_t op, int64_t start, int64_t end)
{
	for (struct step_table *table = s->table; step_table_passes(table, end); step_table_next(table)) {
		if (start < table->until) {
			charge_busy(s, kind, op, table->until - start);
			start = table->until;
		}
		note_block(s);
	}
	charge_busy(s, kind, op, end - start);
}

static void charge_parts(struct sweep *s, enum busy_with kind, uint32_t op, int64_t start, int64_t end)
{
	for (int64_t at = start; run_next_measured(s->run, &at, end, &start);)
		charge_part(s, kind, op, start, at);
}

static void add_busy(struct sweep *s, enum busy_with kind, uint32_t op, int64_t start, int64_t end)
{
	struct overview *o = s->overview;
	add_to_overview(s->run, s->bin,
	                kind == CLASS_COMPUTE ? o->compute
	                : kind == CLASS_COMM  ? o->comm
	                                      : o->copy,
	                start, end);
	if (!clip(s->run, &start, &end))
		return;
	if (__builtin_expect(s->run->steps.pauses.n == 0, 1))
		charge_part(s, kind, op, start, end);
	else
		charge_parts(s, kind, op, start, end);
}

static void add_gap(struct sweep *s, uint32_t before, uint32_t next)
{
	struct device_run *d = s->out;
	d->gaps[d->n_gaps++] = (struct gap_ops){before, next};
	struct gap gap = run_gap(s->run, d, d->n_gaps - 1);
	if (!run_pauses(s->run, gap.start))
		d->idle += clip(s->run, &gap.start, &gap.end);
}

/* Accounts for [*now, until), in which no op starts; returns where the device fell idle, `until` if it did not. */
static int64_t sweep_until(struct sweep *s, int64_t now, int64_t until)
{
	while (now < until && s->n_running) {
		uint32_t op = TRACE_NONE;
		enum busy_with kind = 0;
		for (; kind < CLASS_COUNT; kind++) {
			op = running_first(s, &s->running[kind], now);
			if (op != TRACE_NONE)
				break;
		}
		if (op == TRACE_NONE)
			return now;
		int64_t end = s->trace->ops.end[op] < until ? s->trace->ops.end[op] : until;
		add_busy(s, kind, op, now, end);
		now = end;
	}
	return now;
}

/* Begins an op that takes time, after which nothing before its start is to account for. Most run alone: nothing else
 * does when they begin, and they end before the next one. These are accounted for at once, up to where is returned. */
static int64_t begin_op(struct sweep *s, uint32_t op, uint32_t last)
{
	const struct trace_ops *ops = &s->trace->ops;
	const struct run *run = s->run;
	const enum busy_with kind = class_of(ops->kind[op]);
	const int64_t start = ops->start[op], end = ops->end[op];
	s->out->communicates =
		s->out->communicates || (kind == CLASS_COMM && start < run->window.end && end > run->window.start);
	if (s->latest == TRACE_NONE || end > ops->end[s->latest])
		s->latest = op;
	if (s->n_running || (op + 1 < last && ops->start[op + 1] < end)) {
		running_add(s, &s->running[kind], op);
		return start;
	}
	add_busy(s, kind, op, start, end);
	return end;
}

/* Unions of the ops of each phase, in the window. */
static void sweep_phases(struct run *run, uint32_t device, struct device_run *out)
{
	const struct trace *t = run->trace;
	int64_t *covered = ARENA_NEW(run->arena, run->phases.n, int64_t);
	for (uint32_t p = 0; p < run->phases.n; p++)
		covered[p] = run->window.start;
	uint32_t first = t->devices[device].first_op;
	for (uint32_t i = first; i < first + t->devices[device].n_ops; i++) {
		uint32_t phase = run->phases.of_op[i];
		int64_t start = t->ops.start[i], end = t->ops.end[i];
		if (start < covered[phase])
			start = covered[phase];
		if (clip(run, &start, &end)) {
			out->gpu[phase] += end - start - run_paused(run, start, end);
			covered[phase] = end;
		}
	}
}

void device_sweep(struct run *run, uint32_t device, struct device_run *out)
{
	struct sweep s = {.run = run,
	                  .trace = run->trace,
	                  .out = out,
	                  .table = &run->charge->table,
	                  .overview = &run->charge->overview,
	                  .latest = TRACE_NONE,
	                  .bin = (double)(run->extent.last_op - run->extent.first_op) / OVERVIEW_BINS};
	const struct trace_ops *ops = &run->trace->ops;
	uint32_t first = run->trace->devices[device].first_op, last = first + run->trace->devices[device].n_ops;
	*out = (struct device_run){.device = device, .cells = {.arena = run->arena}};
	out->cost = ARENA_NEW(run->arena, run->phases.n, int64_t);
	out->computes = ARENA_NEW(run->arena, run->phases.n, int64_t);
	out->gpu = ARENA_NEW(run->arena, run->phases.n, int64_t);
	const size_t most_gaps = (size_t)(last - first) + 1;
	out->gaps = ARENA_TAKE(run->arena, most_gaps, struct gap_ops);

	step_table_rewind(&run->charge->table);
	int64_t now = INT64_MIN; /* everything before is accounted for */
	for (uint32_t i = first; i < last;) {
		int64_t start = ops->start[i];
		uint32_t next = TRACE_NONE; /* of the ops that start now, the first by launch */
		uint32_t j = i;
		for (; j < last && ops->start[j] == start; j++)
			if (ops->end[j] > start && (next == TRACE_NONE || is_earlier(&j, &next, run->trace)))
				next = j;
		if (next != TRACE_NONE) {
			if (now == INT64_MIN)
				now = start < run->window.start ? start : run->window.start;
			if (s.n_running)
				now = sweep_until(&s, now, start);
			if (now < start)
				add_gap(&s, s.latest, next);
			now = start;
			for (; i < j; i++)
				if (ops->end[i] > start)
					now = begin_op(&s, i, last);
		}
		i = j;
	}
	if (now == INT64_MIN)
		now = run->window.start;
	int64_t end = sweep_until(&s, now, INT64_MAX);
	if (end < run->window.end)
		add_gap(&s, s.latest, TRACE_NONE);
	note_block(&s);
	out->gaps = arena_trim(run->arena, out->gaps, most_gaps, out->n_gaps, sizeof *out->gaps);
	sweep_phases(run, device, out);
	arena_release(&s.scratch);
}
