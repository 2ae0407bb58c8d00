#include "digest/inside.h"

#include <stdbool.h>
#include <string.h>

/* The numbers of these enums stand in files. */
_Static_assert(OP_KERNEL == 0 && OP_COMM == 1 && OP_GRAPH == 2 && OP_COPY == 3 && OP_MEMSET == 4,
               "docs/reference/digest.md");
_Static_assert(OPF_PAGEABLE == 1 && OPF_GRAPH_NODE == 2 && OPF_MANAGED == 4, "docs/reference/digest.md");
_Static_assert(MEMORY_NOT_SEEN == 0 && MEMORY_SEEN == 1 && MEMORY_EARLIER == 2, "docs/reference/digest.md");
_Static_assert(MEMORY_NO_END == 6, "docs/reference/digest.md");
_Static_assert(MEMORY_NO_PLACE == 3 && MEMORY_DAMAGED == 4 && MEMORY_NO_START == 5, "docs/reference/digest.md");
_Static_assert(RANGE_PUSH_POP == 0 && RANGE_START_END == 1, "docs/reference/digest.md");
_Static_assert(OVERHEAD_PROFILER == 0 && OVERHEAD_MODULE_LOAD == 1, "docs/reference/digest.md");

#define COLUMN(kind, member, word, how, role, limit)                                                                   \
	{                                                                                                              \
#kind "." word, offsetof(struct trace_##kind, member), sizeof *((struct trace_##kind *)0)->member,     \
			(how), (role), (limit)                                                                         \
	}
#define TIMES(kind)                                                                                                    \
	COLUMN(kind, end, "length", LAYOUT_LENGTH, COLUMN_TIME, 0),                                                    \
		COLUMN(kind, start, "start", LAYOUT_START, COLUMN_TIME, 0)
#define THREAD(kind) COLUMN(kind, thread, "thread", LAYOUT_NEXT, COLUMN_THREAD, 0)
#define NAME(kind) COLUMN(kind, name, "name", LAYOUT_PLAIN, COLUMN_NAME, 0)

static const struct layout_column OPS[] = {
	COLUMN(ops, device, "device", LAYOUT_NEXT, COLUMN_DEVICE, 0),
	NAME(ops),
	TIMES(ops),
	COLUMN(ops, kind, "kind", LAYOUT_ALIKE, COLUMN_VALUE, OP_MEMSET + 1),
	COLUMN(ops, copy, "copy", LAYOUT_ALIKE, COLUMN_VALUE, COPY_UM_D2D + 1),
	COLUMN(ops, flags, "flags", LAYOUT_ALIKE, COLUMN_VALUE, 8),
	COLUMN(ops, bytes, "bytes", LAYOUT_ALIKE, COLUMN_VALUE, (uint64_t)1 << TRACE_LAUNCH_BITS),
	COLUMN(ops, stream, "stream", LAYOUT_ALIKE, COLUMN_VALUE, 0),
	COLUMN(ops, correlation, "correlation", LAYOUT_NEXT, COLUMN_VALUE, 0),
	COLUMN(ops, creation, "creation", LAYOUT_NEXT, COLUMN_VALUE, 0),
	COLUMN(ops, graph, "graph", LAYOUT_ALIKE, COLUMN_VALUE, 0),
};
static const struct layout_column CALLS[] = {
	THREAD(calls),
	NAME(calls),
	TIMES(calls),
	COLUMN(calls, correlation, "correlation", LAYOUT_NEXT, COLUMN_VALUE, 0),
	COLUMN(calls, in_operator, "operator", LAYOUT_ALIKE, COLUMN_NAME, 0),
	COLUMN(calls, in_module, "module", LAYOUT_ALIKE, COLUMN_NAME, 0),
	COLUMN(calls, in_outermost, "outermost", LAYOUT_ALIKE, COLUMN_NAME, 0),
	COLUMN(calls, in_line, "line", LAYOUT_ALIKE, COLUMN_NAME, 0),
	COLUMN(calls, moved, "moved", LAYOUT_ALIKE, COLUMN_VALUE, (uint64_t)1 << 60),
	COLUMN(calls, flops, "flops", LAYOUT_ALIKE, COLUMN_VALUE, (uint64_t)1 << 60),
	COLUMN(calls, noted, "noted", LAYOUT_ALIKE, COLUMN_VALUE, (uint64_t)1 << 16),
};
static const struct layout_column RANGES[] = {
	THREAD(ranges),
	NAME(ranges),
	TIMES(ranges),
	COLUMN(ranges, domain, "domain", LAYOUT_ALIKE, COLUMN_DOMAIN, 0),
	COLUMN(ranges, kind, "kind", LAYOUT_ALIKE, COLUMN_VALUE, 2),
	COLUMN(ranges, clipped, "clipped", LAYOUT_ALIKE, COLUMN_VALUE, 2),
};
static const struct layout_column OS_CALLS[] = {THREAD(os_calls), NAME(os_calls), TIMES(os_calls)};
static const struct layout_column OVERHEADS[] = {
	THREAD(overheads),
	NAME(overheads),
	TIMES(overheads),
	COLUMN(overheads, class, "class", LAYOUT_ALIKE, COLUMN_VALUE, 2),
};
static const struct layout_column SLICES[] = {THREAD(slices), TIMES(slices)};
static const struct layout_column GIL[] = {
	THREAD(gil),
	TIMES(gil),
	COLUMN(gil, holder, "holder", LAYOUT_ALIKE, COLUMN_THREAD, 0),
};
static const struct layout_column UNLOOKED[] = {THREAD(unlooked), TIMES(unlooked)};
static const struct layout_column COMM_CALLS[] = {
	THREAD(comm_calls),
	NAME(comm_calls),
	TIMES(comm_calls),
	COLUMN(comm_calls, comm, "comm", LAYOUT_ALIKE, COLUMN_VALUE, 0),
	COLUMN(comm_calls, bytes, "bytes", LAYOUT_ALIKE, COLUMN_VALUE, 0),
	COLUMN(comm_calls, peer, "peer", LAYOUT_ALIKE, COLUMN_VALUE, 0),
	COLUMN(comm_calls, rank, "rank", LAYOUT_ALIKE, COLUMN_VALUE, 0),
	COLUMN(comm_calls, ranks, "ranks", LAYOUT_ALIKE, COLUMN_VALUE, 0),
};
static const struct layout_column LEVELS[] = {
	COLUMN(levels, device, "device", LAYOUT_NEXT, COLUMN_DEVICE, 0),
	TIMES(levels),
	COLUMN(levels, bytes, "bytes", LAYOUT_ALIKE, COLUMN_VALUE, (uint64_t)1 << 61),
};

