#include "trend/changes.h"

#include "base/list.h"
#include "base/sort.h"
#include "verdict/stats.h"

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

/* `part`: of how many values so many of these are worth, see worth(). */
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
 * between which the statistic keeps with 95 %; `wider` times as far where neighbours are alike. */
static struct change measure(const double *before, size_t m, const double *after, size_t n, double wider)
{
	ARENA_LOCAL(scratch);
	size_t pairs = m * n, k = 0;
	double *d = ARENA_NEW(&scratch, pairs, double);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			d[k++] = after[j] - before[i];
	sort_doubles(d, pairs);
	double deviation = sqrt((double)pairs * (double)(m + n + 1) / 12);
	double outside = floor((double)pairs / 2 - 1.96 * wider * deviation);
	size_t cut = outside > 0 ? (size_t)outside : 0;
	struct change c = {.shift = stats_median(d, pairs), .lo = d[cut], .hi = d[pairs - 1 - cut]};
	return c;
}

/* ---- one value after the other ---- */

enum { ENOUGH = 20 }; /* fewer values do not tell a drift */
static const double MOST_ALIKE = 0.9;
static const double ALIKE = 0.2;    /* so alike neighbours count, also where that is below twice the error */
static const double LINE_GAINS = 6; /* usual distances by which a step has to be better than a line, which is simpler */
static const double PER_MEDIAN = 1.183; /* the mean distance of normal noise, of the median one */
static const double LIKELY_Z = 3;       /* of a split beside a slope, before that slope is told again without it */
static const double DRIFT_Z = 3.3;      /* one in a thousand */

