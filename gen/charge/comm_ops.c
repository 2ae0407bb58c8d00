#include "charge/comm.h"

#include "base/keymap.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/sort.h"
#include "charge/collectives.h"
#include "charge/parts_open.h"
#include "trace/classify.h"
#include "trace/comm.h"

#include <stdlib.h>
#include <string.h>

/* Those that are matched by the streams that they run on. */
enum { BY_STREAM = COMM_OTHER + 1, LISTS };

struct list {
	struct collective_op *op;
	size_t n, room;
};

struct comm_view {
	const struct run *run;
	struct arena *arena, scratch;
	struct comm_calls calls;
	struct keymap keys; /* of rows */
	size_t rows_room;
	bool *by_stream; /* by row, n_by_stream of them */
	uint32_t n_by_stream;
	/* Of sends and receives all kernels are held: */
	struct list points;
	struct transfer *transfers;
	size_t n_transfers, transfers_room;
	uint8_t *synchronises; /* by name: 0 not looked at, 1 no, 2 yes */
	uint32_t *device_of;   /* by device of the trace: 1 + an index into the run's */
	uint32_t *only_device; /* by process: its device of the run; TRACE_NONE: it has none or several */
	int64_t *from, *to; /* by process: from the first to the last step that all ranks recorded, on the host; NULL:
	                     * they were recorded together */
	/* While kernels are gone through, piece by piece: */
	uint32_t piece; /* the next one */
	struct parts_comm of_ops;
	struct list of[LISTS]; /* those of the last one, by device … */
	size_t at[LISTS];      /* … and which of them are next */
	size_t next_point;
	struct list device; /* all of the device at hand */
	struct comm_ops *out;
};

/* ---- what a kernel is ---- */

static uint32_t row_of(struct comm_view *v, uint64_t key, const struct comm_row *row)
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

static const char *text_of(const struct comm_view *v, uint32_t name)
{
	return names_text(v->run->trace->names, name);
}

/* The device of the run that a rank of a communicator uses; TRACE_NONE: not known. */
static uint32_t device_at(const struct comm_view *v, int64_t comm, uint32_t rank)
{
	uint32_t process = comm_calls_process(&v->calls, comm, rank);
	return process == TRACE_NONE ? TRACE_NONE : v->only_device[process];
}

/* Notes the transfers of a kernel that has nothing but sends and receives of known partners. */
static bool note_transfers(struct comm_view *v, const struct comm_op *of, uint32_t device)
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
		                           .op = (uint32_t)v->next_point,
		                           .place = i});
	}
	return true;
}

/* Without NCCL's calls, a kernel of sends and receives: of two ranks it is clear who the partner is, and the k-th
 * kernel of one is the k-th of the other. Which of them sends is not known: the second one counts as receiving. */
static bool note_partner(struct comm_view *v, const char *name, uint32_t device)
{
	if (v->run->charge->n_devices != 2 || !strcasestr(name, "SendRecv"))
		return false;
	LIST_ADD(&v->scratch, v->transfers, v->n_transfers, v->transfers_room,
	         (struct transfer){.from = 0, .to = 1, .send = !device, .op = (uint32_t)v->next_point});
	return true;
}

/* Whether the transfers from `first` on, of one kernel, are all-to-all: with every other rank of the communicator, both
 * ways. Of three ranks the middle one of a pipeline does that, too. */
static bool is_all_to_all(const struct comm_view *v, size_t first, uint32_t device, uint32_t process)
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
static bool is_one_operation(const struct comm_view *v, const struct comm_op *of)
{
	const struct trace_comm_calls *c = &v->run->trace->comm_calls;
	for (uint32_t i = 1; i < of->n; i++)
		if (c->name[v->calls.calls[of->first + i]] != c->name[v->calls.calls[of->first]])
			return false;
	return true;
}

/* A broadcast or reduce with a known root. */
static bool note_root(const struct comm_view *v, const struct comm_op *of, struct collective_op *op)
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

