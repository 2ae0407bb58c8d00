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
	return (struct verdict_run){.period = end, .n = n - 1};
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
	struct verdict_run none = {.n = 0};
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
	struct verdict_run host = differences(end, n), gpu = {.period = run->period, .n = run->n_periods};
	struct series of_gpu, of_host;
	series_of_run(&gpu, warmup, arena, &of_gpu);
	series_of_run(&host, (int)of_gpu.cut + 1, arena, &of_host);
	return fabs(log(of_host.mean / of_gpu.mean)) < log1p(HOST_FOLLOWS);
}

struct unprofiled unprofiled_judge(const struct run *const runs[2], const size_t n[2], int warmup, struct arena *arena)
{
	static const char *const side_names[2] = {"baseline", "fixed side"};
	static const struct verdict_conditions none = {0};
	struct unprofiled out = {0};
	struct verdict_side sides[2];
	const char *ahead = NULL;
	for (int s = 0; s < 2; s++) {
		struct verdict_run *list = ARENA_NEW(arena, n[s], struct verdict_run);
		sides[s] = (struct verdict_side){list, 0, true};
		for (size_t r = 0; r < n[s]; r++) {
			struct verdict_run periods = unprofiled_periods(&runs[s][r], arena);
			if (!periods.n)
				continue;
			list[sides[s].n_runs++] = periods;
			if (!host_follows(&runs[s][r], warmup, arena))
				ahead = side_names[s];
		}
		if (!sides[s].n_runs)
			return out;
	}
	if (ahead) {
		out.unused =
			arena_format(arena,
		                     "The unprofiled runs are not used: on the %s the host runs ahead of the GPU, so "
		                     "that the ends of its ranges do not say how long a step took.",
		                     ahead);
		return out;
	}
	struct verdict v;
	verdict_judge(sides, warmup, &none, arena, &v);
	if (!v.has_interval)
		return out;
	out.verdict = v;
	for (int s = 0; s < 2; s++)
		out.n_runs[s] = (uint32_t)sides[s].n_runs;
	return out;
}

/* "2.3 % longer", "0.1 % shorter" */
static const char *change(double ln_ratio, struct arena *arena)
{
	return arena_format(arena, "%.1f %% %s", 100 * fabs(expm1(ln_ratio)), ln_ratio < 0 ? "shorter" : "longer");
}

const char *unprofiled_reason(const struct unprofiled *unprofiled, const struct verdict *v, struct arena *arena,
                              bool *first)
{
	const struct verdict *u = &unprofiled->verdict;
	if (!u->has_interval || !v->has_interval)
		return NULL;
	bool wider = u->lo < v->recorded.lo || u->hi > v->recorded.hi;
	*first = fabs(expm1(log(u->speedup) - log(v->speedup))) >= WORTH_SAYING;
	const uint32_t *n = unprofiled->n_runs;
	const char *runs = n[0] == n[1] ? arena_format(arena, "%u run%s a side", n[0], n[0] == 1 ? "" : "s")
	                                : arena_format(arena, "%u and %u runs", n[0], n[1]);
	const char *by =
		wider ? arena_format(arena, " Result and gates go by the interval that holds both, %.3f to %.3f.",
	                             v->lo, v->hi)
		      : "";
	return arena_format(arena,
	                    "Without a profiler the speedup is %.3f (95 %% interval %.3f to %.3f; %s in turns with the "
	                    "recorded ones): recorded, the baseline's step is %s and the fixed side's %s.%s",
	                    u->speedup, u->lo, u->hi, runs, change(log(v->step[0] / u->step[0]), arena),
	                    change(log(v->step[1] / u->step[1]), arena), by);
}
