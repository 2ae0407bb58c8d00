#include "trace_maker.h"

#include <stdio.h>
#include <string.h>

/* Makes room for one more row in a column; rooms double at powers of two. */
#define COLUMN_GROW(m, column, n)                                                                                      \
	do {                                                                                                           \
		if (((n) & ((n)-1)) == 0)                                                                              \
			(column) = arena_grow((m)->arena, (column), (n), (n) ? 2 * (n) : 1, sizeof *(column));         \
	} while (0)

/* The value of a column in row `n`, behind those there are. */
#define COLUMN_ADD(m, column, n, value)                                                                                \
	do {                                                                                                           \
		COLUMN_GROW(m, column, n);                                                                             \
		(column)[n] = (value);                                                                                 \
	} while (0)

void maker_init(struct maker *m, struct arena *arena, struct names *names)
{
	m->arena = arena;
	m->names = names;
	m->trace = ARENA_NEW(arena, 1, struct trace);
	m->trace->names = names;
	struct trace_source *source = &m->trace->source;
	source->kind = SOURCE_NSYS_SQLITE;
	source->collector = "nsys";
	source->started = source->began = TRACE_NO_TIME;
	source->rank = source->ranks = -1;
	source->exporter = source->schema = source->driver = source->cuda_driver = "";
	source->captured_by = source->cupti = source->traced = source->sampled_by = source->incomplete = "";
}

uint32_t maker_process(struct maker *m, int64_t pid)
{
	struct trace *t = m->trace;
	COLUMN_GROW(m, t->processes, t->n_processes);
	t->processes[t->n_processes].pid = pid;
	t->processes[t->n_processes].rank = -1;
	return t->n_processes++;
}

uint32_t maker_thread(struct maker *m, uint32_t process, int64_t tid)
{
	struct trace *t = m->trace;
	COLUMN_GROW(m, t->threads, t->n_threads);
	struct trace_thread *thread = &t->threads[t->n_threads];
	thread->tid = tid;
	thread->process = process;
	return t->n_threads++;
}

uint32_t maker_gpu(struct maker *m, const char *name)
{
	struct trace *t = m->trace;
	COLUMN_GROW(m, t->gpus, t->n_gpus);
	t->gpus[t->n_gpus].name = names_add_text(m->names, name);
	return t->n_gpus++;
}

uint32_t maker_device(struct maker *m, uint32_t process, uint32_t ordinal, uint32_t gpu)
{
	struct trace *t = m->trace;
	COLUMN_GROW(m, t->devices, t->n_devices);
	struct trace_device *device = &t->devices[t->n_devices];
	device->process = process;
	device->ordinal = ordinal;
	device->gpu = gpu;
	return t->n_devices++;
}

size_t maker_op(struct maker *m, uint32_t device, uint32_t stream, enum op_kind kind, int64_t start, int64_t end,
                const char *name, uint32_t correlation)
{
	struct trace_ops *ops = &m->trace->ops;
	size_t i = ops->n;
	COLUMN_ADD(m, ops->start, i, start);
	COLUMN_ADD(m, ops->end, i, end);
	COLUMN_ADD(m, ops->bytes, i, 0);
	COLUMN_ADD(m, ops->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, ops->device, i, device);
	COLUMN_ADD(m, ops->stream, i, stream);
	COLUMN_ADD(m, ops->correlation, i, correlation);
	COLUMN_ADD(m, ops->launch, i, TRACE_NONE);
	COLUMN_ADD(m, ops->kind, i, (uint8_t)kind);
	COLUMN_ADD(m, ops->copy, i, COPY_UNKNOWN);
	COLUMN_ADD(m, ops->flags, i, 0);
	if (ops->creation)
		COLUMN_ADD(m, ops->creation, i, 0);
	ops->n++;
	return i;
}

void maker_created(struct maker *m, size_t op, uint32_t correlation)
{
	struct trace_ops *ops = &m->trace->ops;
	size_t room = 1;
	while (room < ops->n)
		room *= 2;
	if (!ops->creation)
		ops->creation = ARENA_NEW(m->arena, room, uint32_t);
	ops->creation[op] = correlation;
	ops->flags[op] |= OPF_GRAPH_NODE;
}

