#include "analyse/run/parts.h"

#include "analyse/run/pattern_steps.h"
#include "analyse/run/rank_steps.h"
#include "base/search.h"
#include "trace/again.h"

#include <string.h>

/* ---- which parts there are ---- */

static uint32_t end_of_devices(const struct trace *t, uint32_t file)
{
	return file + 1 < t->n_again ? t->again[file + 1].first_device : t->n_devices;
}

/* Files that share a GPU are one part, with those between them; hardware counters are looked at beside all rows. */
static uint32_t last_of_part(const struct trace *t, uint32_t first, const uint32_t *last_user)
{
	uint32_t last = t->n_metrics ? t->n_again - 1 : first;
	for (uint32_t i = first; i <= last; i++)
		for (uint32_t d = t->again[i].first_device; d < end_of_devices(t, i); d++)
			if (t->devices[d].gpu != TRACE_NONE && last_user[t->devices[d].gpu] > last)
				last = last_user[t->devices[d].gpu];
	return last;
}

static void find_parts(struct run_parts *parts, const struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	uint32_t *last_user = ARENA_NEW(&scratch, t->n_gpus, uint32_t);
	parts->list = ARENA_NEW(arena, (size_t)t->n_again + 1, struct run_part);
	for (uint32_t i = 0; i < t->n_again; i++)
		for (uint32_t d = t->again[i].first_device; d < end_of_devices(t, i); d++)
			if (t->devices[d].gpu != TRACE_NONE)
				last_user[t->devices[d].gpu] = i;
	for (uint32_t i = 0, last; i < t->n_again; i = last + 1) {
		const struct trace_again *first = &t->again[i];
		last = last_of_part(t, i, last_user);
		parts->list[parts->n++] = (struct run_part){.first = i,
		                                            .n = last + 1 - i,
		                                            .first_process = first->first_process,
		                                            .first_thread = first->first_thread,
		                                            .first_device = first->first_device};
	}
	parts->n = parts->n ? parts->n : 1;
	parts->held = parts->n == 1;
}

void parts_begin(struct run *run, const struct trace *trace, struct arena *arena)
{
	struct run_parts *parts = ARENA_NEW(arena, 1, struct run_parts);
	*run = (struct run){.trace = trace, .arena = arena, .parts = parts};
	find_parts(parts, trace, arena);
	if (parts->held && trace->again) {
		struct trace *whole = ARENA_NEW(arena, 1, struct trace);
		again_load(trace, 0, trace->n_again, AGAIN_ALL, arena, whole);
		run->trace = whole;
	}
	parts->kinds = ARENA_NEW(arena, parts->n, struct work_kinds);
}

/* ---- one part ---- */

const struct trace *parts_rows(const struct run *run, uint32_t i, unsigned rows, struct arena *arena)
{
	const struct run_part *part = &run->parts->list[i];
	if (run->parts->held)
		return run->trace;
	struct trace *trace = ARENA_NEW(arena, 1, struct trace);
	again_load(run->trace, part->first, part->n, rows, arena, trace);
	return trace;
}

/* `part` may be the run, whose ops have their steps from ranges then. */
static void prepare(const struct run *run, uint32_t i, struct run *part)
{
	const struct run_part *of = &run->parts->list[i];
	if (run->steps.thread_at && part != run)
		steps_take_part(part->trace, &run->steps, of->first_process, of->first_thread, part->arena,
		                &part->steps);
	if (run->steps.by_op)
		part->steps.op_step = pattern_op_steps(&run->loops, i, part->trace->ops.n, part->arena);
	activity_init(&part->activity, part->trace, &part->fold, &part->steps, part->arena);
	run_phase_ops(part);
}

void parts_prepare(struct run *run)
{
	if (run->parts->held) {
		prepare(run, 0, run);
		return;
	}
	/* of the communication kernels, the parts fill them */
	size_t n = comm_kernels_count(run->trace);
	run->op_phase = ARENA_NEW(run->arena, n, uint32_t);
	run->steps.op_step = run->steps.found ? ARENA_NEW(run->arena, n, uint32_t) : NULL;
}

struct run *parts_open(const struct run *run, uint32_t i, struct arena *arena)
{
	const struct run_part *of = &run->parts->list[i];
	struct run *part = (struct run *)run;
	if (!run->parts->held) {
		part = ARENA_NEW(arena, 1, struct run);
		*part = *run;
		part->trace = parts_rows(run, i, AGAIN_ALL, arena);
		part->arena = arena;
		part->devices = NULL;
		part->n_devices = 0;
		part->sharing = NULL;
		part->table = (struct step_table){0};
		part->host = run->host + of->first_process;
		part->steps.op_step = NULL;
		prepare(run, i, part);
	}
	if (run->by_work && !part->activity.by_work)
		work_phases_of_part(part);
	return part;
}

