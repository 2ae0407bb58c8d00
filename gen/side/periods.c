#include "side/side_parts.h"

#include "base/sort.h"
#include "verdict/stats.h"

/* The run in the middle by its mean period: its timeline stands for the side. */
static uint32_t find_median_run(const struct run *runs, size_t n)
{
	uint32_t best = 0;
	for (uint32_t r = 0; r < n; r++) {
		double mine = (double)runs[r].window.ns / runs[r].window.n_steps;
		size_t below = 0, equal_before = 0;
		for (uint32_t q = 0; q < n; q++) {
			double other = (double)runs[q].window.ns / runs[q].window.n_steps;
			below += other < mine;
			equal_before += other == mine && q < r;
		}
		if (below + equal_before == (n - 1) / 2)
			best = r;
	}
	return best;
}

void periods_build(const struct run *runs, size_t n, const char *const *files, struct arena *arena, struct side *side)
{
	ARENA_LOCAL(scratch);
	struct side_steps *steps = &side->steps;
	side->n_runs = (uint32_t)n;
	side->runs = ARENA_NEW(arena, n, struct run_result);
	steps->found = true;
	size_t room = 1;
	for (size_t r = 0; r < n; r++) {
		steps->found = steps->found && runs[r].steps.found;
		room += runs[r].window.n_periods + 1;
	}
	steps->name = runs[0].steps.name;
	steps->origin = steps->found ? runs[0].steps.origin : STEPS_NONE;
	steps->ranks = runs[0].steps.n_ranks;
	for (size_t r = 0; r < n; r++)
		steps->coverage += runs[r].steps.coverage / (double)n;
	double *period = ARENA_NEW(&scratch, room, double);
	size_t m = 0;
	for (size_t r = 0; r < n; r++) {
		const struct run *run = &runs[r];
		struct run_result *out = &side->runs[r];
		out->file = files[r];
		out->window_ns = run->window.ns;
		size_t before = m;
		if (run->steps.found) {
			out->opened = run->steps.opened;
			out->n_steps = run->steps.n - out->opened;
			out->warmup = run->window.warmup;
			out->left_out = run->window.warmup - out->opened;
			out->period = arena_keep(arena, run->window.period, run->window.n_periods,
			                         sizeof *run->window.period);
			out->n_periods = run->window.n_periods;
			for (uint32_t i = run->window.warmup - 1; i < run->window.n_periods; i++)
				period[m++] = (double)run->window.period[i];
			steps->measured += m - before;
		} else {
			period[m++] = (double)out->window_ns;
		}
		steps->mean += (double)out->window_ns / (double)(m - before) / (double)n;
	}
	sort_doubles(period, m);
	steps->min = period[0];
	steps->max = period[m - 1];
	steps->median = stats_median(period, m);
	side->median_run = find_median_run(runs, n);
}
