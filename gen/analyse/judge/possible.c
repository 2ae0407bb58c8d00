#include "analyse/judge/possible.h"

#include "analyse/judge/stats.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const double LOST = 0.01;         /* of the launches of the measured steps */
static const double TENANT = 0.01;       /* of the window */
static const double MEETING = 0.8;       /* of the collectives of two runs */
static const double FASTER_ALONE = 0.85; /* kernels without a profiler, of their recorded time: 0.92 was seen */
static const double PER_NODE = 2000;     /* ns that recording a graph's node may take the GPU … */
static const double PER_LAUNCH = 500;    /* … and recording a kernel by itself */

/* ---- holes ---- */

static const struct fact *find_holes(const struct run_holes *h, const char *file, struct arena *arena)
{
	if ((double)h->lost > LOST * (double)h->launches)
		return FACT_NEW(arena, kernels_lost, FACT_NO_SIDE, .lost = (int64_t)h->lost,
		                .launches = (int64_t)h->launches, .file = file);
	return h->jumps ? FACT_NEW(arena, step_numbers_jump, FACT_NO_SIDE, .file = file, .jumps = (int64_t)h->jumps,
	                           .from = h->from, .to = h->to)
	                : NULL;
}

/* ---- repeats that are ranks ---- */

struct meeting {
	int64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	int64_t x = ((const struct meeting *)a)->start, y = ((const struct meeting *)b)->start;
	return (x > y) - (x < y);
}

/* When the communication kernels of a run ran, on the wall clock. */
static struct meeting *find_meetings(const struct trace *t, size_t *n, struct arena *arena)
{
	struct meeting *list = ARENA_NEW(arena, t->ops.n, struct meeting);
	for (size_t i = 0; i < t->ops.n && t->source.started != TRACE_NO_TIME; i++)
		if (t->ops.kind[i] == OP_COMM)
			list[(*n)++] = (struct meeting){t->source.started + t->ops.start[i],
			                                t->source.started + t->ops.end[i]};
	if (*n)
		qsort(list, *n, sizeof *list, by_start);
	return list;
}

static bool they_meet(const struct trace *a, const struct trace *b)
{
	struct arena work = {0};
	size_t n = 0, m = 0, met = 0, k = 0;
	const struct meeting *x = find_meetings(a, &n, &work), *y = find_meetings(b, &m, &work);
	for (size_t i = 0; i < n; i++) {
		while (k < m && y[k].end <= x[i].start)
			k++;
		met += k < m && y[k].start < x[i].end;
	}
	arena_release(&work);
	return n > 0 && (double)met >= MEETING * (double)n;
}

static const struct fact *ranks_as_repeats(const struct run *runs, const char *const *files, size_t n,
                                           struct arena *arena)
{
	for (size_t r = 1; r < n; r++)
		for (size_t q = 0; q < r; q++)
			if (they_meet(runs[q].trace, runs[r].trace))
				return FACT_NEW(arena, ranks_as_repeats, FACT_NO_SIDE, .one = files[q],
				                .other = files[r]);
	return NULL;
}

/* ---- another process on the GPU ---- */

static bool has_steps(const struct run *run, uint32_t device)
{
	return run->steps.first_of && run->steps.first_of[run->trace->devices[device].process];
}

/* Device d of the run is of a process without steps, on a GPU where another one makes them. */
static bool is_tenant(const struct run *run, uint32_t d)
{
	const struct device_run *device = &run->devices[d];
	double busy = (double)(device->compute + device->comm + device->copy);
	if (has_steps(run, device->device) || busy <= TENANT * (double)(run->window_end - run->window_start))
		return false;
	for (uint32_t k = 0; k < run->n_devices; k++)
		if (has_steps(run, run->devices[k].device) && run_gpu(run, d) != TRACE_NONE &&
		    run_gpu(run, k) == run_gpu(run, d))
			return true;
	return false;
}

static const char *tenant_of(const struct run *runs, const char *const *files, size_t n)
{
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].n_devices; d++)
			if (is_tenant(&runs[r], d))
				return files[r];
	return NULL;
}

static const struct fact *tenant_on_one_side(const struct run *const runs[2], const char *const *const files[2],
                                             const size_t n[2], struct arena *arena)
{
	const char *file[2] = {tenant_of(runs[0], files[0], n[0]), tenant_of(runs[1], files[1], n[1])};
	if (!file[0] == !file[1] || !n[1])
		return NULL;
	int s = file[1] != NULL;
	return FACT_NEW(arena, tenant_on_one_side, s, .file = file[s]);
}

const struct fact *possible_recording(const struct run *const runs[2], const char *const *const files[2],
                                      const size_t n[2], struct arena *arena)
{
	const struct fact *why = NULL;
	for (int s = 0; s < 2; s++) {
		for (size_t r = 0; r < n[s] && !why; r++)
			why = find_holes(&runs[s][r].holes, files[s][r], arena);
		if (!why)
			why = ranks_as_repeats(runs[s], files[s], n[s], arena);
	}
	return why ? why : tenant_on_one_side(runs, files, n, arena);
}

/* ---- timed runs ---- */

const struct fact *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2],
                                      struct arena *arena)
{
	for (int s = 0; s < 2; s++) {
		double step = 0,
		       recording = PER_NODE * side[s].recording.graph_nodes + PER_LAUNCH * side[s].counts.launches;
		double least = FASTER_ALONE * (side[s].busy - recording);
		for (size_t r = 0; r < timed[s].n_runs; r++) {
			if (!timed[s].runs[r].steps)
				return NULL;
			step += timed[s].runs[r].step / (double)timed[s].n_runs;
		}
		if (timed[s].n_runs && side[s].steps.found && step < least)
			return FACT_NEW(arena, timed_too_short, s, .step = step, .busy = side[s].busy);
	}
	return NULL;
}
