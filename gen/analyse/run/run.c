#include "analyse/run/run.h"

#include "analyse/run/captured.h"
#include "analyse/run/choose_steps.h"
#include "analyse/run/idle.h"
#include "analyse/run/parts.h"
#include "analyse/run/pattern_loops.h"
#include "trace/again.h"

#include <string.h>

/* Without steps: from the first to the last kernel or explicit copy. Unified memory that the host reads back after the
 * last kernel is none of it. */
static void find_run_span(struct run *run)
{
	bool some = run->last_explicit >= run->first_explicit;
	run->window_start = some ? run->first_explicit : run->first_op;
	run->window_end = some ? run->last_explicit : run->last_op;
}

/* The grids beside the periods, if they are known and differ. */
static const int64_t *grids_of(const struct steps *s)
{
	bool differ = false;
	for (uint32_t k = 1; k < s->n; k++) {
		if (!s->grid[k])
			return NULL;
		differ = differ || s->grid[k] != s->grid[1];
	}
	return differ ? s->grid + 1 : NULL;
}

static void find_window(struct run *run, int warmup)
{
	const struct steps *s = &run->steps;
	if (!s->found) {
		run->n_steps = 1;
		find_run_span(run);
		run->window_start = s->span_named ? s->span_start : run->window_start;
		run->window_end = s->span_named ? s->span_end : run->window_end;
		run->window = run->window_end - run->window_start;
		return;
	}
	int64_t *period = ARENA_NEW(run->arena, s->n, int64_t);
	for (uint32_t k = 1, pause = 0; k < s->n; k++) {
		period[k - 1] = s->end[k] - s->end[k - 1];
		if (pause < s->pauses.n && s->pauses.at[pause][0] == s->end[k - 1]) {
			period[k - 1] -= s->pauses.at[pause][1] - s->pauses.at[pause][0];
			pause++;
		}
	}
	run->period = period;
	run->n_periods = s->n - 1;
	run->grid = grids_of(s);
	const struct verdict_run all = {
		.period = period, .n = run->n_periods, .grid = run->grid, .opened = s->opened, .shrinks = run->shrinks};
	struct series series;
	series_cut(&all, warmup, &series);
	run->warmup = (uint32_t)series.cut + 1;
	run->n_steps = s->n - run->warmup;
	run->window_start = s->end[run->warmup - 1];
	run->window_end = s->end[s->n - 1];
	for (uint32_t k = run->warmup - 1; k < run->n_periods; k++)
		run->window += period[k];
}

bool run_pauses_at(const struct run *run, int64_t t)
{
	int64_t until = INT64_MAX;
	return spans_hold(&run->steps.pauses, t, &until);
}

bool run_next_measured(const struct run *run, int64_t *at, int64_t end, int64_t *from)
{
	*at = *at < run->window_start ? run->window_start : *at;
	end = end < run->window_end ? end : run->window_end;
	while (*at < end) {
		int64_t until = end;
		bool pauses = run->steps.pauses.n && spans_hold(&run->steps.pauses, *at, &until);
		*from = *at;
		*at = until;
		if (!pauses)
			return true;
	}
	return false;
}

int64_t run_paused_in(const struct run *run, int64_t start, int64_t end)
{
	int64_t ns = end - start;
	for (int64_t at = start; run_next_measured(run, &at, end, &start);)
		ns -= at - start;
	return ns;
}

/* Adds when a thread with instances was in the measured ones to what is known of its process; at a step that begins a
 * stretch another part begins. */
static void add_host_parts(const struct run *run, const struct step_thread *t, struct spans *host)
{
	bool next = false, first = true;
	for (uint32_t k = 0; k < t->n; k++) {
		if (t->step[k] == TRACE_NONE || t->step[k] < run->warmup) {
			next = run->steps.pauses.n > 0;
			continue;
		}
		if (next || (first && !host->n)) {
			host->at[host->n][0] = INT64_MAX;
			host->at[host->n++][1] = INT64_MIN;
		}
		next = first = false;
		int64_t *part = host->at[host->n - 1];
		part[0] = t->start[k] < part[0] ? t->start[k] : part[0];
		part[1] = t->end[k] > part[1] ? t->end[k] : part[1];
	}
}

/* When the threads with instances were in the measured ones; a process without instances has the first one's window
 * that has some. */
