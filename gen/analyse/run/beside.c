#include "analyse/run/beside.h"

/* When the device runs ops of the two kinds. */
static struct stretches find_busy(const struct trace *t, const struct trace_device *device, enum op_kind kind,
                                  enum op_kind or_kind, struct arena *scratch)
{
	size_t n = 0;
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++)
		n += t->ops.kind[i] == kind || t->ops.kind[i] == or_kind;
	struct stretches found = {.list = ARENA_NEW(scratch, n, struct stretch)};
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops && n; i++) {
		struct stretch *last = found.n ? &found.list[found.n - 1] : NULL;
		if (t->ops.kind[i] != kind && t->ops.kind[i] != or_kind)
			continue;
		if (!last || t->ops.start[i] > last->end)
			found.list[found.n++] = (struct stretch){t->ops.start[i], t->ops.end[i]};
		else if (t->ops.end[i] > last->end)
			last->end = t->ops.end[i];
	}
	return found;
}

/* What is common to both, at most as many stretches as both have. Writes them where `to` is, and returns how many. */
static size_t find_common(const struct stretches *a, const struct stretches *b, struct stretch *to)
{
	size_t n = 0;
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct stretch *x = &a->list[i], *y = &b->list[k];
		struct stretch both = {x->start > y->start ? x->start : y->start, x->end < y->end ? x->end : y->end};
		if (both.start < both.end && to)
			to[n] = both;
		n += both.start < both.end;
		i += x->end <= y->end;
		k += y->end < x->end;
	}
	return n;
}

static struct stretches common(const struct stretches *a, const struct stretches *b, struct arena *arena)
{
	struct stretches out = {.n = find_common(a, b, NULL)};
	out.list = ARENA_NEW(arena, out.n, struct stretch);
	find_common(a, b, out.list);
	return out;
}

void beside_find(const struct trace *t, uint32_t d, struct arena *arena, struct comm_beside *out)
{
	const struct trace_device *device = &t->devices[d];
	struct arena scratch = {0};
	struct stretches comm = find_busy(t, device, OP_COMM, OP_COMM, &scratch);
	*out = (struct comm_beside){0};
	if (comm.n) {
		struct stretches compute = find_busy(t, device, OP_KERNEL, OP_GRAPH, &scratch);
		struct stretches copies = find_busy(t, device, OP_COPY, OP_MEMSET, &scratch);
		out->compute = common(&compute, &comm, arena);
		out->copies = common(&copies, &comm, arena);
	}
	arena_release(&scratch);
}
