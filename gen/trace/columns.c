#include "trace/columns.h"

#include "trace/order.h"

#include <math.h>
#include <string.h>

#define ANY_COLUMN(kind, member, role, origin, kept, how, limit)                                                       \
	{                                                                                                              \
		offsetof(struct trace_##kind, member), sizeof *((struct trace_##kind *)0)->member, (role), (origin),   \
			(how), (kept), (limit)                                                                         \
	}
#define COLUMN(kind, member, role, origin) ANY_COLUMN(kind, member, role, origin, NULL, KEPT_PLAIN, 0)
#define KEPT(kind, member, role, origin, word, how, limit)                                                             \
	ANY_COLUMN(kind, member, role, origin, #kind "." word, how, limit)
#define TIMES(kind)                                                                                                    \
	KEPT(kind, end, COLUMN_END, COLUMN_READ, "length", KEPT_LENGTH, 0),                                            \
		KEPT(kind, start, COLUMN_TIME, COLUMN_READ, "start", KEPT_START, 0)
#define THREAD(kind) KEPT(kind, thread, COLUMN_THREAD, COLUMN_READ, "thread", KEPT_NEXT, 0)
#define NAME(kind) KEPT(kind, name, COLUMN_NAME, COLUMN_READ, "name", KEPT_PLAIN, 0)

static const struct column OPS[] = {
	KEPT(ops, device, COLUMN_DEVICE, COLUMN_READ, "device", KEPT_NEXT, 0),
	NAME(ops),
	TIMES(ops),
	KEPT(ops, kind, COLUMN_VALUE, COLUMN_READ, "kind", KEPT_ALIKE, OP_MEMSET + 1),
	KEPT(ops, copy, COLUMN_VALUE, COLUMN_READ, "copy", KEPT_ALIKE, COPY_UM_D2D + 1),
	KEPT(ops, flags, COLUMN_VALUE, COLUMN_READ, "flags", KEPT_ALIKE, 8),
	KEPT(ops, bytes, COLUMN_VALUE, COLUMN_READ, "bytes", KEPT_ALIKE, (uint64_t)1 << TRACE_LAUNCH_BITS),
	KEPT(ops, stream, COLUMN_VALUE, COLUMN_READ, "stream", KEPT_ALIKE, 0),
	KEPT(ops, correlation, COLUMN_VALUE, COLUMN_READ, "correlation", KEPT_NEXT, 0),
	KEPT(ops, creation, COLUMN_VALUE, COLUMN_SOME, "creation", KEPT_NEXT, 0),
	KEPT(ops, graph, COLUMN_VALUE, COLUMN_SOME, "graph", KEPT_ALIKE, 0),
	COLUMN(ops, launch, COLUMN_CALL, COLUMN_READ), /* room for trace_link, which sorts by it */
	COLUMN(ops, creator, COLUMN_CALL, COLUMN_SOME),
	COLUMN(ops, base_name, COLUMN_NAME, COLUMN_REQUESTED),
	COLUMN(ops, mangled_name, COLUMN_NAME, COLUMN_REQUESTED),
	COLUMN(ops, shape, COLUMN_VALUE, COLUMN_REQUESTED),
	COLUMN(ops, context, COLUMN_VALUE, COLUMN_REQUESTED),
	COLUMN(ops, green, COLUMN_VALUE, COLUMN_REQUESTED),
	COLUMN(ops, from, COLUMN_VALUE, COLUMN_REQUESTED),
	COLUMN(ops, to, COLUMN_VALUE, COLUMN_REQUESTED),
};
static const struct column CALLS[] = {
	THREAD(calls),
	NAME(calls),
	TIMES(calls),
	KEPT(calls, correlation, COLUMN_VALUE, COLUMN_READ, "correlation", KEPT_NEXT, 0),
	KEPT(calls, in_operator, COLUMN_NAME, COLUMN_SOME, "operator", KEPT_ALIKE, 0),
	KEPT(calls, in_module, COLUMN_NAME, COLUMN_SOME, "module", KEPT_ALIKE, 0),
	KEPT(calls, in_outermost, COLUMN_NAME, COLUMN_SOME, "outermost", KEPT_ALIKE, 0),
	KEPT(calls, in_line, COLUMN_NAME, COLUMN_SOME, "line", KEPT_ALIKE, 0),
	KEPT(calls, moved, COLUMN_VALUE, COLUMN_SOME, "moved", KEPT_ALIKE, (uint64_t)1 << 60),
	KEPT(calls, flops, COLUMN_VALUE, COLUMN_SOME, "flops", KEPT_ALIKE, (uint64_t)1 << 60),
	KEPT(calls, noted, COLUMN_VALUE, COLUMN_SOME, "noted", KEPT_ALIKE, (uint64_t)1 << 16),
	COLUMN(calls, class, COLUMN_VALUE, COLUMN_READ),
	COLUMN(calls, waits, COLUMN_VALUE, COLUMN_LINKED),
	COLUMN(calls, queues, COLUMN_VALUE, COLUMN_LINKED),
	COLUMN(calls, full_name, COLUMN_NAME, COLUMN_REQUESTED),
};
static const struct column RANGES[] = {
	THREAD(ranges),
	NAME(ranges),
	TIMES(ranges),
	KEPT(ranges, domain, COLUMN_DOMAIN, COLUMN_READ, "domain", KEPT_ALIKE, 0),
	KEPT(ranges, kind, COLUMN_VALUE, COLUMN_READ, "kind", KEPT_ALIKE, 2),
	KEPT(ranges, clipped, COLUMN_VALUE, COLUMN_READ, "clipped", KEPT_ALIKE, 2),
	COLUMN(ranges, moved, COLUMN_VALUE, COLUMN_REQUESTED),
};
static const struct column OS_CALLS[] = {
	THREAD(os_calls),
	NAME(os_calls),
	TIMES(os_calls),
	COLUMN(os_calls, class, COLUMN_VALUE, COLUMN_READ),
};
static const struct column OVERHEADS[] = {
	THREAD(overheads),
	NAME(overheads),
	TIMES(overheads),
	KEPT(overheads, class, COLUMN_VALUE, COLUMN_READ, "class", KEPT_ALIKE, 2),
};
static const struct column SLICES[] = {
	THREAD(slices),
	TIMES(slices),
};
static const struct column COMM_CALLS[] = {
	THREAD(comm_calls),
	NAME(comm_calls),
	TIMES(comm_calls),
	KEPT(comm_calls, comm, COLUMN_VALUE, COLUMN_READ, "comm", KEPT_ALIKE, 0),
	KEPT(comm_calls, bytes, COLUMN_VALUE, COLUMN_READ, "bytes", KEPT_ALIKE, 0),
	KEPT(comm_calls, peer, COLUMN_VALUE, COLUMN_READ, "peer", KEPT_ALIKE, 0),
	KEPT(comm_calls, rank, COLUMN_VALUE, COLUMN_READ, "rank", KEPT_ALIKE, 0),
	KEPT(comm_calls, ranks, COLUMN_VALUE, COLUMN_READ, "ranks", KEPT_ALIKE, 0),
};
static const struct column SAMPLES[] = {
	COLUMN(samples, time, COLUMN_TIME, COLUMN_READ),
	COLUMN(samples, thread, COLUMN_THREAD, COLUMN_READ),
	COLUMN(samples, stack, COLUMN_FRAME, COLUMN_READ),
};
static const struct column GIL[] = {
	THREAD(gil),
	TIMES(gil),
	KEPT(gil, holder, COLUMN_THREAD, COLUMN_READ, "holder", KEPT_ALIKE, 0),
	COLUMN(gil, stack, COLUMN_FRAME, COLUMN_READ),
};
static const struct column UNLOOKED[] = {
	THREAD(unlooked),
	TIMES(unlooked),
};
static const struct column LEVELS[] = {
	KEPT(levels, device, COLUMN_DEVICE, COLUMN_READ, "device", KEPT_NEXT, 0),
	TIMES(levels),
	KEPT(levels, bytes, COLUMN_VALUE, COLUMN_READ, "bytes", KEPT_ALIKE, (uint64_t)1 << 61),
};

#define TABLE(member, list, first)                                                                                     \
	{                                                                                                              \
		offsetof(struct trace, member), (first), (list), sizeof(list) / sizeof *(list)                         \
	}
const struct columns COLUMNS[COLUMNS_OF] = {
	[ROWS_OF_OPS] = TABLE(ops, OPS, 0),
	[ROWS_OF_CALLS] = TABLE(calls, CALLS, offsetof(struct trace, first_call)),
	[ROWS_OF_RANGES] = TABLE(ranges, RANGES, offsetof(struct trace, first_range)),
	[ROWS_OF_OS_CALLS] = TABLE(os_calls, OS_CALLS, offsetof(struct trace, first_os_call)),
	[ROWS_OF_OVERHEADS] = TABLE(overheads, OVERHEADS, offsetof(struct trace, first_overhead)),
	[ROWS_OF_SLICES] = TABLE(slices, SLICES, offsetof(struct trace, first_slice)),
	[ROWS_OF_COMM_CALLS] = TABLE(comm_calls, COMM_CALLS, 0),
	[ROWS_OF_SAMPLES] = TABLE(samples, SAMPLES, offsetof(struct trace, first_sample)),
	[ROWS_OF_GIL] = TABLE(gil, GIL, offsetof(struct trace, first_gil)),
	[ROWS_OF_UNLOOKED] = TABLE(unlooked, UNLOOKED, offsetof(struct trace, first_unlooked)),
	[ROWS_OF_LEVELS] = TABLE(levels, LEVELS, 0),
};

size_t *columns_rows(struct trace *t, enum columns_of rows)
{
	return (size_t *)((char *)t + COLUMNS[rows].at);
}

static size_t rows_of(const struct trace *t, enum columns_of rows)
{
	return *(const size_t *)((const char *)t + COLUMNS[rows].at);
}

/* Pointers of several types stand in one table: they are copied as bytes, so that no type is taken for another. */
void *columns_get(const struct trace *t, enum columns_of rows, const struct column *column)
{
	void *values;
	memcpy(&values, (const char *)t + COLUMNS[rows].at + column->at, sizeof values);
	return values;
}

void columns_set(struct trace *t, enum columns_of rows, const struct column *column, void *values)
{
	memcpy((char *)t + COLUMNS[rows].at + column->at, &values, sizeof values);
}

void columns_resize(struct trace *t, enum columns_of rows, struct arena *arena, size_t old, size_t n, bool requested)
{
	const struct columns *all = &COLUMNS[rows];
	for (size_t i = 0; i < all->n; i++) {
		const struct column *c = &all->column[i];
		void *values = columns_get(t, rows, c);
		if (c->origin == COLUMN_LINKED || (c->origin == COLUMN_REQUESTED && !requested) ||
		    (c->origin == COLUMN_SOME && !values))
			continue;
		const bool written = !values && c->origin == COLUMN_READ; /* of every row, before it is read */
		columns_set(t, rows, c,
		            n < old   ? arena_trim(arena, values, old, n, c->size)
		            : written ? arena_take(arena, n, c->size)
		                      : arena_grow(arena, values, old, n, c->size));
	}
}

void columns_renumber(struct trace *t, enum columns_of rows, enum column_role role, const uint32_t *number)
{
	const struct columns *all = &COLUMNS[rows];
	size_t n = rows_of(t, rows);
	for (size_t i = 0; i < all->n; i++) {
		uint32_t *value = all->column[i].role == role ? columns_get(t, rows, &all->column[i]) : NULL;
		for (size_t row = 0, of = value ? n : 0; row < of; row++)
			value[row] = value[row] == TRACE_NONE ? TRACE_NONE : number[value[row]];
	}
}

/* llround, in the place where it is called, of what is below 2^62: what lies half-way goes away from 0, and the largest
 * number below a half, which is what is added, takes no other one over. */
static inline int64_t rounded(double value)
{
	return (int64_t)(value + copysign(0x1.fffffffffffffp-2, value));
}

/* A drift is at most 1e-3 (clock_offset.c), and times are below 2^60 ns. Without one nothing is added. */
static inline int64_t mapped(const struct time_map *map, int64_t time)
{
	return time + map->offset + rounded(map->drift * (double)(time - map->at));
}

int64_t time_map_of(const struct time_map *map, int64_t time)
{
	return mapped(map, time);
}

void columns_map_times(struct trace *t, enum columns_of rows, const struct time_map *map)
{
	const struct columns *all = &COLUMNS[rows];
	const struct time_map held = *map; /* times that are written might be its own */
	size_t n = rows_of(t, rows);
	bool drifts = map->drift < 0 || map->drift > 0;
	for (size_t i = 0; i < all->n && (map->offset || drifts); i++) {
		bool times = all->column[i].role == COLUMN_TIME || all->column[i].role == COLUMN_END;
		int64_t *time = times ? columns_get(t, rows, &all->column[i]) : NULL;
		for (size_t row = 0, of = time ? n : 0; row < of; row++)
			time[row] = mapped(&held, time[row]);
	}
}

/* ---- order ---- */

/* The first column of this role; NULL: there is none. */
static const void *column_of(const struct trace *t, enum columns_of rows, enum column_role role)
{
	const struct columns *all = &COLUMNS[rows];
	for (size_t i = 0; i < all->n; i++)
		if (all->column[i].role == role)
			return columns_get(t, rows, &all->column[i]);
	return NULL;
}

/* The first row of each thread, and the end of the last: n_threads + 1 entries. */
static uint32_t *first_of_thread(const struct trace *t, size_t n, const uint32_t *thread, struct arena *arena)
{
	uint32_t *first = ARENA_NEW(arena, (size_t)t->n_threads + 1, uint32_t);
	size_t row = 0;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		first[i] = (uint32_t)row;
		while (row < n && thread[row] == i)
			row++;
	}
	first[t->n_threads] = (uint32_t)n;
	return first;
}

struct all_rows {
	const struct trace *trace;
	enum columns_of rows;
};

static int compare_values(const struct column *column, const struct names *names, const void *values, size_t a,
                          size_t b)
{
	uint64_t x, y;
	if (column->size == 8) {
		x = ((const uint64_t *)values)[a];
		y = ((const uint64_t *)values)[b];
	} else if (column->size == 4) {
		x = ((const uint32_t *)values)[a];
		y = ((const uint32_t *)values)[b];
	} else {
		x = ((const uint8_t *)values)[a];
		y = ((const uint8_t *)values)[b];
	}
	if (x != y && (column->role == COLUMN_NAME || column->role == COLUMN_DOMAIN))
		return strcmp(names_text(names, (uint32_t)x), names_text(names, (uint32_t)y));
	return (x > y) - (x < y);
}

/* Rows of one place and time, by all else that they hold: in which order a profile has them means nothing. Names are
 * numbered by who came first, so their texts count. */
static int compare_rows(const void *context, size_t a, size_t b)
{
	const struct all_rows *of = context;
	const struct columns *all = &COLUMNS[of->rows];
	int order = 0;
	for (size_t i = 0; i < all->n && !order; i++) {
		const void *values = columns_get(of->trace, of->rows, &all->column[i]);
		if (values)
			order = compare_values(&all->column[i], of->trace->names, values, a, b);
	}
	return order;
}

void columns_order(struct trace *t, enum columns_of rows, struct arena *arena)
{
	const struct columns *all = &COLUMNS[rows];
	ARENA_LOCAL(scratch);
	const struct all_rows of = {t, rows};
	bool ops = rows == ROWS_OF_OPS; /* by device and, last, launch; all others by thread, the longer one first */
	const struct order order = {.n = rows_of(t, rows),
	                            .group = column_of(t, rows, ops ? COLUMN_DEVICE : COLUMN_THREAD),
	                            .n_groups = ops ? t->n_devices : t->n_threads,
	                            .start = column_of(t, rows, COLUMN_TIME),
	                            .end = column_of(t, rows, COLUMN_END),
	                            .end_descending = !ops,
	                            .tie = ops ? t->ops.launch : NULL,
	                            .compare = compare_rows,
	                            .context = &of};
	const uint32_t *permutation = order_rows(&order, &scratch);
	void *room = permutation ? ARENA_TAKE(&scratch, order.n, uint64_t) : NULL;
	for (size_t i = 0; permutation && i < all->n; i++) {
		void *values = columns_get(t, rows, &all->column[i]);
		if (values)
			order_column(values, all->column[i].size, order.n, permutation, room);
	}
	if (all->first) {
		uint32_t *first = first_of_thread(t, order.n, order.group, arena);
		memcpy((char *)t + all->first, &first, sizeof first);
	}
}

/* ---- merging ---- */

void columns_take(struct trace *t, struct trace *from, enum columns_of rows)
{
	const struct columns *all = &COLUMNS[rows];
	for (size_t i = 0; i < all->n; i++) {
		columns_set(t, rows, &all->column[i], columns_get(from, rows, &all->column[i]));
		columns_set(from, rows, &all->column[i], NULL);
	}
	*columns_rows(t, rows) = rows_of(from, rows);
	*columns_rows(from, rows) = 0;
}

void columns_room(struct trace *t, enum columns_of rows, size_t room, struct arena *arena)
{
	const struct columns *all = &COLUMNS[rows];
	for (size_t i = 0; i < all->n; i++) {
		void *values = columns_get(t, rows, &all->column[i]);
		if (values)
			columns_set(t, rows, &all->column[i],
			            arena_extend(arena, values, rows_of(t, rows), room, all->column[i].size));
	}
}

void columns_append(struct trace *t, const struct trace *from, enum columns_of rows, size_t room, struct arena *arena)
{
	const struct columns *all = &COLUMNS[rows];
	size_t n = rows_of(t, rows), more = rows_of(from, rows);
	bool fits = n + more <= room;
	for (size_t i = 0; i < all->n && more; i++) {
		const struct column *c = &all->column[i];
		char *values = columns_get(t, rows, c);
		const void *added = columns_get(from, rows, c);
		if (c->origin == COLUMN_SOME && (values || added)) {
			values = values ? values : arena_alloc(arena, fits ? room : n, c->size);
			added = added ? added : arena_alloc(arena, more, c->size);
		}
		if (added && (values || !n)) {
			if (!values || !fits)
				values = arena_extend(arena, values, n, fits ? room : n + more, c->size);
			memcpy(values + n * c->size, added, more * c->size);
		} else {
			values = NULL;
		}
		columns_set(t, rows, c, values);
	}
	*columns_rows(t, rows) = n + more;
}
