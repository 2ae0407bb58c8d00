#include "charge/charge.h"

#include "charge/captured.h"
#include "charge/idle.h"
#include "charge/parts_open.h"
#include "run/choose_steps.h"

/* ---- start-up and phases ---- */

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

static void find_startup(struct run *run)
{
	run->charge->startup_end = run->steps.found ? startup_end(run) : run->extent.begin;
	run->charge->startup =
		run->charge->startup_end > run->extent.begin ? run->charge->startup_end - run->extent.begin : 0;
}

void run_note_startup(struct run *run, const struct trace *t)
{
	int64_t half = run->extent.first_op + (run->extent.last_op - run->extent.first_op) / 2,
		end = run->charge->startup_end;
	if (run->steps.found || !run->extent.n_ops)
		return;
	for (size_t i = 0; i < t->calls.n; i++)
		if (t->calls.class[i] == CALL_MODULE && t->calls.end[i] > end && t->calls.end[i] <= half)
			end = t->calls.end[i];
	for (size_t i = 0; i < t->overheads.n; i++)
		if (t->overheads.class[i] == OVERHEAD_MODULE_LOAD && t->overheads.end[i] > end &&
		    t->overheads.end[i] <= half)
			end = t->overheads.end[i];
	run->charge->startup_end = end;
	run->charge->startup = end - run->extent.begin;
}

/* Gives every normalised range name a phase index. */
static void name_phases(struct run *run)
{
	run->phases.of_name = ARENA_NEW(run->arena, run->trace->names->n, uint32_t);
	run->phases.names = ARENA_NEW(run->arena, run->fold.n + 1, uint32_t);
	run->phases.n = 1; /* phase 0: none */
	for (size_t i = 0; i < run->fold.n_list; i++) {
		uint32_t name = run->fold.list[i];
		if (name && !run->phases.of_name[name]) {
			run->phases.of_name[name] = run->phases.n;
			run->phases.names[run->phases.n++] = name;
		}
	}
}

/* Nodes of graphs that no phase launched: a graph that is the whole step. Their phase is the one they were captured in,
 * which each replay asks for again. */
static void phase_nodes(struct run *run)
{
	enum { NOT_ASKED = 0 };
	const struct trace *t = run->trace;
	const struct activity *a = &run->charge->activity;
	ARENA_LOCAL(scratch);
	uint32_t *known = ARENA_NEW(&scratch, t->calls.n, uint32_t); /* 1 + phase */
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t call = t->ops.creator[i];
		if (call == TRACE_NONE || run->phases.of_op[i])
			continue;
		if (known[call] == NOT_ASKED)
			known[call] = 1 + run_phase(run, captured_phase(run->phases.captured, a->fold, a->steps,
			                                                a->no_phase, call));
		run->phases.of_op[i] = known[call] - 1;
	}
}

void run_phase_ops(struct run *run)
{
	const struct trace *t = run->trace;
	run->phases.of_op = ARENA_NEW(run->arena, t->ops.n, uint32_t);
	run->phases.captured = captured_find(t, run->arena);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		if (launch != TRACE_NONE)
			run->phases.of_op[i] =
				run_phase(run, activity_phase(&run->charge->activity, t->calls.thread[launch],
			                                      t->calls.start[launch]));
	}
	if (run->phases.captured)
		phase_nodes(run);
}

void run_find_phases(struct run *run, int warmup)
{
	run->window = window_find(run, warmup);
	run->charge = ARENA_NEW(run->arena, 1, struct charge);
	find_startup(run);
	name_phases(run);
	parts_prepare(run);
}

int run_prepare(struct run *run, const struct trace *trace, const char *step, int warmup, struct arena *arena,
                struct err *err)
{
	if (run_choose(run, trace, step, arena, err) < 0)
		return -1;
	run_find_phases(run, warmup);
	return 0;
}

/* ---- devices ---- */