struct watch {
	const double *value;
	const struct changes_limits *limits;
	double least;
	size_t begin; /* of the level */
	bool drifts;  /* it does, so far */
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

/* ---- what is no change ---- */

/* How much longer each value is than the one before: the median of the slopes between those on one side of the split
 * `at` (0: all), after Theil and Sen. */
static double slope_of(const double *value, size_t n, size_t at)
{
	enum { MANY = 150 };
	ARENA_LOCAL(scratch);
	size_t stride = 1 + n / MANY, k = 0;
	double *slope = ARENA_NEW(&scratch, n * n / stride / stride / 2 + n, double);
	for (size_t i = 0; i < n; i += stride)
		for (size_t j = i + stride; j < n && (i >= at || j < at); j += stride)
			slope[k++] = (value[j] - value[i]) / (double)(j - i);
	return changes_level(slope, k, &scratch);
}

/* Values since a level began, or of two levels beside a change. */
struct stretch {
	double *value; /* without the drift */
	size_t n;
	double drift; /* of one value to the next */
	const long *twice;
	double alike;      /* the correlation of neighbours, */
	double most_alike; /* and what it may well be */
};

/* Of how many values so many are worth for a split, where the drift is told from the same values: by the variance of a
 * step beside a common slope. */
static double worth(const struct stretch *s, size_t m, size_t n)
{
	double a = (double)m, b = (double)n;
	return s->drift == 0 ? 1 : 1 / (1 + 3 * (a + b) * (a + b) / (a * a * a + b * b * b) / (1 / a + 1 / b));
}

static bool splits(const struct watch *w, const struct stretch *s, size_t at)
{
	if (s->n - at > CHANGES_WINDOW)
		return false;
	size_t m = least_of(at, CHANGES_WINDOW);
	return is_rare(w->limits, s->twice[at], m, s->n - at, worth(s, m, s->n - at));
}

/* The statistics of the splits of what each value says beyond the one before it. */
static void count_pairs(const struct watch *w, struct stretch *s, struct arena *arena)
{
	double *own = ARENA_NEW(arena, s->n, double);
	struct watch of = {.value = own, .limits = w->limits, .twice = ARENA_NEW(arena, s->n, long)};
	for (size_t i = 0; i < s->n; i++) {
		own[i] = s->value[i] - s->most_alike * (i ? s->value[i - 1] : s->value[0]);
		if (i)
			take(&of, i);
	}
	s->twice = of.twice;
}

/* The sum of distances from the medians of both parts, which is least at the likeliest split. Ranks alone do not see
 * how far a value at the border is from either level. `usual` (or NULL): a distance of which outliers are no part. */
static double distance(const struct stretch *s, size_t at, double *usual)
{
	ARENA_LOCAL(scratch);
	double before = at ? changes_level(s->value, at, &scratch) : 0, sum = 0;
	double after = changes_level(s->value + at, s->n - at, &scratch), *far = ARENA_NEW(&scratch, s->n, double);
	for (size_t i = 0; i < s->n; i++)
		sum += far[i] = fabs(s->value[i] - (i < at ? before : after));
	if (usual)
		*usual = PER_MEDIAN * changes_level(far, s->n, &scratch);
	return sum;
}

/* A machine that is slow now will often be slow at the next commit, too. The correlation of neighbours beside the split
 * is told by Kendall's tau, which outliers do not move, of what a common slope leaves: a drift makes all alike. Where
 * it is beyond chance it is taken as high as it may well be: too low raises alarms; too high, or where there is none,
 * takes commits longer. */
static void correlate(struct stretch *s, size_t at, struct arena *arena)
{
	double *value = ARENA_NEW(arena, s->n, double), slope = s->n < ENOUGH ? 0 : slope_of(s->value, s->n, at);
	for (size_t i = 0; i < s->n; i++)
		value[i] = s->value[i] - slope * (double)i;
	double level[] = {changes_level(value, at, arena), changes_level(value + at, s->n - at, arena)};
	long sum = 0, pairs = 0;
	for (size_t i = 0; i < s->n; i++)
		value[i] -= level[i >= at];
	for (size_t i = 1; i < s->n; i++)
		for (size_t j = i + 1; j < s->n; j++) {
			int product = (sign(value[j], value[i]) - 1) * (sign(value[j - 1], value[i - 1]) - 1);
			sum += product;
			pairs += product != 0;
		}
	double r = pairs ? sin(acos(0) * (double)sum / (double)pairs) : 0; /* acos(0): half of pi */
	double unsure = (1 - r * r) / sqrt((double)s->n);
	s->alike = fmin(fmax(r, 0), MOST_ALIKE);
	bool counts = r > fmax(unsure, fmin(2 * unsure, ALIKE));
	s->most_alike = counts ? fmin(r + unsure, MOST_ALIKE) : 0;
}

static size_t likeliest(const struct watch *w, const struct stretch *s)
{
	size_t best = 0;
	double least = INFINITY;
	for (size_t at = 1; at < s->n; at++) {
		double d = splits(w, s, at) ? distance(s, at, NULL) : INFINITY;
		if (d < least) {
			least = d;
			best = at;
		}
	}
	return best;
}

static struct stretch flatten(const struct watch *w, size_t begin, size_t end, double drift, struct arena *arena)
{
	struct stretch s = {.value = ARENA_NEW(arena, end - begin, double), .n = end - begin, .drift = drift};
	for (size_t i = 0; i < s.n; i++)
		s.value[i] = w->value[begin + i] - drift * (double)i;
	count_pairs(w, &s, arena);
	return s;
}

/* Where a step on top of the drift may be, which was told of all values, so that the step is a part of it: what is left
 * of the step is as much less as its error, squared. 0: nowhere. */
static size_t candidate(const struct watch *w, size_t begin, size_t end, double drift, struct arena *arena)
{
	struct stretch s = flatten(w, begin, end, drift, arena);
	size_t best = 0, first = s.n > CHANGES_WINDOW ? s.n - CHANGES_WINDOW : 1;
	double most = LIKELY_Z;
	for (size_t at = first; at < s.n; at++) {
		size_t m = least_of(at, CHANGES_WINDOW), n = s.n - at;
		double pairs = (double)(m * n), variance = pairs * (double)(m + n + 1) / 3; /* of twice the statistic */
		double z = fabs((double)s.twice[at] - pairs) / sqrt(variance * worth(&s, m, n));
		if (z > most) {
			most = z;
			best = at;
		}
	}
	return best;
}

/* The likeliest of the splits of value[begin … end) that are rare, in `s`; 0: there is none. */
static size_t locate(const struct watch *w, size_t begin, size_t end, double drift, struct stretch *s,
                     struct arena *arena)
{
	*s = flatten(w, begin, end, drift, arena);
	size_t best = likeliest(w, s);
	if (!best)
		return 0;
	correlate(s, best, arena);
	if (s->most_alike > 0)
		count_pairs(w, s, arena);
	return s->most_alike > 0 ? likeliest(w, s) : best;
}

/* Whether both parts beside a split go up, or down, beyond chance: by Mann and Kendall's statistic. */
static bool drifts_beside(const struct stretch *s, size_t at)
{
	long sum = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = i + 1; j < s->n && (i >= at || j < at); j++)
			sum += sign(s->value[j], s->value[i]) - 1;
	double m = (double)at, n = (double)(s->n - at);
	double variance = (m * (m - 1) * (2 * m + 5) + n * (n - 1) * (2 * n + 5)) / 18;
	return fabs((double)sum) > DRIFT_Z * sqrt(variance * (1 + s->alike) / (1 - s->alike));
}

