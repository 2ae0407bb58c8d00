/* What recording itself costs: a profiler that notes every CUDA call holds the calling thread up each time. That makes
 * a step longer only where the GPU waits for that thread. The price of a call is an estimate, and differs between
 * machines; two things are sure of it. It is not below nothing, and not above the shortest launch of the capture,
 * because to record a launch is the most there is to record (the call and its kernel), and all of that launch, its own
 * work included, took no longer. Between the two lie all speedups that the capture allows. */
#include "analyse/judge/compare.h"
#include "analyse/say.h"
#include "base/search.h"

#include <math.h>
#include <string.h>

/* What a recorded call takes beyond an unrecorded one. Measured with the programs in workloads/ on an H200's host,
 * with and without CUPTI's activity records of calls and kernels: 0.8 to 0.85 µs a call for launches, for allocations
 * and for loading modules; with nsys 0.9 to 1.1 µs. */
static const double NS_A_CALL = 800;
static const double WORTH_SAYING = 0.01; /* of a step, or of the speedup */

/* The first call of the thread's [i, end) that starts at `t` or later. */
static uint32_t first_from(const struct trace *t, uint32_t i, uint32_t end, int64_t at)
{
	SEARCH(i, end, t->calls.start[i] < at);
	return i;
}

/* The runtime of CUDA 13 makes this call at every launch that is watched: nsys records it, as part of the launch. */
static bool is_the_profilers(const struct trace *t, uint32_t call)
{
	return strcmp(names_text(t->names, t->calls.name[call]), "cuKernelGetName") == 0;
}

/* Calls of the thread that the gap waited for: from the one that was open when it began to the launch that ended it. An
 * op that came late shows what its thread did a launch latency earlier (docs/analysis.md, Causes). */
static uint32_t count_calls(const struct trace *t, const struct gap *gap, int64_t limit)
{
	if (gap->next == TRACE_NONE || t->ops.launch[gap->next] == TRACE_NONE)
		return 0;
	uint32_t launch = t->ops.launch[gap->next], thread = t->calls.thread[launch];
	int64_t latency = gap->end - t->calls.end[launch], from = gap->start;
	if (latency > 0 && latency <= limit)
		from -= latency;
	if (t->calls.end[launch] <= from)
		return 0; /* it was there already: the GPU waited for something else */
	uint32_t begin = t->first_call[thread], end = t->first_call[thread + 1];
	uint32_t i = first_from(t, begin, end, from);
	if (i > begin && t->calls.end[i - 1] > from)
		i--;
	uint32_t last = first_from(t, i, end, t->calls.start[launch] + 1), n = 0;
	for (; i < last; i++)
		n += !is_the_profilers(t, i);
	return n;
}

/* What recording made a step longer at a price of `ns` a call: not more than the GPU waited. */
static double recording_at(const struct side *side, double ns)
{
	return fmin(side->waited_calls * ns, side->budget.period - side->busy);
}

/* Length of the shortest call that launched an op; 0: there is none. */
static double shortest_launch(const struct run *runs, size_t n)
{
	int64_t least = INT64_MAX;
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		for (size_t i = 0; i < t->ops.n; i++) {
			uint32_t call = t->ops.launch[i];
			if (call == TRACE_NONE || t->calls.class[call] != CALL_LAUNCH)
				continue;
			int64_t length = t->calls.end[call] - t->calls.start[call];
			least = length < least ? length : least;
		}
	}
	return least < INT64_MAX ? (double)least : 0;
}

void recording_build(const struct run *runs, size_t n, struct side *side)
{
	double calls = 0;
	for (size_t r = 0; r < n; r++) {
		const struct run *run = &runs[r];
		for (uint32_t d = 0; d < run->n_devices; d++) {
			const struct device_run *device = &run->devices[d];
			double weight = 1 / ((double)n * run->n_steps * run->n_devices);
			for (size_t i = 0; i < device->n_gaps; i++) {
				const struct gap gap = run_gap(run, device, i);
				if (!gap.edge && gap.start >= run->window_start && gap.start < run->window_end)
					calls += weight * count_calls(run->trace, &gap, device->limit);
			}
		}
	}
	side->waited_calls = calls;
	side->shortest_launch = shortest_launch(runs, n);
	side->recording = recording_at(side, NS_A_CALL);
}

