/* Events that are left out once all are known. */
#include "base/list.h"
#include "read/kineto.h"

void kineto_drop_clamped(struct kineto *k)
{
	size_t n = 0;
	build_from(k->build, "kernel, gpu_memcpy, gpu_memset");
	for (size_t i = 0; i < k->n_ops; i++)
		if (k->ops[i].start != 0)
			k->ops[n++] = k->ops[i];
		else
			build_drop(k->build, ROWS_KERNELS, "has no timestamp");
	k->n_ops = n;
	n = 0;
	build_from(k->build, "cuda_runtime, user_annotation");
	for (size_t i = 0; i < k->n_spans; i++)
		if (k->spans[i].start != 0)
			k->spans[n++] = k->spans[i];
		else
			build_drop(k->build, k->spans[i].kind == KINETO_CALL ? ROWS_CALLS : ROWS_RANGES,
			           "has no timestamp");
	k->n_spans = n;
}

/* What tells an event from all others. */
struct identity {
	int64_t start, end, correlation, place, lane;
	uint32_t name;
};

struct seen {
	struct arena arena;
	struct keymap hashes;
	struct identity *list; /* by index of hashes */
	size_t n, room;
};

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->start == b->start && a->end == b->end && a->correlation == b->correlation && a->place == b->place &&
	       a->lane == b->lane && a->name == b->name;
}

/* Whether it was seen before; what has no number, or takes no time, may be another. */
static bool is_twin(struct seen *s, const struct identity *x)
{
	const int64_t parts[] = {x->start, x->end, x->correlation, x->place, x->lane, x->name};
	uint64_t hash = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		hash = (hash ^ (uint64_t)parts[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	if (x->correlation <= 0 || x->end <= x->start)
		return false;
	const uint32_t at = keymap_add(&s->hashes, hash);
	if (at < s->n)
		return is_same(&s->list[at], x);
	LIST_GROW(&s->arena, s->list, s->n, s->room);
	s->list[s->n++] = *x;
	return false;
}

void kineto_drop_twins(struct kineto *k)
{
	static const char *const where[] = {
		[OP_KERNEL] = "kernel", [OP_COPY] = "gpu_memcpy", [OP_MEMSET] = "gpu_memset"};
	static const enum row_kind rows[] = {
		[OP_KERNEL] = ROWS_KERNELS, [OP_COPY] = ROWS_COPIES, [OP_MEMSET] = ROWS_MEMSETS};
	struct seen ops = {0}, calls = {0};
	keymap_init(&ops.hashes, &ops.arena);
	keymap_init(&calls.hashes, &calls.arena);
	size_t n = 0;
	for (size_t i = 0; i < k->n_ops; i++) {
		const struct kineto_op *o = &k->ops[i];
		const struct identity x = {o->start, o->end, o->correlation, o->device, o->stream, o->name};
		if (is_twin(&ops, &x)) {
			build_from(k->build, where[o->kind]);
			build_drop(k->build, rows[o->kind], "is there twice");
		} else {
			k->ops[n++] = *o;
		}
	}
	k->n_ops = n;
	arena_release(&ops.arena);
	n = 0;
	build_from(k->build, "cuda_runtime");
	for (size_t i = 0; i < k->n_spans; i++) {
		const struct kineto_span *s = &k->spans[i];
		const struct identity x = {s->start, s->end, s->correlation, s->thread, 0, s->name};
		if (s->kind == KINETO_CALL && is_twin(&calls, &x))
			build_drop(k->build, ROWS_CALLS, "is there twice");
		else
			k->spans[n++] = *s;
	}
	k->n_spans = n;
	arena_release(&calls.arena);
}
