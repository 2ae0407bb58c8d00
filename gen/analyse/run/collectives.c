#include "analyse/run/collectives.h"
#include "base/sort.h"

/* Kernels in an order of their own, numbers of them: they stay where they are. */
struct ordered {
	struct collective_op *ops;
	const uint32_t *order;
};

static struct collective_op *op_at(const struct ordered *of, size_t i)
{
	return &of->ops[of->order[i]];
}

static int compare_ops(const void *a, const void *b, void *ops)
{
	const struct collective_op *x = (struct collective_op *)ops + *(const uint32_t *)a,
				   *y = (struct collective_op *)ops + *(const uint32_t *)b;
	return ASCENDING(x->key, y->key) ?: ASCENDING(x->step, y->step) ?: ASCENDING(x->rank, y->rank)
		?: ASCENDING(x->launched, y->launched) ?: ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end)
		?: ASCENDING(x, y);
}

static int compare_collectives(const void *a, const void *b)
{
	const struct collective *x = a, *y = b;
	return ASCENDING(x->step, y->step) ?: ASCENDING(x->last, y->last) ?: ASCENDING(x->waited, y->waited);
}

/* It is of no collective. */
static void leave_alone(struct collective_op *op)
{
	op->matched = false;
	op->partner = UINT32_MAX;
	op->arrived = op->start;
}

/* The ops of one key in one step: where those of each rank that has some begin; 0: ranks disagree about their number.
 */
static size_t count_each(const struct ordered *of, size_t from, size_t to, size_t *first, uint32_t *n_ranks)
{
	size_t each = 0, begin = from;
	*n_ranks = 0;
	for (size_t i = from + 1; i <= to; i++) {
		if (i < to && op_at(of, i)->rank == op_at(of, begin)->rank)
			continue;
		if (each && i - begin != each)
			return 0;
		each = i - begin;
		first[(*n_ranks)++] = begin;
		begin = i;
	}
	return each;
}

static int64_t length(const struct collective_op *op)
{
	return op->end - op->start;
}

/* The k-th op of every rank as one collective. False where they cannot be one. */
static bool match(const struct ordered *of, const size_t *first, uint32_t n_ranks, size_t k, bool one_clock,
                  int64_t tolerance, struct collective *out)
{
	const struct collective_op *last = op_at(of, first[0] + k);
	int64_t first_end = last->end;
	for (uint32_t r = 1; r < n_ranks; r++) {
		const struct collective_op *op = op_at(of, first[r] + k);
		if (one_clock ? op->start > last->start : length(op) < length(last))
			last = op;
		first_end = op->end < first_end ? op->end : first_end;
	}
	if (one_clock && last->start > first_end + tolerance)
		return false;
	*out = (struct collective){.step = last->step,
	                           .last = last->rank,
	                           .n_ranks = n_ranks,
	                           .entered = last->start,
	                           .key = last->key,
	                           .bytes = last->bytes};
	int64_t shortest = length(last), entered = last->start;
	for (uint32_t r = 0; r < n_ranks; r++) {
		struct collective_op *op = op_at(of, first[r] + k);
		op->matched = true;
		op->partner = last->rank;
		op->arrived = one_clock ? entered : op->start + length(op) - shortest;
		op->arrived = op->arrived < op->end ? op->arrived : op->end;
		out->waited += op->arrived - op->start;
		out->moved = op->end - op->arrived > out->moved ? op->end - op->arrived : out->moved;
	}
	return true;
}

/* The same of a broadcast or a reduce. */
static bool match_rooted(const struct ordered *of, const size_t *first, uint32_t n_ranks, size_t k, int64_t tolerance,
                         struct collective *out)
{
	const struct collective_op *root = NULL, *last = op_at(of, first[0] + k);
	for (uint32_t r = 0; r < n_ranks; r++) {
		const struct collective_op *op = op_at(of, first[r] + k);
		if (op->root != last->root)
			return false;
		root = op->rank == op->root ? op : root;
		last = op->start > last->start ? op : last;
	}
	if (!root)
		return false;
	bool from_root = root->bound == BOUND_BY_ROOT;
	const struct collective_op *for_whom = from_root ? root : last;
	for (uint32_t r = 0; r < n_ranks; r++) {
		const struct collective_op *op = op_at(of, first[r] + k);
		if ((op == root) != from_root && for_whom->start > op->end + tolerance)
			return false;
	}
	*out = (struct collective){.step = root->step,
	                           .last = for_whom->rank,
	                           .n_ranks = n_ranks,
	                           .entered = for_whom->start,
	                           .key = root->key,
	                           .bytes = root->bytes};
	int64_t entered = for_whom->start;
	for (uint32_t r = 0; r < n_ranks; r++) {
		struct collective_op *op = op_at(of, first[r] + k);
		op->matched = true;
		op->partner = for_whom->rank;
		op->arrived = op->start;
		if ((op == root) != from_root && entered > op->start)
			op->arrived = entered < op->end ? entered : op->end;
		out->waited += op->arrived - op->start;
		out->moved = op->end - entered > out->moved ? op->end - entered : out->moved;
	}
	return true;
}