static double share_at(const struct side *side, double ns)
{
	return side->budget.period > 0 ? recording_at(side, ns) / side->budget.period : 0;
}

static double share(const struct side *side)
{
	return share_at(side, NS_A_CALL);
}

const char *recording_note(const struct side *side, struct arena *arena)
{
	if (share(side) < WORTH_SAYING)
		return NULL;
	const char *per = side->steps_found ? " a step" : "", *all = side->steps_found ? "step" : "run";
	return arena_format(arena,
	                    "Recording a CUDA call takes the host about %.1f µs (on the machine where that was "
	                    "measured): %s calls%s that the GPU waited for make up about %s ms (%.1f %%) of the %s.",
	                    NS_A_CALL / 1e3, say_digits(arena, side->waited_calls), per,
	                    say_digits(arena, side->recording / 1e6), 100 * share(side), all);
}

/* The highest price that a call can have on both sides: the same profiler recorded them. */
static double highest_price(const struct analysis *a)
{
	double b = a->side[0].shortest_launch, f = a->side[1].shortest_launch;
	return fmax(NS_A_CALL, b > 0 && f > 0 ? fmin(b, f) : fmax(b, f));
}

/* The speedup without recording over the one with it, at a price of `ns` a call, as a logarithm. */
static double change_at(const struct analysis *a, double ns)
{
	return log1p(-share_at(&a->side[0], ns)) - log1p(-share_at(&a->side[1], ns));
}

void recording_bounds(const struct analysis *a, double beyond[2])
{
	double highest = highest_price(a), at[4] = {highest, NS_A_CALL};
	for (int s = 0; s < 2; s++) { /* where a side's idle time is used up, the curve bends */
		const struct side *x = &a->side[s];
		at[2 + s] = x->waited_calls > 0 ? fmin(highest, (x->budget.period - x->busy) / x->waited_calls) : 0;
	}
	beyond[0] = beyond[1] = 0;
	for (int i = 0; i < 4; i++) {
		double change = change_at(a, at[i]);
		beyond[0] = fmin(beyond[0], change);
		beyond[1] = fmax(beyond[1], change);
	}
}

/* Whether it is worth saying what recording may have done. */
static bool matters(const struct analysis *a)
{
	const struct verdict_conditions *c = &a->conditions;
	return a->verdict.has_interval && c->beyond[1] - c->beyond[0] >= log1p(WORTH_SAYING);
}

double recording_likely(const struct analysis *a)
{
	return matters(a) ? a->verdict.speedup * exp(change_at(a, NS_A_CALL)) : 0;
}

const char *recording_reason(const struct analysis *a, struct arena *arena)
{
	const struct side *b = &a->side[0], *f = &a->side[1];
	const struct verdict *v = &a->verdict;
	if (!matters(a))
		return NULL;
	double highest = highest_price(a);
	const char *up_to = highest > NS_A_CALL
	                            ? arena_format(arena, ", or up to %.1f µs, the shortest launch", highest / 1e3)
	                            : "";
	return arena_format(arena,
	                    "Recording CUDA calls takes about %s ms (%.1f %%) of the baseline's %s and %s ms (%.1f "
	                    "%%) of the fixed side's: not recorded, the speedup would be about %s, not %s. A call "
	                    "may cost less than the %.1f µs assumed%s: result and gates go by the interval with all of "
	                    "that in it, %s to %s.",
	                    say_digits(arena, b->recording / 1e6), 100 * share(b), b->steps_found ? "step" : "run",
	                    say_digits(arena, f->recording / 1e6), 100 * share(f),
	                    say_digits(arena, recording_likely(a)), say_digits(arena, v->speedup), NS_A_CALL / 1e3,
	                    up_to, say_digits(arena, v->lo), say_digits(arena, v->hi));
}
