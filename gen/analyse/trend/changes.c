#include "analyse/trend/changes.h"

#include "analyse/judge/stats.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

/* ---- what is rare ---- */

/* How often the statistic comes to u, for parts of m and n values: as many ways as u has partitions into at most m
 * parts of at most n, of which the largest part is n or is not: ways(m, n, u) = ways(m, n − 1, u) + ways(m − 1, n, u −
 * n). By additions alone, so that doubles lose nothing that matters. `ways` holds those of n − 1 for every m. */
enum { MOST_U = CHANGES_EXACT * CHANGES_WINDOW / 2 };

static void count_ways(double ways[CHANGES_EXACT + 1][MOST_U + 1], int n)
{
	for (int m = 1; m <= CHANGES_EXACT; m++)
		for (int u = n; u <= MOST_U; u++)
			ways[m][u] += ways[m - 1][u - n];
}

static double choose(int n, int m)
{
	double all = 1;
	for (int i = 1; i <= m; i++)
		all = all * (n - m + i) / i;
	return all;
}

/* The largest u with a chance of u and less, in both directions, that is rare enough. */
static int limit_of(const double *ways, int m, int n)
{
	double rare = CHANGES_CHANCE / 2 * choose(m + n, m), sum = 0;
	int u = 0;
	while (u <= m * n / 2 && (sum += ways[u]) <= rare)
		u++;
	return u - 1;
}

/* A normal distribution with correction for continuity; the true one has less in its tails. */
static int limit_by_normal(int m, int n)
{
	static const double Z = 4.4172; /* is exceeded with CHANGES_CHANCE, in both directions */
	double mean = m * (double)n / 2, deviation = sqrt(m * (double)n * (m + n + 1) / 12);
	return (int)floor(mean - 0.5 - Z * deviation);
}

void changes_limits_init(struct changes_limits *limits)
{
	static const double none[MOST_U + 1];
	double ways[CHANGES_EXACT + 1][MOST_U + 1];
	memset(limits->twice, -1, sizeof limits->twice);
	for (int m = 0; m <= CHANGES_EXACT; m++) {
		memcpy(ways[m], none, sizeof none);
		ways[m][0] = 1;
	}
	for (int n = 1; n <= CHANGES_WINDOW; n++) {
		count_ways(ways, n);
		for (int m = 1; m <= n; m++) {
			int u = m <= CHANGES_EXACT ? limit_of(ways[m], m, n) : limit_by_normal(m, n);
			limits->twice[m][n] = limits->twice[n][m] = (short)(u < 0 ? -1 : 2 * u);
		}
	}
}

/* ---- splits ---- */

