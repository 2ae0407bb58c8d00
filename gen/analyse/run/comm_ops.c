#include "analyse/run/comm_ops.h"

#include "analyse/run/collectives.h"
#include "analyse/run/parts.h"
#include "base/keymap.h"
#include "base/list.h"
#include "base/sort.h"
#include "trace/classify.h"
#include "trace/comm_calls.h"
#include "trace/comm_kernels.h"

#include <string.h>

struct list {
	struct collective_op *op;
	size_t n, room;
};

struct view {
	const struct run *run;
	struct arena *arena, *ops, scratch;
	struct comm_calls calls;
	struct keymap keys; /* of rows */
	size_t rows_room;
	struct list of[COMM_OTHER + 1];
	struct transfer *transfers;
	size_t n_transfers, transfers_room;
	uint8_t *synchronises; /* by name: 0 not looked at, 1 no, 2 yes */
	uint32_t *only_device; /* by process: its device of the run; TRACE_NONE: it has none or several */
	int64_t *from, *to; /* by process: from the first to the last step that all ranks recorded, on the host; NULL:
	                     * they were recorded together */
	struct comm_ops *out;
};

/* ---- what a kernel is ---- */

static uint32_t row_of(struct view *v, uint64_t key, const struct comm_row *row)
{
	uint32_t i = keymap_add(&v->keys, key);
	if (i == v->out->n_rows)
		LIST_ADD(v->arena, v->out->rows, v->out->n_rows, v->rows_room, *row);
	return i;
}

static uint64_t key_of(int64_t comm, uint32_t name)
{
	return (uint64_t)comm ^ (uint64_t)name * 0x9E3779B97F4A7C15u;
}

static const char *text_of(const struct view *v, uint32_t name)
{
	return names_text(v->run->trace->names, name);
}

/* The device of the run that a rank of a communicator uses; TRACE_NONE: not known. */
static uint32_t device_at(const struct view *v, int64_t comm, uint32_t rank)
{
	uint32_t process = comm_calls_process(&v->calls, comm, rank);
	return process == TRACE_NONE ? TRACE_NONE : v->only_device[process];
}

/* Notes the transfers of a kernel that has nothing but sends and receives of known partners. */
static bool note_transfers(struct view *v, const struct comm_op *of, uint32_t device)
{
	const struct trace_comm_calls *c = &v->run->trace->comm_calls;
	size_t before = v->n_transfers;
	for (uint32_t i = 0; i < of->n; i++) {
		uint32_t call = v->calls.calls[of->first + i];
		const char *name = text_of(v, c->name[call]);
		bool send = strcmp(name, "ncclSend") == 0;
		uint32_t peer = c->peer[call] == TRACE_NONE ? TRACE_NONE : device_at(v, c->comm[call], c->peer[call]);
		if ((!send && strcmp(name, "ncclRecv") != 0) || peer == TRACE_NONE) {
			v->n_transfers = before;
			return false;
		}
		LIST_ADD(&v->scratch, v->transfers, v->n_transfers, v->transfers_room,
		         (struct transfer){.comm = c->comm[call],
		                           .from = send ? device : peer,
		                           .to = send ? peer : device,
		                           .send = send,
		                           .op = (uint32_t)v->of[COMM_POINT].n,
		                           .place = i});
	}
	return true;
}

/* Without NCCL's calls, a kernel of sends and receives: of two ranks it is clear who the partner is, and the k-th
 * kernel of one is the k-th of the other. Which of them sends is not known: the second one counts as receiving. */
static bool note_partner(struct view *v, const char *name, uint32_t device)
{
	if (v->run->n_devices != 2 || !strcasestr(name, "SendRecv"))
		return false;
	LIST_ADD(&v->scratch, v->transfers, v->n_transfers, v->transfers_room,
	         (struct transfer){.from = 0, .to = 1, .send = !device, .op = (uint32_t)v->of[COMM_POINT].n});
	return true;
}

/* Whether the transfers from `first` on, of one kernel, are all-to-all: with every other rank of the communicator, both
 * ways. Of three ranks the middle one of a pipeline does that, too. */
static bool is_all_to_all(const struct view *v, size_t first, uint32_t device, uint32_t process)
{
	enum { LEAST_RANKS = 4 };
	const struct transfer *t = v->transfers;
	const struct comm_member *m =
		v->n_transfers > first ? comm_calls_member(&v->calls, t[first].comm, process) : NULL;
	uint32_t met[2] = {0};
	if (!m || m->ranks == TRACE_NONE || m->ranks < LEAST_RANKS)
		return false;
	for (size_t i = first; i < v->n_transfers; i++) {
		bool again = t[i].from == t[i].to;
		for (size_t k = first; k < i && !again; k++)
			again = t[k].from == t[i].from && t[k].to == t[i].to;
		met[t[i].from == device] += !again;
	}
	return met[0] + 1 >= m->ranks && met[1] + 1 >= m->ranks;
}

