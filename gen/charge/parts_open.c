#include "charge/parts_open.h"

#include "charge/charge.h"
#include "charge/rank_steps.h"
#include "charge/work_phases.h"
#include "run/choose_steps.h"
#include "trace/again.h"

/* `part` may be the run, whose ops have their steps from ranges then. */
static void prepare(const struct run *run, uint32_t i, struct run *part)
{
	const struct run_part *of = &run->parts->list[i];
	if (run->steps.thread_at && part != run)
		steps_take_part(part->trace, &run->steps, of->first_process, of->first_thread, part->arena,
		                &part->steps);
	if (run->steps.by_op)
		part->steps.op_step = pattern_op_steps(&run->loops, i, part->trace->ops.n, part->arena);
	activity_init(&part->charge->activity, part->trace, &part->fold, &part->steps, part->arena);
	run_phase_ops(part);
}

void parts_prepare(struct run *run)
{
	if (run->parts->held)
		prepare(run, 0, run);
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
		part->charge = ARENA_NEW(arena, 1, struct charge);
		*part->charge = *run->charge;
		part->charge->devices = NULL;
		part->charge->n_devices = 0;
		part->charge->sharing = NULL;
		part->charge->table = (struct step_table){0};
		part->window.host = run->window.host + of->first_process;
		part->steps.op_step = NULL;
		prepare(run, i, part);
	}
	if (run->phases.by_work && !part->charge->activity.by_work)
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

/* TRACE_NONE is −1, and 0 without steps. */
static void note_comm_ops(struct run *run, struct run_part *of, const struct run *part)
{
	const struct trace_ops *ops = &part->trace->ops;
	BUF_LOCAL(bytes);
	int64_t before = 0;
	for (size_t op = 0; op < ops->n; op++) {
		if (ops->kind[op] != OP_COMM)
			continue;
		int64_t step = run->steps.found ? (int32_t)part->steps.op_step[op] : 0;
		number_put_signed(&bytes, step - before);
		number_put(&bytes, part->phases.of_op[op]);
		before = step;
	}
	of->comm = arena_keep(run->arena, bytes.data, bytes.n, 1);
	of->comm_bytes = bytes.n;
}

void parts_comm_next(struct parts_comm *at, const struct comm_kernel *k, uint32_t *step, uint32_t *phase)
{
	const struct run_parts *parts = at->run->parts;
	if (parts->held) {
		*step = at->run->steps.found ? at->run->steps.op_step[k->op] : 0;
		*phase = at->run->phases.of_op[k->op];
		return;
	}
	for (; at->bytes.at == at->bytes.end; at->next++) {
		at->bytes = number_open(parts->list[at->next].comm, parts->list[at->next].comm_bytes);
		at->step = 0;
	}
	at->step += number_take_signed(&at->bytes);
	*step = (uint32_t)at->step;
	*phase = (uint32_t)number_take(&at->bytes);
}

/* What stays of the devices of a part whose rows are forgotten. */
static void take_devices(struct run *run, uint32_t i, const struct run *part)
{
	if (!run->charge->devices)
		run->charge->devices = ARENA_NEW(run->arena, run->trace->n_devices, struct device_run);
	for (uint32_t d = 0; d < part->charge->n_devices; d++) {
		const struct device_run *from = &part->charge->devices[d];
		struct device_run *to = &run->charge->devices[run->charge->n_devices++];
		*to = *from;
		to->device += run->parts->list[i].first_device;
		to->cost = arena_keep(run->arena, from->cost, run->phases.n, sizeof *to->cost);
		to->gpu = arena_keep(run->arena, from->gpu, run->phases.n, sizeof *to->gpu);
		to->computes = arena_keep(run->arena, from->computes, run->phases.n, sizeof *to->computes);
		to->once = arena_keep(run->arena, from->once, from->n_once, sizeof *to->once);
		to->cells = (struct cells){.arena = run->arena, .n = from->cells.n, .room = from->cells.n};
		to->cells.cell = arena_keep(run->arena, from->cells.cell, from->cells.n, sizeof *to->cells.cell);
		to->places = place_sums_keep(&from->places, run->arena);
		to->gaps = NULL;
		to->n_gaps = 0;
	}
}

/* What ranks are compared by. */
static void note_steps(struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	if (run->steps.found)
		rank_steps_keep(run, part, d, out);
	beside_find(part->trace, part->charge->devices[d].device, run->arena, &out->beside);
}

void parts_charge(struct run *run, uint32_t i, struct run *part)
{
	uint32_t first = run->charge->n_devices;
	if (!run->charge->table.n)
		run_begin_table(run);
	part->charge->overview = run->charge->overview;
	part->charge->table = run->charge->table;
	run_charge_devices(part);
	run->charge->overview = part->charge->overview;
	run->charge->table = part->charge->table;
	run_note_startup(run, part->trace);
	if (part != run) {
		take_devices(run, i, part);
		note_comm_ops(run, &run->parts->list[i], part);
	}
	for (uint32_t d = 0; d < part->charge->n_devices && run->asked.ranked; d++)
		note_steps(run, part, d, &run->charge->devices[first + d]);
}

uint32_t parts_of_device(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	return parts_of_process(run, t->devices[run->charge->devices[device].device].process);
}
