#include "oracle_walk.h"

/* Instances of (thread, domain, name), by start; the count. */
static size_t instances_of(const struct walk *w, uint32_t thread, uint32_t domain, uint32_t name, struct instance *out)
{
	const struct trace_ranges *r = &w->trace->ranges;
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (r->thread[i] != thread || r->domain[i] != domain || r->name[i] != name)
			continue;
		size_t at = n++;
		for (; at > 0 && out[at - 1].start > r->start[i]; at--)
			out[at] = out[at - 1];
		out[at] = (struct instance){r->start[i], r->end[i]};
	}
	return n;
}

static bool instances_disjoint(const struct instance *instances, size_t n)
{
	for (size_t k = 1; k < n; k++)
		if (instances[k].start < instances[k - 1].end)
			return false;
	return true;
}

static size_t instance_of(const struct instance *instances, size_t n, int64_t t)
{
	for (size_t k = 0; k < n; k++)
		if (t >= instances[k].start && t < instances[k].end)
			return k;
	return n;
}

/* The rules for a step range: 5 disjoint instances, 80 % of them launch GPU work, and 70 % of the GPU time launched by
 * the process from the first to the last was launched while one was open. */
static bool instances_are_steps(const struct walk *w, uint32_t process, const struct instance *instances, size_t n)
{
	const struct trace *trace = w->trace;
	if (n < 5 || !instances_disjoint(instances, n))
		return false;
	bool *launched = ARENA_NEW(w->arena, n, bool);
	int64_t inside = 0, all = 0;
	for (size_t i = 0; i < trace->ops.n; i++) {
		uint32_t launch = trace->ops.launch[i];
		if (launch == TRACE_NONE || trace->threads[trace->calls.thread[launch]].process != process)
			continue;
		int64_t t = trace->calls.start[launch], length = trace->ops.end[i] - trace->ops.start[i];
		if (t < instances[0].start || t >= instances[n - 1].end)
			continue;
		all += length;
		size_t k = instance_of(instances, n, t);
		if (k < n) {
			inside += length;
			launched[k] = true;
		}
	}
	size_t launching = 0;
	for (size_t k = 0; k < n; k++)
		launching += launched[k];
	return 10 * launching >= 8 * n && 10 * inside >= 7 * all && inside > 0;
}

/* Finds the step ranges of a process: those named `name`, or by the rules where it is 0. */
static uint32_t process_steps_find(struct walk *w, uint32_t process, uint32_t name)
{
	const struct trace_ranges *r = &w->trace->ranges;
	struct process_steps *best = &w->process[process];
	int64_t best_total = -1;
	uint32_t best_name = 0;
	best->thread = TRACE_NONE;
	for (size_t i = 0; i < r->n; i++) {
		if (w->trace->threads[r->thread[i]].process != process || (name && r->name[i] != name))
			continue;
		struct instance *instances = ARENA_NEW(w->arena, r->n, struct instance);
		size_t n = instances_of(w, r->thread[i], r->domain[i], r->name[i], instances);
		if (!name && !instances_are_steps(w, process, instances, n))
			continue;
		int64_t total = 0;
		for (size_t k = 0; k < n; k++)
			total += instances[k].end - instances[k].start;
		if (total <= best_total)
			continue;
		best_total = total;
		best_name = r->name[i];
		*best = (struct process_steps){r->thread[i], r->domain[i], r->name[i], instances, n};
	}
	return best_name;
}

void oracle_steps_find(struct walk *w, const char *step, struct oracle *out)
{
	const struct trace *trace = w->trace;
	uint32_t name = step ? names_add_text(trace->names, step) : 0;
	w->process = ARENA_NEW(w->arena, trace->n_processes, struct process_steps);
	size_t n = 0;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		uint32_t found = process_steps_find(w, p, name);
		if (w->process[p].thread == TRACE_NONE)
			continue;
		w->steps = true;
		out->step_name = found;
		if (n == 0 || w->process[p].n < n) /* a step is one that every process has taken */
			n = w->process[p].n;
	}
	out->steps = w->steps;
	/* Ends of the steps, over all devices of the job; a step that does not advance the end merges into the next. */
	out->step_end = ARENA_NEW(w->arena, n, int64_t);
	int64_t end = -1;
	for (size_t k = 0; k < n; k++) {
		int64_t reached = end;
		for (size_t i = 0; i < trace->ops.n; i++) {
			uint32_t launch = trace->ops.launch[i];
			if (launch == TRACE_NONE)
				continue;
			const struct process_steps *p =
				&w->process[trace->threads[trace->calls.thread[launch]].process];
			if (instance_of(p->instances, p->n, trace->calls.start[launch]) == k && k < p->n &&
			    trace->ops.end[i] > reached)
				reached = trace->ops.end[i];
		}
		if (reached > end)
			out->step_end[out->n_steps++] = end = reached;
	}
}