/* All calls of a kernel are of one operation. */
static bool is_one_operation(const struct view *v, const struct comm_op *of)
{
	const struct trace_comm_calls *c = &v->run->trace->comm_calls;
	for (uint32_t i = 1; i < of->n; i++)
		if (c->name[v->calls.calls[of->first + i]] != c->name[v->calls.calls[of->first]])
			return false;
	return true;
}

/* A broadcast or reduce with a known root. */
static bool note_root(const struct view *v, const struct comm_op *of, struct collective_op *op)
{
	const struct trace_comm_calls *c = &v->run->trace->comm_calls;
	uint32_t call = of ? v->calls.calls[of->first] : 0;
	if (!of || of->n != 1 || c->peer[call] == TRACE_NONE)
		return false;
	const char *name = text_of(v, c->name[call]);
	bool reduces = strcmp(name, "ncclReduce") == 0;
	if (!reduces && strcmp(name, "ncclBroadcast") != 0 && strcmp(name, "ncclBcast") != 0)
		return false;
	op->bound = reduces ? BOUND_OF_ROOT : BOUND_BY_ROOT;
	op->root = device_at(v, c->comm[call], c->peer[call]);
	return op->root != TRACE_NONE;
}

static bool synchronises(const struct view *v, uint32_t name)
{
	uint8_t *known = &v->synchronises[name];
	*known = *known ? *known : classify_synchronising(text_of(v, name)) ? 2 : 1;
	return *known == 2;
}

/* Whether others recorded nothing that the op could be matched with, or it is of a rank of which nobody marked the
 * steps: which of the others' it would be is not known then, and with each other such ranks would look as if they never
 * waited. */
static bool is_alone(const struct view *v, const struct collective_op *op, uint32_t process)
{
	const struct steps *s = &v->run->steps;
	if (s->unaligned || (s->found && !steps_of_process(s, process)))
		return true;
	return v->from && op->step == TRACE_NONE && (op->launched < v->from[process] || op->launched >= v->to[process]);
}

static void add_op(struct view *v, const struct comm_kernel *k, uint32_t device, uint32_t step, uint32_t phase)
{
	const struct trace *t = v->run->trace;
	const struct trace_comm_calls *c = &t->comm_calls;
	const uint32_t process = t->devices[k->device].process;
	struct collective_op op = {.start = k->start,
	                           .end = k->end,
	                           .launched = k->launched,
	                           .rank = device,
	                           .step = step,
	                           .phase = phase,
	                           .stream = k->stream,
	                           .arrived = k->start,
	                           .bytes = -1,
	                           .partner = UINT32_MAX};
	struct comm_row row = {.name = k->name};
	const struct comm_op *of = comm_calls_of(&v->calls, k->op);
	if (of && is_one_operation(v, of)) {
		row.name = c->name[v->calls.calls[of->first]];
		row.comm = c->comm[v->calls.calls[of->first]];
		const struct comm_member *m = comm_calls_member(&v->calls, row.comm, process);
		row.ranks = m && m->ranks != TRACE_NONE ? m->ranks : 0;
	}
	op.bytes = of ? 0 : -1;
	for (uint32_t i = 0; of && i < of->n; i++)
		op.bytes += c->bytes[v->calls.calls[of->first + i]];
	bool alone = is_alone(v, &op, process);
	size_t before = v->n_transfers;
	bool point = !alone && (of ? note_transfers(v, of, device) : note_partner(v, text_of(v, row.name), device));
	row.kind = point ? COMM_POINT : note_root(v, of, &op) || synchronises(v, row.name) ? COMM_TOGETHER : COMM_OTHER;
	op.point = row.kind == COMM_POINT && !is_all_to_all(v, before, device, process);
	op.key = row_of(v, key_of(row.comm, row.name), &row);
	struct list *list = &v->of[alone ? COMM_OTHER : row.kind];
	LIST_ADD(&v->scratch, list->op, list->n, list->room, op);
}

/* The kernels of all devices that are the run's. */
static void add_ops(struct view *v)
{
	const struct trace *t = v->run->trace;
	uint32_t *device_of = ARENA_NEW(&v->scratch, t->n_devices, uint32_t); /* 1 + an index into the run's */
	for (uint32_t d = 0; d < v->run->n_devices; d++)
		device_of[v->run->devices[d].device] = d + 1;
	struct parts_comm of_ops = {.run = v->run};
	for (uint32_t piece = 0; piece < comm_kernels_pieces(t); piece++) {
		ARENA_LOCAL(kernels);
		size_t n;
		const struct comm_kernel *list = comm_kernels_of(t, piece, &kernels, &n);
		for (size_t i = 0; i < n; i++) {
			const uint32_t device = device_of[list[i].device];
			uint32_t step, phase;
			parts_comm_next(&of_ops, &list[i], &step, &phase);
			if (device && list[i].end > list[i].start)
				add_op(v, &list[i], device - 1, step, phase);
		}
	}
}

