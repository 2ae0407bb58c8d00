#include "verdict/variants.h"

#include "verdict/evidence.h"
#include "verdict/stats.h"

#include <math.h>

/* Of all variants together: what intervals show, and what directions go by, which are wrong in 2 %. */
static const double SHOWN = .95, SURE = .98;

static double normal_below(double x)
{
	return erfc(-x / sqrt(2)) / 2;
}

/* The chance that all k differences stay within d of a known variance: over the baseline's own error. */
static double within(double d, size_t k)
{
	enum { PARTS = 48 };
	const double most = 6, h = 2 * most / PARTS;
	double sum = 0;
	for (int i = 0; i <= PARTS; i++) {
		double z = -most + i * h, weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
		double one = normal_below(z + d * sqrt(2)) - normal_below(z - d * sqrt(2));
		sum += weight * exp(-z * z / 2) * pow(one, (double)k);
	}
	return sum * h / 3 / sqrt(2 * acos(-1));
}

/* The same over how far the variance's estimate is off: s is χ_dof / √dof. */
static double coverage(double d, size_t k, double dof)
{
	enum { PARTS = 48 };
	const double wide = 8 / sqrt(2 * dof), from = fmax(0, 1 - wide), h = (1 + wide - from) / PARTS;
	const double scale = log(2) + dof / 2 * log(dof / 2) - lgamma(dof / 2);
	double sum = 0;
	for (int i = 0; i <= PARTS; i++) {
		double s = from + i * h, weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
		double density = s > 0 ? exp(scale + (dof - 1) * log(s) - dof * s * s / 2) : 0;
		sum += weight * density * (density > 0 ? within(d * s, k) : 0);
	}
	return sum * h / 3;
}

double variants_dunnett(double share, size_t k, double dof)
{
	double lo = 0, hi = 64;
	for (int i = 0; i < 26; i++) {
		double d = (lo + hi) / 2;
		*(coverage(d, k, dof) < share ? &lo : &hi) = d;
	}
	return (lo + hi) / 2;
}

/* Of the runs relative to their mean. */
static double variance_of(const struct variant *v, struct arena *arena)
{
	double *x = ARENA_NEW(arena, v->n, double), mean = stats_mean(v->run, v->n);
	for (size_t i = 0; i < v->n; i++)
		x[i] = v->run[i] / mean;
	return stats_variance(x, v->n);
}

/* Welch's half-width of two means, at a two-sided `share`. */
static double welch(const double variance[2], const double n[2], double share)
{
	double a = variance[0] / n[0], b = variance[1] / n[1];
	if (!(a + b > 0))
		return 0;
	double dof = (a + b) * (a + b) / (a * a / (n[0] - 1) + b * b / (n[1] - 1));
	return stats_t_quantile((1 + share) / 2, dof) * sqrt(a + b);
}

struct together {
	double variance; /* the mean of all groups' */
	double shown, sure;
	bool few;
};

static struct together look_at(const struct variant *list, size_t n, double *variance, struct arena *arena)
{
	struct together all = {0};
	double dof = 0;
	for (size_t i = 0; i < n; i++) {
		all.few = all.few || list[i].n < VARIANTS_LEAST_RUNS;
		variance[i] = list[i].n ? variance_of(&list[i], arena) : 0;
		all.variance += variance[i] / (double)n;
		dof += (double)list[i].n - 1;
	}
	if (!all.few) {
		all.shown = variants_dunnett(SHOWN, n - 1, dof);
		all.sure = variants_dunnett(SURE, n - 1, dof);
	}
	return all;
}

/* Never narrower than the pair's own interval, and no direction that the pair has not. */
static void judge(struct variant *v, const struct together *all, const double variance[2], const double n[2])
{
	const double error = sqrt(all->variance * (1 / n[0] + 1 / n[1])), change = log(v->speedup);
	const double shown = fmax(all->shown * error, welch(variance, n, SHOWN));
	const double sure = fmax(all->sure * error, welch(variance, n, SURE));
	v->has_interval = true;
	v->lo = fmin(v->pair.lo, exp(change - shown));
	v->hi = fmax(v->pair.hi, exp(change + shown));
	if (v->pair.result == VERDICT_UNCHANGED && v->lo >= 1 / (1 + VERDICT_MARGIN) && v->hi <= 1 + VERDICT_MARGIN)
		v->result = VERDICT_UNCHANGED;
	if (v->pair.result == VERDICT_FASTER && change - sure >= LN_FLOOR_SEVERAL)
		v->result = VERDICT_FASTER;
	if (v->pair.result == VERDICT_SLOWER && change + sure <= -LN_FLOOR_SEVERAL)
		v->result = VERDICT_SLOWER;
}

void variants_judge(struct variant *list, size_t n, struct arena *arena)
{
	double variance[VARIANTS_MOST];
	const struct together all = look_at(list, n, variance, arena);
	for (size_t i = 1; i < n; i++) {
		struct variant *v = &list[i];
		v->speedup = v->lo = v->hi = v->pair.speedup;
		v->result = VERDICT_INCONCLUSIVE;
		v->has_interval = false;
		v->why = NULL;
		if (!v->pair.has_interval || !v->pair.judged)
			v->why = FACT_NEW(arena, variant_unjudged, FACT_NO_SIDE, .why = "pair");
		else if (all.few)
			v->why = FACT_NEW(arena, variant_unjudged, FACT_NO_SIDE, .why = "runs",
			                  .least = VARIANTS_LEAST_RUNS);
		else
			judge(v, &all, (const double[]){variance[0], variance[i]},
			      (const double[]){(double)list[0].n, (double)v->n});
	}
}

bool variants_any_interval(const struct variant *list, size_t n)
{
	bool any = false;
	for (size_t i = 1; i < n; i++)
		any = any || list[i].has_interval;
	return any;
}
