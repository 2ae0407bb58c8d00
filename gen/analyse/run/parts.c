#include "analyse/run/parts.h"

#include "analyse/run/choose_steps.h"
#include "analyse/run/rank_steps.h"
#include "base/search.h"
#include "trace/again.h"

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
		number_put(&bytes, part->op_phase[op]);
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
		*phase = at->run->op_phase[k->op];
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

/* What ranks are compared by. */
static void note_steps(struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	if (run->steps.found)
		rank_steps_keep(run, part, d, out);
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
		note_comm_ops(run, &run->parts->list[i], part);
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
