#include "analyse/run/run.h"

#include "analyse/run/device.h"
#include "analyse/run/gaps.h"
#include "analyse/run/marks.h"
#include "analyse/run/parts.h"
#include "analyse/run/pattern_steps.h"

#include <string.h>

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

/* Without steps: from the first to the last kernel or explicit copy. Unified memory that the host reads back after the
 * last kernel is none of it. */
static void find_run_span(struct run *run)
{
	const struct trace_ops *ops = &run->trace->ops;
	int64_t start = INT64_MAX, end = INT64_MIN;
	for (size_t i = 0; i < ops->n; i++)
		if (!(ops->flags[i] & OPF_MANAGED)) {
			start = ops->start[i] < start ? ops->start[i] : start;
			end = ops->end[i] > end ? ops->end[i] : end;
		}
	run->window_start = end >= start ? start : run->first_op;
	run->window_end = end >= start ? end : run->last_op;
}

static void find_window(struct run *run, int warmup)
{
	const struct steps *s = &run->steps;
	if (!s->found) {
		run->n_steps = 1;
		find_run_span(run);
		run->window_start = s->span_named ? s->span_start : run->window_start;
		run->window_end = s->span_named ? s->span_end : run->window_end;
		return;
	}
	int64_t *period = ARENA_NEW(run->arena, s->n, int64_t);
	for (uint32_t k = 1; k < s->n; k++)
		period[k - 1] = s->end[k] - s->end[k - 1];
	run->period = period;
	run->n_periods = s->n - 1;
	const struct verdict_run all = {
		.period = period, .n = run->n_periods, .opened = s->opened, .shrinks = run->shrinks};
	struct series series;
	series_cut(&all, warmup, &series);
	run->warmup = (uint32_t)series.cut + 1;
	run->n_steps = s->n - run->warmup;
	run->window_start = s->end[run->warmup - 1];
	run->window_end = s->end[s->n - 1];
}

/* When the threads with instances were in the measured ones. */
static void find_host_window(struct run *run)
{
	const struct steps *s = &run->steps;
	uint32_t n = run->trace->n_processes;
	run->host_start = ARENA_NEW(run->arena, n, int64_t);
	run->host_end = ARENA_NEW(run->arena, n, int64_t);
	for (uint32_t p = 0; p < n; p++) {
		run->host_start[p] = s->span_named ? s->span_start : s->found ? INT64_MAX : INT64_MIN;
		run->host_end[p] = s->span_named ? s->span_end : s->found ? INT64_MIN : INT64_MAX;
	}
	for (uint32_t i = 0; s->found && i < s->n_threads; i++) {
		const struct step_thread *t = &s->threads[i];
		int64_t *start = &run->host_start[t->process], *end = &run->host_end[t->process];
		for (uint32_t k = 0; k < t->n; k++) {
			if (t->step[k] == TRACE_NONE || t->step[k] < run->warmup)
				continue;
			*start = t->start[k] < *start ? t->start[k] : *start;
			*end = t->end[k] > *end ? t->end[k] : *end;
		}
	}
}

void run_host_window(const struct run *run, uint32_t process, int64_t *start, int64_t *end)
{
	for (uint32_t i = 0; i < run->steps.n_threads && run->host_start[process] > run->host_end[process]; i++)
		process = run->steps.threads[i].process;
	*start = run->host_start[process];
	*end = run->host_end[process];
}

bool run_measures_op_of_no_step(const struct run *run, size_t i)
{
	const struct trace *t = run->trace;
	if (!run->steps.found && !run->steps.span_named)
		return t->ops.start[i] >= run->window_start && t->ops.start[i] < run->window_end;
	if (t->ops.launch[i] == TRACE_NONE)
		return t->ops.start[i] >= run->window_start && t->ops.start[i] < run->window_end;
	int64_t start, end, launch = t->calls.start[t->ops.launch[i]];
	run_host_window(run, op_process(t, i), &start, &end);
	return launch >= start && launch < end;
}

int64_t run_startup_end(const struct run *run)
{
	int64_t end = INT64_MAX;
	for (uint32_t i = 0; i < run->steps.n_threads; i++)
		end = run->steps.threads[i].start[0] < end ? run->steps.threads[i].start[0] : end;
	for (uint32_t l = 0; l < run->loops.n; l++) /* another loop is no start-up, unless it is a warm-up */
		if (run->loops.list[l].share >= 0.1 && run->loops.list[l].start < end)
			end = run->loops.list[l].start;
	return end;
}