void maker_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, enum call_class class,
                uint32_t correlation)
{
	struct trace_calls *calls = &m->trace->calls;
	size_t i = calls->n;
	COLUMN_ADD(m, calls->start, i, start);
	COLUMN_ADD(m, calls->end, i, end);
	COLUMN_ADD(m, calls->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, calls->thread, i, thread);
	COLUMN_ADD(m, calls->correlation, i, correlation);
	COLUMN_ADD(m, calls->class, i, (uint8_t) class);
	calls->n++;
	m->trace->source.has_calls = true;
}

void maker_range(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, const char *domain,
                 enum range_kind kind)
{
	struct trace_ranges *ranges = &m->trace->ranges;
	size_t i = ranges->n;
	COLUMN_ADD(m, ranges->start, i, start);
	COLUMN_ADD(m, ranges->end, i, end);
	COLUMN_ADD(m, ranges->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, ranges->domain, i, names_add_text(m->names, domain));
	COLUMN_ADD(m, ranges->thread, i, thread);
	COLUMN_ADD(m, ranges->kind, i, (uint8_t)kind);
	COLUMN_ADD(m, ranges->clipped, i, 0);
	ranges->n++;
	m->trace->source.has_ranges = true;
}

void maker_comm_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, int64_t comm,
                     int64_t bytes, uint32_t peer, uint32_t rank, uint32_t ranks)
{
	struct trace_comm_calls *calls = &m->trace->comm_calls;
	size_t i = calls->n;
	COLUMN_ADD(m, calls->start, i, start);
	COLUMN_ADD(m, calls->end, i, end);
	COLUMN_ADD(m, calls->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, calls->thread, i, thread);
	COLUMN_ADD(m, calls->comm, i, comm);
	COLUMN_ADD(m, calls->bytes, i, bytes);
	COLUMN_ADD(m, calls->peer, i, peer);
	COLUMN_ADD(m, calls->rank, i, rank);
	COLUMN_ADD(m, calls->ranks, i, ranks);
	calls->n++;
}

void maker_os_call(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name, enum os_class class)
{
	struct trace_os_calls *os = &m->trace->os_calls;
	size_t i = os->n;
	COLUMN_ADD(m, os->start, i, start);
	COLUMN_ADD(m, os->end, i, end);
	COLUMN_ADD(m, os->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, os->thread, i, thread);
	COLUMN_ADD(m, os->class, i, (uint8_t) class);
	os->n++;
	m->trace->source.has_os_calls = true;
}

void maker_overhead(struct maker *m, uint32_t thread, int64_t start, int64_t end, const char *name,
                    enum overhead_class class)
{
	struct trace_overheads *rows = &m->trace->overheads;
	size_t i = rows->n;
	COLUMN_ADD(m, rows->start, i, start);
	COLUMN_ADD(m, rows->end, i, end);
	COLUMN_ADD(m, rows->name, i, names_add_text(m->names, name));
	COLUMN_ADD(m, rows->thread, i, thread);
	COLUMN_ADD(m, rows->class, i, (uint8_t) class);
	rows->n++;
	m->trace->source.has_overheads = true;
}

void maker_slice(struct maker *m, uint32_t thread, int64_t start, int64_t end)
{
	struct trace_slices *rows = &m->trace->slices;
	size_t i = rows->n;
	COLUMN_ADD(m, rows->start, i, start);
	COLUMN_ADD(m, rows->end, i, end);
	COLUMN_ADD(m, rows->thread, i, thread);
	rows->n++;
}

void maker_level(struct maker *m, uint32_t device, int64_t start, int64_t end, int64_t bytes)
{
	struct trace_levels *rows = &m->trace->levels;
	size_t i = rows->n;
	COLUMN_ADD(m, rows->start, i, start);
	COLUMN_ADD(m, rows->end, i, end);
	COLUMN_ADD(m, rows->bytes, i, bytes);
	COLUMN_ADD(m, rows->device, i, device);
	rows->n++;
}

