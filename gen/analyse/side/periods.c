#include "analyse/side/side_parts.h"

#include "analyse/judge/stats.h"
#include "base/sort.h"

#include <string.h>

/* The run in the middle by its mean period: its timeline stands for the side. */
static uint32_t find_median_run(const struct run *runs, size_t n)
{
	uint32_t best = 0;
	for (uint32_t r = 0; r < n; r++) {
		double mine = (double)runs[r].window / runs[r].n_steps;
		size_t below = 0, equal_before = 0;
		for (uint32_t q = 0; q < n; q++) {
			double other = (double)runs[q].window / runs[q].n_steps;
			below += other < mine;
			equal_before += other == mine && q < r;
		}
		if (below + equal_before == (n - 1) / 2)
			best = r;
	}
	return best;
}

struct side_periods periods_build(const struct run *runs, size_t n, const char *const *files, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct side_periods side = {.n_runs = (uint32_t)n, .runs = ARENA_NEW(arena, n, struct run_result)};
	side.steps.found = true;
	size_t room = 1;
	for (size_t r = 0; r < n; r++) {
		side.steps.found = side.steps.found && runs[r].steps.found;
		room += runs[r].n_periods + 1;
	}
	side.steps.name = runs[0].steps.name;
	side.steps.origin = side.steps.found ? runs[0].steps.origin : STEPS_NONE;
	side.steps.ranks = runs[0].steps.n_ranks;
	for (size_t r = 0; r < n; r++)
		side.steps.coverage += runs[r].steps.coverage / (double)n;
	double *period = ARENA_NEW(&scratch, room, double);
	size_t m = 0;
	for (size_t r = 0; r < n; r++) {
		const struct run *run = &runs[r];
		struct run_result *out = &side.runs[r];
		out->file = files[r];
		out->window_ns = run->window;
		size_t before = m;
		if (run->steps.found) {
			out->opened = run->steps.opened;
			out->n_steps = run->steps.n - out->opened;
			out->warmup = run->warmup;
			out->left_out = run->warmup - out->opened;
			int64_t *all = ARENA_NEW(arena, run->n_periods, int64_t);
			memcpy(all, run->period, run->n_periods * sizeof *all);
			out->period = all;
			out->n_periods = run->n_periods;
			for (uint32_t i = run->warmup - 1; i < run->n_periods; i++)
				period[m++] = (double)run->period[i];
			side.steps.measured += m - before;
		} else {
			period[m++] = (double)out->window_ns;
		}
		side.steps.mean += (double)out->window_ns / (double)(m - before) / (double)n;
	}
	sort_doubles(period, m);
	side.steps.min = period[0];
	side.steps.max = period[m - 1];
	side.steps.median = stats_median(period, m);
	side.median_run = find_median_run(runs, n);
	return side;
}
