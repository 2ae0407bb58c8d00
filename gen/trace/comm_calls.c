#include "trace/comm.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <stdlib.h>

/* A launch of a communication kernel. */
struct launch {
	uint32_t thread, op;
	int64_t at;
};

static int compare_calls(const void *a, const void *b, void *context)
{
	const struct trace_comm_calls *c = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return ASCENDING(c->thread[x], c->thread[y]) ?: ASCENDING(c->start[x], c->start[y]) ?: ASCENDING(x, y);
}

SORT_ORDER(compare_launches, struct launch,
           ASCENDING(x->thread, y->thread) ?: ASCENDING(x->at, y->at) ?: ASCENDING(x->op, y->op))

SORT_ORDER(compare_ops, struct comm_op, ASCENDING(x->op, y->op))

SORT_ORDER(compare_members, struct comm_member,
           ASCENDING(x->comm, y->comm) ?: ASCENDING(x->process, y->process) ?: ASCENDING(x->rank, y->rank))

static size_t find_launches(const struct trace *t, struct arena *scratch, struct launch **out)
{
	struct launch *list = NULL;
	size_t n = 0, room = 0;
	for (uint32_t piece = 0; piece < comm_kernels_pieces(t); piece++) {
		ARENA_LOCAL(kernels);
		size_t more;
		const struct comm_kernel *k = comm_kernels_of(t, piece, &kernels, &more);
		for (size_t i = 0; i < more; i++)
			if (k[i].thread != TRACE_NONE) {
				LIST_ADD(scratch, list, n, room, (struct launch){k[i].thread, k[i].op, k[i].launched});
			}
	}
	SORT(list, n, compare_launches);
	*out = list;
	return n;
}

static bool is_of_one_communicator(const struct trace_comm_calls *c, const uint32_t *calls, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (c->comm[calls[i]] != c->comm[calls[0]])
			return false;
	return true;
}

static void join(const struct trace *t, size_t n_calls, struct arena *arena, struct comm_calls *out)
{
	const struct trace_comm_calls *c = &t->comm_calls;
	ARENA_LOCAL(scratch);
	struct launch *launches;
	size_t n = find_launches(t, &scratch, &launches), from = 0, to = 0; /* [from, to): not launched for yet */
	out->ops = ARENA_NEW(arena, n, struct comm_op);
	for (size_t i = 0; i < n; i++) {
		const struct launch *l = &launches[i];
		while (to < n_calls && (c->thread[out->calls[to]] < l->thread ||
		                        (c->thread[out->calls[to]] == l->thread && c->start[out->calls[to]] <= l->at)))
			to++;
		while (from < to && c->thread[out->calls[from]] != l->thread)
			from++;
		uint32_t last = to ? out->calls[to - 1] : 0;
		bool inside = to && c->thread[last] == l->thread && c->end[last] >= l->at;
		size_t first = inside ? to - 1 : from;
		if (first < to && is_of_one_communicator(c, out->calls + first, to - first))
			out->ops[out->n_ops++] = (struct comm_op){l->op, (uint32_t)first, (uint32_t)(to - first)};
		from = to;
	}
	SORT(out->ops, out->n_ops, compare_ops);
}

void comm_calls_find(const struct trace *t, struct arena *arena, struct comm_calls *out)
{
	const struct trace_comm_calls *c = &t->comm_calls;
	*out = (struct comm_calls){0};
	if (!c->n)
		return;
	out->calls = ARENA_NEW(arena, c->n, uint32_t);
	out->members = ARENA_NEW(arena, c->n, struct comm_member);
	size_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->bytes[i] >= 0)
			out->calls[n++] = i;
		else if (c->rank[i] != TRACE_NONE)
			out->members[out->n_members++] = (struct comm_member){
				c->comm[i], t->threads[c->thread[i]].process, c->rank[i], c->ranks[i]};
	}
	SORT_BY(out->calls, n, compare_calls, c);
	SORT(out->members, out->n_members, compare_members);
	join(t, n, arena, out);
}

const struct comm_op *comm_calls_of(const struct comm_calls *calls, uint32_t op)
{
	const struct comm_op key = {.op = op};
	return calls->n_ops ? bsearch(&key, calls->ops, calls->n_ops, sizeof key, compare_ops) : NULL;
}

static bool member_before(const struct comm_member *m, int64_t comm, uint32_t process)
{
	return m->comm < comm || (m->comm == comm && m->process < process);
}

/* The first member of a communicator, and of a process of it. */
static size_t first_of(const struct comm_calls *calls, int64_t comm, uint32_t process)
{
	size_t i = 0;
	SEARCH(i, calls->n_members, member_before(&calls->members[i], comm, process));
	return i;
}

const struct comm_member *comm_calls_member(const struct comm_calls *calls, int64_t comm, uint32_t process)
{
	size_t i = first_of(calls, comm, process);
	const struct comm_member *m = i < calls->n_members ? &calls->members[i] : NULL;
	return m && m->comm == comm && m->process == process ? m : NULL;
}

uint32_t comm_calls_process(const struct comm_calls *calls, int64_t comm, uint32_t rank)
{
	for (size_t i = first_of(calls, comm, 0); i < calls->n_members && calls->members[i].comm == comm; i++)
		if (calls->members[i].rank == rank)
			return calls->members[i].process;
	return TRACE_NONE;
}
