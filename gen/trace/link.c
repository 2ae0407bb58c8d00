/* Puts a trace's columns in their documented order and joins GPU ops to the calls that launched them. */
#include "trace/classify.h"
#include "trace/order.h"
#include "trace/trace.h"

struct linker {
	struct trace *trace;
	struct arena *arena;
	void *scratch; /* eight bytes for each row of the longest table */
};

/* Rearranges the columns (pointers to them, with item sizes) by the permutation, if there is one. */
struct column {
	void *data;
	size_t size;
};

static void rearrange(struct linker *l, size_t n, const uint32_t *permutation, const struct column *columns,
                      size_t n_columns)
{
	if (!permutation)
		return;
	if (!l->scratch) {
		const struct trace *t = l->trace;
		size_t most = t->ops.n;
		const size_t others[] = {t->calls.n, t->ranges.n, t->os_calls.n, t->overheads.n};
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			most = others[i] > most ? others[i] : most;
		l->scratch = ARENA_NEW(l->arena, most, uint64_t);
	}
	for (size_t i = 0; i < n_columns; i++)
		if (columns[i].data)
			order_column(columns[i].data, columns[i].size, n, permutation, l->scratch);
}

#define COLUMN(pointer)                                                                                                \
	{                                                                                                              \
		(pointer), sizeof *(pointer)                                                                           \
	}
#define REARRANGE(l, n, permutation, ...)                                                                              \
	rearrange(l, n, permutation, (const struct column[]){__VA_ARGS__},                                             \
	          sizeof((const struct column[]){__VA_ARGS__}) / sizeof(struct column))

/* Permutation that sorts by (thread, start, end descending). */
static uint32_t *by_thread(struct linker *l, size_t n, const uint32_t *thread, const int64_t *start, const int64_t *end)
{
	struct order order = {.n = n,
	                      .group = thread,
	                      .n_groups = l->trace->n_threads,
	                      .start = start,
	                      .end = end,
	                      .end_descending = true};
	return order_rows(&order, l->arena);
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
	REARRANGE(l, c->n, by_thread(l, c->n, c->thread, c->start, c->end), COLUMN(c->start), COLUMN(c->end),
	          COLUMN(c->name), COLUMN(c->thread), COLUMN(c->correlation), COLUMN(c->class), COLUMN(c->full_name));
	struct trace_ranges *r = &t->ranges;
	REARRANGE(l, r->n, by_thread(l, r->n, r->thread, r->start, r->end), COLUMN(r->start), COLUMN(r->end),
	          COLUMN(r->name), COLUMN(r->domain), COLUMN(r->thread), COLUMN(r->kind), COLUMN(r->clipped),
	          COLUMN(r->moved));
	struct trace_os_calls *o = &t->os_calls;
	REARRANGE(l, o->n, by_thread(l, o->n, o->thread, o->start, o->end), COLUMN(o->start), COLUMN(o->end),
	          COLUMN(o->name), COLUMN(o->thread), COLUMN(o->class));
	struct trace_overheads *v = &t->overheads;
	REARRANGE(l, v->n, by_thread(l, v->n, v->thread, v->start, v->end), COLUMN(v->start), COLUMN(v->end),
	          COLUMN(v->name), COLUMN(v->thread), COLUMN(v->class));
	t->first_call = first_of_thread(l, c->n, c->thread);
	t->first_range = first_of_thread(l, r->n, r->thread);
	t->first_os_call = first_of_thread(l, o->n, o->thread);
	t->first_overhead = first_of_thread(l, v->n, v->thread);
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

static struct call_index *index_calls(struct linker *l)
{
	struct trace *t = l->trace;
	struct call_index *index = ARENA_NEW(l->arena, t->n_processes, struct call_index);
	uint32_t *high = ARENA_NEW(l->arena, t->n_processes, uint32_t);
	size_t *count = ARENA_NEW(l->arena, t->n_processes, size_t);
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
			index[p].table = ARENA_NEW(l->arena, span, uint32_t);
		} else {
			index[p].sorted = ARENA_NEW(l->arena, count[p], uint32_t);
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
		uint32_t *id = ARENA_NEW(l->arena, x->n, uint32_t), *none = ARENA_NEW(l->arena, x->n, uint32_t);
		for (uint32_t i = 0; i < x->n; i++)
			id[i] = t->calls.correlation[x->sorted[i]];
		struct order order = {.n = x->n, .group = none, .n_groups = 1, .tie = id};
		uint32_t *permutation = order_rows(&order, l->arena);
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
	uint32_t low = 0, high = x->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (calls->correlation[x->sorted[middle]] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->n && calls->correlation[x->sorted[low]] == id ? x->sorted[low] : TRACE_NONE;
}

static void join_ops(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_ops *o = &t->ops;
	const struct call_index *index = index_calls(l);
	t->n_unlaunched = 0;
	for (size_t i = 0; i < o->n; i++) {
		bool managed = o->flags[i] & OPF_MANAGED;
		o->launch[i] =
			managed ? TRACE_NONE
				: find_call(&t->calls, &index[t->devices[o->device[i]].process], o->correlation[i]);
		t->n_unlaunched += o->launch[i] == TRACE_NONE && !managed;
	}
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
	REARRANGE(l, o->n, order_rows(&order, l->arena), COLUMN(o->start), COLUMN(o->end), COLUMN(o->bytes),
	          COLUMN(o->name), COLUMN(o->device), COLUMN(o->stream), COLUMN(o->correlation), COLUMN(o->launch),
	          COLUMN(o->kind), COLUMN(o->copy), COLUMN(o->flags), COLUMN(o->base_name), COLUMN(o->mangled_name),
	          COLUMN(o->context), COLUMN(o->green), COLUMN(o->from), COLUMN(o->to));
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

void trace_link(struct trace *trace, struct arena *arena)
{
	struct linker l = {trace, arena, NULL};
	sort_host_rows(&l);
	join_ops(&l);
	sort_ops(&l);
	mark_waits(&l);
}
