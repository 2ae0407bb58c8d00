#include "charge/collectives.h"

#include "base/list.h"
#include "base/sort.h"

/* The ops of one key in one step. */
struct collective_place {
	size_t first; /* where its collectives begin … */
	uint32_t n;   /* … and how many they are, as many as each rank has ops; 0: nobody said so yet */
	bool uneven;  /* ranks disagree about that */
};

static int compare_ops(const void *a, const void *b, void *ops)
{
	const struct collective_op *x = (struct collective_op *)ops + *(const uint32_t *)a,
				   *y = (struct collective_op *)ops + *(const uint32_t *)b;
	return ASCENDING(x->key, y->key) ?: ASCENDING(x->step, y->step) ?: ASCENDING(x->launched, y->launched)
		?: ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end) ?: ASCENDING(x, y);
}

/* By key and step; they stay where they are. */
static const uint32_t *order_of(const struct collective_op *ops, size_t n, struct arena *arena)
{
	uint32_t *order = ARENA_TAKE(arena, n, uint32_t);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	SORT_BY(order, n, compare_ops, ops);
	return order;
}

/* Where those of one key and step end that begin at `i`. */
static size_t end_of(const struct collective_op *ops, const uint32_t *order, size_t i, size_t n)
{
	const struct collective_op *first = &ops[order[i]];
	while (i < n && ops[order[i]].key == first->key && ops[order[i]].step == first->step)
		i++;
	return i;
}

static uint64_t place_key(const struct collective_op *op)
{
	return (uint64_t)op->key << 32 | op->step;
}

static int64_t length(const struct collective_op *op)
{
	return op->end - op->start;
}

/* Whether it cannot leave before another one has entered. */
static bool has_to_wait(const struct collective_op *op)
{
	return op->bound == BOUND_ALL || (op->rank == op->root) == (op->bound == BOUND_OF_ROOT);
}

/* Whether an op comes later than those that are known, or is the one that others wait for anyway. */
static bool is_last(const struct collective *c, const struct collective_op *op, bool one_clock)
{
	if (op->bound == BOUND_BY_ROOT)
		return op->rank == op->root;
	return !c->n_ranks || (one_clock || op->bound != BOUND_ALL ? op->start > c->entered : length(op) < c->shortest);
}

static void enter(struct collective *c, const struct collective_op *op, bool one_clock)
{
	const bool all = op->bound == BOUND_ALL, is_root = !all && op->rank == op->root;
	if (!c->n_ranks)
		*c = (struct collective){.key = op->key,
		                         .step = op->step,
		                         .bound = op->bound,
		                         .root = op->root,
		                         .first_left = INT64_MAX};
	if (is_last(c, op, one_clock)) {
		c->last = op->rank;
		c->entered = op->start;
		c->shortest = length(op);
		c->bytes = all ? op->bytes : c->bytes;
	}
	c->bytes = is_root ? op->bytes : c->bytes;
	c->has_root |= is_root;
	c->differs |= !all && op->root != c->root;
	c->first_left = has_to_wait(op) && op->end < c->first_left ? op->end : c->first_left;
	c->n_ranks++;
}

void collectives_begin(struct collectives *all, bool one_clock, int64_t tolerance, struct arena *arena)
{
	*all = (struct collectives){.one_clock = one_clock, .tolerance = tolerance, .arena = arena};
	keymap_init(&all->places, arena);
}

/* The place of ops of which a rank has n. */
static struct collective_place *add_place(struct collectives *all, const struct collective_op *op, size_t n)
{
	const uint32_t i = KEYMAP_ADD(all->arena, &all->places, place_key(op), all->at);
	struct collective_place *place = &all->at[i];
	if (!place->n) {
		*place = (struct collective_place){.first = all->n, .n = (uint32_t)n};
		for (size_t k = 0; k < n; k++)
			LIST_ADD(all->arena, all->list, all->n, all->room, (struct collective){0});
	}
	place->uneven |= place->n != n;
	return place;
}

void collectives_take(struct collectives *all, const struct collective_op *ops, size_t n)
{
	ARENA_LOCAL(scratch);
	const uint32_t *order = order_of(ops, n, &scratch);
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of(ops, order, i, n);
		const struct collective_place *place = add_place(all, &ops[order[i]], end - i);
		for (size_t k = 0; k < place->n && !place->uneven; k++)
			enter(&all->list[place->first + k], &ops[order[i + k]], all->one_clock);
	}
}

/* Whether its ops can be one collective. */
static bool fits(const struct collectives *all, const struct collective *c)
{
	if (c->bound != BOUND_ALL && (c->differs || !c->has_root || !all->one_clock))
		return false;
	return !all->one_clock || c->entered - all->tolerance <= c->first_left;
}

