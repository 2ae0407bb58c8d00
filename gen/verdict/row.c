#include "verdict/row.h"

#include "verdict/evidence.h"
#include "verdict/series.h"
#include "verdict/stats.h"

#include <math.h>

/* What varies within all runs of both sides. */
struct within {
	double variance, spread; /* of the difference of means; Σ v²/dof */
	double more[2];          /* by side, what one more slow step would add */
	bool known, few;         /* every run has two steps; one has too few that do not depend on each other */
};

static void measure(const struct row_side *side, const struct row_run *run, bool doubled, struct series *out)
{
	if (!side->small) {
		series_of_row(run->x, run->n, doubled, out);
		return;
	}
	*out = (struct series){.m = run->n, .tau = 1, .dof = (int)run->n - 1};
	out->variance = out->core = stats_variance(run->x, run->n) / (double)run->n;
}

static struct within add_runs(const struct row_side *side, int n_sides, bool doubled)
{
	struct within w = {.known = true};
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < side[s].n_runs; r++) {
			struct series of;
			double weight = 1 / ((double)side[s].n_runs * (double)side[s].n_runs);
			measure(&side[s], &side[s].runs[r], doubled, &of);
			double v = weight * (of.variance + (doubled ? 3 * of.core : 0));
			w.variance += v;
			w.spread += of.dof > 0 ? v * v / of.dof : 0;
			w.more[s] += weight * of.more;
			w.known = w.known && of.dof > 0;
			w.few = w.few || of.m < SERIES_SHORT || (double)of.m / of.tau < SERIES_INDEPENDENT;
		}
	return w;
}

static double mean_of(const struct row_side *side)
{
	double mean = 0;
	for (size_t r = 0; r < side->n_runs; r++)
		mean += side->runs[r].mean / (double)side->n_runs;
	return mean;
}

/* Student's t on the variance of all runs together. */
static double half_between(const struct row_side *side, int n_sides)
{
	double squares = 0, dof = 0, of_mean = 0;
	for (int s = 0; s < n_sides; s++) {
		const double runs = (double)side[s].n_runs, mean = mean_of(&side[s]);
		for (size_t r = 0; r < side[s].n_runs; r++)
			squares += (side[s].runs[r].mean - mean) * (side[s].runs[r].mean - mean);
		dof += runs - 1;
		of_mean += 1 / runs;
	}
	return dof > 0 ? stats_t_quantile(0.975, dof) * sqrt(squares / dof * of_mean) : 0;
}

/* `apart`: 0 for one side. */
static struct row_interval judge(const struct row_side *side, int n_sides, double apart, double single)
{
	struct within w = add_runs(side, n_sides, false);
	if (w.few)
		w = add_runs(side, n_sides, true);
	bool one_run = false;
	double more = 2 * fmax(w.more[0], w.more[1]), within = between_half_width(w.variance, w.spread), larger = 0;
	for (int s = 0; s < n_sides; s++) {
		one_run = one_run || side[s].n_runs == 1;
		larger = fmax(larger, mean_of(&side[s]));
	}
	within = within > 0 ? within * sqrt((w.variance + more) / w.variance) : 0;
	within = fmax(within, half_between(side, n_sides));
	double moved = one_run ? single * larger : 0;
	return (struct row_interval){.known = w.known || !one_run,
	                             .within = within,
	                             .half = fmax(within + moved, hypot(within, apart * larger))};
}

struct row_interval row_judge(const struct row_side side[2], double apart, double single)
{
	return judge(side, 2, apart, single);
}

struct row_interval row_judge_one(const struct row_side *side, double single)
{
	return judge(side, 1, 0, single);
}

double row_clear(size_t rows)
{
	const double normal = 1e9; /* degrees of freedom */
	return EVIDENCE_ROW_CLEAR * stats_t_quantile(1 - 0.025 / (double)(rows ? rows : 1), normal) /
	       stats_t_quantile(0.975, normal);
}
