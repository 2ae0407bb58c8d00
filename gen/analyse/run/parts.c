#include "analyse/run/parts.h"

#include "analyse/run/pattern_steps.h"
#include "analyse/run/rank_steps.h"
#include "base/search.h"
#include "trace/again.h"

#include <string.h>

enum {
	RANGES = 1u << ROWS_OF_RANGES,
	STEPS = RANGES | 1u << ROWS_OF_OPS | 1u << ROWS_OF_CALLS | 1u << ROWS_OF_OS_CALLS,
};

bool parts_possible(const struct trace *t)
{
	struct arena scratch = {0};
	uint32_t *user = ARENA_NEW(&scratch, t->n_gpus, uint32_t); /* 1 + the part that uses it */
	bool possible = t->n_again > 1 && !t->n_metrics;
	for (uint32_t i = 0; i < t->n_again; i++) {
		uint32_t end = i + 1 < t->n_again ? t->again[i + 1].first_device : t->n_devices;
		for (uint32_t d = t->again[i].first_device; d < end; d++) {
			uint32_t gpu = t->devices[d].gpu;
			if (gpu == TRACE_NONE)
				continue;
			possible = possible && (!user[gpu] || user[gpu] == i + 1);
			user[gpu] = i + 1;
		}
	}
	arena_release(&scratch);
	return possible;
}

void parts_count_names(struct run *run, const struct trace *trace, struct arena *arena)
{
	*run = (struct run){.trace = trace, .arena = arena, .parts = ARENA_NEW(arena, 1, struct run_parts)};
	bool *seen = ARENA_NEW(arena, trace->names->n, bool);
	run->parts->ranges = ARENA_NEW(arena, trace->names->n, uint32_t);
	for (uint32_t i = 0; i < trace->n_again; i++) {
		struct arena scratch = {0};
		struct trace part;
		again_load(trace, i, RANGES, &scratch, &part);
		fold_count(&part, trace->again[i].first_thread, arena, &run->parts->names);
		for (size_t k = 0; k < part.ranges.n; k++)
			if (!seen[part.ranges.name[k]]) {
				seen[part.ranges.name[k]] = true;
				run->parts->ranges[run->parts->n_ranges++] = part.ranges.name[k];
			}
		arena_release(&scratch);
	}
}

void parts_begin(struct run *run)
{
	fold_decide(&run->parts->names, run->trace->names, 0, run->arena, &run->fold);
}

/* ---- steps ---- */

static bool is_one_name(const struct marks_candidate *a, const struct marks_candidate *b)
{
	return a && b && a->name == b->name && a->domain == b->domain;
}

/* The instances of all processes of a part that have the range `like`; NULL: of none. */
static struct step_marks marks_like(const struct marks_part *part, const struct marks_candidate *like,
                                    struct arena *arena)
{
	struct step_marks marks = {.origin = STEPS_BY_RANGE};
	for (size_t i = 0; i < part->n; i++)
		marks.n += is_one_name(&part->list[i], like) ? part->list[i].n : 0;
	marks.instance = ARENA_NEW(arena, marks.n, struct instance);
	size_t at = 0;
	for (size_t i = 0; i < part->n; i++) {
		const struct marks_candidate *c = &part->list[i];
		if (!is_one_name(c, like))
			continue;
		marks.name = c->name;
		marks.domain = c->domain;
		marks.written = c->written; /* the last one's */
		for (uint32_t k = 0; k < c->n; k++)
			marks.instance[at++] = c->instance[k];
	}
	return marks;
}

static void add_extent(struct run *run, const struct run *part)
{
	run->first_op = part->first_op < run->first_op ? part->first_op : run->first_op;
	run->last_op = part->last_op > run->last_op ? part->last_op : run->last_op;
	run->begin = part->begin < run->begin ? part->begin : run->begin;
	run->early_ops += part->early_ops;
	run->earliest = part->earliest > run->earliest ? part->earliest : run->earliest;
	run->parts->n_ops += part->trace->ops.n;
}