struct run *parts_open_charged(const struct run *run, uint32_t i, struct arena *arena)
{
	struct run *part = parts_open(run, i, arena);
	if (part != run)
		run_charge_devices(part);
	return part;
}

/* ---- charge ---- */

/* Steps and phases of the part's communication kernels, which the run holds in the same order. */
static void note_comm_ops(struct run *run, uint32_t i, const struct run *part)
{
	const struct trace_ops *ops = &part->trace->ops;
	uint32_t to = run->trace->again[run->parts->list[i].first].comm.first;
	for (size_t op = 0; op < ops->n; op++) {
		if (ops->kind[op] != OP_COMM)
			continue;
		if (run->steps.op_step)
			run->steps.op_step[to] = part->steps.op_step[op];
		run->op_phase[to++] = part->op_phase[op];
	}
}

/* What stays of the devices of a part whose rows are forgotten. */
static void take_devices(struct run *run, uint32_t i, const struct run *part)
{
	if (!run->devices)
		run->devices = ARENA_NEW(run->arena, run->trace->n_devices, struct device_run);
	for (uint32_t d = 0; d < part->n_devices; d++) {
		const struct device_run *from = &part->devices[d];
		struct device_run *to = &run->devices[run->n_devices++];
		*to = *from;
		to->device += run->parts->list[i].first_device;
		to->cost = arena_keep(run->arena, from->cost, run->n_phases, sizeof *to->cost);
		to->gpu = arena_keep(run->arena, from->gpu, run->n_phases, sizeof *to->gpu);
		to->computes = arena_keep(run->arena, from->computes, run->n_phases, sizeof *to->computes);
		to->once = arena_keep(run->arena, from->once, from->n_once, sizeof *to->once);
		to->cells = (struct cells){.arena = run->arena, .n = from->cells.n, .room = from->cells.n};
		to->cells.cell = arena_keep(run->arena, from->cells.cell, from->cells.n, sizeof *to->cells.cell);
		to->places = place_sums_keep(&from->places, run->arena);
		to->gaps = NULL;
		to->n_gaps = 0;
	}
}

/* What each measured step of a device consists of. */
static void divide_steps(const struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	ARENA_LOCAL(scratch);
	double *ns[RANK_PARTS] = {NULL};
	for (int p = 0; p < RANK_PARTS; p++)
		if (p != RANK_WAITING && p != RANK_IDLE)
			ns[p] = ARENA_NEW(&scratch, run->n_steps, double);
	rank_steps_divide(part, d, out->step_end, ns);
	for (int p = 0; p < RANK_PARTS; p++) {
		bool some = false;
		for (uint32_t k = 0; ns[p] && k < run->n_steps; k++)
			some = some || ns[p][k] > 0;
		if (some)
			out->step_part[p] = arena_keep(run->arena, ns[p], run->n_steps, sizeof *ns[p]);
	}
}

/* What ranks are compared by. */
static void note_steps(struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	out->step_end = ARENA_TAKE(run->arena, run->steps.n, int64_t);
	if (run->steps.found) {
		rank_steps_ends(part, d, out->step_end);
		divide_steps(run, part, d, out);
	}
	beside_find(part->trace, part->devices[d].device, run->arena, &out->beside);
}

void parts_charge(struct run *run, uint32_t i, struct run *part)
{
	uint32_t first = run->n_devices;
	if (!run->table.n)
		run_begin_table(run);
	part->overview = run->overview;
	part->table = run->table;
	run_charge_devices(part);
	run->overview = part->overview;
	run->table = part->table;
	run_note_startup(run, part->trace);
	if (part != run) {
		take_devices(run, i, part);
		note_comm_ops(run, i, part);
	}
	for (uint32_t d = 0; d < part->n_devices && run->ranked; d++)
		note_steps(run, part, d, &run->devices[first + d]);
}

uint32_t parts_of_process(const struct run *run, uint32_t process)
{
	const struct run_parts *parts = run->parts;
	uint32_t i = 0;
	SEARCH(i, parts->n, parts->list[i].first_process <= process);
	return i - 1;
}

uint32_t parts_of_device(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	return parts_of_process(run, t->devices[run->devices[device].device].process);
}
