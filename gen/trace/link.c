/* Puts a trace's columns in their documented order and joins GPU ops to the calls that launched them. */
#include "base/search.h"
#include "trace/classify.h"
#include "trace/order.h"
#include "trace/trace.h"

struct linker {
	struct trace *trace;
	struct arena *arena;
};

/* Rearranges the columns (pointers to them, with item sizes) in the order of the keys, if they are not. */
struct column {
	void *data;
	size_t size;
};

static void rearrange(const struct order *order, const struct column *columns, size_t n_columns)
{
	struct arena scratch = {0};
	const uint32_t *permutation = order_rows(order, &scratch);
	void *room = permutation ? ARENA_NEW(&scratch, order->n, uint64_t) : NULL;
	for (size_t i = 0; i < n_columns && permutation; i++)
		if (columns[i].data)
			order_column(columns[i].data, columns[i].size, order->n, permutation, room);
	arena_release(&scratch);
}

#define COLUMN(pointer)                                                                                                \
	{                                                                                                              \
		(pointer), sizeof *(pointer)                                                                           \
	}
#define REARRANGE(order, ...)                                                                                          \
	rearrange(order, (const struct column[]){__VA_ARGS__},                                                         \
	          sizeof((const struct column[]){__VA_ARGS__}) / sizeof(struct column))

/* By thread, start, end descending. */
static struct order by_thread(const struct linker *l, size_t n, const uint32_t *thread, const int64_t *start,
                              const int64_t *end)
{
	return (struct order){.n = n,
	                      .group = thread,
	                      .n_groups = l->trace->n_threads,
	                      .start = start,
	                      .end = end,
	                      .end_descending = true};
}

/* The first row of each thread, and the end of the last: n_threads + 1 entries. */
static uint32_t *first_of_thread(struct linker *l, size_t n, const uint32_t *thread)
{
	uint32_t n_threads = l->trace->n_threads, *first = ARENA_NEW(l->arena, (size_t)n_threads + 1, uint32_t);
	size_t row = 0;
	for (uint32_t t = 0; t < n_threads; t++) {
		first[t] = (uint32_t)row;
		while (row < n && thread[row] == t)
			row++;
	}
	first[n_threads] = (uint32_t)n;
	return first;
}

static void sort_host_rows(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_calls *c = &t->calls;
	struct order order;
	order = by_thread(l, c->n, c->thread, c->start, c->end);
	REARRANGE(&order, COLUMN(c->start), COLUMN(c->end), COLUMN(c->name), COLUMN(c->thread), COLUMN(c->correlation),
	          COLUMN(c->class), COLUMN(c->full_name));
	struct trace_ranges *r = &t->ranges;
	order = by_thread(l, r->n, r->thread, r->start, r->end);
	REARRANGE(&order, COLUMN(r->start), COLUMN(r->end), COLUMN(r->name), COLUMN(r->domain), COLUMN(r->thread),
	          COLUMN(r->kind), COLUMN(r->clipped), COLUMN(r->moved));
	struct trace_os_calls *o = &t->os_calls;
	order = by_thread(l, o->n, o->thread, o->start, o->end);
	REARRANGE(&order, COLUMN(o->start), COLUMN(o->end), COLUMN(o->name), COLUMN(o->thread), COLUMN(o->class));
	struct trace_overheads *v = &t->overheads;
	order = by_thread(l, v->n, v->thread, v->start, v->end);
	REARRANGE(&order, COLUMN(v->start), COLUMN(v->end), COLUMN(v->name), COLUMN(v->thread), COLUMN(v->class));
	struct trace_slices *i = &t->slices;
	order = by_thread(l, i->n, i->thread, i->start, i->end);
	REARRANGE(&order, COLUMN(i->start), COLUMN(i->end), COLUMN(i->thread));
	t->first_call = first_of_thread(l, c->n, c->thread);
	t->first_range = first_of_thread(l, r->n, r->thread);
	t->first_os_call = first_of_thread(l, o->n, o->thread);
	t->first_overhead = first_of_thread(l, v->n, v->thread);
	t->first_slice = first_of_thread(l, i->n, i->thread);
}

