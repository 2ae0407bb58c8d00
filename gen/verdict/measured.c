#include "verdict/proof.h"

#include <math.h>

/* Finds a side's warm-ups; returns how many of its steps are extreme, and by how much the least of them. */
static size_t cut_side(const struct verdict_side *side, int warmup, struct series *series, double *excess)
{
	size_t extremes = 0;
	*excess = INFINITY;
	for (size_t r = 0; r < side->n_runs; r++) {
		series_cut(&side->runs[r], warmup, &series[r]);
		extremes += series_extremes(&side->runs[r], &series[r], excess);
	}
	return extremes;
}

/* Steps of a side that are longer than usual by that share of `excess`, and at least twice as long. */
static size_t slow_steps(const struct verdict_side *side, const struct series *series, double excess)
{
	size_t n = 0;
	for (size_t r = 0; r < side->n_runs; r++)
		n += series_slow(&side->runs[r], &series[r], excess);
	return n;
}

/* A side's extreme steps are set aside when there are one or two of them, and no more at least half as slow: what comes
 * more often is the program's, and ten times a step is no border between its checkpoints. Nor are they set aside where
 * the other side counts such ones, by a tenth of the excess: a pause that both sides make were left out of the one
 * where it is ten times a step, and made up for in the speedup. Where one step is more than all others of its run, both
 * sides' are set aside, however many there are. */
void measured_sides(const struct verdict_side side[2], int warmup, struct arena *arena, struct series *series[2])
{
	const double peer = 0.5, same = 0.1;
	double excess[2];
	bool few[2], aside[2], one = false;
	for (int i = 0; i < 2; i++) {
		size_t extremes = cut_side(&side[i], warmup, series[i], &excess[i]);
		few[i] = extremes > 0 && slow_steps(&side[i], series[i], peer * excess[i]) <= SERIES_ASIDE;
		one = one || series_are_one_step(side[i].runs, series[i], side[i].n_runs);
	}
	for (int i = 0; i < 2; i++)
		aside[i] = one || (few[i] && (few[!i] || !slow_steps(&side[!i], series[!i], same * excess[i])));
	for (int i = 0; i < 2; i++)
		for (size_t r = 0; r < side[i].n_runs; r++)
			series_measure(&side[i].runs[r], aside[i], false, arena, &series[i][r]);
}

void measured_short(const struct verdict_side *side, struct arena *arena, struct series *series)
{
	for (size_t r = 0; r < side->n_runs; r++) {
		bool set_aside = series[r].aside > 0;
		series_measure(&side->runs[r], set_aside, true, arena, &series[r]);
	}
}

/* ---- one warm-up for all ---- */

static double mean_of(const struct verdict_run *run, size_t from, size_t to)
{
	double sum = 0;
	for (size_t i = from; i < to; i++)
		sum += (double)run->period[i];
	return to > from ? sum / (double)(to - from) : 0;
}

/* The most that is left out of a run, in steps of --warmup. */
static size_t warmup_of(const struct verdict_side *side, const struct series *series)
{
	size_t most = 0;
	for (size_t r = 0; r < side->n_runs; r++) {
		size_t cut = series[r].cut + 1 - (side->runs[r].opened && series[r].cut > 0);
		most = cut > most ? cut : most;
	}
	return most;
}

/* Which side's warm-up is found later, and how long both are. */
struct warmups {
	size_t found[2];
	int late;
};

static struct warmups warmups_of(const struct verdict_side side[2], const struct series *const series[2])
{
	struct warmups w = {.found = {warmup_of(&side[0], series[0]), warmup_of(&side[1], series[1])}};
	w.late = w.found[1] > w.found[0];
	return w;
}

size_t measured_common_warmup(const struct verdict_side side[2], const struct series *const series[2])
{
	static const double SLOW = 0.02; /* longer than the steps behind it: no start by chance */
	const struct warmups both = warmups_of(side, series);
	const size_t *warmup = both.found;
	const int late = both.late, early = !late;
	double start = 0, rest = 0;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++)
			if (side[s].runs[r].shrinks || side[s].runs[r].n < 2 * warmup[late])
				return 0;
	for (size_t r = 0; r < side[early].n_runs; r++) {
		const struct verdict_run *run = &side[early].runs[r];
		const size_t end = warmup[late] + run->opened - 1;
		start += mean_of(run, series[early][r].cut, end);
		rest += mean_of(run, end, run->n);
	}
	return warmup[late] > warmup[early] && start > (1 + SLOW) * rest ? warmup[late] : 0;
}

size_t measured_flat_warmup(const struct verdict_side side[2], const struct series *const series[2])
{
	const struct warmups both = warmups_of(side, series);
	bool flat = false;
	for (size_t r = 0; r < side[both.late].n_runs; r++)
		flat = flat || series[both.late][r].flat;
	return flat && both.found[both.late] >= 2 * both.found[!both.late] ? both.found[!both.late] : 0;
}
