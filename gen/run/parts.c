#include "run/parts.h"

#include "base/search.h"
#include "run/choose_steps.h"
#include "trace/again.h"

/* ---- which parts there are ---- */

static uint32_t end_of_devices(const struct trace *t, uint32_t file)
{
	return file + 1 < t->n_again ? t->again[file + 1].first_device : t->n_devices;
}

/* Files that share a GPU are one part, with those between them; hardware counters are looked at beside all rows. */
static uint32_t last_of_part(const struct trace *t, uint32_t first, const uint32_t *last_user)
{
	uint32_t last = t->n_metrics ? t->n_again - 1 : first;
	for (uint32_t i = first; i <= last; i++)
		for (uint32_t d = t->again[i].first_device; d < end_of_devices(t, i); d++)
			if (t->devices[d].gpu != TRACE_NONE && last_user[t->devices[d].gpu] > last)
				last = last_user[t->devices[d].gpu];
	return last;
}

static void find_parts(struct run_parts *parts, const struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	uint32_t *last_user = ARENA_NEW(&scratch, t->n_gpus, uint32_t);
	parts->list = ARENA_NEW(arena, (size_t)t->n_again + 1, struct run_part);
	for (uint32_t i = 0; i < t->n_again; i++)
		for (uint32_t d = t->again[i].first_device; d < end_of_devices(t, i); d++)
			if (t->devices[d].gpu != TRACE_NONE)
				last_user[t->devices[d].gpu] = i;
	for (uint32_t i = 0, last; i < t->n_again; i = last + 1) {
		const struct trace_again *first = &t->again[i];
		last = last_of_part(t, i, last_user);
		parts->list[parts->n++] = (struct run_part){.first = i,
		                                            .n = last + 1 - i,
		                                            .first_process = first->first_process,
		                                            .first_thread = first->first_thread,
		                                            .first_device = first->first_device};
	}
	parts->n = parts->n ? parts->n : 1;
	parts->held = parts->n == 1;
}

void parts_begin(struct run *run, const struct trace *trace, struct arena *arena)
{
	struct run_parts *parts = ARENA_NEW(arena, 1, struct run_parts);
	*run = (struct run){.trace = trace, .arena = arena, .parts = parts};
	find_parts(parts, trace, arena);
	if (parts->held && trace->again) {
		struct trace *whole = ARENA_NEW(arena, 1, struct trace);
		again_load(trace, 0, trace->n_again, AGAIN_ALL, arena, whole);
		run->trace = whole;
	}
	parts->kinds = ARENA_NEW(arena, parts->n, struct work_kinds);
}

/* ---- one part ---- */

const struct trace *parts_rows(const struct run *run, uint32_t i, unsigned rows, struct arena *arena)
{
	const struct run_part *part = &run->parts->list[i];
	if (run->parts->held)
		return run->trace;
	struct trace *trace = ARENA_NEW(arena, 1, struct trace);
	again_load(run->trace, part->first, part->n, rows, arena, trace);
	return trace;
}

uint32_t parts_of_process(const struct run *run, uint32_t process)
{
	const struct run_parts *parts = run->parts;
	uint32_t i = 0;
	SEARCH(i, parts->n, parts->list[i].first_process <= process);
	return i - 1;
}