/* The same, where a line through all values fits better than a step, or did before: on top of that line. `hint`: where
 * the change may be, so that it is no part of the line; 0: near the end. */
static size_t split_of(const struct watch *w, size_t begin, size_t end, size_t hint, bool *drifts, struct stretch *s,
                       struct arena *arena)
{
	size_t n = end - begin, at = *drifts ? 0 : locate(w, begin, end, 0, s, arena);
	if (!*drifts && ((!at && !hint) || n < ENOUGH))
		return at;
	double drift = slope_of(w->value + begin, n, hint);
	if (!*drifts) {
		struct stretch line = {.value = ARENA_NEW(arena, n, double), .n = n};
		double all = hint ? slope_of(w->value + begin, n, 0) : drift;
		for (size_t i = 0; i < n; i++)
			line.value[i] = s->value[i] - all * (double)i;
		/* the difference of sums varies by as much more as neighbours are alike */
		double usual = 0, step = at ? distance(s, at, &usual) : 0;
		double gains = LINE_GAINS * usual * sqrt((1 + s->alike) / (1 - s->alike));
		*drifts = (at && distance(&line, 0, NULL) < step + gains) || (hint && drifts_beside(s, at ? at : hint));
		if (!*drifts)
			return at;
	}
	at = hint ? locate(w, begin, end, drift, s, arena) : candidate(w, begin, end, drift, arena);
	return at ? locate(w, begin, end, slope_of(w->value + begin, n, at), s, arena) : 0;
}

static struct change measure_split(const struct stretch *s, size_t at)
{
	size_t m = least_of(at, CHANGES_WINDOW), n = least_of(s->n - at, CHANGES_WINDOW);
	double wider = sqrt((1 + s->alike) / (1 - s->alike) / worth(s, m, n));
	struct change c = measure(s->value + at - m, m, s->value + at, n, wider);
	c.drift = s->drift;
	return c;
}

/* The likeliest split of the level up to value[t], if one is rare enough and large enough; else 0. */
static size_t look(struct watch *w, size_t t)
{
	const size_t most = (size_t)2 * CHANGES_WINDOW;
	const size_t begin = t + 1 - w->begin > most ? t + 1 - most : w->begin;
	if (!w->drifts) {
		bool rare = false;
		for (size_t at = t - begin >= CHANGES_WINDOW ? t + 1 - CHANGES_WINDOW : begin + 1; at <= t && !rare;
		     at++)
			rare = is_rare(w->limits, w->twice[at], least_of(at - w->begin, CHANGES_WINDOW), t + 1 - at, 1);
		if (!rare)
			return 0;
	}
	ARENA_LOCAL(scratch);
	struct stretch s;
	size_t at = split_of(w, begin, t + 1, 0, &w->drifts, &s, &scratch);
	if (at && fabs(measure_split(&s, at).shift) < w->least)
		at = 0;
	return at ? begin + at : 0;
}

