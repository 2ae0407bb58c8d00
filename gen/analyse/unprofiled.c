#include "analyse/unprofiled.h"

/* Ends of the outermost instances of the step range on one thread: rows [from, to). Returns how many there are; `ends`
 * may be NULL, to count. */
static uint32_t instances(const struct run *run, size_t from, size_t to, int64_t *ends)
{
	const struct trace_unprofiled *u = &run->trace->unprofiled;
	const struct fold *fold = &run->fold;
	int64_t open = INT64_MIN;
	uint32_t n = 0;
	for (size_t i = from; i < to; i++) {
		bool is_step = u->name[i] < fold->n && fold->of[u->name[i]] == run->steps.name;
		if (!is_step || u->start[i] < open)
			continue;
		open = u->end[i];
		if (ends)
			ends[n] = open;
		n++;
	}
	return n;
}

/* The thread with most instances: its rows [*from, *to). Returns their number. */
static uint32_t find_thread(const struct run *run, size_t *from, size_t *to)
{
	const struct trace_unprofiled *u = &run->trace->unprofiled;
	uint32_t most = 0;
	for (size_t i = 0, next; i < u->n; i = next) {
		for (next = i; next < u->n && u->thread[next] == u->thread[i];)
			next++;
		uint32_t n = instances(run, i, next, NULL);
		if (n <= most)
			continue;
		most = n;
		*from = i;
		*to = next;
	}
	return most;
}

struct verdict_run unprofiled_periods(const struct run *run, struct arena *arena)
{
	const struct steps *s = &run->steps;
	struct verdict_run none = {NULL, 0};
	size_t from = 0, to = 0;
	if (!s->found)
		return none;
	uint32_t n = find_thread(run, &from, &to);
	bool merged = s->n + (s->n_instances - 1 - s->last_instance) != s->n_instances;
	if (n < 2 || (merged && n != s->n_instances))
		return none;
	int64_t *end = ARENA_NEW(arena, n, int64_t);
	instances(run, from, to, end);
	if (merged) { /* of a step's instances the last one counts */
		for (uint32_t k = 0; k < s->n; k++)
			end[k] = end[k + 1 < s->n ? s->first_instance[k + 1] - 1 : s->last_instance];
		n = s->n;
	}
	for (uint32_t k = 1; k < n; k++)
		end[k - 1] = end[k] - end[k - 1];
	return (struct verdict_run){end, n - 1};
}