static void find_host_window(struct run *run)
{
	const struct steps *s = &run->steps;
	uint32_t n = run->trace->n_processes, like = TRACE_NONE;
	struct spans *host = ARENA_NEW(run->arena, n, struct spans);
	for (uint32_t p = 0; p < n; p++)
		host[p].at = arena_alloc(run->arena, s->pauses.n + 2, sizeof *host[p].at);
	for (uint32_t i = 0; s->found && i < s->n_threads; i++) {
		add_host_parts(run, &s->threads[i], &host[s->threads[i].process]);
		like = like == TRACE_NONE && host[s->threads[i].process].n ? s->threads[i].process : like;
	}
	for (uint32_t p = 0; p < n; p++) {
		if (host[p].n)
			continue;
		if (like != TRACE_NONE) {
			host[p] = host[like];
			continue;
		}
		host[p].at[0][0] = s->span_named ? s->span_start : s->found ? INT64_MAX : INT64_MIN;
		host[p].at[0][1] = s->span_named ? s->span_end : s->found ? INT64_MIN : INT64_MAX;
		host[p].n = 1;
	}
	run->host = host;
}

bool run_measures_op_of_no_step(const struct run *run, size_t i)
{
	const struct trace *t = run->trace;
	bool by_start = (!run->steps.found && !run->steps.span_named) || t->ops.launch[i] == TRACE_NONE;
	if (by_start)
		return t->ops.start[i] >= run->window_start && t->ops.start[i] < run->window_end &&
		       !run_pauses(run, t->ops.start[i]);
	struct host_window host = run_host(run, op_process(t, i));
	return host_window_has(&host, t->calls.start[t->ops.launch[i]]);
}

/* When the first step was begun on the host, or, where several loops were found, the first step of any. */
static int64_t startup_end(const struct run *run)
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
static void count_calls(struct run *run, const struct trace *t)
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
		if (run->made_nodes && strstr(name, "GraphExecUpdate"))
			run->updates += calls[i];
		if (strstr(name, "AllocManaged") || strstr(name, "MallocManaged") || strstr(name, "MemPrefetch"))
			run->managed += calls[i];
		if (strstr(name, "LaunchHostFunc") || strstr(name, "StreamAddCallback"))
			run->host_functions += calls[i];
	}
}

void run_look_at_rows(struct run *run, const struct trace *t, uint32_t first_process)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < t->ops.n; i++) {
		int64_t start = t->ops.start[i], end = t->ops.end[i], early = op_launch_start(t, i) - start;
		bool node = t->ops.flags[i] & OPF_GRAPH_NODE;
		bool made = node && t->ops.creator && t->ops.creator[i] != TRACE_NONE;
		run->op_ns += end - start;
		run->unmade_ns += node && !made ? end - start : 0;
		run->made_nodes = run->made_nodes || made;
		first = start < first ? start : first;
		run->last_op = end > run->last_op ? end : run->last_op;
		run->migrates = run->migrates || t->ops.flags[i] & OPF_MANAGED;
		if (!(t->ops.flags[i] & OPF_MANAGED)) {
			run->first_explicit = start < run->first_explicit ? start : run->first_explicit;
			run->last_explicit = end > run->last_explicit ? end : run->last_explicit;
		}
		if (t->ops.launch[i] != TRACE_NONE && start < run->first_launched) {
			run->first_launched = start;
			run->launcher = first_process + op_process(t, i);
		}
		if (early <= CLOCK_TOLERANCE)
			continue;
		run->early_ops++;
		run->earliest = early > run->earliest ? early : run->earliest;
	}
	count_calls(run, t);
	run->first_op = first < run->first_op ? first : run->first_op;
	int64_t begin = find_begin(t, first);
	run->begin = begin < run->begin ? begin : run->begin;
	run->n_ops += t->ops.n;
	run->unlaunched += t->n_unlaunched;
	for (size_t i = 0; i < t->ranges.n; i++)
		run->clipped += t->ranges.clipped[i];
}

static void find_startup(struct run *run)
{
	run->startup_end = run->steps.found ? startup_end(run) : run->begin;
	run->startup = run->startup_end > run->begin ? run->startup_end - run->begin : 0;
}

void run_note_startup(struct run *run, const struct trace *t)
{
	int64_t half = run->first_op + (run->last_op - run->first_op) / 2, end = run->startup_end;
	if (run->steps.found || !run->n_ops)
		return;
	for (size_t i = 0; i < t->calls.n; i++)
		if (t->calls.class[i] == CALL_MODULE && t->calls.end[i] > end && t->calls.end[i] <= half)
			end = t->calls.end[i];
	for (size_t i = 0; i < t->overheads.n; i++)
		if (t->overheads.class[i] == OVERHEAD_MODULE_LOAD && t->overheads.end[i] > end &&
		    t->overheads.end[i] <= half)
			end = t->overheads.end[i];
	run->startup_end = end;
	run->startup = end - run->begin;
}

/* Gives every normalised range name a phase index. */
static void name_phases(struct run *run)
{
	run->phase_of_name = ARENA_NEW(run->arena, run->trace->names->n, uint32_t);
	run->phases = ARENA_NEW(run->arena, run->fold.n + 1, uint32_t);
	run->n_phases = 1; /* phase 0: none */
	for (size_t i = 0; i < run->fold.n_list; i++) {
		uint32_t name = run->fold.list[i];
		if (name && !run->phase_of_name[name]) {
			run->phase_of_name[name] = run->n_phases;
			run->phases[run->n_phases++] = name;
		}
	}
}

