#include "trace/held.h"

#include "base/search.h"
#include "base/sort.h"
#include "trace/trace.h"

#include <string.h>

/* Calls nest: the driver's ends inside the runtime's. */
enum { NESTED = 3 };

static uint32_t thread_inside(const struct trace *t, uint32_t process, int64_t at)
{
	const struct trace_calls *c = &t->calls;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		size_t from = t->first_call[i], next = from;
		if (t->threads[i].process != process)
			continue;
		SEARCH(next, t->first_call[i + 1], c->start[next] <= at);
		for (size_t k = next; k-- > from && next - k <= NESTED;)
			if (c->end[k] >= at)
				return i;
	}
	return TRACE_NONE;
}

SORT_ORDER(compare, struct held_allocation, ASCENDING(x->thread, y->thread) ?: ASCENDING(x->born, y->born))

/* A thread's push/pop ranges up to a time; from one time to the next it does not go back. */
struct walk {
	uint32_t thread, open; /* open: the innermost range that began; TRACE_NONE: none */
	size_t next;           /* the next one to begin */
	uint32_t *outer;       /* by range: the one around it; TRACE_NONE: none */
};

static void end_ranges(const struct trace_ranges *r, struct walk *w, int64_t at)
{
	while (w->open != TRACE_NONE && r->end[w->open] <= at)
		w->open = w->outer[w->open];
}

/* The name of the innermost range of a thread at a time; 0: it is in none. */
static uint32_t range_at(const struct trace *t, struct walk *w, uint32_t thread, int64_t at)
{
	const struct trace_ranges *r = &t->ranges;
	if (w->thread != thread)
		*w = (struct walk){thread, TRACE_NONE, t->first_range[thread], w->outer};
	for (; w->next < t->first_range[thread + 1] && r->start[w->next] <= at; w->next++)
		if (r->kind[w->next] == RANGE_PUSH_POP) {
			end_ranges(r, w, r->start[w->next]);
			w->outer[w->next] = w->open;
			w->open = (uint32_t)w->next;
		}
	end_ranges(r, w, at);
	return w->open == TRACE_NONE ? 0 : r->name[w->open];
}

/* What was allocated under one kind of names. */
struct parts {
	struct trace_held *list;
	size_t n;
};

static void add(struct parts *parts, uint32_t name, int64_t bytes)
{
	size_t i = 0;
	while (i < parts->n && parts->list[i].name != name)
		i++;
	if (i == parts->n)
		parts->list[parts->n++] = (struct trace_held){.name = name};
	parts->list[i].bytes += bytes;
}

static void keep_largest(const struct trace *t, struct parts *parts, struct trace_held out[HELD_MOST])
{
	struct trace_held *part = parts->list;
	for (size_t k = 0; k < HELD_MOST; k++) {
		size_t most = 0;
		for (size_t i = 1; i < parts->n; i++)
			if (part[i].bytes > part[most].bytes ||
			    (part[i].bytes == part[most].bytes &&
			     strcmp(names_text(t->names, part[i].name), names_text(t->names, part[most].name)) < 0))
				most = i;
		out[k] = parts->n ? part[most] : (struct trace_held){0};
		if (parts->n)
			part[most] = part[--parts->n];
	}
}

void held_at_peak(struct trace *t, uint32_t device, struct held_allocation *list, size_t n)
{
	ARENA_LOCAL(work);
	struct parts by[HELD_BYS] = {{ARENA_NEW(&work, n, struct trace_held), 0},
	                             {ARENA_NEW(&work, n, struct trace_held), 0}};
	struct walk walk = {.thread = TRACE_NONE, .outer = ARENA_NEW(&work, t->ranges.n, uint32_t)};
	int64_t left = t->devices[device].memory_peak;
	for (size_t i = 0; i < n; i++)
		if (list[i].thread == TRACE_NONE)
			list[i].thread = thread_inside(t, list[i].process, list[i].born);
	SORT(list, n, compare);
	for (size_t i = 0; i < n && list[i].thread != TRACE_NONE; i++) {
		const uint32_t name[HELD_BYS] = {range_at(t, &walk, list[i].thread, list[i].born), list[i].in_operator};
		if ((!name[HELD_BY_RANGE] && !name[HELD_BY_OPERATOR]) || list[i].bytes <= 0)
			continue;
		if (list[i].bytes > left) {
			by[HELD_BY_RANGE].n = by[HELD_BY_OPERATOR].n = 0;
			break;
		}
		left -= list[i].bytes;
		for (int of = 0; of < HELD_BYS; of++)
			if (name[of])
				add(&by[of], name[of], list[i].bytes);
	}
	for (int of = 0; of < HELD_BYS; of++)
		keep_largest(t, &by[of], t->devices[device].held[of]);
}

void held_add_level(struct trace *t, uint32_t device, int64_t start, int64_t end, int64_t bytes)
{
	struct trace_levels *l = &t->levels;
	l->device[l->n] = device;
	l->start[l->n] = start;
	l->end[l->n] = end > start ? end : start;
	l->bytes[l->n++] = bytes;
}

int64_t held_most(const struct trace *t, uint32_t process, int64_t start, int64_t end)
{
	const struct trace_levels *l = &t->levels;
	int64_t most = 0;
	for (uint32_t d = 0; d < t->n_devices && l->n; d++) {
		size_t i = 0;
		if (t->devices[d].process != process)
			continue;
		SEARCH(i, l->n, l->device[i] < d || (l->device[i] == d && l->end[i] < start));
		for (; i < l->n && l->device[i] == d && l->start[i] < end; i++)
			if ((l->end[i] > start || l->start[i] == start) && l->bytes[i] > most)
				most = l->bytes[i];
	}
	return most;
}