/* The first of what threads of processes with GPU work did: what launched those is not them. */
static int64_t first_of(const struct trace *t, const bool *works, const int64_t *start, const uint32_t *thread,
                        size_t n, int64_t first)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] < first && works[t->threads[thread[i]].process])
			first = start[i];
	return first;
}

static int64_t find_begin(const struct trace *t)
{
	struct arena scratch = {0};
	bool *works = ARENA_NEW(&scratch, t->n_processes, bool);
	int64_t first = t->source.began == TRACE_NO_TIME ? INT64_MAX : t->source.began;
	for (size_t i = 0; i < t->ops.n; i++) {
		works[op_process(t, i)] = true;
		first = t->ops.start[i] < first ? t->ops.start[i] : first;
	}
	first = first_of(t, works, t->calls.start, t->calls.thread, t->calls.n, first);
	first = first_of(t, works, t->ranges.start, t->ranges.thread, t->ranges.n, first);
	first = first_of(t, works, t->os_calls.start, t->os_calls.thread, t->os_calls.n, first);
	arena_release(&scratch);
	return first;
}

static void find_startup(struct run *run)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	int64_t begin = run->begin, end = INT64_MAX;
	if (s->found) {
		end = run_startup_end(run);
		run->startup = end > begin ? end - begin : 0;
		run->startup_end = end;
		return;
	}
	int64_t half = run->first_op + (run->last_op - run->first_op) / 2;
	end = begin;
	for (size_t i = 0; i < t->calls.n; i++)
		if (t->calls.class[i] == CALL_MODULE && t->calls.end[i] > end && t->calls.end[i] <= half)
			end = t->calls.end[i];
	for (size_t i = 0; i < t->overheads.n; i++)
		if (t->overheads.class[i] == OVERHEAD_MODULE_LOAD && t->overheads.end[i] > end &&
		    t->overheads.end[i] <= half)
			end = t->overheads.end[i];
	run->startup = t->ops.n ? end - begin : 0;
	run->startup_end = end;
}

static void count_early_ops(struct run *run)
{
	const struct trace *t = run->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		int64_t early = op_launch_start(t, i) - t->ops.start[i];
		if (early <= CLOCK_TOLERANCE)
			continue;
		run->early_ops++;
		run->earliest = early > run->earliest ? early : run->earliest;
	}
}

/* Gives every normalised range name a phase index. */
static void name_phases(struct run *run)
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
}

void run_phase_ops(struct run *run)
{
	const struct trace *t = run->trace;
	run->op_phase = ARENA_NEW(run->arena, t->ops.n, uint32_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		if (launch != TRACE_NONE)
			run->op_phase[i] = run_phase(
				run, activity_phase(&run->activity, t->calls.thread[launch], t->calls.start[launch]));
	}
}

void run_begin(struct run *run, const struct trace *trace, struct arena *arena)
{
	*run = (struct run){.trace = trace, .arena = arena};
	fold_names(trace, 0, arena, &run->fold);
}

/* A range named by --step that is there once (in a process): the run's span is from its start to its end, on the host
 * and the GPU. */
static bool find_span(struct run *run, const struct step_marks *marks)
{
	const struct trace *t = run->trace;
	struct steps *s = &run->steps;
	for (uint32_t k = 1; k < marks->n; k++)
		if (marks->instance[k].process == marks->instance[k - 1].process)
			return false;
	*s = (struct steps){.span_named = true, .span_start = INT64_MAX, .span_end = INT64_MIN};
	for (uint32_t k = 0; k < marks->n; k++) {
		s->span_start = marks->instance[k].start < s->span_start ? marks->instance[k].start : s->span_start;
		s->span_end = marks->instance[k].end > s->span_end ? marks->instance[k].end : s->span_end;
	}
	int64_t host_end = s->span_end;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (t->ops.launch[i] == TRACE_NONE)
			continue;
		int64_t launch = t->calls.start[t->ops.launch[i]];
		if (launch >= s->span_start && launch < host_end && t->ops.end[i] > s->span_end)
			s->span_end = t->ops.end[i];
	}
	return true;
}

static int launches_nothing(const struct run *run, const struct step_marks *marks, struct err *err)
{
	return err_set(
		err,
		"--step: no two instances of '%.60s' launch GPU work, so their ends on the GPU cannot be told; name "
		"the range that encloses the work of a whole step",
		names_text(run->trace->names, marks->name));
}