#define TABLE(rows, named, columns)                                                                                    \
	{                                                                                                              \
		rows, named, columns, sizeof(columns) / sizeof *(columns)                                              \
	}
const struct layout_table LAYOUT[LAYOUT_TABLES] = {
	TABLE(ROWS_OF_OPS, true, OPS),
	TABLE(ROWS_OF_CALLS, true, CALLS),
	TABLE(ROWS_OF_RANGES, true, RANGES),
	TABLE(ROWS_OF_OS_CALLS, true, OS_CALLS),
	TABLE(ROWS_OF_OVERHEADS, true, OVERHEADS),
	TABLE(ROWS_OF_SLICES, false, SLICES),
	TABLE(ROWS_OF_COMM_CALLS, true, COMM_CALLS),
	TABLE(ROWS_OF_GIL, false, GIL),
	TABLE(ROWS_OF_UNLOOKED, false, UNLOOKED),
	TABLE(ROWS_OF_LEVELS, false, LEVELS),
};

void *layout_values(const struct trace *t, const struct layout_table *table, const struct layout_column *column)
{
	void *values;
	memcpy(&values, (const char *)t + COLUMNS[table->rows].at + column->at, sizeof values);
	return values;
}

void layout_guess_begin(struct layout_guess *g, const struct trace *t, const struct layout_table *table,
                        const struct layout_column *column, const uint32_t *number, int64_t *last)
{
	const struct layout_column *times = table->column + (table->named ? 2 : 1);
	*g = (struct layout_guess){.table = table,
	                           .column = column,
	                           .group = layout_values(t, table, table->column),
	                           .name = table->named ? layout_values(t, table, table->column + 1) : NULL,
	                           .start = layout_values(t, table, times + 1),
	                           .end = layout_values(t, table, times),
	                           .number = number,
	                           .last = last};
}

/* Whether row `i` is of another group than the one before. */
static bool layout_begins_group(const struct layout_guess *g, size_t i)
{
	uint8_t size = g->table->column->size;
	return !i || layout_get(g->group, size, i) != layout_get(g->group, size, i - 1);
}

static uint32_t name_of(const struct layout_guess *g, size_t i)
{
	uint32_t name = ((const uint32_t *)g->name)[i];
	return g->number ? g->number[name] : name;
}

int64_t layout_guess_base(const struct layout_guess *g, size_t i)
{
	if (g->column->how == LAYOUT_LENGTH)
		return layout_get(g->start, 8, i);
	if (g->column->how == LAYOUT_START)
		return layout_begins_group(g, i) ? 0 : layout_get(g->end, 8, i - 1);
	return 0;
}

int64_t *layout_guess_last(const struct layout_guess *g, size_t i)
{
	if (g->column->how == LAYOUT_PLAIN)
		return NULL;
	if (g->column->how == LAYOUT_NEXT || !g->name)
		return &g->last[0];
	uint32_t name = name_of(g, i), before = 0;
	if (!layout_begins_group(g, i))
		before = name_of(g, i - 1);
	else if (g->column->how == LAYOUT_START)
		before = UINT32_MAX; /* a gap that is none: since the start of the capture */
	return &g->last[layout_place(name, before)];
}