static void load_for_steps(const struct run *run, uint32_t i, struct arena *arena, struct trace *trace)
{
	again_load(run->trace, i, STEPS, arena, trace);
}

/* What repeats in a part, and which kinds of ops it has. */
static void look_for_loops(struct run *run, uint32_t i, const struct trace *part, bool shortest, struct arena *arena,
                           struct pattern_look *look)
{
	pattern_run_look(part, shortest, arena, look);
	if (!run->parts->kinds)
		run->parts->kinds = ARENA_NEW(run->arena, run->trace->n_again, struct work_kinds);
	if (!run->parts->kinds[i].n)
		run->parts->kinds[i] = work_kinds_of(part, run->arena);
}

/* What a part says when it is asked first. */
struct asked {
	struct marks_part marks;
	const struct marks_candidate *taken; /* the range that it would choose itself; NULL: none */
	bool looked;                         /* for loops: where it has no such range */
	struct pattern_look look;
};

static void ask_part(struct run *run, uint32_t i, struct arena *arena, struct asked *asked)
{
	struct arena scratch = {0};
	struct trace trace;
	struct run part = {.trace = &trace, .arena = &scratch};
	load_for_steps(run, i, &scratch, &trace);
	run_look_at_rows(&part);
	add_extent(run, &part);
	marks_of_part(&trace, &run->fold, arena, &asked->marks);
	asked->taken = marks_choose(&asked->marks, 1, false, trace.names);
	if (asked->taken) {
		const struct step_marks proposed = marks_like(&asked->marks, asked->taken, &scratch);
		steps_of_part(&trace, &proposed, run->arena, &run->parts->steps[i]);
	} else {
		look_for_loops(run, i, &trace, false, arena, &asked->look);
		asked->looked = true;
	}
	arena_release(&scratch);
}

/* What a part says of a range that others chose. */
static void ask_part_of(struct run *run, uint32_t i, const struct marks_candidate *like, struct marks_part *marks)
{
	struct arena scratch = {0};
	struct trace trace;
	load_for_steps(run, i, &scratch, &trace);
	const struct step_marks proposed = marks_like(marks, like, &scratch);
	steps_of_part(&trace, &proposed, run->arena, &run->parts->steps[i]);
	arena_release(&scratch);
}

static void join_ranges(struct run *run, const struct marks_candidate *winner, struct asked *asked)
{
	const struct trace *t = run->trace;
	struct step_marks like = {.origin = STEPS_BY_RANGE, .name = winner->name, .domain = winner->domain};
	for (uint32_t i = 0; i < t->n_again; i++) {
		struct marks_part *marks = &asked[i].marks;
		if (!is_one_name(asked[i].taken, winner))
			ask_part_of(run, i, winner, marks);
		for (size_t k = 0; k < marks->n; k++)
			if (is_one_name(&marks->list[k], winner))
				like.written = marks->list[k].written; /* the last one's, as in the whole run */
	}
	steps_join(t, &like, run->parts->steps, t->n_again, run->arena, &run->steps);
}

/* The loops of all parts together, looked for in those that have not been asked yet. */
static void join_loops(struct run *run, bool shortest, struct asked *asked, struct arena *arena, struct run_loops *out)
{
	const struct trace *t = run->trace;
	struct pattern_look *looks = ARENA_NEW(arena, t->n_again, struct pattern_look);
	for (uint32_t i = 0; i < t->n_again; i++) {
		if (!asked[i].looked) {
			struct arena scratch = {0};
			struct trace trace;
			load_for_steps(run, i, &scratch, &trace);
			look_for_loops(run, i, &trace, shortest, arena, &asked[i].look);
			arena_release(&scratch);
		}
		looks[i] = asked[i].look;
	}
	pattern_run_join(t, looks, t->n_again, run->arena, out);
}

void parts_find_loops(struct run *run, bool shortest, struct run_loops *out)
{
	struct arena scratch = {0};
	struct asked *asked = ARENA_NEW(&scratch, run->trace->n_again, struct asked);
	join_loops(run, shortest, asked, &scratch, out);
	arena_release(&scratch);
}