void collectives_decide(struct collectives *all)
{
	struct counts {
		size_t matched, refused;
	} *of = NULL;
	ARENA_LOCAL(scratch);
	struct keymap keys;
	keymap_init(&keys, &scratch);
	for (uint32_t p = 0; p < all->places.n; p++) {
		const struct collective_place *place = &all->at[p];
		const uint32_t key = KEYMAP_ADD(&scratch, &keys, all->places.keys[p] >> 32, of);
		for (size_t i = place->first; i < place->first + place->n; i++) {
			struct collective *c = &all->list[i];
			c->matched = !place->uneven && c->n_ranks > 1 && fits(all, c);
			of[key].matched += c->matched;
			of[key].refused += !place->uneven && c->n_ranks > 1 && !c->matched;
		}
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct counts *n = &of[keymap_find(&keys, all->list[i].key)];
		all->list[i].matched = all->list[i].matched && 20 * n->refused <= n->matched + n->refused;
	}
}

/* `of`: NULL, it is of none. */
static void tell(struct collective *of, struct collective_op *op, bool one_clock)
{
	op->matched = of != NULL;
	op->partner = of ? of->last : UINT32_MAX;
	op->arrived = op->start;
	if (!of)
		return;
	if (!one_clock)
		op->arrived = op->end - of->shortest;
	else if (has_to_wait(op) && of->entered > op->start)
		op->arrived = of->entered < op->end ? of->entered : op->end;
	const int64_t moved = op->end - (op->bound == BOUND_ALL ? op->arrived : of->entered);
	of->waited += op->arrived - op->start;
	of->moved = moved > of->moved ? moved : of->moved;
}

void collectives_tell(struct collectives *all, struct collective_op *ops, size_t n)
{
	ARENA_LOCAL(scratch);
	const uint32_t *order = order_of(ops, n, &scratch);
	for (size_t i = 0, end; i < n; i = end) {
		end = end_of(ops, order, i, n);
		const struct collective_place *place = &all->at[keymap_find(&all->places, place_key(&ops[order[i]]))];
		for (size_t k = 0; k < end - i; k++) {
			struct collective *c = k < place->n ? &all->list[place->first + k] : NULL;
			tell(c && c->matched ? c : NULL, &ops[order[i + k]], all->one_clock);
		}
	}
}

/* ---- one device ---- */

enum busy { COMPUTES, MOVES, WAITS, UNMATCHED, COPIES, BUBBLE, BUSY_KINDS };

struct event {
	int64_t time;
	int change; /* +1 begins, −1 ends */
	enum busy kind;
};

SORT_ORDER(compare_events, struct event, ASCENDING(x->time, y->time))

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

static size_t add_all(struct event *events, size_t m, enum busy kind, const struct stretches *all, int64_t start,
                      int64_t end)
{
	for (size_t i = 0; i < all->n; i++)
		m = add(events, m, kind, all->list[i].start, all->list[i].end, start, end);
	return m;
}

/* What time is while so many of each kind are open; `waits`: it is exposed waiting, or a bubble. */
static int64_t *part_of(struct comm_parts *parts, const int open[BUSY_KINDS], bool *waits, bool *bubble)
{
	const bool hidden = open[COMPUTES] > 0, waiting = !open[MOVES] && open[WAITS],
		   alone = !open[MOVES] && !open[WAITS] && !open[UNMATCHED] && open[BUBBLE];
	*bubble = alone && !hidden && !open[COPIES];
	*waits = (waiting && !hidden) || *bubble;
	if (waiting || (alone && hidden))
		return hidden ? &parts->hidden_waiting : &parts->waiting;
	if (*bubble)
		return &parts->bubble;
	if (open[MOVES] || alone)
		return hidden ? &parts->hidden_moving : &parts->moving;
	if (open[UNMATCHED])
		return hidden ? &parts->hidden_unmatched : &parts->unmatched;
	return NULL;
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
	size_t m = add_all(events, 0, COMPUTES, compute, start, end);
	m = add_all(events, m, COPIES, copies, start, end);
	for (size_t i = 0; i < n; i++) {
		m = add(events, m, ops[i]->point ? BUBBLE : WAITS, ops[i]->start, ops[i]->arrived, start, end);
		m = add(events, m, ops[i]->matched ? MOVES : UNMATCHED, ops[i]->arrived, ops[i]->end, start, end);
	}
	SORT(events, m, compare_events);
	for (size_t i = 0; i + 1 < m; i++) {
		open[events[i].kind] += events[i].change;
		int64_t ns = events[i + 1].time - events[i].time;
		bool are_waits, bubble;
		int64_t *part = part_of(&parts, open, &are_waits, &bubble);
		if (!ns)
			continue;
		if (part)
			*part += ns;
		if (are_waits)
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
