#include "trace/files.h"

#include "base/arena.h"
#include "base/list.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair (offset at `at`, drift), and the corners of a convex region of them, in turn. A bound cuts corners off and
 * makes two: few are left, as most bounds cut nothing. One that would need more room than there is does not count, so
 * that the region is too large then, never too small. */
struct corner {
	double offset, drift;
};
enum { CORNERS_MAX = 64 };
struct region {
	struct corner corner[CORNERS_MAX + 2];
	size_t n;
};

static const double DRIFT_MAX = 1e-3;                   /* crystals: below 100 ppm */
static const double LOOSEN_MIN = 1e3, LOOSEN_MAX = 1e6; /* ns */

/* Offset + drift × t − bound: what has to be at most 0 (sign 1) or at least 0 (sign −1). */
static double excess(const struct corner *c, double t, double bound, double sign)
{
	return sign * (c->offset + c->drift * t - bound);
}

/* Leaves the part of the region that keeps to the bound; the region stays as it is where there is no room for a further
 * corner. */
static void cut(struct region *r, double t, double bound, double sign)
{
	struct region kept;
	bool cuts = false;
	kept.n = 0;
	for (size_t i = 0; i < r->n; i++)
		cuts = cuts || !(excess(&r->corner[i], t, bound, sign) <= 0);
	for (size_t i = 0; i < r->n && cuts; i++) {
		const struct corner *a = &r->corner[i], *b = &r->corner[(i + 1) % r->n];
		double x = excess(a, t, bound, sign), y = excess(b, t, bound, sign);
		if (kept.n + 2 > CORNERS_MAX)
			return;
		if (x <= 0)
			kept.corner[kept.n++] = *a;
		if ((x < 0 && y > 0) || (x > 0 && y < 0)) {
			double share = x / (x - y);
			kept.corner[kept.n++] = (struct corner){a->offset + share * (b->offset - a->offset),
			                                        a->drift + share * (b->drift - a->drift)};
		}
	}
	if (!cuts) /* nearly all */
		return;
	r->n = kept.n;
	memcpy(r->corner, kept.corner, kept.n * sizeof *kept.corner);
}

/* The region that fits all bounds, loosened by so much; empty where nothing does. `base` is an offset near the true
 * one, so that what is left is small and exact. */
static struct region fit(const struct clock_collective *list, size_t n, int64_t at, int64_t base, double reach,
                         double loosen)
{
	struct region r = {
		.corner = {{-reach, -DRIFT_MAX}, {reach, -DRIFT_MAX}, {reach, DRIFT_MAX}, {-reach, DRIFT_MAX}}, .n = 4};
	for (size_t i = 0; i < n && r.n; i++) {
		const struct clock_collective *c = &list[i];
		/* the first host's ranks leave after the second's have entered, and the other way round */
		cut(&r, (double)(c->entered[1] - at), (double)(c->left[0] - c->entered[1] - base) + loosen, 1);
		cut(&r, (double)(c->left[1] - at), (double)(c->entered[0] - c->left[1] - base) - loosen, -1);
	}
	return r;
}

/* The centre of a region's area; of one without area, of its corners. */
static struct corner centre(const struct region *r)
{
	double area = 0, x = 0, y = 0, mean_x = 0, mean_y = 0;
	for (size_t i = 0; i < r->n; i++) {
		mean_x += r->corner[i].offset / (double)r->n;
		mean_y += r->corner[i].drift / (double)r->n;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct corner *a = &r->corner[i], *b = &r->corner[(i + 1) % r->n];
		double ax = a->offset - mean_x, ay = a->drift - mean_y, bx = b->offset - mean_x, by = b->drift - mean_y;
		double cross = ax * by - bx * ay;
		area += cross;
		x += (ax + bx) * cross;
		y += (ay + by) * cross;
	}
	if (!(fabs(area) > 0))
		return (struct corner){mean_x, mean_y};
	return (struct corner){mean_x + x / (3 * area), mean_y + y / (3 * area)};
}

/* How far what is said may be from the corners of a region, from one instant to another. */
static double reach_of(const struct region *r, const struct corner *said, double from, double to)
{
	const double ends[] = {from, to};
	double within = 0;
	for (size_t i = 0; i < r->n; i++)
		for (int end = 0; end < 2; end++)
			within = fmax(within, fabs(r->corner[i].offset - said->offset +
			                           (r->corner[i].drift - said->drift) * ends[end]));
	return within;
}

