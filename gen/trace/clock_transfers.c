#include "trace/clock_transfers.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void clock_transfers_add(struct clock_transfers *transfers, const struct trace *t, const struct comm_calls *calls,
                         const struct comm_op *op, uint32_t host, int64_t launched, int64_t start, int64_t end,
                         struct arena *arena)
{
	const struct trace_comm_calls *c = &t->comm_calls;
	uint32_t process = t->devices[t->ops.device[op->op]].process;
	for (uint32_t i = 0; i < op->n; i++) {
		uint32_t call = calls->calls[op->first + i];
		const char *name = names_text(t->names, c->name[call]);
		bool send = strcmp(name, "ncclSend") == 0;
		const struct comm_member *me = comm_calls_member(calls, c->comm[call], process);
		if ((!send && strcmp(name, "ncclRecv") != 0) || !me || c->peer[call] == TRACE_NONE)
			continue;
		LIST_GROW(arena, transfers->list, transfers->n, transfers->room);
		transfers->list[transfers->n++] = (struct clock_transfer){.comm = c->comm[call],
		                                                          .from = send ? me->rank : c->peer[call],
		                                                          .to = send ? c->peer[call] : me->rank,
		                                                          .send = send,
		                                                          .host = host,
		                                                          .launched = launched,
		                                                          .start = start,
		                                                          .end = end};
	}
}

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static uint32_t lower(const struct clock_transfer *t)
{
	return t->from < t->to ? t->from : t->to;
}
static uint32_t higher(const struct clock_transfer *t)
{
	return t->from < t->to ? t->to : t->from;
}

/* Of two ranks of a communicator; then one direction before the other, and sends before receives. */
static int compare_ranks(const struct clock_transfer *x, const struct clock_transfer *y)
{
	int order = compare(x->comm, y->comm);
	order = order ? order : compare(lower(x), lower(y));
	return order ? order : compare(higher(x), higher(y));
}

static int compare_transfers(const void *a, const void *b)
{
	const struct clock_transfer *x = a, *y = b;
	int order = compare_ranks(x, y);
	order = order ? order : compare(x->from, y->from);
	order = order ? order : compare(y->send, x->send);
	order = order ? order : compare(x->launched, y->launched);
	return order ? order : compare(x->start, y->start);
}

/* The transfers of one direction: the sends, then as many receives, each of one host; 0: they are not. */
static size_t count(const struct clock_transfer *list, size_t n, uint32_t from, uint32_t to)
{
	size_t sends = 0;
	while (sends < n && list[sends].send)
		sends++;
	bool fits = 2 * sends == n;
	for (size_t i = 0; i < n && fits; i++)
		fits = list[i].host == (list[i].send ? from : to);
	return fits ? sends : 0;
}

size_t clock_transfers_pair(struct clock_transfers *transfers, uint32_t a, uint32_t b, struct arena *arena,
                            struct clock_collective **out)
{
	struct clock_transfer *list = transfers->list;
	size_t n = 0, room = 0;
	*out = NULL;
	if (transfers->n)
		qsort(list, transfers->n, sizeof *list, compare_transfers);
	for (size_t i = 0, end; i < transfers->n; i = end) {
		size_t turn = i;
		for (end = i; end < transfers->n && !compare_ranks(&list[i], &list[end]); end++)
			turn += list[end].from == list[i].from;
		bool forth = list[i].host == (list[i].send ? a : b); /* the first direction is from a to b */
		size_t x = count(list + i, turn - i, forth ? a : b, forth ? b : a);
		size_t y = count(list + turn, end - turn, forth ? b : a, forth ? a : b);
		const struct clock_transfer *to_b = list + (forth ? i : turn), *to_a = list + (forth ? turn : i);
		size_t n_to_b = forth ? x : y, n_to_a = forth ? y : x;
		for (size_t k = 0; k < n_to_b && k < n_to_a; k++) {
			LIST_GROW(arena, *out, n, room);
			(*out)[n++] = (struct clock_collective){.entered = {to_b[k].start, to_a[k].start},
			                                        .left = {to_a[n_to_a + k].end, to_b[n_to_b + k].end}};
		}
	}
	return n;
}
