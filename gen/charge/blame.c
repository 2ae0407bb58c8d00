#include "charge/comm.h"

#include "base/heap.h"
#include "base/list.h"
#include "base/numbers.h"
#include "base/search.h"
#include "base/sort.h"

struct blame_wait {
	int64_t start, end;
	double weight; /* ns that are waited in the end; below 0: they were passed on, and it was for rank −1 − weight
	                */
};

/* Those of a rank, by time: what is asked for of other ranks', too; the rest is packed, and comes in the order in which
 * they are passed on. */
struct blame_rank {
	struct blame_wait *waits;
	size_t n;
	const char *rest;
	size_t n_rest; /* bytes */
};

/* ---- until all are there ---- */

/* Later ones first: whom a rank waited for before it was late, it waited for earlier. */
static int compare_waits(const void *a, const void *b, void *list)
{
	const struct rank_wait *x = (struct rank_wait *)list + *(const uint32_t *)a,
			       *y = (struct rank_wait *)list + *(const uint32_t *)b;
	return DESCENDING(x->last, y->last) ?: DESCENDING(x->start, y->start);
}

/* The part of a wait that lies in [from, to). */
static int64_t part_of(const struct blame_wait *w, int64_t from, int64_t to)
{
	int64_t start = w->start > from ? w->start : from, end = w->end < to ? w->end : to;
	return end > start ? end - start : 0;
}

static size_t first_after(const struct blame_rank *of, int64_t from)
{
	size_t i = 0;
	SEARCH(i, of->n, of->waits[i].end <= from);
	return i;
}

/* How long a rank waited in [from, to). */
static int64_t waited(const struct blame_rank *of, int64_t from, int64_t to)
{
	int64_t sum = 0;
	for (size_t i = first_after(of, from); i < of->n && of->waits[i].start < to; i++)
		sum += part_of(&of->waits[i], from, to);
	return sum;
}

void blame_add(struct blame *b, const struct rank_wait *list, size_t n)
{
	ARENA_LOCAL(scratch);
	BUF_LOCAL(rest);
	uint32_t *order = ARENA_TAKE(&scratch, n, uint32_t), before = 0;
	struct blame_rank of = {.waits = ARENA_TAKE(&b->arena, n, struct blame_wait), .n = n};
	for (size_t i = 0; i < n; i++) {
		const struct rank_wait *w = &list[i];
		order[n - 1 - i] = (uint32_t)i;
		of.waits[i] = (struct blame_wait){w->start, w->end, w->bubble ? 0 : (double)(w->end - w->start)};
	}
	SORT_BY(order, n, compare_waits, list);
	for (size_t i = 0; i < n; before = order[i++]) {
		const struct rank_wait *w = &list[order[i]];
		number_put_signed(&rest, (int64_t)before - order[i]);
		number_put_signed(&rest, w->last - w->end);
		number_put_signed(&rest, w->start - w->came);
		number_put_signed(&rest, w->came - w->since);
		number_put_signed(&rest, waited(&of, w->since, w->came));
		number_put(&rest, w->whom);
	}
	of.rest = arena_keep(&b->arena, rest.data, rest.n, 1);
	of.n_rest = rest.n;
	LIST_ADD(&b->arena, b->ranks, b->n_ranks, b->room, of);
}

/* ---- when they are ---- */

/* The rest of one wait of a rank, and of those whose other one came no later. */
struct rest {
	struct taken bytes;
	size_t left;
	uint32_t at; /* among the rank's waits */
	uint32_t whom;
	int64_t since, came, last;
	int64_t waited; /* by the rank itself, from `since` on until it came */
};

struct view {
	const struct blame_rank *ranks;
	struct rest *rests; /* by rank */
	double *ns;
};

static struct blame_wait *wait_of(const struct view *v, uint32_t rank)
{
	return &v->ranks[rank].waits[v->rests[rank].at];
}

/* The next wait of a rank; false: there is none. */
static bool next_wait(const struct view *v, uint32_t rank)
{
	struct rest *r = &v->rests[rank];
	if (!r->left)
		return false;
	r->left--;
	r->at = (uint32_t)(r->at - number_take_signed(&r->bytes));
	const struct blame_wait *w = wait_of(v, rank);
	r->last = w->end + number_take_signed(&r->bytes);
	r->came = w->start - number_take_signed(&r->bytes);
	r->since = r->came - number_take_signed(&r->bytes);
	r->waited = number_take_signed(&r->bytes);
	r->whom = (uint32_t)number_take(&r->bytes);
	return true;
}

/* Of two ranks, by their waits. */
static bool is_later(const void *x, const void *y, const void *context)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	const struct view *v = context;
	return (DESCENDING(v->rests[a].last, v->rests[b].last)
	                ?: DESCENDING(wait_of(v, a)->start, wait_of(v, b)->start) ?: ASCENDING(a, b)) < 0;
}

/* Which part of a wait is for the work of the one that is waited for, 0 to 1. */
static double own_part(const struct rest *r, int64_t whom_waited)
{
	int64_t mine = r->came - r->since - r->waited;
	double more = (double)(r->last - r->since - whom_waited - mine), all = (double)(r->last - r->came);
	return more >= all ? 1 : more <= 0 ? 0 : more / all;
}

static void pass_on(const struct view *v, uint32_t rank)
{
	const struct rest *r = &v->rests[rank];
	const struct blame_rank *whom = &v->ranks[r->whom];
	struct blame_wait *w = wait_of(v, rank), *theirs = whom->waits;
	int64_t all = w->weight > 0 ? waited(whom, r->since, r->last) : 0;
	double own = all ? own_part(r, all) : 1, rest = (1 - own) * w->weight;
	v->ns[r->whom] += own * w->weight;
	w->weight = -1 - (double)r->whom;
	for (size_t i = first_after(whom, r->since); rest > 0 && i < whom->n && theirs[i].start < r->last; i++) {
		double share = rest * (double)part_of(&theirs[i], r->since, r->last) / (double)all;
		/* clocks that are not quite one may have ranks wait in a ring */
		*(theirs[i].weight < 0 ? &v->ns[(uint32_t)(-1 - theirs[i].weight)] : &theirs[i].weight) += share;
	}
}

void blame_find(struct blame *b, bool follow, double *ns)
{
	ARENA_LOCAL(scratch);
	struct view v = {.ranks = b->ranks, .rests = ARENA_NEW(&scratch, b->n_ranks, struct rest), .ns = ns};
	uint32_t *latest = ARENA_TAKE(&scratch, b->n_ranks, uint32_t), n = 0; /* of each rank its latest wait */
	for (uint32_t rank = 0; rank < b->n_ranks; rank++) {
		const struct blame_rank *of = &b->ranks[rank];
		v.rests[rank] = (struct rest){.bytes = number_open(of->rest, of->n_rest), .left = of->n};
		while (!follow && next_wait(&v, rank))
			ns[v.rests[rank].whom] += wait_of(&v, rank)->weight;
		if (next_wait(&v, rank))
			heap_push(latest, n++, sizeof *latest, &rank, is_later, &v);
	}
	while (n) {
		const uint32_t rank = latest[0];
		pass_on(&v, rank);
		heap_pop(latest, n--, sizeof *latest, is_later, &v);
		if (next_wait(&v, rank))
			heap_push(latest, n++, sizeof *latest, &rank, is_later, &v);
	}
	arena_release(&b->arena);
	*b = (struct blame){0};
}