/* Nodes of graphs that no phase launched: a graph that is the whole step. Their phase is the one they were captured in,
 * which each replay asks for again. */
static void phase_nodes(struct run *run)
{
	enum { NOT_ASKED = 0 };
	const struct trace *t = run->trace;
	const struct activity *a = &run->activity;
	ARENA_LOCAL(scratch);
	uint32_t *known = ARENA_NEW(&scratch, t->calls.n, uint32_t); /* 1 + phase */
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t call = t->ops.creator[i];
		if (call == TRACE_NONE || run->op_phase[i])
			continue;
		if (known[call] == NOT_ASKED)
			known[call] =
				1 + run_phase(run, captured_phase(run->captured, a->fold, a->steps, a->no_phase, call));
		run->op_phase[i] = known[call] - 1;
	}
}

void run_phase_ops(struct run *run)
{
	const struct trace *t = run->trace;
	run->op_phase = ARENA_NEW(run->arena, t->ops.n, uint32_t);
	run->captured = captured_find(t, run->arena);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		if (launch != TRACE_NONE)
			run->op_phase[i] = run_phase(
				run, activity_phase(&run->activity, t->calls.thread[launch], t->calls.start[launch]));
	}
	if (run->captured)
		phase_nodes(run);
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
	run->first_op = run->first_explicit = run->first_launched = run->begin = INT64_MAX;
	run->last_op = run->last_explicit = INT64_MIN;
	run->launcher = TRACE_NONE;
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
		run->steps.name = run->loops.list[run->loop].name;
}

void run_find_phases(struct run *run, int warmup)
{
	find_window(run, warmup);
	find_host_window(run);
	find_startup(run);
	name_phases(run);
	parts_prepare(run);
}

int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err)
{
	run_open(run, trace, arena);
	run_begin(run);
	if (run_find_steps(run, step, err) < 0)
		return -1;
	run_name_steps(run);
	run_find_phases(run, warmup);
	return 0;
}

/* ---- devices ---- */

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

/* Whether a device works in the window; one beside those that make steps, for a hundredth of it. */
static bool has_work(const struct run *run, uint32_t device)
{
	enum { BESIDE = 100 };
	const struct trace *t = run->trace;
	const struct trace_device *d = &t->devices[device];
	int64_t least = run_is_beside(run, device) ? run->window / BESIDE : 0;
	for (uint32_t i = d->first_op; i < d->first_op + d->n_ops && least >= 0; i++)
		if (t->ops.start[i] < run->window_end && t->ops.end[i] > run->window_start)
			least -= t->ops.end[i] - t->ops.start[i];
	return least < 0;
}

bool run_times_requests(const struct run *run)
{
	return run->steps.request && run->n_periods && (run->requests || run->steps.overlap);
}

/* When each measured step starts, and how long it takes. */
static void group_steps(struct run *run)
{
	const struct steps *s = &run->steps;
	ARENA_LOCAL(scratch);
	int64_t *start = ARENA_NEW(&scratch, run->n_steps, int64_t), *ns = ARENA_NEW(&scratch, run->n_steps, int64_t);
	for (uint32_t i = 0; i < run->n_steps; i++) {
		uint32_t k = run->warmup + i;
		bool request = run_times_requests(run);
		ns[i] = request ? s->request[k] : run->period[k - 1];
		start[i] = request ? s->request_start[k] : s->end[k] - ns[i];
	}
	step_table_groups(&run->table, start, ns);
}

void run_begin_table(struct run *run)
{
	const int64_t *end = run->steps.found ? &run->steps.end[run->warmup] : &run->window_end;
	step_table_begin(&run->table, run->window_start, end, run->n_steps, run->n_phases, run->arena);
	if (run->steps.found && run->warmup)
		group_steps(run);
}

void run_charge_devices(struct run *run)
{
	const struct trace *t = run->trace;
	run->devices = ARENA_NEW(run->arena, t->n_devices, struct device_run);
	run->sharing = ARENA_NEW(run->arena, t->n_gpus, struct sharing);
	for (uint32_t gpu = 0; gpu < t->n_gpus; gpu++)
		sharing_build(t, gpu, run->arena, &run->sharing[gpu]);
	depends_find(run);
	run->places = places_begin(t, &run->steps, run->arena);
	for (uint32_t d = 0; d < t->n_devices; d++) {
		if (!has_work(run, d))
			continue;
		struct device_run *device = &run->devices[run->n_devices];
		device_sweep(run, d, device);
		device_charge(run, device);
		run->n_devices++;
	}
}

void run_end_charge(struct run *run)
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
