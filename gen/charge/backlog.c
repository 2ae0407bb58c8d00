#include "charge/backlog.h"

#include "verdict/stats.h"

#include <math.h>

enum {
	LEAST_STEPS = 8,   /* measured ones, as for an interval */
	LEAST_POINTS = 3,  /* whose median is the lag at an end of the window, or … */
	POINTS_SHARE = 8,  /* … one in so many of its steps, where that is more: one late launch is no trend */
	LEAST_FALLING = 3, /* steps that it takes to work a queue off */
};

static const double LEAST_SHARE = 0.03; /* of the window: what one run per side has to exceed for a direction */
static const double WORKED_OFF = 0.1;   /* of what the lag shrinks by: from here on the queue is gone */
static const double SUDDEN = 0.75;      /* of what the lag shrinks by, in one step */
static const double GRADUAL = 0.25;     /* the same, from the least of one half to the least of the other */

/* Of a step on a device, its last op; with several devices the one that is least behind: as long as one host hurries to
 * feed its GPU, the job has no queue. */
void backlog_note(struct run *run, const struct run *part)
{
	const struct trace *t = part->trace;
	uint32_t n = run->steps.n;
	ARENA_LOCAL(scratch);
	if (!run->steps.found)
		return;
	if (!run->rows.lag) {
		run->rows.lag = ARENA_NEW(run->arena, n, int64_t);
		for (uint32_t k = 0; k < n; k++)
			run->rows.lag[k] = BACKLOG_UNKNOWN;
	}
	uint32_t *last = ARENA_NEW(&scratch, n, uint32_t); /* 1 + an op; 0: none */
	for (uint32_t d = 0; d < t->n_devices; d++) {
		const struct trace_device *device = &t->devices[d];
		for (uint32_t k = 0; k < n; k++)
			last[k] = 0;
		for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
			uint32_t k = part->steps.op_step[i];
			if (k != TRACE_NONE && (!last[k] || t->ops.end[i] > t->ops.end[last[k] - 1]))
				last[k] = i + 1;
		}
		for (uint32_t k = 0; k < n; k++) {
			if (!last[k] || t->ops.launch[last[k] - 1] == TRACE_NONE)
				continue;
			int64_t lag = t->ops.end[last[k] - 1] - op_launch_start(t, last[k] - 1);
			run->rows.lag[k] = lag < run->rows.lag[k] ? lag : run->rows.lag[k];
		}
	}
}

/* One thread a rank has the steps, one after the other: those of several workers end in any order. */
static bool is_told(const struct run *run)
{
	const struct steps *s = &run->steps;
	bool told = s->found && run->rows.lag && !run->agreed.falls && !run->agreed.shrinks &&
	            run->window.n_steps >= LEAST_STEPS && s->n_threads == s->n_ranks;
	for (uint32_t i = 0; told && i < s->n_threads; i++)
		told = !s->threads[i].overlap;
	return told;
}

/* The lags at the ends of the measured steps and of the one before them. Returns how many there are; 0: too many are
 * not known. */
static size_t lags_of(const struct run *run, double *lag)
{
	size_t n = 0, all = (size_t)run->window.n_steps + 1;
	for (uint32_t k = run->window.warmup - 1; k < run->steps.n; k++)
		if (run->rows.lag[k] != BACKLOG_UNKNOWN)
			lag[n++] = (double)run->rows.lag[k];
	return 10 * n >= 9 * all ? n : 0;
}

/* A slower host works a queue off step by step. Where the host waits for the GPU, or a pause of its own lets the queue
 * run dry, the lag falls at once, and grows the rest of the time. Asked of the steps from the lag's height to its
 * floor: no single one carries nearly all of the fall, and what the lag falls to falls, too. */
static bool falls_step_by_step(const double *lag, size_t n, double floor, double fall)
{
	size_t steps = 0;
	double largest = 0;
	for (size_t i = 1; i < n && lag[i - 1] > floor + WORKED_OFF * fall; i++, steps++)
		largest = fmax(largest, lag[i - 1] - lag[i]);
	if (steps < LEAST_FALLING)
		return false;
	double least[2] = {INFINITY, INFINITY};
	for (size_t i = 0; i <= steps; i++) {
		double *half = &least[2 * i > steps];
		*half = fmin(*half, lag[i]);
	}
	return largest < SUDDEN * fall && least[0] - least[1] >= GRADUAL * fall;
}

double backlog_worked_off(const struct run *run)
{
	if (!is_told(run))
		return 0;
	ARENA_LOCAL(work);
	double *lag = ARENA_NEW(&work, (size_t)run->window.n_steps + 1, double), fall = 0;
	double *scratch = ARENA_NEW(&work, (size_t)run->window.n_steps + 1, double);
	size_t n = lags_of(run, lag), points = n / POINTS_SHARE > LEAST_POINTS ? n / POINTS_SHARE : LEAST_POINTS;
	if (n > LEAST_STEPS) {
		double floor = stats_median_of(lag + n - points, points, scratch);
		fall = stats_median_of(lag, points, scratch) - floor;
		if (!falls_step_by_step(lag, n, floor, fall))
			fall = 0;
		/* the medians are so many steps apart */
		fall *= (double)run->window.n_steps / (double)(n - points);
	}
	bool matters = fall >= LEAST_SHARE * (double)run->window.ns;
	return matters ? fall / run->window.n_steps : 0;
}
