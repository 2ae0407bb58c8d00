#include "analyse/side/stopwatches.h"

#include "analyse/run/instants.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

/* Launches a step may differ by this from those that the stopwatch counted, and steps are the same. */
#define SAME_STEP 0.05

/* Why a run does not measure what the side is measured by, a clause; NULL: it does. */
static const char *misfit(const struct run *run, bool steps, const struct trace_stopwatch *w)
{
	if (w->unused)
		return w->unused;
	if (!steps)
		return w->steps ? "they timed steps, and here whole runs are compared" : NULL;
	if (w->step && strcmp(w->step, instants_step(run)) != 0)
		return "they timed other steps than those that are compared here";
	if ((run->steps.origin == STEPS_BY_PATTERN) != (w->launches > 0))
		return w->launches ? "they counted launches, and here NVTX ranges mark the steps"
		                   : "they counted NVTX ranges, and here none marks the steps";
	if (w->launches && instants_launches(run) <= 0)
		return "they counted launches, and how many a step makes here cannot be told";
	return NULL;
}

/* How many of the side's steps a run timed. Launches say it where they were counted: what is one step in one comparison
 * may be several in another. */
static double steps_of(const struct run *run, const struct trace_stopwatch *w)
{
	double a_step = w->launches ? instants_launches(run) : 0, steps = w->steps;
	if (a_step > 0 && fabs(w->launches / a_step / steps - 1) > SAME_STEP)
		steps = w->launches / a_step;
	return steps > 0 ? steps : 1;
}

struct stopwatch_side stopwatches_of(const struct run *runs, size_t n_runs, bool steps, struct arena *arena)
{
	struct stopwatch_side out = {0};
	struct stopwatch_run *list = NULL, *whole = NULL;
	size_t room = 0, whole_room = 0;
	for (size_t r = 0; r < n_runs; r++) {
		const struct trace *t = runs[r].trace;
		const struct exchange_place place = run_place(&runs[r], arena);
		for (uint32_t i = 0; i < t->n_stopwatch; i++) {
			const struct trace_stopwatch *w = &t->stopwatch[i];
			if (steps && !w->steps && !w->unused) {
				LIST_GROW(arena, whole, out.n_whole, whole_room);
				whole[out.n_whole++] =
					(struct stopwatch_run){(double)w->time, 0, w->start, w->looked, place};
				continue;
			}
			const char *unused = misfit(&runs[r], steps, w);
			if (unused) {
				out.unused = out.n_unused++ ? out.unused : unused;
				continue;
			}
			double n = steps_of(&runs[r], w);
			LIST_GROW(arena, list, out.n_runs, room);
			list[out.n_runs++] = (struct stopwatch_run){(double)w->time / n, w->steps ? llround(n) : 0,
			                                            w->start, w->looked, place};
		}
	}
	out.runs = list;
	out.whole = whole;
	return out;
}

/* Mean of a run's last periods; all of them where it has fewer, or where none was asked for. */
static double mean_of_last(const struct run_table *run, int64_t steps)
{
	size_t n = steps > 0 && (size_t)steps < run->n_periods ? (size_t)steps : run->n_periods;
	int64_t sum = 0;
	for (size_t i = run->n_periods - n; i < run->n_periods; i++)
		sum += run->period[i];
	return n ? (double)sum / (double)n : 0;
}

double stopwatches_recorded(const struct run_table *runs, size_t n, const struct stopwatch_side *timed)
{
	double sum = 0, mean = 0;
	for (size_t t = 0; t < timed->n_runs; t++) {
		if (!t || timed->runs[t].steps != timed->runs[t - 1].steps) {
			mean = 0;
			for (size_t r = 0; r < n; r++)
				mean += mean_of_last(&runs[r], timed->runs[t].steps) / (double)n;
		}
		sum += mean;
	}
	return timed->n_runs ? sum / (double)timed->n_runs : 0;
}