/* Twice the rank-sum statistic of two parts: how many pairs of one of each are in order, ties being half of a pair. */
static int sign(double after, double before)
{
	return 1 + (after > before) - (after < before);
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* `part`: of how many values so many of these are worth, see independence(). */
static bool is_rare(const struct changes_limits *limits, long twice, size_t m, size_t n, double part)
{
	long other = 2 * (long)(m * n) - twice;
	double least = (double)(twice < other ? twice : other) * part * part;
	return least <= limits->twice[(size_t)((double)m * part)][(size_t)((double)n * part)];
}

double changes_level(const double *value, size_t n, struct arena *arena)
{
	return stats_median_of(value, n, ARENA_NEW(arena, n, double));
}

/* The shift from before[0 … m) to after[0 … n) and its interval: Hodges and Lehmann's estimate, and those differences
 * between which the statistic keeps with 95 %. */
static struct change measure(const double *before, size_t m, const double *after, size_t n)
{
	struct arena scratch = {0};
	size_t pairs = m * n, k = 0;
	double *d = ARENA_NEW(&scratch, pairs, double);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			d[k++] = after[j] - before[i];
	sort_doubles(d, pairs);
	double deviation = sqrt((double)pairs * (double)(m + n + 1) / 12);
	double outside = floor((double)pairs / 2 - 1.96 * deviation);
	size_t cut = outside > 0 ? (size_t)outside : 0;
	struct change c = {.shift = stats_median(d, pairs), .lo = d[cut], .hi = d[pairs - 1 - cut]};
	arena_release(&scratch);
	return c;
}

/* The parts beside a split at `at` of value[begin … end), as far as they are looked at. */
struct parts {
	size_t first, m, n;
};

static struct parts parts_of(size_t begin, size_t at, size_t end)
{
	size_t m = least_of(at - begin, CHANGES_WINDOW);
	return (struct parts){at - m, m, least_of(end - at, CHANGES_WINDOW)};
}

static long statistic(const double *value, size_t at, struct parts p)
{
	long twice = 0;
	for (size_t i = p.first; i < at; i++)
		for (size_t j = at; j < at + p.n; j++)
			twice += sign(value[j], value[i]);
	return twice;
}

/* ---- one value after the other ---- */

struct watch {
	const double *value;
	const struct changes_limits *limits;
	double least;
	size_t begin; /* of the level */
	long *twice;  /* by split: the statistic of the values up to the latest one */
};

/* Takes value[t] in: each split's statistic gets the pairs of it with the values before the split. */
static void take(struct watch *w, size_t t)
{
	long sum = 0;
	size_t most = (size_t)2 * CHANGES_WINDOW, first = t - w->begin > most ? t - most : w->begin;
	long before[2 * CHANGES_WINDOW + 1];
	for (size_t i = first; i < t; i++) {
		before[i - first] = sum;
		sum += sign(w->value[t], w->value[i]);
	}
	before[t - first] = sum;
	w->twice[t] = 0;
	size_t earliest = t - w->begin >= CHANGES_WINDOW ? t - CHANGES_WINDOW + 1 : w->begin + 1;
	for (size_t at = earliest; at <= t; at++) {
		size_t m = least_of(at - w->begin, CHANGES_WINDOW);
		w->twice[at] += before[at - first] - before[at - m - first];
	}
}

/* A machine that is slow now will often be slow at the next commit, too: then n values tell as much as n (1 - r) / (1 +
 * r) independent ones, r being the correlation of neighbours. It is told from how often neighbours are on the same side
 * of the median, which is as robust as ranks are, and only believed where chance would not give as much in one of a
 * hundred series. 1: independent. */
static double independence(const double *value, size_t n)
{
	enum { ENOUGH = 20 };
	struct arena scratch = {0};
	double level = n < ENOUGH ? 0 : changes_level(value, n, &scratch), same = 0, pairs = 0;
	arena_release(&scratch);
	for (size_t i = 1; n >= ENOUGH && i < n; i++) {
		double product = (value[i] - level) * (value[i - 1] - level);
		same += product > 0;
		pairs += product != 0;
	}
	double agreement = pairs > 0 ? 2 * same / pairs - 1 : 0;
	if (agreement * sqrt(pairs) < 2.58)
		return 1;
	double r = sin(acos(0) * agreement); /* acos(0): half of pi */
	return (1 - r) / (1 + r);
}

/* The sum of distances from the medians of both parts, which is least at the likeliest split. Ranks alone do not see
 * how far a value at the border is from either level. */
static double distance(const double *value, size_t begin, size_t at, size_t end)
{
	struct arena scratch = {0};
	double before = changes_level(value + begin, at - begin, &scratch), sum = 0;
	double after = changes_level(value + at, end - at, &scratch);
	for (size_t i = begin; i < end; i++)
		sum += fabs(value[i] - (i < at ? before : after));
	arena_release(&scratch);
	return sum;
}

/* The likeliest of the splits of value[begin … end) that are rare; 0: there is none. `twice`: their statistics, or
 * NULL: not known. */
static size_t locate(const double *value, const struct changes_limits *limits, size_t begin, size_t end, double part,
                     const long *twice)
{
	size_t best = 0;
	double least = INFINITY;
	for (size_t at = begin + 1; at < end; at++) {
		struct parts p = parts_of(begin, at, end);
		if (!is_rare(limits, twice ? twice[at] : statistic(value, at, p), p.m, p.n, part))
			continue;
		double d = distance(value, begin, at, end);
		if (d < least) {
			least = d;
			best = at;
		}
	}
	return best;
}

/* Where value[begin … t] has a rare split; 0: nowhere. */
static size_t some_split(const struct watch *w, size_t begin, size_t t, double part)
{
	for (size_t at = begin + 1; at <= t; at++)
		if (is_rare(w->limits, w->twice[at], least_of(at - w->begin, CHANGES_WINDOW), t + 1 - at, part))
			return at;
	return 0;
}

/* The likeliest split of the level up to value[t], if one is rare enough and large enough; else 0. */
static size_t look(const struct watch *w, size_t t)
{
	size_t begin = t - w->begin >= CHANGES_WINDOW ? t - CHANGES_WINDOW : w->begin;
	size_t some = some_split(w, begin, t, 1);
	if (!some)
		return 0;
	struct parts p = parts_of(w->begin, some, t + 1);
	double part = independence(w->value + p.first, p.m);
	if (part < 1 && !some_split(w, begin, t, part))
		return 0;
	size_t best = locate(w->value, w->limits, begin, t + 1, part, begin == w->begin ? w->twice : NULL);
	if (!best)
		return 0;
	p = parts_of(w->begin, best, t + 1);
	return fabs(measure(w->value + p.first, p.m, w->value + best, p.n).shift) >= w->least ? best : 0;
}

static struct change *add(struct changes *c, size_t at, size_t found, struct arena *arena)
{
	c->list = arena_grow(arena, c->list, c->n, c->n + 1, sizeof *c->list);
	c->list[c->n] = (struct change){.at = at, .found = found};
	return &c->list[c->n++];
}

static void watch(struct watch *w, size_t n, struct changes *c, struct arena *arena)
{
	for (size_t t = 1; t < n; t++) {
		take(w, t);
		size_t at = look(w, t);
		if (!at)
			continue;
		add(c, at, t, arena);
		w->begin = at;
		for (size_t i = at; i <= t; i++)
			w->twice[i] = 0;
		for (size_t i = at + 1; i <= t; i++)
			take(w, i);
	}
	c->alarms = c->n;
}

/* ---- with hindsight ---- */

static size_t begin_of(const struct changes *c, size_t i)
{
	return i ? c->list[i - 1].at : 0;
}

static size_t end_of(const struct changes *c, size_t i, size_t n)
{
	return i + 1 < c->n ? c->list[i + 1].at : n;
}

/* Moves a change to the likeliest split between its neighbours, and measures it there. Whether it still holds. */
static bool settle(const struct watch *w, struct changes *c, size_t i, size_t n)
{
	struct change *change = &c->list[i];
	struct parts p = parts_of(begin_of(c, i), change->at, end_of(c, i, n));
	double part = independence(w->value + p.first, p.m);
	size_t at = locate(w->value, w->limits, p.first, change->at + p.n, part, NULL);
	if (!at)
		return false;
	p = parts_of(begin_of(c, i), at, end_of(c, i, n));
	struct change measured = measure(w->value + p.first, p.m, w->value + at, p.n);
	measured.at = at;
	measured.found = change->found > at ? change->found : at;
	*change = measured;
	return fabs(measured.shift) >= w->least;
}

static void remove_change(struct changes *c, size_t i)
{
	memmove(&c->list[i], &c->list[i + 1], (c->n - i - 1) * sizeof *c->list);
	c->n--;
}

/* Later values show better where a change was, and that some alarm was none. */
static void look_back(const struct watch *w, struct changes *c, size_t n)
{
	for (size_t i = 0; i < c->n;) {
		if (settle(w, c, i, n)) {
			i++;
			continue;
		}
		remove_change(c, i);
		i = i ? i - 1 : 0; /* the one before has another neighbour now */
	}
}

double changes_noise(const double *value, size_t n, const struct changes *c, struct arena *arena)
{
	double *distance = ARENA_NEW(arena, n, double);
	size_t begin = 0;
	for (size_t i = 0; i <= c->n; i++) {
		size_t end = i < c->n ? c->list[i].at : n;
		double level = changes_level(value + begin, end - begin, arena);
		for (size_t k = begin; k < end; k++)
			distance[k] = fabs(value[k] - level);
		begin = end;
	}
	return n < 3 ? 0 : 1.4826 * changes_level(distance, n, arena);
}

/* Bai, "Estimation of a change point in multiple regression models", Review of Economics and Statistics 79, 1997: the
 * distance of the estimate from the truth, in units of (noise / shift) squared, is below 11 with 95 %. */
static void say_where(const double *value, size_t n, struct changes *c)
{
	struct arena scratch = {0};
	double noise = changes_noise(value, n, c, &scratch);
	for (size_t i = 0; i < c->n; i++) {
		double far = 11 * pow(noise / c->list[i].shift, 2);
		size_t room = end_of(c, i, n) - begin_of(c, i);
		c->list[i].within = far < (double)room ? (size_t)(far + 0.5) : room;
	}
	arena_release(&scratch);
}

struct changes changes_find(const double *value, size_t n, double least, const struct changes_limits *limits,
                            struct arena *arena)
{
	struct changes c = {0};
	if (!n)
		return c;
	struct watch w = {.value = value, .limits = limits, .least = least, .twice = ARENA_NEW(arena, n, long)};
	watch(&w, n, &c, arena);
	look_back(&w, &c, n);
	say_where(value, n, &c);
	return c;
}