static void watch(struct watch *w, size_t n, struct changes *c, struct arena *arena)
{
	for (size_t t = 1; t < n; t++) {
		take(w, t);
		size_t at = look(w, t);
		if (!at)
			continue;
		LIST_PUT(arena, c->list, c->n, (struct change){.at = at, .found = t, .drift = w->drifts});
		w->begin = at;
		w->drifts = false;
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
	size_t before = least_of(change->at - begin_of(c, i), CHANGES_WINDOW), first = change->at - before;
	size_t end = change->at + least_of(end_of(c, i, n) - change->at, CHANGES_WINDOW);
	ARENA_LOCAL(scratch);
	struct stretch s;
	bool drifts = change->drift != 0;
	size_t at = split_of(w, first, end, before, &drifts, &s, &scratch), found = change->found;
	if (at) {
		*change = measure_split(&s, at);
		change->at = first + at;
		change->found = found > change->at ? found : change->at;
	}
	return at && fabs(change->shift) >= w->least;
}

/* Later values show better where a change was, and that some alarm was none. */
static void look_back(const struct watch *w, struct changes *c, size_t n)
{
	for (size_t i = 0; i < c->n;) {
		if (settle(w, c, i, n)) {
			i++;
			continue;
		}
		memmove(&c->list[i], &c->list[i + 1], (--c->n - i) * sizeof *c->list);
		i = i ? i - 1 : 0; /* the one before has another neighbour now */
	}
}

double changes_noise(const double *value, size_t n, const struct changes *c, struct arena *arena)
{
	double *distance = ARENA_NEW(arena, n, double), *flat = ARENA_NEW(arena, n, double);
	size_t begin = 0;
	for (size_t i = 0; i <= c->n; i++) {
		size_t end = i < c->n ? c->list[i].at : n;
		double drift = i < c->n ? c->list[i].drift : c->drift;
		for (size_t k = begin; k < end; k++)
			flat[k] = value[k] - drift * (double)k;
		double level = changes_level(flat + begin, end - begin, arena);
		for (size_t k = begin; k < end; k++)
			distance[k] = fabs(flat[k] - level);
		begin = end;
	}
	return n < 3 ? 0 : 1.4826 * changes_level(distance, n, arena);
}

/* Bai, "Estimation of a change point in multiple regression models", Review of Economics and Statistics 79, 1997: the
 * distance of the estimate from the truth, in units of (noise / shift) squared, is below 11 with 95 %. */
static void say_where(const double *value, size_t n, struct changes *c)
{
	ARENA_LOCAL(scratch);
	double noise = changes_noise(value, n, c, &scratch);
	for (size_t i = 0; i < c->n; i++) {
		double far = 11 * pow(noise / c->list[i].shift, 2);
		size_t room = end_of(c, i, n) - begin_of(c, i);
		c->list[i].within = far < (double)room ? (size_t)(far + 0.5) : room;
	}
}

/* Of the last level: where a line fits it better than any step, and goes up or down beyond what neighbours that are
 * alike do. */
static double drift_at_end(const struct watch *w, size_t n, const struct changes *c)
{
	ARENA_LOCAL(scratch);
	size_t begin = c->n ? c->list[c->n - 1].at : 0;
	struct stretch s = {.value = ARENA_NEW(&scratch, n - begin, double), .n = n - begin};
	double drift = c->n ? c->list[c->n - 1].drift : 0, slope = slope_of(w->value + begin, n - begin, 0);
	memcpy(s.value, w->value + begin, s.n * sizeof *s.value);
	if (drift == 0 && w->drifts) {
		correlate(&s, s.n / 2, &scratch);
		s.alike = s.most_alike;
		drift = drifts_beside(&s, 0) ? slope : 0;
	}
	return drift;
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
	c.drift = drift_at_end(&w, n, &c);
	say_where(value, n, &c);
	return c;
}
