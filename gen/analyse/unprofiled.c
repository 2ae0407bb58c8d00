#include "analyse/unprofiled.h"

#include <math.h>

static const double WORTH_SAYING = 0.01; /* of the speedup */

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

void unprofiled_judge(const struct run *const runs[2], const size_t n[2], struct arena *arena, struct analysis *out)
{
	struct verdict_side sides[2];
	struct verdict v;
	for (int s = 0; s < 2; s++) {
		struct verdict_run *list = ARENA_NEW(arena, n[s], struct verdict_run);
		sides[s] = (struct verdict_side){list, 0, true};
		for (size_t r = 0; r < n[s]; r++) {
			list[sides[s].n_runs] = unprofiled_periods(&runs[s][r], arena);
			sides[s].n_runs += list[sides[s].n_runs].n > 0;
		}
		if (!sides[s].n_runs)
			return;
	}
	const struct verdict_options options = {.max_regression = -1, .warmup = out->options.warmup};
	verdict_judge(sides, &options, arena, &v);
	if (!v.has_interval)
		return;
	out->unprofiled = v;
	for (int s = 0; s < 2; s++)
		out->n_unprofiled_runs[s] = (uint32_t)sides[s].n_runs;
	out->options.unprofiled = true;
	out->options.known[0] = log(v.lo);
	out->options.known[1] = log(v.hi);
}

/* "2.3 % longer", "0.1 % shorter" */
static const char *change(double ln_ratio, struct arena *arena)
{
	return arena_format(arena, "%.1f %% %s", 100 * fabs(expm1(ln_ratio)), ln_ratio < 0 ? "shorter" : "longer");
}

const char *unprofiled_reason(struct analysis *a, struct arena *arena, bool *first)
{
	const struct verdict *v = &a->verdict, *u = &a->unprofiled;
	if (!a->options.unprofiled || !v->has_interval)
		return NULL;
	double ln_change = log(u->speedup) - log(v->speedup);
	bool wider = u->lo < v->lo || u->hi > v->hi;
	*first = fabs(expm1(ln_change)) >= WORTH_SAYING;
	a->unrecorded = u->speedup;
	const char *runs =
		a->n_unprofiled_runs[0] == a->n_unprofiled_runs[1]
			? arena_format(arena, "%u run%s a side", a->n_unprofiled_runs[0],
	                               a->n_unprofiled_runs[0] == 1 ? "" : "s")
			: arena_format(arena, "%u and %u runs", a->n_unprofiled_runs[0], a->n_unprofiled_runs[1]);
	const char *by =
		wider ? arena_format(arena, " Result and gates go by the interval that holds both, %.3f to %.3f.",
	                             v->outer_lo, v->outer_hi)
		      : "";
	return arena_format(arena,
	                    "Without a profiler the speedup is %.3f (95 %% interval %.3f to %.3f; %s in turns with the "
	                    "recorded ones): recorded, the baseline's step is %s and the fixed side's %s.%s",
	                    u->speedup, u->lo, u->hi, runs, change(v->location[0] - u->location[0], arena),
	                    change(v->location[1] - u->location[1], arena), by);
}
