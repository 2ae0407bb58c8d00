#include "charge/doing.h"

#include "base/heap.h"
#include "base/list.h"

#include <stddef.h>
#include <string.h>

struct open {
	int64_t end;
	uint32_t rank, value, number; /* `number`: which layer, for ties */
};

/* A heap of open layers, strongest first; closed ones are thrown away when they come up. */
enum { FEW = 32 };
struct layers {
	struct open *item;
	size_t n, room;
	struct open few[FEW]; /* hardly any thread has more open at once: no memory is asked for */
	struct arena scratch;
};

static bool is_stronger(const void *x, const void *y, const void *context)
{
	const struct open *a = x, *b = y;
	(void)context;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->number < b->number;
}

static void layers_add(struct layers *h, const struct open *item)
{
	if (h->n == h->room) {
		size_t room = list_more(h->room);
		struct open *old = h->item == h->few ? NULL : h->item;
		h->item = arena_grow(&h->scratch, old, old ? h->room : 0, room, sizeof *h->item);
		if (!old)
			memcpy(h->item, h->few, h->n * sizeof *h->item);
		h->room = room;
	}
	heap_push(h->item, h->n++, sizeof *h->item, item, is_stronger, NULL);
}

struct output {
	struct arena *arena;
	int64_t *start;
	uint32_t *value;
	size_t n, room;
};

static void emit(struct output *out, int64_t start, uint32_t value)
{
	if (out->n && out->start[out->n - 1] == start)
		out->n--;
	if (out->n && out->value[out->n - 1] == value)
		return;
	if (out->n == out->room) {
		size_t room = list_more(out->room);
		out->start = arena_grow(out->arena, out->start, out->room, room, sizeof *out->start);
		out->value = arena_grow(out->arena, out->value, out->room, room, sizeof *out->value);
		out->room = room;
	}
	out->start[out->n] = start;
	out->value[out->n++] = value;
}

/* What closes up to `until`, in which nothing opens. */
static void close_until(struct layers *open, struct output *out, int64_t until)
{
	while (open->n && open->item[0].end <= until) {
		int64_t end = open->item[0].end;
		while (open->n && open->item[0].end <= end)
			heap_pop(open->item, open->n--, sizeof *open->item, is_stronger, NULL);
		emit(out, end, open->n ? open->item[0].value : 0);
	}
}

uint32_t flatten(bool (*next)(void *context, struct layer *layer), void *context, size_t layers, struct arena *arena,
                 int64_t **start, uint32_t **value)
{
	struct layers open;
	open.item = open.few;
	open.n = 0;
	open.room = FEW;
	open.scratch = (struct arena){0};
	struct output out = {.arena = arena, .room = 2 * layers}; /* each opens a piece, and closes one */
	out.start = ARENA_TAKE(arena, out.room, int64_t);
	out.value = ARENA_TAKE(arena, out.room, uint32_t);
	struct layer layer;
	uint32_t number = 0;
	emit(&out, INT64_MIN, 0);
	for (bool more = next(context, &layer); more;) {
		int64_t now = layer.start;
		close_until(&open, &out, now);
		for (; more && layer.start == now; more = next(context, &layer)) {
			const struct open item = {layer.end, layer.rank, layer.value, number++};
			if (layer.end > now && !open.n)
				open.item[open.n++] = item; /* nearly always */
			else if (layer.end > now)
				layers_add(&open, &item);
		}
		if (open.n)
			emit(&out, now, open.item[0].value);
	}
	close_until(&open, &out, INT64_MAX);
	arena_release(&open.scratch);
	*start = arena_trim(arena, out.start, out.room, out.n, sizeof *out.start);
	*value = arena_trim(arena, out.value, out.room, out.n, sizeof *out.value);
	return (uint32_t)out.n;
}