/* All ops of one key, those from `from` to `to` in the order. */
static void match_key(const struct ordered *of, size_t from, size_t to, size_t *first, bool one_clock,
                      int64_t tolerance, struct collectives *out)
{
	size_t before = out->n, refused = 0, end;
	for (size_t i = from; i < to; i = end) {
		uint32_t n_ranks;
		const bool all = op_at(of, i)->bound == BOUND_ALL;
		for (end = i + 1; end < to && op_at(of, end)->step == op_at(of, i)->step; end++)
			;
		size_t each = count_each(of, i, end, first, &n_ranks);
		for (size_t k = 0; k < each && n_ranks > 1; k++)
			if (all ? match(of, first, n_ranks, k, one_clock, tolerance, &out->list[out->n])
			        : one_clock && match_rooted(of, first, n_ranks, k, tolerance, &out->list[out->n]))
				out->n++;
			else
				refused++;
	}
	if (20 * refused <= out->n - before + refused)
		return;
	out->n = before;
	for (size_t i = from; i < to; i++)
		leave_alone(op_at(of, i));
}

void collectives_match(struct collective_op *ops, size_t n, uint32_t n_ranks, bool one_clock, int64_t tolerance,
                       struct arena *arena, struct collectives *out)
{
	ARENA_LOCAL(scratch);
	size_t *first = ARENA_NEW(&scratch, (size_t)n_ranks + 1, size_t), end;
	uint32_t *order = ARENA_TAKE(&scratch, n, uint32_t);
	const struct ordered of = {ops, order};
	*out = (struct collectives){.list = ARENA_TAKE(arena, n / 2 + 1, struct collective)};
	for (size_t i = 0; i < n; i++) {
		leave_alone(&ops[i]);
		order[i] = (uint32_t)i;
	}
	SORT_BY(order, n, compare_ops, ops);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && op_at(&of, end)->key == op_at(&of, i)->key; end++)
			;
		match_key(&of, i, end, first, one_clock, tolerance, out);
	}
	for (size_t i = 0; i < n; i++)
		out->unmatched += !ops[i].matched;
	SORT(out->list, out->n, compare_collectives);
}

/* ---- one device ---- */

enum busy { COMPUTES, MOVES, WAITS, UNMATCHED, COPIES, BUBBLE, BUSY_KINDS };

struct event {
	int64_t time;
	int change; /* +1 begins, −1 ends */
	enum busy kind;
};

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return ASCENDING(x->time, y->time);
}

static size_t add(struct event *events, size_t n, enum busy kind, int64_t start, int64_t end, int64_t from, int64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	if (end <= start)
		return n;
	events[n++] = (struct event){start, +1, kind};
	events[n++] = (struct event){end, -1, kind};
	return n;
}

struct comm_parts collectives_divide(const struct collective_op *const *ops, size_t n, const struct stretches *compute,
                                     const struct stretches *copies, int64_t start, int64_t end,
                                     void (*waits)(void *context, const struct stretch *stretch, bool bubble),
                                     void *context)
{
	ARENA_LOCAL(scratch);
	struct event *events = ARENA_NEW(&scratch, 4 * n + 2 * (compute->n + copies->n) + 1, struct event);
	struct comm_parts parts = {0};
	int open[BUSY_KINDS] = {0};
	size_t m = 0;
	for (size_t i = 0; i < compute->n; i++)
		m = add(events, m, COMPUTES, compute->list[i].start, compute->list[i].end, start, end);
	for (size_t i = 0; i < copies->n; i++)
		m = add(events, m, COPIES, copies->list[i].start, copies->list[i].end, start, end);
	for (size_t i = 0; i < n; i++) {
		m = add(events, m, ops[i]->point ? BUBBLE : WAITS, ops[i]->start, ops[i]->arrived, start, end);
		m = add(events, m, ops[i]->matched ? MOVES : UNMATCHED, ops[i]->arrived, ops[i]->end, start, end);
	}
	SORT(events, m, compare_events);
	for (size_t i = 0; i + 1 < m; i++) {
		open[events[i].kind] += events[i].change;
		int64_t ns = events[i + 1].time - events[i].time;
		bool hidden = open[COMPUTES] > 0, waiting = !open[MOVES] && open[WAITS],
		     alone = !open[MOVES] && !open[WAITS] && !open[UNMATCHED] && open[BUBBLE],
		     bubble = alone && !hidden && !open[COPIES];
		if (!ns)
			continue;
		if (waiting || (alone && hidden))
			*(hidden ? &parts.hidden_waiting : &parts.waiting) += ns;
		else if (bubble)
			parts.bubble += ns;
		else if (open[MOVES] || alone)
			*(hidden ? &parts.hidden_moving : &parts.moving) += ns;
		else if (open[UNMATCHED])
			*(hidden ? &parts.hidden_unmatched : &parts.unmatched) += ns;
		if ((waiting && !hidden) || bubble)
			waits(context, &(struct stretch){events[i].time, events[i + 1].time}, bubble);
	}
	return parts;
}

/* Of one pair of ranks in one step, sends before receives. */
static int compare_pairs(const struct transfer *x, const struct transfer *y, const struct collective_op *ops)
{
	return ASCENDING(x->comm, y->comm) ?: ASCENDING(x->from, y->from) ?: ASCENDING(x->to, y->to)
		?: ASCENDING(ops[x->op].step, ops[y->op].step);
}

static int compare_transfers(const void *a, const void *b, void *context)
{
	const struct collective_op *ops = context;
	const struct transfer *x = a, *y = b;
	return compare_pairs(x, y, ops) ?: ASCENDING(y->send, x->send)
		?: ASCENDING(ops[x->op].launched, ops[y->op].launched) ?: ASCENDING(x->op, y->op)
		?: ASCENDING(x->place, y->place);
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
	ARENA_LOCAL(scratch);
	bool *refused = ARENA_NEW(&scratch, n, bool), *has = ARENA_NEW(&scratch, n, bool);
	for (size_t i = 0; i < n_transfers; i++)
		transfers[i].partner = UINT32_MAX;
	SORT_BY(transfers, n_transfers, compare_transfers, ops);
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
}
