/* Puts a trace's columns in their documented order and joins GPU ops to the calls that launched them. */
#include "base/search.h"
#include "trace/again.h"
#include "trace/classify.h"
#include "trace/columns.h"
#include "trace/order.h"
#include "trace/trace.h"

struct linker {
	struct trace *trace;
	struct arena *arena;
};

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
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		uint32_t p = t->threads[thread].process, first = count[p] ? index[p].low : UINT32_MAX, last = high[p];
		size_t none = 0;
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			uint32_t id = t->calls.correlation[i];
			none += !id;
			first = id - 1 < first - 1 ? id : first; /* 0 is none */
			last = id > last ? id : last;
		}
		count[p] += t->first_call[thread + 1] - t->first_call[thread] - none;
		index[p].low = first;
		high[p] = last;
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		uint64_t span = count[p] ? (uint64_t)high[p] - index[p].low + 1 : 0;
		if (span <= 8 * (uint64_t)count[p] + 1024) {
			index[p].n = (uint32_t)span;
			index[p].table = ARENA_NEW(arena, span, uint32_t);
		} else {
			index[p].n = (uint32_t)count[p];
			index[p].sorted = ARENA_NEW(arena, count[p], uint32_t);
		}
	}
	/* from the last one on, so that the earliest one stands without a look at the table: a page of fresh memory
	 * that is read before it is written faults twice */
	for (uint32_t thread = t->n_threads; thread-- > 0;) {
		struct call_index *of = &index[t->threads[thread].process];
		size_t *left = &count[t->threads[thread].process];
		for (uint32_t i = t->first_call[thread + 1]; i-- > t->first_call[thread];) {
			uint32_t id = t->calls.correlation[i];
			if (id && of->table)
				of->table[id - of->low] = i + 1;
			else if (id)
				of->sorted[--*left] = i;
		}
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		struct call_index *x = &index[p];
		if (x->table)
			continue;
		uint32_t *id = ARENA_NEW(arena, x->n, uint32_t);
		for (uint32_t i = 0; i < x->n; i++)
			id[i] = t->calls.correlation[x->sorted[i]];
		struct order order = {.n = x->n, .n_groups = 1, .tie = id};
		uint32_t *permutation = order_rows(&order, arena);
		if (permutation)
			order_column(x->sorted, sizeof *x->sorted, x->n, permutation, id);
	}
	return index;
}

static uint32_t search_call(const struct trace_calls *calls, const struct call_index *x, uint32_t id)
{
	uint32_t i = 0;
	SEARCH(i, x->n, calls->correlation[x->sorted[i]] < id);
	return i < x->n && calls->correlation[x->sorted[i]] == id ? x->sorted[i] : TRACE_NONE;
}

static inline uint32_t find_call(const struct trace_calls *calls, const struct call_index *x, uint32_t id)
{
	if (!id)
		return TRACE_NONE;
	if (x->table)
		return id - x->low < x->n ? x->table[id - x->low] - 1 : TRACE_NONE; /* an empty entry wraps to NONE */
	return search_call(calls, x, id);
}

static void join_ops(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_ops *o = &t->ops;
	ARENA_LOCAL(scratch);
	const struct call_index *index = index_calls(t, &scratch);
	const struct call_index *of = NULL; /* of the device at hand */
	uint32_t device = TRACE_NONE;
	size_t unlaunched = 0;
	t->calls.queues = ARENA_NEW(l->arena, t->calls.n, uint8_t);
	if (o->creation && !o->creator)
		o->creator = ARENA_NEW(l->arena, o->n, uint32_t);
	for (size_t i = 0; i < o->n; i++) {
		bool managed = o->flags[i] & OPF_MANAGED;
		if (!of || o->device[i] != device) {
			device = o->device[i];
			of = &index[t->devices[device].process];
		}
		if (o->creation)
			o->creator[i] = find_call(&t->calls, of, o->creation[i]);
		uint32_t launch = o->launch[i] = managed ? TRACE_NONE : find_call(&t->calls, of, o->correlation[i]);
		unlaunched += launch == TRACE_NONE && !managed;
		if (launch == TRACE_NONE)
			continue;
		const bool graph = o->kind[i] == OP_GRAPH || o->flags[i] & OPF_GRAPH_NODE;
		if (graph || !t->calls.queues[launch]) /* whichever row comes first */
			t->calls.queues[launch] = graph ? QUEUES_GRAPH : QUEUES_ONE;
	}
	t->n_unlaunched = unlaunched;
}

static void sort_ops(struct linker *l)
{
	struct trace *t = l->trace;
	struct trace_ops *o = &t->ops;
	columns_order(t, ROWS_OF_OPS, l->arena);
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

void trace_rename(struct trace *t, struct names *names, const uint32_t *ids)
{
	t->names = names;
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(t, rows, COLUMN_NAME, ids);
		columns_renumber(t, rows, COLUMN_DOMAIN, ids);
	}
	for (uint32_t i = 0; i < t->n_processes; i++)
		t->processes[i].name = ids[t->processes[i].name];
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i].name = ids[t->threads[i].name];
	for (uint32_t i = 0; i < t->n_gpus; i++)
		t->gpus[i].name = ids[t->gpus[i].name];
	for (uint32_t i = 0; i < t->n_devices; i++)
		for (int k = 0; k < HELD_BYS * HELD_MOST; k++) {
			uint32_t *name = &t->devices[i].held[k / HELD_MOST][k % HELD_MOST].name;
			*name = ids[*name];
		}
	for (uint32_t i = 0; i < t->stacks.n_functions; i++) {
		t->stacks.functions[i].name = ids[t->stacks.functions[i].name];
		t->stacks.functions[i].module = ids[t->stacks.functions[i].module];
		t->stacks.functions[i].at = ids[t->stacks.functions[i].at];
	}
	for (uint32_t i = 0; i < t->n_diagnostics; i++)
		t->diagnostics[i].text = ids[t->diagnostics[i].text];
	for (uint32_t i = 0; i < t->n_again; i++) {
		for (uint32_t k = 0; k < t->again[i].n_ids; k++)
			t->again[i].ids[k] = ids[t->again[i].ids[k]];
		for (uint32_t k = 0; k < t->again[i].n_ranges; k++)
			t->again[i].ranges[k].name = ids[t->again[i].ranges[k].name];
		for (uint32_t k = 0; k < t->again[i].comm.n_kinds; k++)
			t->again[i].comm.kinds[k].name = ids[t->again[i].comm.kinds[k].name];
	}
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

static void order_threads(struct trace *t, struct arena *arena)
{
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		if (COLUMNS[rows].first)
			columns_order(t, rows, arena);
}

void trace_link(struct trace *trace, struct arena *arena)
{
	struct linker l = {trace, arena};
	find_extent(trace);
	order_threads(trace, arena);
	join_ops(&l);
	sort_ops(&l);
	mark_waits(&l);
}

void trace_order(struct trace *trace, struct arena *arena)
{
	order_threads(trace, arena);
	sort_ops(&(struct linker){trace, arena});
}
