#include "charge/comm.h"

#include "base/heap.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <string.h>

/* The order of device.c: by launch, start, end, stream. */
static bool is_earlier(const void *x, const void *y, const void *context)
{
	const struct collective_op *a = *(const struct collective_op *const *)x,
				   *b = *(const struct collective_op *const *)y;
	(void)context;
	return (ASCENDING(a->launched, b->launched) ?: ASCENDING(a->start, b->start) ?: ASCENDING(a->end, b->end)
	        ?: ASCENDING(a->stream, b->stream) ?: ASCENDING(a, b)) < 0;
}

void bubbles_add(struct bubble_list *list, const struct stretch *stretch)
{
	const struct collective_op **running = list->running;
	for (; list->next < list->n_ops && list->ops[list->next]->start <= stretch->start; list->next++)
		heap_push(running, list->n_running++, sizeof *running, &list->ops[list->next], is_earlier, NULL);
	while (list->n_running && running[0]->end <= stretch->start)
		heap_pop(running, list->n_running--, sizeof *running, is_earlier, NULL);
	uint32_t phase = list->n_running ? running[0]->phase : 0;
	struct bubble *last = list->n ? &list->bubble[list->n - 1] : NULL;
	if (last && last->end == stretch->start && last->phase == phase) {
		last->end = stretch->end;
		return;
	}
	LIST_ADD(list->arena, list->bubble, list->n, list->room, (struct bubble){stretch->start, stretch->end, phase});
}

void bubbles_charge(struct run *run, const struct waiting *waiting)
{
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		struct device_run *to = &run->charge->devices[d];
		const struct device_waiting *from = &waiting->device[d];
		if (!from->n_bubbles)
			continue;
		to->n_bubbles = from->n_bubbles;
		to->bubbles = ARENA_NEW(run->arena, from->n_bubbles, struct bubble);
		memcpy(to->bubbles, from->bubbles, from->n_bubbles * sizeof *from->bubbles);
		for (size_t i = 0; i < to->n_bubbles; i++) {
			const struct bubble *b = &to->bubbles[i];
			cells_add(
				&to->cells,
				&(struct cell_key){.cause = CAUSE_BUBBLE, .phase = b->phase, .opened = OPENED_WAITING},
				b->end - b->start);
			uint32_t column = step_table_idle(&run->charge->table, CAUSE_BUBBLE, b->phase);
			step_table_add(&run->charge->table, PART_COMM, b->start, b->end, -1);
			step_table_add(&run->charge->table, column, b->start, b->end, 1);
			to->comm -= b->end - b->start;
			to->idle += b->end - b->start;
		}
	}
}

bool idle_next(struct idle_walk *w, int64_t after, struct gap *gap, const struct bubble **bubble)
{
	SEARCH(w->gap, w->gaps->n_gaps, run_gap(w->run, w->gaps, w->gap).end <= after);
	SEARCH(w->bubble, w->bubbles->n_bubbles, w->bubbles->bubbles[w->bubble].end <= after);
	bool is_gap = w->gap < w->gaps->n_gaps;
	*bubble = w->bubble < w->bubbles->n_bubbles ? &w->bubbles->bubbles[w->bubble] : NULL;
	if (is_gap) {
		*gap = run_gap(w->run, w->gaps, w->gap);
		*bubble = *bubble && (*bubble)->start < gap->start ? *bubble : NULL;
	}
	w->gap += is_gap && !*bubble;
	w->bubble += *bubble != NULL;
	return is_gap || *bubble;
}

struct doing bubble_piece(const struct run *run, const struct bubble *bubble)
{
	return (struct doing){.start = bubble->start,
	                      .end = bubble->end,
	                      .cause = CAUSE_BUBBLE,
	                      .phase = run->phases.names[bubble->phase],
	                      .thread = TRACE_NONE};
}