void run_find_loops(struct run *run, bool shortest, struct run_loops *out)
{
	if (run->parts)
		parts_find_loops(run, shortest, out);
	else
		pattern_run_find(run->trace, shortest, run->arena, out);
}

int run_find_steps(struct run *run, const char *step, struct err *err)
{
	struct step_marks marks;
	run->steps = (struct steps){.n_ranks = 1};
	if (step && strcmp(step, "none") == 0)
		return 0;
	if (run->by_loop)
		marks = (struct step_marks){0};
	else if (marks_from_ranges(run->trace, &run->fold, step, run->arena, &marks, err) < 0)
		return -1;
	if (!marks.n) {
		run_find_loops(run, false, &run->loops);
		if (run->loops.n)
			pattern_steps(run, 0);
		return 0;
	}
	if (step && find_span(run, &marks))
		return 0;
	steps_from_instances(run->trace, &marks, run->arena, &run->steps);
	return step && !run->steps.found ? launches_nothing(run, &marks, err) : 0;
}

void run_name_steps(struct run *run)
{
	const struct trace *t = run->trace;
	if (!run->steps.found)
		return;
	/* counters inside the steps fold too */
	if (run->parts)
		fold_decide(&run->parts->names, t->names, run->steps.n_instances, run->arena, &run->fold);
	else
		fold_names(t, run->steps.n_instances, run->arena, &run->fold);
	if (run->steps.written)
		run->steps.name = run->fold.of[run->steps.written];
	run_loops_name(&run->loops, t);
	if (run->steps.origin == STEPS_BY_PATTERN)
		run->steps.name = run->loops.list[run->loop].name;
}

void run_look_at_rows(struct run *run)
{
	find_extent(run);
	run->begin = find_begin(run->trace);
	count_early_ops(run);
}

void run_find_window(struct run *run, int warmup)
{
	find_window(run, warmup);
	find_host_window(run);
	find_startup(run);
}

void run_find_phases(struct run *run, int warmup)
{
	run_look_at_rows(run);
	run_find_window(run, warmup);
	activity_init(&run->activity, run->trace, &run->fold, &run->steps, run->arena);
	name_phases(run);
	run_phase_ops(run);
}

int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err)
{
	run_begin(run, trace, arena);
	if (run_find_steps(run, step, err) < 0)
		return -1;
	run_name_steps(run);
	run_find_phases(run, warmup);
	return 0;
}

/* ---- devices ---- */

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

void run_begin_table(struct run *run)
{
	const int64_t *end = run->steps.found ? &run->steps.end[run->warmup] : &run->window_end;
	step_table_begin(&run->table, run->window_start, end, run->n_steps, run->n_phases, run->arena);
}

void run_charge_devices(struct run *run)
{
	const struct trace *t = run->trace;
	run->devices = ARENA_NEW(run->arena, t->n_devices, struct device_run);
	run->sharing = ARENA_NEW(run->arena, t->n_gpus, struct sharing);
	for (uint32_t gpu = 0; gpu < t->n_gpus; gpu++)
		sharing_build(t, gpu, run->arena, &run->sharing[gpu]);
	gaps_find_dependencies(run);
	for (uint32_t d = 0; d < t->n_devices; d++) {
		if (!has_work(run, d))
			continue;
		struct device_run *device = &run->devices[run->n_devices];
		device_sweep(run, d, device);
		device_charge(run, device);
		run->n_devices++;
	}
}

void run_devices(struct run *run)
{
	run_begin_table(run);
	run_charge_devices(run);
	run_end_overview(run);
}

void run_end_overview(struct run *run)
{
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

struct exchange_place run_place(const struct run *run, struct arena *arena)
{
	const struct trace *t = run->trace;
	uint64_t *gpu = ARENA_NEW(arena, run->n_devices, uint64_t);
	struct exchange_place place = {.host = trace_host_is_contained(t->source.host) ? 0 : t->source.host,
	                               .gpu = gpu};
	for (uint32_t d = 0; d < run->n_devices; d++) {
		uint64_t id = run_gpu(run, d) != TRACE_NONE ? t->gpus[run_gpu(run, d)].id : 0;
		bool of_container = id & TRACE_GPU_BY_PLACE && !place.host;
		if (id && !of_container)
			gpu[place.n_gpus++] = id;
	}
	return place;
}