SORT_ORDER(compare_times, struct clock_collective, ASCENDING(x->entered[1], y->entered[1]))

/* A clock that is set while the program runs may still fit one steady drift by chance, and all the more tightly, as
 * next to nothing does. So nothing is relied on for longer than a quarter of the collectives: what those alone allow,
 * as far as the ones before and behind them, is what is stated. Wherever the clock was set, quarters that end and begin
 * near it say what it showed. */
enum { QUARTERS = 4, SHIFTS = 8, FEWEST = 4 };
static double reach_of_quarters(const struct clock_collective *list, size_t n, const struct clock_offset *o,
                                int64_t base, const struct corner *said, double reach)
{
	ARENA_LOCAL(scratch);
	struct clock_collective *timed = ARENA_NEW(&scratch, n, struct clock_collective);
	size_t part = n / QUARTERS > FEWEST ? n / QUARTERS : FEWEST, i = 0;
	size_t shift = part / SHIFTS ? part / SHIFTS : 1;
	double within = 0;
	memcpy(timed, list, n * sizeof *timed);
	SORT(timed, n, compare_times);
	while (part < n) {
		size_t end = i + part < n ? i + part : n, begin = end - part;
		size_t before = begin > shift ? begin - shift : 0, behind = end + shift < n ? end + shift : n;
		struct region r = fit(timed + begin, part, o->at, base, reach, o->loosened);
		within = fmax(within, reach_of(&r, said, (double)(timed[before].entered[1] - o->at),
		                               (double)(timed[behind - 1].entered[1] - o->at)));
		if (end == n)
			break;
		i += shift;
	}
	return within;
}

bool clock_offset_find(const struct clock_collective *list, size_t n, struct clock_offset *out)
{
	int64_t first = INT64_MAX, last = INT64_MIN, base = 0;
	double narrowest = INFINITY, widest = 0;
	for (size_t i = 0; i < n; i++) {
		const struct clock_collective *c = &list[i];
		int64_t low = c->entered[0] - c->left[1], high = c->left[0] - c->entered[1];
		first = c->entered[1] < first ? c->entered[1] : first;
		last = c->left[1] > last ? c->left[1] : last;
		widest = fmax(widest, fabs((double)(high - low)));
		if ((double)(high - low) < narrowest) {
			narrowest = (double)(high - low);
			base = low + (high - low) / 2;
		}
	}
	int64_t at = first + (last - first) / 2;
	/* Far enough for any offset that the steepest drift leads to from the narrowest pair of bounds. */
	double reach = widest + DRIFT_MAX * (double)(last - first) + 2 * LOOSEN_MAX, loosen = 0;
	struct region r = fit(list, n, at, base, reach, 0);
	while (!r.n && loosen < LOOSEN_MAX) {
		loosen = loosen > 0 ? 2 * loosen : LOOSEN_MIN;
		r = fit(list, n, at, base, reach, loosen);
	}
	if (!r.n)
		return false;
	struct corner middle = centre(&r);
	*out = (struct clock_offset){
		.at = at, .offset = (double)base + middle.offset, .drift = middle.drift, .loosened = loosen, .n = n};
	double steady = reach_of(&r, &middle, (double)(first - at), (double)(last - at));
	out->within = fmax(steady, reach_of_quarters(list, n, out, base, &middle, reach)) + loosen;
	return true;
}

int64_t clock_offset_at(const struct clock_offset *o, int64_t time)
{
	return llround(o->offset + o->drift * (double)(time - o->at));
}