/* What all ranks recorded, where one of them lacks the beginning. */
static void find_shared(struct view *v)
{
	const struct steps *s = &v->run->steps;
	uint32_t n = v->run->trace->n_processes;
	if (!s->by_time)
		return;
	v->from = ARENA_NEW(&v->scratch, n, int64_t);
	v->to = ARENA_NEW(&v->scratch, n, int64_t);
	for (uint32_t p = 0; p < n; p++) {
		v->from[p] = INT64_MAX;
		v->to[p] = INT64_MIN;
	}
	for (uint32_t i = 0; i < s->n_threads; i++) {
		const struct step_thread *t = &s->threads[i];
		for (uint32_t k = 0; k < t->n; k++) {
			if (t->step[k] == TRACE_NONE)
				continue;
			v->from[t->process] = t->start[k] < v->from[t->process] ? t->start[k] : v->from[t->process];
			v->to[t->process] = t->end[k] > v->to[t->process] ? t->end[k] : v->to[t->process];
		}
	}
}

static void find_devices(struct view *v)
{
	const struct trace *t = v->run->trace;
	bool *several = ARENA_NEW(&v->scratch, t->n_processes, bool);
	v->only_device = ARENA_NEW(&v->scratch, t->n_processes, uint32_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		v->only_device[p] = TRACE_NONE;
	for (uint32_t d = 0; d < v->run->n_devices; d++) {
		uint32_t process = t->devices[v->run->devices[d].device].process;
		several[process] = several[process] || v->only_device[process] != TRACE_NONE;
		v->only_device[process] = several[process] ? TRACE_NONE : d;
	}
}

/* ---- which belong together ---- */

/* Kernels of a name of which nothing could be matched, by the streams that they run on. */
static void match_by_stream(struct view *v, int64_t tolerance)
{
	struct list *list = &v->of[COMM_TOGETHER], others = {0};
	struct collectives more;
	bool *any = ARENA_NEW(&v->scratch, v->out->n_rows, bool);
	size_t kept = 0;
	for (size_t i = 0; i < list->n; i++)
		any[list->op[i].key] = any[list->op[i].key] || list->op[i].matched;
	for (size_t i = 0; i < list->n; i++) {
		struct collective_op op = list->op[i];
		if (any[op.key] || v->out->rows[op.key].comm) {
			list->op[kept++] = op;
			continue;
		}
		const struct comm_row row = v->out->rows[op.key];
		op.key = row_of(v, key_of((int64_t)op.stream + 1, row.name) ^ 1ull << 63, &row);
		LIST_ADD(&v->scratch, others.op, others.n, others.room, op);
	}
	if (!others.n)
		return;
	collectives_match(others.op, others.n, v->run->n_devices, tolerance >= 0, tolerance, v->ops, &more);
	memcpy(list->op + kept, others.op, others.n * sizeof *others.op);
	struct collectives *all = &v->out->collectives;
	all->list = arena_grow(v->ops, all->list, all->n, all->n + more.n, sizeof *all->list);
	for (size_t i = 0; i < more.n; i++)
		all->list[all->n++] = more.list[i];
}

SORT_ORDER(compare_places, struct collective_op,
           ASCENDING(x->rank, y->rank) ?: ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end)
           ?: ASCENDING(x->launched, y->launched))

/* All of them in the list of the most usual kind, which has room for all. */
static void put_together(struct view *v)
{
	struct comm_ops *out = v->out;
	out->ops = v->of[COMM_TOGETHER].op;
	out->n = v->of[COMM_TOGETHER].n;
	for (int kind = COMM_TOGETHER + 1; kind <= COMM_OTHER; kind++)
		for (size_t i = 0; i < v->of[kind].n; i++)
			out->ops[out->n++] = v->of[kind].op[i];
	SORT(out->ops, out->n, compare_places);
	out->first_of = ARENA_NEW(v->ops, (size_t)v->run->n_devices + 1, size_t);
	for (size_t i = 0; i < out->n; i++)
		out->first_of[out->ops[i].rank + 1]++;
	for (uint32_t d = 0; d < v->run->n_devices; d++)
		out->first_of[d + 1] += out->first_of[d];
}

void comm_ops_match(const struct run *run, int64_t tolerance, struct arena *arena, struct arena *ops,
                    struct comm_ops *out)
{
	const struct trace *t = run->trace;
	struct view v = {.run = run, .arena = arena, .ops = ops, .out = out};
	*out = (struct comm_ops){0};
	keymap_init(&v.keys, &v.scratch);
	comm_calls_find(t, &v.scratch, &v.calls);
	v.synchronises = ARENA_NEW(&v.scratch, t->names->n, uint8_t);
	find_devices(&v);
	find_shared(&v);
	struct list *points = &v.of[COMM_POINT], *together = &v.of[COMM_TOGETHER];
	together->room = comm_kernels_count(t);
	together->op = ARENA_TAKE(ops, together->room, struct collective_op);
	add_ops(&v);
	collectives_match(together->op, together->n, run->n_devices, tolerance >= 0, tolerance, ops, &out->collectives);
	match_by_stream(&v, tolerance);
	point_to_point_match(points->op, points->n, v.transfers, v.n_transfers, tolerance);
	put_together(&v);
	arena_release(&v.scratch);
}