/* Calls of a process by correlation id. Ids count up, so a process's calls usually fill an interval of ids and a plain
 * table over that interval finds a call in one step. Where the interval is mostly holes (a hostile or damaged file),
 * the process's calls are sorted by id and searched. Where two calls of a process carry one id, the earlier one in
 * (thread, start) order counts. */
struct call_index {
	uint32_t low, n;  /* of a table: first id and number of ids; of a list: n calls */
	uint32_t *table;  /* by id - low: call + 1, or 0 */
	uint32_t *sorted; /* instead: calls, by id */
};

static struct call_index *index_calls(const struct trace *t, struct arena *arena)
{
	struct call_index *index = ARENA_NEW(arena, t->n_processes, struct call_index);
	uint32_t *high = ARENA_NEW(arena, t->n_processes, uint32_t);
	size_t *count = ARENA_NEW(arena, t->n_processes, size_t);
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t id = t->calls.correlation[i], p = t->threads[t->calls.thread[i]].process;
		if (!id)
			continue;
		if (!count[p]++)
			index[p].low = high[p] = id;
		if (id < index[p].low)
			index[p].low = id;
		if (id > high[p])
			high[p] = id;
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		uint64_t span = count[p] ? (uint64_t)high[p] - index[p].low + 1 : 0;
		if (span <= 8 * (uint64_t)count[p] + 1024) {
			index[p].n = (uint32_t)span;
			index[p].table = ARENA_NEW(arena, span, uint32_t);
		} else {
			index[p].sorted = ARENA_NEW(arena, count[p], uint32_t);
		}
	}
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t id = t->calls.correlation[i];
		struct call_index *x = &index[t->threads[t->calls.thread[i]].process];
		if (!id)
			continue;
		if (!x->table)
			x->sorted[x->n++] = (uint32_t)i;
		else if (!x->table[id - x->low])
			x->table[id - x->low] = (uint32_t)i + 1;
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		struct call_index *x = &index[p];
		if (x->table)
			continue;
		uint32_t *id = ARENA_NEW(arena, x->n, uint32_t), *none = ARENA_NEW(arena, x->n, uint32_t);
		for (uint32_t i = 0; i < x->n; i++)
			id[i] = t->calls.correlation[x->sorted[i]];
		struct order order = {.n = x->n, .group = none, .n_groups = 1, .tie = id};
		uint32_t *permutation = order_rows(&order, arena);
		if (permutation)
			order_column(x->sorted, sizeof *x->sorted, x->n, permutation, id);
	}
	return index;
}

static uint32_t find_call(const struct trace_calls *calls, const struct call_index *x, uint32_t id)
{
	if (!id)
		return TRACE_NONE;
	if (x->table)
		return id - x->low < x->n ? x->table[id - x->low] - 1 : TRACE_NONE; /* an empty entry wraps to NONE */
	uint32_t i = 0;
	SEARCH(i, x->n, calls->correlation[x->sorted[i]] < id);
	return i < x->n && calls->correlation[x->sorted[i]] == id ? x->sorted[i] : TRACE_NONE;
}

static void join_ops(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_ops *o = &t->ops;
	struct arena scratch = {0};
	const struct call_index *index = index_calls(t, &scratch);
	t->n_unlaunched = 0;
	for (size_t i = 0; i < o->n; i++) {
		bool managed = o->flags[i] & OPF_MANAGED;
		o->launch[i] =
			managed ? TRACE_NONE
				: find_call(&t->calls, &index[t->devices[o->device[i]].process], o->correlation[i]);
		t->n_unlaunched += o->launch[i] == TRACE_NONE && !managed;
	}
	arena_release(&scratch);
}

static void sort_ops(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_ops *o = &t->ops;
	struct order order = {.n = o->n,
	                      .group = o->device,
	                      .n_groups = t->n_devices,
	                      .start = o->start,
	                      .end = o->end,
	                      .tie = o->launch};
	REARRANGE(&order, COLUMN(o->start), COLUMN(o->end), COLUMN(o->bytes), COLUMN(o->name), COLUMN(o->device),
	          COLUMN(o->stream), COLUMN(o->correlation), COLUMN(o->launch), COLUMN(o->kind), COLUMN(o->copy),
	          COLUMN(o->flags), COLUMN(o->base_name), COLUMN(o->mangled_name), COLUMN(o->context), COLUMN(o->green),
	          COLUMN(o->from), COLUMN(o->to));
	size_t row = 0;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		t->devices[d].first_op = (uint32_t)row;
		while (row < o->n && o->device[row] == d)
			row++;
		t->devices[d].n_ops = (uint32_t)row - t->devices[d].first_op;
	}
}

