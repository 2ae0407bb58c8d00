#include "trace/clock_offset.h"

#include "base/arena.h"

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
	struct region kept = {.n = 0};
	for (size_t i = 0; i < r->n; i++) {
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
	*r = kept;
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

static int compare_times(const void *a, const void *b)
{
	int64_t x = ((const struct clock_collective *)a)->entered[1];
	int64_t y = ((const struct clock_collective *)b)->entered[1];
	return x < y ? -1 : x > y;
}

/* A clock that is set while the program runs may still fit one steady drift by chance, and all the more tightly, as
 * next to nothing does. So nothing is relied on for longer than a quarter of the collectives: what those alone allow,
 * as far as the ones before and behind them, is what is stated. Wherever the clock was set, quarters that end and begin
 * near it say what it showed. */
enum { QUARTERS = 4, SHIFTS = 8, FEWEST = 4 };
static double reach_of_quarters(const struct clock_collective *list, size_t n, const struct clock_offset *o,
                                int64_t base, const struct corner *said, double reach)
{
	struct arena scratch = {0};
	struct clock_collective *timed = ARENA_NEW(&scratch, n, struct clock_collective);
	size_t part = n / QUARTERS > FEWEST ? n / QUARTERS : FEWEST, i = 0;
	size_t shift = part / SHIFTS ? part / SHIFTS : 1;
	double within = 0;
	memcpy(timed, list, n * sizeof *timed);
	qsort(timed, n, sizeof *timed, compare_times);
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
	arena_release(&scratch);
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
