#include "analyse/flatten.h"

#include <stdbool.h>
#include <stddef.h>

/* A binary heap of open layers, strongest on top; closed ones are thrown away when they come up. */
struct heap {
	const struct layer *layers;
	uint32_t *item;
	size_t n, room;
	struct arena scratch;
};

static bool is_stronger(const struct layer *layers, uint32_t a, uint32_t b)
{
	if (layers[a].rank != layers[b].rank)
		return layers[a].rank < layers[b].rank;
	return a < b;
}

static void heap_push(struct heap *h, uint32_t item)
{
	if (h->n == h->room) {
		size_t room = h->room ? 2 * h->room : 32;
		h->item = arena_grow(&h->scratch, h->item, h->room, room, sizeof *h->item);
		h->room = room;
	}
	size_t i = h->n++;
	for (; i && is_stronger(h->layers, item, h->item[(i - 1) / 2]); i = (i - 1) / 2)
		h->item[i] = h->item[(i - 1) / 2];
	h->item[i] = item;
}

static void heap_pop(struct heap *h)
{
	uint32_t item = h->item[--h->n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && is_stronger(h->layers, h->item[child + 1], h->item[child]))
			child++;
		if (!is_stronger(h->layers, h->item[child], item))
			break;
		h->item[i] = h->item[child];
	}
	h->item[i] = item;
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
		size_t room = out->room ? 2 * out->room : 16;
		out->start = arena_grow(out->arena, out->start, out->room, room, sizeof *out->start);
		out->value = arena_grow(out->arena, out->value, out->room, room, sizeof *out->value);
		out->room = room;
	}
	out->start[out->n] = start;
	out->value[out->n++] = value;
}

uint32_t flatten(const struct layer *layers, size_t n, struct arena *arena, int64_t **start, uint32_t **value)
{
	struct heap open = {.layers = layers};
	struct output out = {.arena = arena};
	emit(&out, INT64_MIN, 0);
	for (size_t next = 0; next < n || open.n;) {
		int64_t until = next < n ? layers[next].start : INT64_MAX; /* nothing opens before */
		while (open.n && layers[open.item[0]].end <= until) {
			int64_t end = layers[open.item[0]].end;
			while (open.n && layers[open.item[0]].end <= end)
				heap_pop(&open);
			emit(&out, end, open.n ? layers[open.item[0]].value : 0);
		}
		if (next == n)
			break;
		for (; next < n && layers[next].start == until; next++)
			if (layers[next].end > until)
				heap_push(&open, (uint32_t)next);
		if (open.n)
			emit(&out, until, layers[open.item[0]].value);
	}
	arena_release(&open.scratch);
	*start = out.start;
	*value = out.value;
	return (uint32_t)out.n;
}