static uint32_t maker_function(struct maker *m, const char *word)
{
	struct trace_stacks *s = &m->trace->stacks;
	size_t n = strlen(word);
	struct trace_function f = {.kind = *word == '?'   ? FRAME_UNKNOWN
	                                   : *word == '!' ? FRAME_BROKEN
	                                   : *word == '[' ? FRAME_MODULE
	                                                  : FRAME_NAMED};
	if (f.kind == FRAME_NAMED)
		f.name = names_add_text(m->names, word);
	if (f.kind == FRAME_MODULE)
		f.module = names_add(m->names, word + 1, n - 2);
	for (uint32_t i = 0; i < s->n_functions; i++)
		if (s->functions[i].name == f.name && s->functions[i].module == f.module &&
		    s->functions[i].kind == f.kind)
			return i;
	size_t i = s->n_functions;
	COLUMN_GROW(m, s->functions, i);
	s->functions[i] = f;
	return s->n_functions++;
}

static uint32_t maker_frame(struct maker *m, uint32_t parent, uint32_t function)
{
	struct trace_stacks *s = &m->trace->stacks;
	for (uint32_t i = 1; i < s->n_frames; i++)
		if (s->frames[i].parent == parent && s->frames[i].function == function)
			return i;
	for (size_t i = s->n_frames; i < 1; i++, s->n_frames++) /* the root */
		COLUMN_GROW(m, s->frames, i);
	size_t i = s->n_frames;
	COLUMN_GROW(m, s->frames, i);
	s->frames[i] = (struct trace_frame){parent, function};
	return s->n_frames++;
}

static uint32_t maker_stack(struct maker *m, const char *stack)
{
	char words[400], *rest = words;
	uint32_t frame = 0;
	snprintf(words, sizeof words, "%s", stack);
	for (char *word; (word = strtok_r(rest, "> ", &rest));)
		frame = maker_frame(m, frame, maker_function(m, word));
	return frame;
}

void maker_gil(struct maker *m, uint32_t thread, int64_t start, int64_t end, uint32_t holder, const char *stack)
{
	struct trace_gil *rows = &m->trace->gil;
	size_t i = rows->n;
	COLUMN_ADD(m, rows->start, i, start);
	COLUMN_ADD(m, rows->end, i, end);
	COLUMN_ADD(m, rows->thread, i, thread);
	COLUMN_ADD(m, rows->holder, i, holder);
	COLUMN_ADD(m, rows->stack, i, stack ? maker_stack(m, stack) : 0);
	rows->n++;
}

void maker_sample(struct maker *m, uint32_t thread, int64_t time, const char *stack)
{
	struct trace_samples *rows = &m->trace->samples;
	uint32_t frame = maker_stack(m, stack);
	size_t i = rows->n;
	COLUMN_GROW(m, rows->time, i);
	COLUMN_GROW(m, rows->thread, i);
	COLUMN_GROW(m, rows->stack, i);
	rows->time[i] = time;
	rows->thread[i] = thread;
	rows->stack[i] = frame;
	rows->n++;
}

const struct trace *maker_link(struct maker *m)
{
	for (size_t i = 0; i < m->trace->ops.n; i++)
		if (m->trace->ops.kind[i] == OP_GRAPH)
			m->trace->source.graphs = GRAPHS_WHOLE;
	trace_link(m->trace, m->arena);
	return m->trace;
}

static int64_t *times_scaled(struct arena *arena, const int64_t *times, size_t n, int64_t factor)
{
	int64_t *scaled = ARENA_NEW(arena, n, int64_t);
	for (size_t i = 0; i < n; i++)
		scaled[i] = times[i] * factor;
	return scaled;
}

const struct trace *maker_scaled(struct arena *arena, const struct trace *trace, int64_t factor)
{
	/* The order of rows does not depend on the factor, so the other columns, links included, stay shared. */
	struct trace *scaled = ARENA_NEW(arena, 1, struct trace);
	*scaled = *trace;
#define SCALE(table)                                                                                                   \
	(scaled->table.start = times_scaled(arena, trace->table.start, trace->table.n, factor),                        \
	 scaled->table.end = times_scaled(arena, trace->table.end, trace->table.n, factor))
	SCALE(ops);
	SCALE(calls);
	SCALE(ranges);
	SCALE(os_calls);
	SCALE(overheads);
	SCALE(slices);
	SCALE(gil);
	SCALE(levels);
#undef SCALE
	scaled->samples.time = times_scaled(arena, trace->samples.time, trace->samples.n, factor);
	return scaled;
}
