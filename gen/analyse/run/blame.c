#include "analyse/run/blame.h"

#include "base/arena.h"
#include "base/search.h"

#include <stdlib.h>

/* A wait among all. */
struct one {
	struct rank_wait *wait;
	uint32_t rank;
};

/* Later ones first: whom a rank waited for before it was late, it waited for earlier. */
static int compare_ones(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	if (x->wait->last != y->wait->last)
		return x->wait->last > y->wait->last ? -1 : 1;
	if (x->wait->start != y->wait->start)
		return x->wait->start > y->wait->start ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The part of a wait that lies in [from, to). */
static int64_t part_of(const struct rank_wait *w, int64_t from, int64_t to)
{
	int64_t start = w->start > from ? w->start : from, end = w->end < to ? w->end : to;
	return end > start ? end - start : 0;
}

static size_t first_after(const struct rank_waits *waits, int64_t from)
{
	size_t i = 0;
	SEARCH(i, waits->n, waits->list[i].end <= from);
	return i;
}

/* How long a rank waited in [from, to). */
static int64_t waited(const struct rank_waits *waits, int64_t from, int64_t to)
{
	int64_t sum = 0;
	for (size_t i = first_after(waits, from); i < waits->n && waits->list[i].start < to; i++)
		sum += part_of(&waits->list[i], from, to);
	return sum;
}

/* Which part of a wait is for the work of the one that is waited for, 0 to 1. */
static double own_part(const struct one *one, const struct rank_waits *of_rank, int64_t whom_waited)
{
	const struct rank_wait *w = one->wait;
	int64_t mine = w->came - w->since - waited(&of_rank[one->rank], w->since, w->came);
	double more = (double)(w->last - w->since - whom_waited - mine), all = (double)(w->last - w->came);
	return more >= all ? 1 : more <= 0 ? 0 : more / all;
}

static void pass_on(const struct one *one, struct rank_waits *of_rank, double *ns)
{
	struct rank_wait *w = one->wait;
	struct rank_waits *theirs = &of_rank[w->whom];
	int64_t all = w->weight > 0 ? waited(theirs, w->since, w->last) : 0;
	double own = all ? own_part(one, of_rank, all) : 1, rest = (1 - own) * w->weight;
	ns[w->whom] += own * w->weight;
	w->passed_on = true;
	for (size_t i = first_after(theirs, w->since); rest > 0 && i < theirs->n && theirs->list[i].start < w->last;
	     i++) {
		struct rank_wait *before = &theirs->list[i];
		double share = rest * (double)part_of(before, w->since, w->last) / (double)all;
		/* clocks that are not quite one may have ranks wait in a ring */
		*(before->passed_on ? &ns[before->whom] : &before->weight) += share;
	}
}

void blame_find(struct rank_waits *of_rank, uint32_t n_ranks, bool follow, double *ns)
{
	struct arena scratch = {0};
	size_t n = 0;
	for (uint32_t r = 0; r < n_ranks; r++)
		n += of_rank[r].n;
	struct one *all = ARENA_NEW(&scratch, n, struct one);
	n = 0;
	for (uint32_t r = 0; r < n_ranks; r++)
		for (size_t i = 0; i < of_rank[r].n; i++) {
			struct rank_wait *w = &of_rank[r].list[i];
			w->weight = w->bubble ? 0 : (double)(w->end - w->start);
			w->passed_on = false;
			all[n++] = (struct one){w, r};
			if (!follow)
				ns[w->whom] += w->weight;
		}
	if (n && follow)
		qsort(all, n, sizeof *all, compare_ones);
	for (size_t i = 0; i < n && follow; i++)
		pass_on(&all[i], of_rank, ns);
	arena_release(&scratch);
}