static bool synchronises(const struct comm_view *v, uint32_t name)
{
	uint8_t *known = &v->synchronises[name];
	*known = *known ? *known : classify_synchronising(text_of(v, name)) ? 2 : 1;
	return *known == 2;
}

/* Whether others recorded nothing that the op could be matched with, or it is of a rank of which nobody marked the
 * steps: which of the others' it would be is not known then, and with each other such ranks would look as if they never
 * waited. */
static bool is_alone(const struct comm_view *v, const struct collective_op *op, uint32_t process)
{
	const struct steps *s = &v->run->steps;
	if (s->unaligned || (s->found && !steps_of_process(s, process)))
		return true;
	return v->from && op->step == TRACE_NONE && (op->launched < v->from[process] || op->launched >= v->to[process]);
}

static void add_op(struct comm_view *v, const struct comm_kernel *k, uint32_t device, uint32_t step, uint32_t phase)
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
	int kind = alone ? COMM_OTHER : row.kind;
	if (kind == COMM_TOGETHER && op.key < v->n_by_stream && v->by_stream[op.key]) {
		const struct comm_row like = v->out->rows[op.key];
		op.key = row_of(v, key_of((int64_t)op.stream + 1, like.name) ^ 1ull << 63, &like);
		kind = BY_STREAM;
	}
	if (kind == COMM_POINT) {
		if (v->next_point == v->points.n)
			LIST_ADD(&v->scratch, v->points.op, v->points.n, v->points.room, op);
		else /* its transfers are known */
			v->n_transfers = before;
		op = v->points.op[v->next_point++];
	}
	struct list *list = &v->of[kind];
	LIST_ADD(&v->scratch, list->op, list->n, list->room, op);
}

/* The kernels of the next piece's devices that are the run's. */
static void take_piece(struct comm_view *v)
{
	ARENA_LOCAL(kernels);
	size_t n;
	const struct comm_kernel *list = comm_kernels_of(v->run->trace, v->piece++, &kernels, &n);
	for (int kind = 0; kind < LISTS; kind++)
		v->at[kind] = v->of[kind].n = 0;
	for (size_t i = 0; i < n; i++) {
		const uint32_t device = v->device_of[list[i].device];
		uint32_t step, phase;
		parts_comm_next(&v->of_ops, &list[i], &step, &phase);
		if (device && list[i].end > list[i].start)
			add_op(v, &list[i], device - 1, step, phase);
	}
}

/* They are gone through from the first one on. */
static void begin(struct comm_view *v)
{
	v->piece = 0;
	v->next_point = 0;
	v->of_ops = (struct parts_comm){.run = v->run};
	for (int kind = 0; kind < LISTS; kind++)
		v->at[kind] = v->of[kind].n = 0;
}

static bool has_more(const struct comm_view *v)
{
	for (int kind = 0; kind < LISTS; kind++)
		if (v->at[kind] < v->of[kind].n)
			return true;
	return false;
}

/* Those of one kind that device `d` has; what comes next are those of later ones. */
static struct list take_kind(struct comm_view *v, uint32_t d, int kind)
{
	const struct list *all = &v->of[kind];
	struct list found = {.op = all->op + v->at[kind]};
	while (v->at[kind] < all->n && all->op[v->at[kind]].rank == d)
		v->at[kind]++;
	found.n = (size_t)(all->op + v->at[kind] - found.op);
	return found;
}

/* Those of all kinds that some device has next. */
static void find_next(struct comm_view *v)
{
	while (!has_more(v) && v->piece < comm_kernels_pieces(v->run->trace))
		take_piece(v);
}

/* What all ranks recorded, where one of them lacks the beginning. */
static void find_shared(struct comm_view *v)
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

