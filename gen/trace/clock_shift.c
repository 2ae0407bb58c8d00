#include "trace/clock_shift.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum {
	FEWEST = 8,   /* collectives that show whether they are any */
	FARTHEST = 32 /* collectives by which recording may have begun elsewhere, or elsewhere than the clocks say */
};
static const double TOGETHER = 0.5;  /* of how far apart hosts come, how far apart they leave */
static const double AT_RANDOM = 0.9; /* the quantile that is compared: some collectives begin when one before ends */
static const double ALIKE = 2;       /* how much better another match has to be, … */
static const double NOISE = 1e3;     /* … and by more than so many ns, of which clocks of GPUs say nothing */

/* How far two hosts' coming (or leaving) varies from one collective to the next. No drift of clocks shows in that. */
static double vary(const struct meeting *a, const struct meeting *b, size_t n, bool leaving, double *sorted)
{
	for (size_t k = 0; k + 1 < n; k++) {
		int64_t x = leaving ? a[k].left - b[k].left : a[k].entered - b[k].entered;
		int64_t y = leaving ? a[k + 1].left - b[k + 1].left : a[k + 1].entered - b[k + 1].entered;
		sorted[k] = fabs((double)y - (double)x);
	}
	return sort_select(sorted, n - 1, (size_t)(AT_RANDOM * (double)(n - 2)));
}

/* Where a's and b's are beside each other from, and how many are, if b's are shifted by so much. */
struct span_of_both {
	size_t a, b, n;
};
static struct span_of_both shifted(const struct seen *a, const struct seen *b, int64_t shift)
{
	size_t from = shift < 0 ? (size_t)-shift : 0, to = shift > 0 ? (size_t)shift : 0;
	if (from >= a->n || to >= b->n)
		return (struct span_of_both){0};
	return (struct span_of_both){from, to, a->n - from < b->n - to ? a->n - from : b->n - to};
}

/* The shift by which the hosts' clocks, as they are, would have b's leave when a's do. */
static int64_t shift_by_time(const struct seen *a, const struct seen *b)
{
	int64_t start = a->list[0].left > b->list[0].left ? a->list[0].left : b->list[0].left;
	int64_t end = a->list[a->n - 1].left < b->list[b->n - 1].left ? a->list[a->n - 1].left : b->list[b->n - 1].left;
	int64_t middle = start + (end - start) / 2;
	size_t k = 0, j = 0;
	for (size_t i = 0; i < a->n; i++)
		k = llabs(a->list[i].left - middle) < llabs(a->list[k].left - middle) ? i : k;
	for (size_t i = 0; i < b->n; i++)
		j = llabs(b->list[i].left - a->list[k].left) < llabs(b->list[j].left - a->list[k].left) ? i : j;
	return end < start ? 0 : (int64_t)j - (int64_t)k;
}

bool clock_shift_find(const struct seen *a, const struct seen *b, bool certain, struct arena *scratch, int64_t *shift)
{
	size_t shorter = a->n < b->n ? a->n : b->n;
	if (shorter < FEWEST)
		return false;
	int64_t far = shorter / 4 < FARTHEST ? (int64_t)(shorter / 4) : FARTHEST, by_time = shift_by_time(a, b);
	int64_t low = by_time < 0 ? by_time - far : -far, high = by_time > 0 ? by_time + far : far, best = 0;
	double *room = ARENA_NEW(scratch, a->n + b->n, double), least = INFINITY, second = INFINITY;
	double *leaves = ARENA_NEW(scratch, (size_t)(high - low) + 1, double);
	for (int64_t s = low; s <= high; s++) {
		struct span_of_both both = shifted(a, b, s);
		bool near = llabs(s) <= far || llabs(s - by_time) <= far;
		leaves[s - low] = INFINITY;
		if (!near || both.n < FEWEST || 4 * both.n < shorter)
			continue;
		double leave = leaves[s - low] = vary(a->list + both.a, b->list + both.b, both.n, true, room);
		if (leave < least) {
			second = least;
			least = leave;
			best = s;
		} else if (leave < second) {
			second = leave;
		}
	}
	double alike = ALIKE * least + NOISE;
	/* One that is clearly better than all others; else, where both have as many, as recorded, unless the clocks
	 * are for another one that fits as well. */
	if (second <= alike || (a->n == b->n && leaves[-low] <= alike)) {
		best = low;
		for (int64_t s = low; s <= high; s++) {
			int64_t here = llabs(s - by_time), there = llabs(best - by_time);
			bool nearer = here < there || (here == there && llabs(s) < llabs(best));
			if (leaves[s - low] <= alike && (leaves[best - low] > alike || nearer))
				best = s;
		}
		if (best || a->n != b->n)
			return false;
	}
	struct span_of_both both = shifted(a, b, best);
	*shift = best;
	return certain || vary(a->list + both.a, b->list + both.b, both.n, true, room) <=
	                          TOGETHER * vary(a->list + both.a, b->list + both.b, both.n, false, room);
}
