#include "analyse/run/point_to_point.h"

#include <stdlib.h>

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Of one pair of ranks in one step, sends before receives. */
static int compare_pairs(const struct transfer *x, const struct transfer *y, const struct collective_op *ops)
{
	int order = compare(x->comm, y->comm);
	order = order ? order : compare(x->from, y->from);
	order = order ? order : compare(x->to, y->to);
	return order ? order : compare(ops[x->op].step, ops[y->op].step);
}

static int compare_transfers(const void *a, const void *b, void *context)
{
	const struct collective_op *ops = context;
	const struct transfer *x = a, *y = b;
	int order = compare_pairs(x, y, ops);
	order = order ? order : compare(y->send, x->send);
	order = order ? order : compare(ops[x->op].launched, ops[y->op].launched);
	order = order ? order : compare(x->op, y->op);
	return order ? order : compare(x->place, y->place);
}

static void pair(struct transfer *list, size_t n)
{
	size_t sends = 0;
	while (sends < n && list[sends].send)
		sends++;
	if (2 * sends != n) /* some are missing: which ones is not known */
		return;
	for (size_t k = 0; k < sends; k++) {
		list[k].partner = list[sends + k].op;
		list[sends + k].partner = list[k].op;
	}
}

static void meet(struct collective_op *ops, const struct transfer *t, bool *refused, int64_t tolerance)
{
	struct collective_op *op = &ops[t->op];
	if (t->partner == UINT32_MAX) {
		*refused = true;
		return;
	}
	const struct collective_op *other = &ops[t->partner];
	if (tolerance < 0) {
		int64_t longer = (op->end - op->start) - (other->end - other->start);
		if (longer > op->arrived - op->start) {
			op->arrived = op->start + longer;
			op->partner = other->rank;
		}
		return;
	}
	if (other->start > op->end && !t->send) {
		*refused = *refused || other->start > op->end + tolerance;
		return;
	}
	if (other->start <= op->end && other->start > op->arrived) {
		op->arrived = other->start;
		op->partner = other->rank;
	}
}

void point_to_point_match(struct collective_op *ops, size_t n, struct transfer *transfers, size_t n_transfers,
                          int64_t tolerance)
{
	struct arena scratch = {0};
	bool *refused = ARENA_NEW(&scratch, n, bool), *has = ARENA_NEW(&scratch, n, bool);
	for (size_t i = 0; i < n_transfers; i++)
		transfers[i].partner = UINT32_MAX;
	if (n_transfers)
		qsort_r(transfers, n_transfers, sizeof *transfers, compare_transfers, ops);
	for (size_t i = 0, end; i < n_transfers; i = end) {
		for (end = i + 1; end < n_transfers && !compare_pairs(&transfers[i], &transfers[end], ops); end++)
			;
		pair(transfers + i, end - i);
	}
	for (size_t i = 0; i < n_transfers; i++) {
		has[transfers[i].op] = true;
		meet(ops, &transfers[i], &refused[transfers[i].op], tolerance);
	}
	for (size_t i = 0; i < n; i++) {
		ops[i].matched = has[i] && !refused[i];
		if (!ops[i].matched) {
			ops[i].arrived = ops[i].start;
			ops[i].partner = UINT32_MAX;
		}
	}
	arena_release(&scratch);
}
