#include "analyse/run/captured.h"

#include "base/search.h"
#include "base/sort.h"

#include <string.h>

static bool begins_graph(const char *call)
{
	return strstr(call, "StreamBeginCapture") || strstr(call, "GraphCreate");
}

static void find_begun(struct captured *c, struct arena *arena)
{
	enum { NEW, YES, NO };
	const struct trace *t = c->trace;
	ARENA_LOCAL(scratch);
	uint8_t *begins = ARENA_NEW(&scratch, t->names->n, uint8_t);
	size_t *first = c->first = ARENA_NEW(arena, (size_t)t->n_processes + 1, size_t), n = 0;
	for (int pass = 0; pass < 2; pass++) {
		size_t *at = ARENA_NEW(&scratch, t->n_processes, size_t);
		for (size_t i = 0; i < t->calls.n; i++) {
			uint32_t name = t->calls.name[i], p = t->threads[t->calls.thread[i]].process;
			if (begins[name] == NEW)
				begins[name] = begins_graph(names_text(t->names, name)) ? YES : NO;
			if (begins[name] == NO)
				continue;
			if (pass)
				c->begun[first[p] + at[p]++] = t->calls.start[i];
			else
				first[p + 1]++;
			n += !pass;
		}
		for (uint32_t p = 0; p < t->n_processes && !pass; p++)
			first[p + 1] += first[p];
		if (!pass)
			c->begun = ARENA_NEW(arena, n, int64_t);
	}
	for (uint32_t p = 0; p < t->n_processes; p++)
		sort_times(c->begun + first[p], first[p + 1] - first[p]);
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
	SEARCH(k, n, c->begun[first + k] <= t->calls.start[call]);
	return range != TRACE_NONE && k && t->ranges.start[range] >= c->begun[first + k - 1] ? range : TRACE_NONE;
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