bool run_times_requests(const struct run *run)
{
	return run->steps.request && run->window.n_periods && (run->asked.requests || run->steps.overlap);
}

/* Whether a device works in the window; one beside those that make steps, for a hundredth of it. */
static bool has_work(const struct run *run, uint32_t device)
{
	enum { BESIDE = 100 };
	const struct trace *t = run->trace;
	const struct trace_device *d = &t->devices[device];
	int64_t least = run_is_beside(run, device) ? run->window.ns / BESIDE : 0;
	for (uint32_t i = d->first_op; i < d->first_op + d->n_ops && least >= 0; i++)
		if (t->ops.start[i] < run->window.end && t->ops.end[i] > run->window.start)
			least -= t->ops.end[i] - t->ops.start[i];
	return least < 0;
}

/* When each measured step starts, and how long it takes. */
static void group_steps(struct run *run)
{
	const struct steps *s = &run->steps;
	ARENA_LOCAL(scratch);
	int64_t *start = ARENA_NEW(&scratch, run->window.n_steps, int64_t),
		*ns = ARENA_NEW(&scratch, run->window.n_steps, int64_t);
	for (uint32_t i = 0; i < run->window.n_steps; i++) {
		uint32_t k = run->window.warmup + i;
		bool request = run_times_requests(run);
		ns[i] = request ? s->request[k] : run->window.period[k - 1];
		start[i] = request ? s->request_start[k] : s->end[k] - ns[i];
	}
	step_table_groups(&run->charge->table, start, ns);
}

void run_begin_table(struct run *run)
{
	const int64_t *end = run->steps.found ? &run->steps.end[run->window.warmup] : &run->window.end;
	step_table_begin(&run->charge->table, run->window.start, end, run->window.n_steps, run->phases.n, run->arena);
	if (run->steps.found && run->window.warmup)
		group_steps(run);
}

void run_charge_devices(struct run *run)
{
	const struct trace *t = run->trace;
	run->charge->devices = ARENA_NEW(run->arena, t->n_devices, struct device_run);
	run->charge->sharing = ARENA_NEW(run->arena, t->n_gpus, struct sharing);
	for (uint32_t gpu = 0; gpu < t->n_gpus; gpu++)
		sharing_build(t, gpu, run->arena, &run->charge->sharing[gpu]);
	depends_find(run);
	run->charge->places = places_begin(t, &run->steps, run->arena);
	for (uint32_t d = 0; d < t->n_devices; d++) {
		if (!has_work(run, d))
			continue;
		struct device_run *device = &run->charge->devices[run->charge->n_devices];
		device_sweep(run, d, device);
		device_charge(run, device);
		run->charge->n_devices++;
	}
}

void run_end_charge(struct run *run)
{
	struct overview *o = &run->charge->overview;
	o->length = run->extent.last_op - run->extent.first_op;
	o->window_start = run->window.start - run->extent.first_op;
	o->window_end = run->window.end - run->extent.first_op;
	for (int i = 0; i < OVERVIEW_BINS; i++) {
		float n = run->charge->n_devices ? (float)run->charge->n_devices : 1;
		o->compute[i] /= n;
		o->comm[i] /= n;
		o->copy[i] /= n;
		o->idle[i] = 1 - o->compute[i] - o->comm[i] - o->copy[i];
	}
}

struct exchange_place run_place(const struct run *run, struct arena *arena)
{
	const struct trace *t = run->trace;
	uint64_t *gpu = ARENA_NEW(arena, run->charge->n_devices, uint64_t);
	struct exchange_place place = {.host = trace_host_is_contained(t->source.host) ? 0 : t->source.host,
	                               .gpu = gpu};
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		uint64_t id = run_gpu(run, d) != TRACE_NONE ? t->gpus[run_gpu(run, d)].id : 0;
		bool of_container = id & TRACE_GPU_BY_PLACE && !place.host;
		if (id && !of_container)
			gpu[place.n_gpus++] = id;
	}
	return place;
}
