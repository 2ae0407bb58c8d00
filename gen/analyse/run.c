#include "analyse/run.h"

#include <stdlib.h>

static void find_extent(struct run *run)
{
	const struct trace_ops *ops = &run->trace->ops;
	run->first_op = INT64_MAX;
	run->last_op = INT64_MIN;
	for (size_t i = 0; i < ops->n; i++) {
		if (ops->start[i] < run->first_op)
			run->first_op = ops->start[i];
		if (ops->end[i] > run->last_op)
			run->last_op = ops->end[i];
	}
}

static void find_window(struct run *run, int warmup)
{
	const struct steps *s = &run->steps;
	if (!s->found) {
		run->n_steps = 1;
		run->window_start = s->span_named ? s->span_start : run->first_op;
		run->window_end = s->span_named ? s->span_end : run->last_op;
		return;
	}
	int64_t *period = ARENA_NEW(run->arena, s->n, int64_t);
	for (uint32_t k = 1; k < s->n; k++)
		period[k - 1] = s->end[k] - s->end[k - 1];
	run->period = period;
	run->n_periods = s->n - 1;
	struct verdict_run series = {period, run->n_periods};
	verdict_series(&series, warmup, &run->series);
	run->warmup = (uint32_t)run->series.cut + 1;
	run->n_steps = s->n - run->warmup;
	run->window_start = s->end[run->warmup - 1];
	run->window_end = s->end[s->n - 1];
}

/* Gives every normalised range name a phase index, and every op the phase at its launch. */
static void find_phases(struct run *run)
{
	const struct trace *t = run->trace;
	run->phase_of_name = ARENA_NEW(run->arena, t->names->n, uint32_t);
	run->phases = ARENA_NEW(run->arena, run->fold.n + 1, uint32_t);
	run->n_phases = 1; /* phase 0: none */
	for (size_t i = 0; i < t->ranges.n; i++) {
		uint32_t name = run->fold.of[t->ranges.name[i]];
		if (name && !run->phase_of_name[name]) {
			run->phase_of_name[name] = run->n_phases;
			run->phases[run->n_phases++] = name;
		}
	}
	run->op_phase = ARENA_NEW(run->arena, t->ops.n, uint32_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		if (launch != TRACE_NONE)
			run->op_phase[i] = run_phase(
				run, activity_phase(&run->activity, t->calls.thread[launch], t->calls.start[launch]));
	}
}

int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err)
{
	*run = (struct run){.trace = trace, .arena = arena};
	fold_names(trace, 0, arena, &run->fold);
	if (steps_find(trace, &run->fold, step, arena, &run->steps, err) < 0)
		return -1;
	if (run->steps.found) { /* counters inside the steps fold too */
		fold_names(trace, run->steps.n_instances, arena, &run->fold);
		run->steps.name = run->fold.of[trace->ranges.name[run->steps.members[0].range[0]]];
	}
	find_extent(run);
	find_window(run, warmup);
	activity_init(&run->activity, trace, &run->fold, &run->steps, arena);
	find_phases(run);
	return 0;
}

/* ---- devices ---- */

struct interval {
	int64_t start, end;
};

static int compare_interval(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* When other processes ran on the physical GPU of `device`: sorted, disjoint. */
static void find_others(const struct run *run, uint32_t device, struct arena *arena, struct intervals *out)
{
	const struct trace *t = run->trace;
	const struct trace_device *self = &t->devices[device];
	struct arena scratch = {0};
	size_t n = 0;
	for (int fill = 0; fill < 2; fill++) {
		struct interval *list = ARENA_NEW(&scratch, n + 1, struct interval);
		n = 0;
		for (uint32_t d = 0; self->gpu != TRACE_NONE && d < t->n_devices; d++) {
			const struct trace_device *other = &t->devices[d];
			if (other->gpu != self->gpu || other->process == self->process)
				continue;
			for (uint32_t i = other->first_op; i < other->first_op + other->n_ops; i++, n++)
				if (fill)
					list[n] = (struct interval){t->ops.start[i], t->ops.end[i]};
		}
		if (!n)
			break;
		if (!fill)
			continue;
		qsort(list, n, sizeof *list, compare_interval);
		size_t apart = 1; /* intervals that do not touch: an upper bound on what is left after merging */
		for (size_t i = 1; i < n; i++)
			apart += list[i].start > list[i - 1].end;
		out->start = ARENA_NEW(arena, apart, int64_t);
		out->end = ARENA_NEW(arena, apart, int64_t);
		for (size_t i = 0; i < n; i++) {
			if (list[i].start >= list[i].end)
				continue;
			if (out->n && list[i].start <= out->end[out->n - 1]) {
				if (list[i].end > out->end[out->n - 1])
					out->end[out->n - 1] = list[i].end;
				continue;
			}
			out->start[out->n] = list[i].start;
			out->end[out->n++] = list[i].end;
		}
	}
	arena_release(&scratch);
}

static bool has_work(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	const struct trace_device *d = &t->devices[device];
	for (uint32_t i = d->first_op; i < d->first_op + d->n_ops; i++)
		if (t->ops.start[i] < run->window_end && t->ops.end[i] > run->window_start &&
		    t->ops.end[i] > t->ops.start[i])
			return true;
	return false;
}

void run_devices(struct run *run)
{
	const struct trace *t = run->trace;
	run->devices = ARENA_NEW(run->arena, t->n_devices, struct device_run);
	run->others = ARENA_NEW(run->arena, t->n_devices, struct intervals);
	for (uint32_t d = 0; d < t->n_devices; d++) {
		if (!has_work(run, d))
			continue;
		find_others(run, d, run->arena, &run->others[run->n_devices]);
		struct device_run *device = &run->devices[run->n_devices];
		device_sweep(run, d, device);
		device_charge(run, device, &run->others[run->n_devices]);
		run->n_devices++;
	}
	struct overview *o = &run->overview;
	o->length = run->last_op - run->first_op;
	o->window_start = run->window_start - run->first_op;
	o->window_end = run->window_end - run->first_op;
	for (int i = 0; i < OVERVIEW_BINS; i++) {
		float n = run->n_devices ? (float)run->n_devices : 1;
		o->compute[i] /= n;
		o->comm[i] /= n;
		o->copy[i] /= n;
		o->idle[i] = 1 - o->compute[i] - o->comm[i] - o->copy[i];
	}
}
