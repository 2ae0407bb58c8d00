#include "trace/comm.h"

#include "base/list.h"
#include "base/numbers.h"
#include "base/sort.h"
#include "trace/again.h"

/* Of a trace whose rows are there. */
static struct comm_kernel *of_rows(const struct trace *t, struct arena *arena, size_t *n)
{
	const struct trace_ops *o = &t->ops;
	struct comm_kernel *list = NULL;
	size_t room = 0;
	*n = 0;
	for (size_t i = 0; i < o->n; i++) {
		if (o->kind[i] != OP_COMM)
			continue;
		const uint32_t call = o->launch[i];
		const bool alone = call != TRACE_NONE && !(o->flags[i] & OPF_GRAPH_NODE);
		LIST_ADD(arena, list, *n, room,
		         (struct comm_kernel){.start = o->start[i],
		                              .end = o->end[i],
		                              .launched = call == TRACE_NONE ? o->start[i] : t->calls.start[call],
		                              .op = (uint32_t)i,
		                              .name = o->name[i],
		                              .device = o->device[i],
		                              .stream = o->stream[i],
		                              .thread = alone ? t->calls.thread[call] : TRACE_NONE});
	}
	return list;
}

static bool is_alike(const struct comm_kernel *a, const struct comm_kernel *b)
{
	return a->name == b->name && a->device == b->device && a->stream == b->stream && a->thread == b->thread;
}

void comm_kernels_pack(const struct trace *t, struct arena *arena, struct comm_kernels *out)
{
	enum { LOOKED_AT = 64 }; /* the last ones; of a kind that is not among them there are several */
	ARENA_LOCAL(scratch);
	BUF_LOCAL(bytes);
	size_t n, room = 0;
	const struct comm_kernel *list = of_rows(t, &scratch, &n);
	struct comm_kernel *kinds = NULL;
	int64_t before = 0;
	*out = (struct comm_kernels){.n = (uint32_t)n};
	for (size_t i = 0; i < n; before = list[i++].end) {
		const struct comm_kernel *k = &list[i];
		uint32_t kind = out->n_kinds > LOOKED_AT ? out->n_kinds - LOOKED_AT : 0;
		while (kind < out->n_kinds && !is_alike(&kinds[kind], k))
			kind++;
		if (kind == out->n_kinds) {
			LIST_ADD(&scratch, kinds, out->n_kinds, room, *k);
		}
		number_put(&bytes, kind);
		number_put_signed(&bytes, k->start - before);
		number_put(&bytes, (uint64_t)(k->end - k->start));
		number_put_signed(&bytes, k->start - k->launched);
	}
	out->bytes = arena_keep(arena, bytes.data, bytes.n, 1);
	out->n_bytes = bytes.n;
	out->kinds = arena_keep(arena, kinds, out->n_kinds, sizeof *kinds);
}

uint32_t comm_kernels_pieces(const struct trace *t)
{
	return t->again ? t->n_again : 1;
}

size_t comm_kernels_count(const struct trace *t)
{
	size_t n = 0;
	for (uint32_t i = 0; t->again && i < t->n_again; i++)
		n += t->again[i].comm.n;
	for (size_t i = 0; !t->again && i < t->ops.n; i++)
		n += t->ops.kind[i] == OP_COMM;
	return n;
}

/* Another clock may turn round two that begin at nearly the same time. */
SORT_ORDER(compare, struct comm_kernel,
           ASCENDING(x->device, y->device) ?: ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end)
                   ?: ASCENDING(x->op, y->op))

struct comm_kernel *comm_kernels_of(const struct trace *t, uint32_t piece, struct arena *arena, size_t *n)
{
	if (!t->again)
		return of_rows(t, arena, n);
	const struct trace_again *file = &t->again[piece];
	const struct comm_kernels *from = &file->comm;
	struct comm_kernel *list = ARENA_TAKE(arena, from->n, struct comm_kernel);
	struct taken bytes = number_open(from->bytes, from->n_bytes);
	int64_t before = 0;
	*n = from->n;
	for (uint32_t i = 0; i < from->n; i++) {
		struct comm_kernel *k = &list[i];
		*k = from->kinds[number_take(&bytes)];
		k->start = before + number_take_signed(&bytes);
		before = k->start + (int64_t)number_take(&bytes);
		k->launched = time_map_of(&file->map, k->start - number_take_signed(&bytes));
		k->start = time_map_of(&file->map, k->start);
		k->end = time_map_of(&file->map, before);
		k->op = i;
		k->device += file->first_device;
		k->thread = k->thread == TRACE_NONE ? TRACE_NONE : file->first_thread + k->thread;
	}
	SORT(list, *n, compare);
	for (uint32_t i = 0; i < from->n; i++)
		list[i].op = from->first + i;
	return list;
}
