#include "charge/captured.h"

#include "base/search.h"
#include "base/sort.h"

#include <string.h>

enum part { NEW, NOTHING, CREATES, BEGINS, ENDS }; /* what a call is of a graph */

static enum part part_of(const char *call)
{
	return strstr(call, "StreamBeginCapture") ? BEGINS
	       : strstr(call, "StreamEndCapture") ? ENDS
	       : strstr(call, "GraphCreate")      ? CREATES
	                                          : NOTHING;
}

SORT_ORDER(compare_begun, struct graph_begun, ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end))

/* The last of these captures that had not ended at `at`, from index `k` back; SIZE_MAX: none. */
static size_t begun_open(const struct graph_begun *begun, size_t k, int64_t at)
{
	while (k != SIZE_MAX && begun[k].end <= at)
		k = begun[k].around;
	return k;
}

/* What the calls of a process begin: how many. A capture is ended by the thread that began it, the last one first:
 * `around` is meanwhile the one before it that is still open. */
static size_t begun_by(const struct trace *t, uint32_t process, uint8_t *part, struct graph_begun *begun)
{
	size_t n = 0;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		size_t open = SIZE_MAX;
		if (t->threads[thread].process != process)
			continue;
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			uint8_t *is = &part[t->calls.name[i]];
			*is = *is == NEW ? (uint8_t)part_of(names_text(t->names, t->calls.name[i])) : *is;
			if (begun && *is == ENDS && open != SIZE_MAX) {
				begun[open].end = t->calls.end[i];
				open = begun[open].around;
			}
			if (*is != BEGINS && *is != CREATES)
				continue;
			if (begun)
				begun[n] = (struct graph_begun){t->calls.start[i], INT64_MAX, open};
			open = *is == BEGINS ? n : open;
			n++;
		}
	}
	return n;
}

static void find_begun(struct captured *c, struct arena *arena)
{
	const struct trace *t = c->trace;
	ARENA_LOCAL(scratch);
	uint8_t *part = ARENA_NEW(&scratch, t->names->n, uint8_t);
	c->first = ARENA_NEW(arena, (size_t)t->n_processes + 1, size_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		c->first[p + 1] = c->first[p] + begun_by(t, p, part, NULL);
	c->begun = ARENA_NEW(arena, c->first[t->n_processes], struct graph_begun);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		struct graph_begun *begun = c->begun + c->first[p];
		size_t n = begun_by(t, p, part, begun);
		SORT(begun, n, compare_begun);
		for (size_t i = 0; i < n; i++)
			begun[i].around = begun_open(begun, i ? i - 1 : SIZE_MAX, begun[i].start);
	}
}

struct captured *captured_find(const struct trace *t, struct arena *arena)
{
	const struct trace_ranges *r = &t->ranges;
	if (!t->ops.creator)
		return NULL;
	struct captured *c = ARENA_NEW(arena, 1, struct captured);
	c->trace = t;
	c->around = ARENA_NEW(arena, r->n, uint32_t);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t k = i && r->thread[i - 1] == r->thread[i] ? i - 1 : TRACE_NONE;
		while (k != TRACE_NONE && r->end[k] <= r->start[i])
			k = c->around[k];
		c->around[i] = k;
	}
	find_begun(c, arena);
	return c;
}

/* The first of a range and those around it that is open at `at`. */
static uint32_t open_at(const struct captured *c, uint32_t range, int64_t at)
{
	while (range != TRACE_NONE && c->trace->ranges.end[range] <= at)
		range = c->around[range];
	return range;
}

uint32_t captured_open(const struct captured *c, uint32_t thread, int64_t at)
{
	const struct trace *t = c->trace;
	uint32_t first = t->first_range[thread], n = t->first_range[thread + 1] - first, k = 0;
	SEARCH(k, n, t->ranges.start[first + k] <= at);
	return open_at(c, k ? first + k - 1 : TRACE_NONE, at);
}

uint32_t captured_outside(const struct captured *c, uint32_t range, int64_t at)
{
	return open_at(c, c->around[range], at);
}

/* The range, if it was opened since the graph was begun. */
static uint32_t since_begun(const struct captured *c, uint32_t range, uint32_t call)
{
	const struct trace *t = c->trace;
	uint32_t p = t->threads[t->calls.thread[call]].process;
	size_t first = c->first[p], n = c->first[p + 1] - first, k = 0;
	const struct graph_begun *begun = c->begun + first;
	SEARCH(k, n, begun[k].start <= t->calls.start[call]);
	if (range == TRACE_NONE || !k)
		return TRACE_NONE;
	size_t open = begun_open(begun, k - 1, t->calls.start[call]);
	return t->ranges.start[range] >= begun[open == SIZE_MAX ? k - 1 : open].start ? range : TRACE_NONE;
}

uint32_t captured_in(const struct captured *c, uint32_t thread, uint32_t call)
{
	return since_begun(c, captured_open(c, thread, c->trace->calls.start[call]), call);
}

uint32_t captured_around(const struct captured *c, uint32_t range, uint32_t call)
{
	return since_begun(c, captured_outside(c, range, c->trace->calls.start[call]), call);
}

/* The outermost range on a thread that may be a phase: in the domain of the step's range, and not the step itself;
 * where no range is the step, any but those that no user named. */
static uint32_t outermost(const struct captured *c, const struct fold *fold, const struct steps *steps,
                          const bool *no_phase, uint32_t thread, uint32_t call)
{
	const struct trace_ranges *r = &c->trace->ranges;
	bool any = !steps->found || steps->by_op;
	uint32_t phase = 0;
	for (uint32_t i = captured_in(c, thread, call); i != TRACE_NONE; i = captured_around(c, i, call)) {
		uint32_t name = fold->of[r->name[i]];
		bool may = any ? !no_phase[r->domain[i]] && !no_phase[r->name[i]]
		               : r->domain[i] == steps->domain && name != steps->name;
		phase = may ? name : phase;
	}
	return phase;
}

uint32_t captured_phase(const struct captured *c, const struct fold *fold, const struct steps *steps,
                        const bool *no_phase, uint32_t call)
{
	const struct trace *t = c->trace;
	uint32_t thread = t->calls.thread[call], phase = 0;
	const struct step_thread *step = steps->found ? steps_of_process(steps, t->threads[thread].process) : NULL;
	if (step && step->thread != thread)
		phase = outermost(c, fold, steps, no_phase, step->thread, call);
	return phase ? phase : outermost(c, fold, steps, no_phase, thread, call);
}