static void find_devices(struct comm_view *v)
{
	const struct trace *t = v->run->trace;
	bool *several = ARENA_NEW(&v->scratch, t->n_processes, bool);
	v->only_device = ARENA_NEW(&v->scratch, t->n_processes, uint32_t);
	v->device_of = ARENA_NEW(&v->scratch, t->n_devices, uint32_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		v->only_device[p] = TRACE_NONE;
	for (uint32_t d = 0; d < v->run->charge->n_devices; d++) {
		uint32_t process = t->devices[v->run->charge->devices[d].device].process;
		several[process] = several[process] || v->only_device[process] != TRACE_NONE;
		v->only_device[process] = several[process] ? TRACE_NONE : d;
		v->device_of[v->run->charge->devices[d].device] = d + 1;
	}
}

/* ---- which belong together ---- */

/* All devices say what their kernels of a kind are. */
static void take_all(struct comm_view *v, int kind)
{
	begin(v);
	for (uint32_t d = 0; d < v->run->charge->n_devices; d++) {
		find_next(v);
		for (int k = 0; k < LISTS; k++) {
			const struct list found = take_kind(v, d, k);
			if (k == kind)
				collectives_take(&v->out->collectives, found.op, found.n);
		}
	}
	collectives_decide(&v->out->collectives);
}

/* Kernels of a name of which nothing could be matched, by the streams that they run on. */
static void match_by_stream(struct comm_view *v)
{
	const struct collectives *all = &v->out->collectives;
	bool *any = ARENA_NEW(&v->scratch, v->out->n_rows, bool), wanted = false;
	v->n_by_stream = v->out->n_rows;
	v->by_stream = ARENA_NEW(&v->scratch, v->out->n_rows, bool);
	for (size_t i = 0; i < all->n; i++)
		any[all->list[i].key] |= all->list[i].matched;
	for (size_t i = 0; i < all->n; i++) {
		const uint32_t row = all->list[i].key;
		v->by_stream[row] = !any[row] && !v->out->rows[row].comm;
		wanted |= v->by_stream[row];
	}
	if (wanted)
		take_all(v, BY_STREAM);
}

void comm_ops_match(const struct run *run, int64_t tolerance, struct arena *arena, struct comm_ops *out)
{
	const struct trace *t = run->trace;
	struct comm_view *v = memory_take_zeroed(1, sizeof *v);
	v->run = run;
	v->arena = arena;
	v->out = out;
	*out = (struct comm_ops){.view = v};
	keymap_init(&v->keys, &v->scratch);
	comm_calls_find(t, &v->scratch, &v->calls);
	v->synchronises = ARENA_NEW(&v->scratch, t->names->n, uint8_t);
	find_devices(v);
	find_shared(v);
	collectives_begin(&out->collectives, tolerance >= 0, tolerance, &v->scratch);
	take_all(v, COMM_TOGETHER);
	match_by_stream(v);
	point_to_point_match(v->points.op, v->points.n, v->transfers, v->n_transfers, tolerance);
	begin(v);
}

SORT_ORDER(compare_places, struct collective_op,
           ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end) ?: ASCENDING(x->launched, y->launched))

const struct collective_op *comm_ops_of(struct comm_ops *ops, uint32_t d, size_t *n)
{
	static const int kinds[LISTS] = {COMM_TOGETHER, BY_STREAM, COMM_POINT, COMM_OTHER};
	struct comm_view *v = ops->view;
	struct list *all = &v->device;
	find_next(v);
	all->n = 0;
	for (int k = 0; k < LISTS; k++) {
		const struct list found = take_kind(v, d, kinds[k]);
		if (kinds[k] == COMM_TOGETHER || kinds[k] == BY_STREAM)
			collectives_tell(&ops->collectives, found.op, found.n);
		for (size_t i = 0; i < found.n; i++)
			LIST_ADD(&v->scratch, all->op, all->n, all->room, found.op[i]);
	}
	SORT(all->op, all->n, compare_places);
	*n = all->n;
	return all->op;
}

void comm_ops_release(struct comm_ops *ops)
{
	arena_release(&ops->view->scratch);
	free(ops->view);
	ops->view = NULL;
}
