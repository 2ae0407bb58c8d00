#include "run/run.h"

#include "run/parts.h"
#include "steps/pattern_loops.h"
#include "trace/again.h"

#include <string.h>

/* The first of what threads of processes with GPU work did: what launched those is not them. */
static int64_t first_of(const struct trace *t, const bool *works, const int64_t *start, const uint32_t *thread,
                        size_t n, int64_t first)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] < first && works[t->threads[thread[i]].process])
			first = start[i];
	return first;
}

static int64_t find_begin(const struct trace *t, int64_t first)
{
	ARENA_LOCAL(scratch);
	bool *works = ARENA_NEW(&scratch, t->n_processes, bool);
	if (t->source.began != TRACE_NO_TIME && t->source.began < first)
		first = t->source.began;
	for (uint32_t d = 0; d < t->n_devices; d++)
		works[t->devices[d].process] |= t->devices[d].n_ops > 0;
	first = first_of(t, works, t->calls.start, t->calls.thread, t->calls.n, first);
	first = first_of(t, works, t->ranges.start, t->ranges.thread, t->ranges.n, first);
	first = first_of(t, works, t->os_calls.start, t->os_calls.thread, t->os_calls.n, first);
	return first;
}

/* Calls that are told by words in their names. */
static void count_calls(struct extent *out, const struct trace *t)
{
	ARENA_LOCAL(scratch);
	uint32_t *calls = ARENA_NEW(&scratch, t->names->n, uint32_t);
	for (size_t i = 0; i < t->calls.n; i++)
		calls[t->calls.name[i]]++;
	for (uint32_t i = 0; i < t->names->n; i++) {
		const char *name = names_text(t->names, i);
		if (!calls[i])
			continue;
		/* a node of a graph that is updated keeps its number, whatever it does from then on */
		if (out->made_nodes && strstr(name, "GraphExecUpdate"))
			out->updates += calls[i];
		if (strstr(name, "AllocManaged") || strstr(name, "MallocManaged") || strstr(name, "MemPrefetch"))
			out->managed += calls[i];
		if (strstr(name, "LaunchHostFunc") || strstr(name, "StreamAddCallback"))
			out->host_functions += calls[i];
	}
}

void extent_add(struct extent *out, const struct trace *t, uint32_t first_process)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < t->ops.n; i++) {
		int64_t start = t->ops.start[i], end = t->ops.end[i], early = op_launch_start(t, i) - start;
		bool node = t->ops.flags[i] & OPF_GRAPH_NODE;
		bool made = node && t->ops.creator && t->ops.creator[i] != TRACE_NONE;
		out->op_ns += end - start;
		out->unmade_ns += node && !made ? end - start : 0;
		out->made_nodes = out->made_nodes || made;
		first = start < first ? start : first;
		out->last_op = end > out->last_op ? end : out->last_op;
		out->migrates = out->migrates || t->ops.flags[i] & OPF_MANAGED;
		if (!(t->ops.flags[i] & OPF_MANAGED)) {
			out->first_explicit = start < out->first_explicit ? start : out->first_explicit;
			out->last_explicit = end > out->last_explicit ? end : out->last_explicit;
		}
		if (t->ops.launch[i] != TRACE_NONE && start < out->first_launched) {
			out->first_launched = start;
			out->launcher = first_process + op_process(t, i);
		}
		if (early <= CLOCK_TOLERANCE)
			continue;
		out->early_ops++;
		out->earliest = early > out->earliest ? early : out->earliest;
	}
	count_calls(out, t);
	out->first_op = first < out->first_op ? first : out->first_op;
	int64_t begin = find_begin(t, first);
	out->begin = begin < out->begin ? begin : out->begin;
	out->n_ops += t->ops.n;
	out->unlaunched += t->n_unlaunched;
	for (size_t i = 0; i < t->ranges.n; i++)
		out->clipped += t->ranges.clipped[i];
}

/* Of a run whose rows are held. */
static void count_ranges(struct run *run, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	uint32_t n;
	const struct again_ranges *ranges = again_count_ranges(run->trace, &scratch, &n);
	fold_count(run->trace->names, ranges, n, 0, arena, &run->parts->names);
}

void run_open(struct run *run, const struct trace *trace, struct arena *arena)
{
	parts_begin(run, trace, arena);
	run->extent = (struct extent){.begin = INT64_MAX,
	                              .first_op = INT64_MAX,
	                              .last_op = INT64_MIN,
	                              .first_explicit = INT64_MAX,
	                              .last_explicit = INT64_MIN,
	                              .first_launched = INT64_MAX,
	                              .launcher = TRACE_NONE};
	if (trace->n_again)
		for (uint32_t i = 0; i < trace->n_again; i++)
			fold_count(trace->names, trace->again[i].ranges, trace->again[i].n_ranges,
			           trace->again[i].first_thread, arena, &run->parts->names);
	else
		count_ranges(run, arena);
}

void run_begin(struct run *run)
{
	fold_decide(&run->parts->names, run->trace->names, 0, run->arena, &run->fold);
}

void run_name_steps(struct run *run)
{
	const struct trace *t = run->trace;
	if (!run->steps.found)
		return;
	/* counters inside the steps fold too */
	fold_decide(&run->parts->names, t->names, run->steps.n_instances, run->arena, &run->fold);
	if (run->steps.written)
		run->steps.name = run->fold.of[run->steps.written];
	run_loops_name(&run->loops, t);
	if (run->steps.origin == STEPS_BY_PATTERN)
		run->steps.name = run->loops.list[run->agreed.loop].name;
}

bool run_is_beside(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	const uint32_t gpu = run_gpu_of(t, device);
	if (gpu == TRACE_NONE || steps_of_process(&run->steps, t->devices[device].process))
		return false;
	for (uint32_t k = 0; k < t->n_devices; k++)
		if (run_gpu_of(t, k) == gpu && steps_of_process(&run->steps, t->devices[k].process))
			return true;
	return false;
}