void clock_transfers_add(struct clock_transfers *transfers, const struct trace *t, const struct comm_calls *calls,
                         const struct comm_op *op, uint32_t host, const struct comm_kernel *kernel, struct arena *arena)
{
	const struct trace_comm_calls *c = &t->comm_calls;
	uint32_t process = t->devices[kernel->device].process;
	for (uint32_t i = 0; i < op->n; i++) {
		uint32_t call = calls->calls[op->first + i];
		const char *name = names_text(t->names, c->name[call]);
		bool send = strcmp(name, "ncclSend") == 0;
		const struct comm_member *me = comm_calls_member(calls, c->comm[call], process);
		if ((!send && strcmp(name, "ncclRecv") != 0) || !me || c->peer[call] == TRACE_NONE)
			continue;
		LIST_ADD(arena, transfers->list, transfers->n, transfers->room,
		         (struct clock_transfer){.comm = c->comm[call],
		                                 .from = send ? me->rank : c->peer[call],
		                                 .to = send ? c->peer[call] : me->rank,
		                                 .send = send,
		                                 .host = host,
		                                 .launched = kernel->launched,
		                                 .start = kernel->start,
		                                 .end = kernel->end});
	}
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
	return ASCENDING(x->comm, y->comm) ?: ASCENDING(lower(x), lower(y)) ?: ASCENDING(higher(x), higher(y));
}

SORT_ORDER(compare_transfers, struct clock_transfer,
           compare_ranks(x, y) ?: ASCENDING(x->from, y->from) ?: ASCENDING(y->send, x->send)
                   ?: ASCENDING(x->launched, y->launched) ?: ASCENDING(x->start, y->start))

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
	SORT(list, transfers->n, compare_transfers);
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
			LIST_ADD(arena, *out, n, room,
			         (struct clock_collective){.entered = {to_b[k].start, to_a[k].start},
			                                   .left = {to_a[n_to_a + k].end, to_b[n_to_b + k].end}});
		}
	}
	return n;
}

enum {
	SHIFT_FEWEST = 8, /* collectives that show whether they are any */
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
static struct span_of_both shifted(const struct clock_seen *a, const struct clock_seen *b, int64_t shift)
{
	size_t from = shift < 0 ? (size_t)-shift : 0, to = shift > 0 ? (size_t)shift : 0;
	if (from >= a->n || to >= b->n)
		return (struct span_of_both){0};
	return (struct span_of_both){from, to, a->n - from < b->n - to ? a->n - from : b->n - to};
}

/* The shift by which the hosts' clocks, as they are, would have b's leave when a's do. */
static int64_t shift_by_time(const struct clock_seen *a, const struct clock_seen *b)
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

/* Of the shifts, from `low` to `high`, with which both leave alike, the one nearest to what the clocks say. */
static int64_t nearest_alike(const double *leaves, int64_t low, int64_t high, int64_t by_time, double alike)
{
	int64_t best = low;
	for (int64_t s = low; s <= high; s++) {
		int64_t here = llabs(s - by_time), there = llabs(best - by_time);
		bool nearer = here < there || (here == there && llabs(s) < llabs(best));
		if (leaves[s - low] <= alike && (leaves[best - low] > alike || nearer))
			best = s;
	}
	return best;
}

bool clock_shift_find(const struct clock_seen *a, const struct clock_seen *b, bool certain, struct arena *scratch,
                      int64_t *shift)
{
	size_t shorter = a->n < b->n ? a->n : b->n;
	if (shorter < SHIFT_FEWEST)
		return false;
	int64_t far = shorter / 4 < FARTHEST ? (int64_t)(shorter / 4) : FARTHEST, by_time = shift_by_time(a, b);
	int64_t low = by_time < 0 ? by_time - far : -far, high = by_time > 0 ? by_time + far : far, best = 0;
	double *room = ARENA_NEW(scratch, a->n + b->n, double), least = INFINITY, second = INFINITY;
	double *leaves = ARENA_NEW(scratch, (size_t)(high - low) + 1, double);
	for (int64_t s = low; s <= high; s++) {
		struct span_of_both both = shifted(a, b, s);
		bool near = llabs(s) <= far || llabs(s - by_time) <= far;
		leaves[s - low] = INFINITY;
		if (!near || both.n < SHIFT_FEWEST || 4 * both.n < shorter)
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
		best = nearest_alike(leaves, low, high, by_time, alike);
		if (best || a->n != b->n)
			return false;
	}
	struct span_of_both both = shifted(a, b, best);
	*shift = best;
	return certain || vary(a->list + both.a, b->list + both.b, both.n, true, room) <=
	                          TOGETHER * vary(a->list + both.a, b->list + both.b, both.n, false, room);
}
