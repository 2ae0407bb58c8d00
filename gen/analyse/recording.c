/* What recording itself costs: a profiler that notes every CUDA call holds the calling thread up each time. That makes
 * a step longer only where the GPU waits for that thread. */
#include "analyse/say.h"
#include "analyse/side.h"

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
	while (i < end) {
		uint32_t middle = i + (end - i) / 2;
		if (t->calls.start[middle] < at)
			i = middle + 1;
		else
			end = middle;
	}
	return i;
}

/* The runtime of CUDA 13 makes this call at every launch that is watched: nsys records it, as part of the launch. */
static bool is_the_profilers(const struct trace *t, uint32_t call)
{
	return strcmp(names_text(t->names, t->calls.name[call]), "cuKernelGetName") == 0;
}

/* Calls of the thread that the gap waited for: from the one that was open when it began to the launch that ended it. An
 * op that came late shows what its thread did a launch latency earlier (DESIGN 3). */
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

void recording_build(const struct run *runs, size_t n, struct side *side)
{
	double calls = 0;
	if (side->source.kind == SOURCE_KINETO)
		return; /* PyTorch's own instrumentation costs far more, and differs by operator */
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
	side->recording = fmin(calls * NS_A_CALL, side->budget.period - side->busy);
}

static double share(const struct side *side)
{
	return side->budget.period > 0 ? side->recording / side->budget.period : 0;
}

const char *recording_note(const struct side *side, struct arena *arena)
{
	if (share(side) < WORTH_SAYING)
		return NULL;
	return arena_format(arena,
	                    "Recording a CUDA call takes the host about %.1f µs (on the machine where that was "
	                    "measured): %s calls a step that the GPU waited for "
	                    "make up about %s ms (%.1f %%) of the step.",
	                    NS_A_CALL / 1e3, say_digits(arena, side->waited_calls),
	                    say_digits(arena, side->recording / 1e6), 100 * share(side));
}

/* The speedup without recording over the one with it; 1 where it is not worth a word. */
static double change_of(const struct analysis *a)
{
	double change = (1 - share(&a->side[0])) / (1 - share(&a->side[1]));
	return a->verdict.has_interval && fabs(change - 1) >= WORTH_SAYING ? change : 1;
}

const char *recording_opens_gate(struct analysis *a, struct arena *arena)
{
	struct verdict *v = &a->verdict;
	double target = a->options.min_speedup, bound = 1 / (1 + a->options.max_regression / 100);
	double change = change_of(a), unrecorded = v->speedup * change, at = 0;
	bool missed = target > 0 && v->hi < target, slower = a->options.max_regression >= 0 && v->hi < bound;
	if (change == 1)
		return NULL;
	if (v->gate == GATE_PASSED && target > 0 && unrecorded < target)
		at = target;
	else if (v->gate == GATE_FAILED && (!missed || unrecorded >= target) && (!slower || unrecorded >= bound))
		at = missed ? target : bound;
	if (at == 0)
		return NULL;
	v->gate = GATE_INCONCLUSIVE;
	return arena_format(arena, "The gate at %.4gx is open: recorded, the speedup lies %s it, not recorded %s it.",
	                    at, unrecorded < at ? "above" : "below", unrecorded < at ? "below" : "above");
}

const char *recording_reason(const struct analysis *a, struct arena *arena)
{
	const struct side *b = &a->side[0], *f = &a->side[1];
	double change = change_of(a);
	if (change == 1)
		return NULL;
	return arena_format(
		arena,
		"Recording CUDA calls takes about %s ms (%.1f %%) of the baseline's step and %s ms (%.1f %%) "
		"of the fixed side's: not recorded, the speedup would be about %s, not %s.",
		say_digits(arena, b->recording / 1e6), 100 * share(b), say_digits(arena, f->recording / 1e6),
		100 * share(f), say_digits(arena, a->verdict.speedup * change), say_digits(arena, a->verdict.speedup));
}