bool parts_find_steps(struct run *run)
{
	const struct trace *t = run->trace;
	struct arena scratch = {0};
	struct asked *asked = ARENA_NEW(&scratch, t->n_again, struct asked);
	struct marks_part *marks = ARENA_NEW(&scratch, t->n_again, struct marks_part);
	run->first_op = run->begin = INT64_MAX;
	run->last_op = INT64_MIN;
	run->steps = (struct steps){.n_ranks = 1};
	run->parts->steps = ARENA_NEW(run->arena, t->n_again, struct steps_part);
	for (uint32_t i = 0; i < t->n_again; i++) {
		ask_part(run, i, &scratch, &asked[i]);
		marks[i] = asked[i].marks;
	}
	const struct marks_candidate *winner = marks_choose(marks, t->n_again, true, t->names);
	bool told = true;
	if (winner) {
		join_ranges(run, winner, asked);
		told = run->steps.found;
	} else {
		join_loops(run, false, asked, &scratch, &run->loops);
		if (run->loops.n)
			pattern_steps(run, 0);
	}
	arena_release(&scratch);
	return told;
}

/* A process without instances has the first one's window that has some. */
static void settle_host_window(struct run *run)
{
	const struct trace *t = run->trace;
	int64_t *start = ARENA_NEW(run->arena, t->n_processes, int64_t);
	int64_t *end = ARENA_NEW(run->arena, t->n_processes, int64_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		run_host_window(run, p, &start[p], &end[p]);
	run->host_start = start;
	run->host_end = end;
}

void parts_find_phases(struct run *run, int warmup)
{
	run_find_window(run, warmup);
	settle_host_window(run);
	run->phase_of_name = ARENA_NEW(run->arena, run->trace->names->n, uint32_t);
	run->phases = ARENA_NEW(run->arena, run->fold.n + 1, uint32_t);
	run->n_phases = 1; /* phase 0: none */
	for (uint32_t i = 0; i < run->parts->n_ranges; i++) {
		uint32_t name = run->fold.of[run->parts->ranges[i]];
		if (!name || run->phase_of_name[name])
			continue;
		run->phase_of_name[name] = run->n_phases;
		run->phases[run->n_phases++] = name;
	}
	/* of the communication kernels, the parts fill them */
	run->steps.op_step = ARENA_NEW(run->arena, run->trace->ops.n, uint32_t);
	run->op_phase = ARENA_NEW(run->arena, run->trace->ops.n, uint32_t);
}

/* ---- one part ---- */

/* The run's steps, whose instances were given by their ops, as a part sees them: its own threads, its own ops. */
static void take_loop(const struct run *run, uint32_t i, const struct trace *trace, struct arena *arena,
                      struct steps *out)
{
	const struct trace_again *part = &run->trace->again[i];
	*out = run->steps;
	out->threads = ARENA_NEW(arena, run->steps.n_threads, struct step_thread);
	out->n_threads = 0;
	out->thread_at = ARENA_NEW(arena, trace->n_threads, uint32_t);
	out->first_of = ARENA_NEW(arena, trace->n_processes, uint32_t);
	for (uint32_t k = 0; k < run->steps.n_threads; k++) {
		struct step_thread of = run->steps.threads[k];
		if (of.process < part->first_process || of.process - part->first_process >= trace->n_processes)
			continue;
		of.process -= part->first_process;
		of.thread -= part->first_thread;
		out->threads[out->n_threads++] = of;
		out->thread_at[of.thread] = out->n_threads;
		if (!out->first_of[of.process])
			out->first_of[of.process] = out->n_threads;
	}
	out->op_step = pattern_op_steps(&run->loops, i, trace->ops.n, arena);
}

struct run *parts_open(const struct run *run, uint32_t i, struct arena *arena)
{
	const struct trace_again *of = &run->trace->again[i];
	struct trace *trace = ARENA_NEW(arena, 1, struct trace);
	struct run *part = ARENA_NEW(arena, 1, struct run);
	again_load(run->trace, i, AGAIN_ALL, arena, trace);
	*part = *run;
	part->trace = trace;
	part->arena = arena;
	part->parts = NULL;
	part->devices = NULL;
	part->n_devices = 0;
	part->sharing = NULL;
	part->table = (struct step_table){0};
	part->host_start = run->host_start + of->first_process;
	part->host_end = run->host_end + of->first_process;
	if (run->steps.by_op)
		take_loop(run, i, trace, arena, &part->steps);
	else
		steps_take_part(trace, &run->steps, &run->parts->steps[i], arena, &part->steps);
	activity_init(&part->activity, trace, &part->fold, &part->steps, arena);
	run_phase_ops(part);
	if (run->by_work)
		work_phases_of_part(part);
	return part;
}

/* Steps and phases of the part's communication kernels, which the run holds in the same order. */
static void note_comm_ops(struct run *run, uint32_t i, const struct run *part)
{
	const struct trace *whole = run->trace, *t = part->trace;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		uint32_t to = whole->devices[whole->again[i].first_device + d].first_op;
		for (uint32_t op = t->devices[d].first_op; op < t->devices[d].first_op + t->devices[d].n_ops; op++) {
			if (t->ops.kind[op] != OP_COMM)
				continue;
			run->steps.op_step[to] = part->steps.op_step[op];
			run->op_phase[to++] = part->op_phase[op];
		}
	}
}

