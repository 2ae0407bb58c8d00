#include "trace/again.h"

#include "base/keymap.h"
#include "base/list.h"

#include <string.h>

/* Two multiplications that have nothing to do with each other (constants of MurmurHash3's and SplitMix64's finishers).
 */
static void mix(uint64_t print[2], uint64_t value)
{
	print[0] = (print[0] ^ value) * 0xff51afd7ed558ccdu;
	print[0] ^= print[0] >> 33;
	print[1] = (print[1] + value + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	print[1] ^= print[1] >> 29;
}

/* A number of 128 bits that two captures have in common only by being the same, but for chance. */
static void again_print(const struct trace_ops *ops, uint64_t print[2])
{
	print[0] = print[1] = ops->n;
	for (size_t i = 0; i < ops->n; i++) {
		mix(print, (uint64_t)ops->start[i]);
		mix(print, (uint64_t)ops->end[i]);
	}
}

struct again_ranges *again_count_ranges(const struct trace *t, struct arena *arena, uint32_t *n)
{
	ARENA_LOCAL(scratch);
	struct keymap keys;
	struct again_ranges *list = NULL;
	size_t room = 0;
	*n = 0;
	keymap_init(&keys, &scratch);
	for (size_t i = 0; i < t->ranges.n; i++) {
		uint32_t thread = t->ranges.thread[i], name = t->ranges.name[i];
		uint32_t at = keymap_add(&keys, (uint64_t)thread << 32 | name);
		if (at == *n) {
			LIST_ADD(arena, list, *n, room, (struct again_ranges){.thread = thread, .name = name});
		}
		list[at].n++;
	}
	return list;
}

/* Leaves of the rows of `from` all, or none. */
static void leave_rows(struct trace *to, const struct trace *from, enum columns_of rows, bool left, struct arena *arena)
{
	const struct columns *all = &COLUMNS[rows];
	size_t n = left ? *columns_rows((struct trace *)from, rows) : 0;
	for (size_t c = 0; c < all->n; c++) {
		const void *values = columns_get(from, rows, &all->column[c]);
		columns_set(to, rows, &all->column[c],
		            values ? arena_keep(arena, values, n, all->column[c].size) : NULL);
	}
	*columns_rows(to, rows) = n;
}

void again_leave(struct trace *t, struct trace_again *part, struct arena *arena)
{
	struct trace whole = *t;
	part->ops = t->ops.n;
	part->owned = t->calls.in_operator || t->calls.in_module || t->calls.in_outermost || t->calls.in_line;
	part->ranges = again_count_ranges(t, arena, &part->n_ranges);
	again_print(&t->ops, part->print);
	comm_kernels_pack(t, arena, &part->comm);
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		leave_rows(t, &whole, rows, again_is_held(rows) || rows == ROWS_OF_COMM_CALLS, arena);
	trace_order(t, arena);
}

/* The rows of a part's threads that the run holds. */
static void take_held(const struct trace *t, const struct trace_again *part, enum columns_of rows, struct arena *arena,
                      struct trace *out)
{
	const struct columns *all = &COLUMNS[rows];
	const uint32_t *first = *(uint32_t *const *)((const char *)t + all->first);
	size_t from = first[part->first_thread], n = first[part->first_thread + out->n_threads] - from;
	for (size_t c = 0; c < all->n; c++) {
		const struct column *column = &all->column[c];
		const char *values = columns_get(t, rows, column);
		char *copy = arena_take(arena, n, column->size);
		if (n)
			memcpy(copy, values + from * column->size, n * column->size);
		for (size_t i = 0; i < n && column->role == COLUMN_THREAD; i++)
			((uint32_t *)(void *)copy)[i] -= part->first_thread;
		columns_set(out, rows, column, copy);
	}
	*columns_rows(out, rows) = n;
}

static void load_unlinked(const struct trace *t, uint32_t part, unsigned rows, struct arena *arena, struct trace *out)
{
	const struct trace_again *a = &t->again[part];
	unsigned held = 0;
	for (int kind = 0; kind < COLUMNS_OF; kind++)
		held |= again_is_held(kind) ? 1u << kind : 0;
	a->load(a, rows & ~held, t->names, arena, out);
	for (int kind = 0; kind < COLUMNS_OF; kind++)
		columns_map_times(out, kind, &a->map);
	for (int kind = 0; kind < COLUMNS_OF; kind++)
		if (rows & held & 1u << kind)
			take_held(t, a, kind, arena, out);
	out->stacks = t->stacks;
}

/* The things of the run that files [first, first + n) have, numbered from the first of them. */
static void take_things(const struct trace *t, uint32_t first, uint32_t n, struct arena *arena, struct trace *out)
{
	const struct trace_again *from = &t->again[first], *end = first + n < t->n_again ? &t->again[first + n] : NULL;
	*out = *t;
	out->again = NULL;
	out->n_again = 0;
	out->processes = t->processes + from->first_process;
	out->n_processes = (end ? end->first_process : t->n_processes) - from->first_process;
	out->n_threads = (end ? end->first_thread : t->n_threads) - from->first_thread;
	out->n_devices = (end ? end->first_device : t->n_devices) - from->first_device;
	out->threads = ARENA_NEW(arena, out->n_threads, struct trace_thread);
	out->devices = ARENA_NEW(arena, out->n_devices, struct trace_device);
	for (uint32_t i = 0; i < out->n_threads; i++) {
		out->threads[i] = t->threads[from->first_thread + i];
		out->threads[i].process -= from->first_process;
	}
	for (uint32_t i = 0; i < out->n_devices; i++) {
		out->devices[i] = t->devices[from->first_device + i];
		out->devices[i].process -= from->first_process;
	}
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		*columns_rows(out, rows) = 0;
		for (size_t c = 0; c < COLUMNS[rows].n; c++)
			columns_set(out, rows, &COLUMNS[rows].column[c], NULL);
	}
}

/* Rows of file `i` behind those that `out`, which begins with file `first`, has already. */
static void append(const struct trace *t, uint32_t i, uint32_t first, unsigned rows, struct arena *arena,
                   struct trace *out)
{
	ARENA_LOCAL(scratch);
	struct trace part;
	load_unlinked(t, i, rows, &scratch, &part);
	uint32_t *thread = ARENA_NEW(&scratch, part.n_threads, uint32_t);
	uint32_t *device = ARENA_NEW(&scratch, part.n_devices, uint32_t);
	for (uint32_t k = 0; k < part.n_threads; k++)
		thread[k] = t->again[i].first_thread - t->again[first].first_thread + k;
	for (uint32_t k = 0; k < part.n_devices; k++)
		device[k] = t->again[i].first_device - t->again[first].first_device + k;
	for (int kind = 0; kind < COLUMNS_OF; kind++) {
		columns_renumber(&part, kind, COLUMN_THREAD, thread);
		columns_renumber(&part, kind, COLUMN_DEVICE, device);
		columns_append(out, &part, kind, 0, arena);
	}
}

void again_load(const struct trace *trace, uint32_t first, uint32_t n, unsigned rows, struct arena *arena,
                struct trace *out)
{
	const struct trace copy = *trace, *t = &copy; /* `out` may be `trace` */
	if (n == 1 && t->n_again > 1) {
		load_unlinked(t, first, rows, arena, out);
		out->source = t->source;
	} else {
		take_things(t, first, n, arena, out);
		for (uint32_t i = first; i < first + n; i++)
			append(t, i, first, rows, arena, out);
	}
	trace_link(out, arena);
}