/* A read-back makes the host wait when the call is synchronous by its name, and also when its host side is pageable,
 * because then the driver stages it. The first kind synchronises by intent and counts as such; the second stays a copy
 * call that waits. */
static void mark_waits(struct linker *l)
{
	enum { UNKNOWN, RETURNS, BLOCKS };
	struct trace *t = l->trace;
	const struct trace_ops *o = &t->ops;
	uint8_t *blocks = ARENA_NEW(l->arena, t->names->n, uint8_t);
	t->calls.waits = ARENA_NEW(l->arena, t->calls.n, uint8_t);
	for (size_t i = 0; i < o->n; i++) {
		if (o->kind[i] != OP_COPY || o->launch[i] == TRACE_NONE)
			continue;
		if (o->copy[i] != COPY_D2H && o->copy[i] != COPY_A2H)
			continue;
		uint32_t call = o->launch[i], name = t->calls.name[call];
		if (t->calls.class[call] != CALL_COPY) /* a graph launch with a copy node returns at once */
			continue;
		if (blocks[name] == UNKNOWN)
			blocks[name] = classify_call_blocks(names_text(t->names, name)) ? BLOCKS : RETURNS;
		if (blocks[name] == BLOCKS)
			t->calls.class[call] = CALL_SYNC;
		else if (o->flags[i] & OPF_PAGEABLE)
			t->calls.waits[call] = 1;
	}
	for (size_t i = 0; i < t->calls.n; i++)
		if (t->calls.class[i] == CALL_SYNC)
			t->calls.waits[i] = 1;
}

static void rename_column(uint32_t *name, size_t n, const uint32_t *ids)
{
	for (size_t i = 0; i < n && name; i++)
		name[i] = ids[name[i]];
}

void trace_rename(struct trace *t, struct names *names, const uint32_t *ids)
{
	t->names = names;
	rename_column(t->ops.name, t->ops.n, ids);
	rename_column(t->ops.base_name, t->ops.n, ids);
	rename_column(t->ops.mangled_name, t->ops.n, ids);
	rename_column(t->calls.name, t->calls.n, ids);
	rename_column(t->calls.full_name, t->calls.n, ids);
	rename_column(t->ranges.name, t->ranges.n, ids);
	rename_column(t->ranges.domain, t->ranges.n, ids);
	rename_column(t->os_calls.name, t->os_calls.n, ids);
	rename_column(t->overheads.name, t->overheads.n, ids);
	rename_column(t->unprofiled.name, t->unprofiled.n, ids);
	for (uint32_t i = 0; i < t->n_processes; i++)
		t->processes[i].name = ids[t->processes[i].name];
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i].name = ids[t->threads[i].name];
	for (uint32_t i = 0; i < t->n_gpus; i++)
		t->gpus[i].name = ids[t->gpus[i].name];
	for (uint32_t i = 0; i < t->n_diagnostics; i++)
		t->diagnostics[i].text = ids[t->diagnostics[i].text];
}

/* Widens [*first, *last] by n rows. */
static void stretch(size_t n, const int64_t *start, const int64_t *end, int64_t *first, int64_t *last)
{
	for (size_t i = 0; i < n; i++) {
		*first = start[i] < *first ? start[i] : *first;
		*last = end[i] > *last ? end[i] : *last;
	}
}

static void find_extent(struct trace *t)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	stretch(t->ops.n, t->ops.start, t->ops.end, &first, &last);
	stretch(t->calls.n, t->calls.start, t->calls.end, &first, &last);
	stretch(t->ranges.n, t->ranges.start, t->ranges.end, &first, &last);
	t->first_time = first <= last ? first : 0;
	t->last_time = first <= last ? last : 0;
}

void trace_link(struct trace *trace, struct arena *arena)
{
	struct linker l = {trace, arena};
	find_extent(trace);
	sort_host_rows(&l);
	join_ops(&l);
	sort_ops(&l);
	mark_waits(&l);
}