static void note_steps(struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	out->step_end = ARENA_NEW(run->arena, run->steps.n, int64_t);
	for (int p = 0; p < RANK_PARTS; p++)
		out->step_part[p] = ARENA_NEW(run->arena, run->n_steps, double);
	rank_steps_ends(part, d, out->step_end);
	rank_steps_divide(part, d, out->step_end, out->step_part);
}

static void *keep(struct arena *arena, const void *list, size_t n, size_t size)
{
	void *copy = arena_alloc(arena, n, size);
	memcpy(copy, list, n * size);
	return copy;
}

void parts_charge(struct run *run, uint32_t i, struct run *part)
{
	if (!run->table.n)
		run_begin_table(run);
	part->overview = run->overview;
	part->table = run->table;
	run_charge_devices(part);
	run->overview = part->overview;
	run->table = part->table;
	note_comm_ops(run, i, part);
	if (!run->devices)
		run->devices = ARENA_NEW(run->arena, run->trace->n_devices, struct device_run);
	for (uint32_t d = 0; d < part->n_devices; d++) {
		const struct device_run *from = &part->devices[d];
		struct device_run *to = &run->devices[run->n_devices++];
		*to = *from;
		to->device += run->trace->again[i].first_device;
		to->cost = keep(run->arena, from->cost, run->n_phases, sizeof *to->cost);
		to->gpu = keep(run->arena, from->gpu, run->n_phases, sizeof *to->gpu);
		to->computes = keep(run->arena, from->computes, run->n_phases, sizeof *to->computes);
		to->once = keep(run->arena, from->once, from->n_once, sizeof *to->once);
		to->cells = (struct cells){.arena = run->arena, .n = from->cells.n, .room = from->cells.n};
		to->cells.cell = keep(run->arena, from->cells.cell, from->cells.n, sizeof *to->cells.cell);
		to->gaps = NULL;
		to->n_gaps = 0;
		note_steps(run, part, d, to);
		beside_find(part->trace, from->device, run->arena, &to->beside);
	}
}

bool parts_have_devices(const struct run *run)
{
	return !run->parts || run->n_devices >= run->trace->n_again;
}

uint32_t parts_of_process(const struct run *run, uint32_t process)
{
	const struct trace *t = run->trace;
	uint32_t i = 0;
	SEARCH(i, t->n_again, t->again[i].first_process <= process);
	return i - 1;
}

uint32_t parts_of_device(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	return parts_of_process(run, t->devices[run->devices[device].device].process);
}
