#include "analyse/judge/unprofiled.h"

#include <math.h>

static const double WORTH_SAYING = 0.01; /* of the speedup */
static const double HOST_FOLLOWS = 0.01; /* so close the host's steps have to be to the GPU's */

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

/* In place. */
static struct verdict_run differences(int64_t *end, uint32_t n)
{
	for (uint32_t k = 1; k < n; k++)
		end[k - 1] = end[k] - end[k - 1];
	return (struct verdict_run){end, n - 1};
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
	if (n < 2)
		return none;
	int64_t *end = ARENA_NEW(arena, n, int64_t);
	instances(run, from, to, end);
	return differences(end, n);
}

/* Of a recorded run both are known: where the host runs ahead of the GPU, its ranges do not say what a step took. */
static bool host_follows(const struct run *run, int warmup, struct arena *arena)
{
	const struct steps *s = &run->steps;
	const struct step_thread *first = &s->threads[0];
	int64_t *end = ARENA_NEW(arena, first->n, int64_t);
	uint32_t n = 0;
	for (uint32_t k = 0; k < first->n; k++)
		if (first->step[k] != TRACE_NONE && (n == 0 || first->step[k] != first->step[k - 1]))
			end[n++] = first->end[k];
	struct verdict_run host = differences(end, n), gpu = {run->period, run->n_periods};
	struct series of_gpu, of_host;
	verdict_series(&gpu, warmup, &of_gpu);
	verdict_series(&host, (int)of_gpu.cut + 1, &of_host);
	return fabs(of_host.location - of_gpu.location) < log1p(HOST_FOLLOWS);
}

void unprofiled_judge(const struct run *const runs[2], const size_t n[2], struct arena *arena, struct analysis *out)
{
	static const char *const side_names[2] = {"baseline", "fixed side"};
	struct verdict_side sides[2];
	struct verdict v;
	const char *ahead = NULL;
	for (int s = 0; s < 2; s++) {
		struct verdict_run *list = ARENA_NEW(arena, n[s], struct verdict_run);
		sides[s] = (struct verdict_side){list, 0, true};
		for (size_t r = 0; r < n[s]; r++) {
			struct verdict_run periods = unprofiled_periods(&runs[s][r], arena);
			if (!periods.n)
				continue;
			list[sides[s].n_runs++] = periods;
			if (!host_follows(&runs[s][r], out->options.warmup, arena))
				ahead = side_names[s];
		}
		if (!sides[s].n_runs)
			return;
	}
	if (ahead) {
		out->unprofiled_unused = arena_format(arena,
		                                      "The unprofiled runs are not used: on the %s the host runs ahead "
		                                      "of the GPU, so that the ends of its "
		                                      "ranges do not say how long a step took.",
		                                      ahead);
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
	out->options.known[0] = v.location[0] - v.location[1] - v.half_width;
	out->options.known[1] = v.location[0] - v.location[1] + v.half_width;
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
