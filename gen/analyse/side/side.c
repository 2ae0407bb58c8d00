#include "analyse/side/side.h"

#include "analyse/side/clocks.h"
#include "analyse/side/loops.h"
#include "analyse/side/metrics.h"
#include "analyse/side/places.h"
#include "analyse/side/quality.h"
#include "analyse/side/ranges.h"
#include "analyse/side/ranks.h"
#include "analyse/side/recording.h"
#include "analyse/side/tables.h"
#include "analyse/side/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One contribution to an idle row: sorted and merged, they give the rows of a device, or of the mean over devices. */
struct share {
	uint32_t device;
	struct idle_fact fact;
};

/* By device and key; cause and phase first, because rows are made of those. */
static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return cell_compare(&x->fact.key, &y->fact.key);
}

int side_compare_idle(const void *a, const void *b, void *names)
{
	const struct idle_row *x = a, *y = b;
	if (x->per_step != y->per_step)
		return x->per_step > y->per_step ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return strcmp(names_text(names, x->phase), names_text(names, y->phase));
}

/* Merges equal keys of a sorted list in place; returns the new length. */
static size_t merge_shares(struct share *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept && compare_shares(&list[kept - 1], &list[i]) == 0)
			list[kept - 1].fact.per_step += list[i].fact.per_step;
		else
			list[kept++] = list[i];
	return kept;
}

/* Rows by (cause, phase) from merged shares of one device; `call` is that of the largest share. */
static void make_rows(const struct share *list, size_t n, struct arena *arena, struct names *names, struct budget *out)
{
	out->rows = ARENA_NEW(arena, n, struct idle_row);
	double blocked = 0, longest = 0; /* of the current row: by the call in turn, by the longest call so far */
	for (size_t i = 0; i < n; i++) {
		const struct cell_key *key = &list[i].fact.key;
		struct idle_row *row = out->n_rows ? &out->rows[out->n_rows - 1] : NULL;
		if (!row || row->cause != key->cause || row->phase != key->phase) {
			row = &out->rows[out->n_rows++];
			*row = (struct idle_row){.cause = key->cause, .phase = key->phase};
			blocked = longest = 0;
		} else if (list[i - 1].fact.key.call != key->call) {
			blocked = 0;
		}
		blocked += list[i].fact.per_step;
		if (blocked > longest) {
			longest = blocked;
			row->call = key->call;
		}
		row->per_step += list[i].fact.per_step;
		row->opened[key->opened] += list[i].fact.per_step;
	}
	if (out->n_rows)
		qsort_r(out->rows, out->n_rows, sizeof *out->rows, side_compare_idle, names);
}

/* What one device of one run contributes. */
static size_t add_device(const struct run *run, uint32_t at, double weight, struct side *side, struct side_facts *facts,
                         struct share *shares)
{
	const struct device_run *dr = &run->devices[at];
	uint32_t d = run->place[at];
	struct budget *b = &side->devices[d].budget;
	b->compute += (double)dr->compute * weight;
	b->comm_exposed += (double)dr->comm * weight;
	b->copy_exposed += (double)dr->copy * weight;
	b->idle += (double)dr->idle * weight;
	b->period += (double)(run->window_end - run->window_start) * weight;
	facts->copy_pageable += (double)dr->copy_pageable * weight / side->n_devices;
	facts->copy_managed += (double)dr->copy_managed * weight / side->n_devices;
	facts->sync_gaps += dr->sync_gaps * weight / side->n_devices;
	for (uint32_t c = 0; c < dr->cells.n; c++) {
		shares[c] = (struct share){.device = d};
		shares[c].fact.key = dr->cells.cell[c].key;
		shares[c].fact.per_step = (double)dr->cells.cell[c].ns * weight;
		shares[c].fact.key.phase = run->phases[shares[c].fact.key.phase];
	}
	return dr->cells.n;
}

static void describe_device(const struct run *run, uint32_t at, struct device_result *out)
{
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->devices[at].device];
	out->id = run->place[at];
	out->rank = t->processes[device->process].rank;
	out->process = t->processes[device->process].pid;
	out->ordinal = device->ordinal;
	uint32_t gpu = run_gpu(run, at);
	if (gpu != TRACE_NONE) {
		out->name = t->gpus[gpu].name;
		out->clock_hz = t->gpus[gpu].clock_hz;
	}
	out->window_ns = run->window_end - run->window_start;
	out->limit_ns = (double)run->devices[at].limit;
}

/* Means over devices. `shares` are those of all devices, weighted. */
static void build_mean(struct share *shares, size_t n, struct arena *arena, struct names *names, struct side *side,
                       struct side_facts *facts)
{
	double weight = 1 / (double)side->n_devices;
	uint32_t ranks = 0;
	facts->comm_min = INFINITY;
	for (uint32_t d = 0; d < side->n_devices; d++) {
		const struct budget *b = &side->devices[d].budget;
		side->budget.compute += b->compute * weight;
		side->budget.comm_exposed += b->comm_exposed * weight;
		side->budget.copy_exposed += b->copy_exposed * weight;
		side->budget.idle += b->idle * weight;
		side->budget.period += b->period * weight;
		if (!facts->communicates[d])
			continue;
		facts->comm_min = fmin(facts->comm_min, b->comm_exposed);
		facts->comm_mean += b->comm_exposed;
		ranks++;
	}
	facts->comm_min = ranks ? facts->comm_min : 0;
	facts->comm_mean = ranks ? facts->comm_mean / ranks : 0;
	facts->ranks = ranks;
	for (size_t i = 0; i < n; i++) {
		shares[i].device = 0;
		shares[i].fact.per_step *= weight;
	}
	qsort(shares, n, sizeof *shares, compare_shares);
	n = merge_shares(shares, n);
	make_rows(shares, n, arena, names, &side->budget);
	if (side->phases_by_work) { /* rules ask for the programs' own phases */
		for (size_t i = 0; i < n; i++)
			shares[i].fact.key.phase = 0;
		qsort(shares, n, sizeof *shares, compare_shares);
		n = merge_shares(shares, n);
	}
	facts->idle = ARENA_NEW(arena, n, struct idle_fact);
	facts->n_idle = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		facts->idle[i] = shares[i].fact;
	side->busy = side->budget.compute + side->budget.comm_exposed + side->budget.copy_exposed;
}

/* Budgets of the devices and their mean. */
static void build_budgets(struct run *runs, size_t n, struct arena *arena, struct side *side, struct side_facts *facts)
{
	struct arena scratch = {0};
	struct names *names = runs[0].trace->names;
	size_t n_shares = 0, room = 1;
	side->n_devices = places_find(runs, n);
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].n_devices; d++)
			room += runs[r].devices[d].cells.n;
	struct share *shares = ARENA_NEW(&scratch, room, struct share);
	side->devices = ARENA_NEW(arena, side->n_devices, struct device_result);
	facts->communicates = ARENA_NEW(arena, side->n_devices, bool);
	for (uint32_t d = 0; d < side->n_devices; d++) {
		size_t with_work = 0; /* runs in which the device had work */
		for (size_t r = 0; r < n; r++)
			with_work += runs[r].device_at[d] != TRACE_NONE;
		size_t first = n_shares;
		for (size_t r = 0; r < n; r++) {
			uint32_t at = runs[r].device_at[d];
			if (at == TRACE_NONE)
				continue;
			double weight = 1 / ((double)with_work * runs[r].n_steps);
			facts->communicates[d] = facts->communicates[d] || runs[r].devices[at].communicates;
			n_shares += add_device(&runs[r], at, weight, side, facts, shares + n_shares);
			if (r == side->median_run || !side->devices[d].window_ns)
				describe_device(&runs[r], at, &side->devices[d]);
		}
		if (n_shares > first) {
			qsort(shares + first, n_shares - first, sizeof *shares, compare_shares);
			n_shares = first + merge_shares(shares + first, n_shares - first);
			make_rows(shares + first, n_shares - first, arena, names, &side->devices[d].budget);
		}
	}
	build_mean(shares, n_shares, arena, names, side, facts);
	arena_release(&scratch);
}

/* ---- phases ---- */

static int compare_phases(const void *a, const void *b, void *names)
{
	const struct phase_result *x = a, *y = b;
	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return strcmp(names_text(names, x->name), names_text(names, y->name));
}

static struct phase_result *phase_of(struct side *side, uint32_t *slot, uint32_t name)
{
	if (!slot[name]) {
		slot[name] = ++side->n_phases;
		side->phases[side->n_phases - 1].name = name;
	}
	return &side->phases[slot[name] - 1];
}

/* Time and instances of the phases on the step threads, in the host's part of the window. */
static void add_host_phases(struct run *run, struct side *side, uint32_t *slot, double weight)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	for (uint32_t m = 0; s->found && m < s->n_threads; m++) {
		int64_t start, end;
		run_host_window(run, s->threads[m].process, &start, &end);
		struct track *track = activity_phases(&run->activity, s->threads[m].thread);
		for (uint32_t i = track_find(track, start); i < track->n && track->start[i] < end; i++) {
			if (!track->value[i])
				continue;
			int64_t a = track->start[i] > start ? track->start[i] : start;
			int64_t z = i + 1 < track->n && track->start[i + 1] < end ? track->start[i + 1] : end;
			phase_of(side, slot, track->value[i])->host += (double)(z - a) * weight / s->n_ranks;
		}
		uint32_t thread = s->threads[m].thread;
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
			if (t->ranges.start[i] < start || t->ranges.start[i] >= end)
				continue;
			uint32_t k = track_find(track, t->ranges.start[i]);
			uint32_t name = run->fold.of[t->ranges.name[i]];
			if (track->value[k] == name && track->start[k] == t->ranges.start[i])
				phase_of(side, slot, name)->instances += weight / s->n_ranks;
		}
	}
}

/* Phases that nobody marked: how often each is launched, and the time of the calls that do it. */
static void add_launched_phases(struct run *run, struct side *side, uint32_t *slot, double weight)
{
	const struct trace *t = run->trace;
	struct arena scratch = {0};
	bool *seen = ARENA_NEW(&scratch, t->calls.n + 1, bool);
	weight /= run->steps.n_ranks;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (!run_measures_op(run, i))
			continue;
		struct phase_result *phase = phase_of(side, slot, run->phases[run->op_phase[i]]);
		uint32_t launch = t->ops.launch[i];
		phase->instances += weight;
		if (launch != TRACE_NONE && !seen[launch]) {
			phase->host += (double)(t->calls.end[launch] - t->calls.start[launch]) * weight;
			seen[launch] = true;
		}
	}
	arena_release(&scratch);
}

static void build_phases(struct run *runs, size_t n, struct arena *arena, struct side *side, struct side_facts *facts)
{
	struct arena scratch = {0};
	struct names *names = runs[0].trace->names;
	uint32_t *slot = ARENA_NEW(&scratch, names->n, uint32_t);
	uint32_t room = 1;
	for (size_t r = 0; r < n; r++)
		room += runs[r].n_phases;
	side->phases = ARENA_NEW(arena, room, struct phase_result);
	for (size_t r = 0; r < n; r++) {
		const struct run *run = &runs[r];
		double step = 1 / ((double)n * run->n_steps), weight = step / (run->n_devices ? run->n_devices : 1);
		for (uint32_t d = 0; d < run->n_devices; d++)
			for (uint32_t p = 0; p < run->n_phases; p++) {
				const struct device_run *dr = &run->devices[d];
				if (!dr->cost[p] && !dr->gpu[p])
					continue;
				struct phase_result *phase = phase_of(side, slot, run->phases[p]);
				phase->cost += (double)dr->cost[p] * weight;
				phase->gpu += (double)dr->gpu[p] * weight;
			}
		if (run->by_work)
			add_launched_phases(&runs[r], side, slot, step);
		else
			add_host_phases(&runs[r], side, slot, step);
	}
	for (uint32_t i = 0; i < side->budget.n_rows; i++)
		phase_of(side, slot, side->budget.rows[i].phase)->idle += side->budget.rows[i].per_step;
	if (side->n_phases)
		qsort_r(side->phases, side->n_phases, sizeof *side->phases, compare_phases, names);
	for (uint32_t i = 0; i < side->n_phases; i++) {
		slot[side->phases[i].name] = i + 1;
		side->phases[i].rank = i + 1;
		side->phases[i].cost_share = side->budget.period > 0 ? side->phases[i].cost / side->budget.period : 0;
	}
	for (uint32_t i = 0; i < facts->n_idle; i++)
		facts->idle[i].phase_rank = side->phases_by_work ? 0 : slot[facts->idle[i].key.phase] - 1;
	arena_release(&scratch);
}

/* ---- steps ---- */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The run in the middle by its mean period: its timeline stands for the side. */
static uint32_t find_median_run(const struct run *runs, size_t n)
{
	uint32_t best = 0;
	for (uint32_t r = 0; r < n; r++) {
		double mine = (double)(runs[r].window_end - runs[r].window_start) / runs[r].n_steps;
		size_t below = 0, equal_before = 0;
		for (uint32_t q = 0; q < n; q++) {
			double other = (double)(runs[q].window_end - runs[q].window_start) / runs[q].n_steps;
			below += other < mine;
			equal_before += other == mine && q < r;
		}
		if (below + equal_before == (n - 1) / 2)
			best = r;
	}
	return best;
}

static void build_steps(struct run *runs, size_t n, const char *const *files, struct arena *arena, struct side *side)
{
	struct arena scratch = {0};
	side->n_runs = (uint32_t)n;
	side->runs = ARENA_NEW(arena, n, struct run_result);
	side->steps.found = true;
	size_t room = 1;
	for (size_t r = 0; r < n; r++) {
		side->steps.found = side->steps.found && runs[r].steps.found;
		room += runs[r].n_periods + 1;
	}
	side->steps.name = runs[0].steps.name;
	side->phases_by_work = runs[0].by_work;
	side->steps.origin = side->steps.found ? runs[0].steps.origin : STEPS_NONE;
	side->steps.ranks = runs[0].steps.n_ranks;
	for (size_t r = 0; r < n; r++)
		side->steps.coverage += runs[r].steps.coverage / (double)n;
	double *period = ARENA_NEW(&scratch, room, double);
	size_t m = 0;
	for (size_t r = 0; r < n; r++) {
		const struct run *run = &runs[r];
		struct run_result *out = &side->runs[r];
		out->file = files[r];
		out->window_ns = run->window_end - run->window_start;
		size_t before = m;
		if (run->steps.found) {
			out->n_steps = run->steps.n;
			out->warmup = run->warmup;
			int64_t *all = ARENA_NEW(arena, run->n_periods, int64_t);
			memcpy(all, run->period, run->n_periods * sizeof *all);
			out->period = all;
			out->n_periods = run->n_periods;
			for (uint32_t i = run->warmup - 1; i < run->n_periods; i++)
				period[m++] = (double)run->period[i];
			side->steps.measured += m - before;
		} else {
			period[m++] = (double)out->window_ns;
		}
		side->steps.mean += (double)out->window_ns / (double)(m - before) / (double)n;
	}
	qsort(period, m, sizeof *period, compare_double);
	side->steps.min = period[0];
	side->steps.max = period[m - 1];
	side->steps.median = m % 2 ? period[m / 2] : (period[m / 2 - 1] + period[m / 2]) / 2;
	side->median_run = find_median_run(runs, n);
	arena_release(&scratch);
}

/* Host work of the step threads, a step, mean over them, because they work side by side: what is neither synchronising
 * nor blocked; a launch call longer than ten times their median counts at the median, because it waits for a full queue
 * (docs/analysis.md, Ceilings). */
struct host_work {
	double ns;
};

static void add_host_work(void *context, const struct doing *stretch)
{
	struct host_work *w = context;
	if (!stretch->waits)
		w->ns += (double)(stretch->end - stretch->start);
}

static double host_work(struct run *run, double launch_call)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	struct host_work work = {0};
	if (!s->found)
		return 0;
	for (uint32_t m = 0; m < s->n_threads; m++) {
		int64_t start, end;
		uint32_t thread = s->threads[m].thread;
		run_host_window(run, s->threads[m].process, &start, &end);
		activity_walk(&run->activity, thread, start, end, add_host_work, &work);
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
			double length = (double)(t->calls.end[i] - t->calls.start[i]);
			if (t->calls.class[i] == CALL_LAUNCH && t->calls.start[i] >= start && t->calls.start[i] < end &&
			    length > 10 * launch_call)
				work.ns -= length - launch_call;
		}
	}
	return work.ns / s->n_threads / run->n_steps;
}

void side_build(struct run *runs, size_t n, const char *const *files, const char *label, struct arena *arena,
                struct side *side, struct side_facts *facts)
{
	*side = (struct side){.label = label, .source = runs[0].trace->source};
	*facts = (struct side_facts){.runs = runs, .n_runs = n};
	build_steps(runs, n, files, arena, side);
	loops_build(runs, arena, side);
	side->startup = startup_build(runs, n);
	build_budgets(runs, n, arena, side, facts);
	build_phases(runs, n, arena, side, facts);
	tables_build(runs, n, arena, side, facts);
	ranges_build(runs, n, arena, side);
	for (size_t r = 0; r < n; r++)
		facts->host_work += host_work(&runs[r], facts->launch_call) / (double)n;
	side->ranks = ranks_build(runs, n, side, facts, arena);
	side->overview = runs[side->median_run].overview;
	timeline_build(&runs[side->median_run], &side->ranks, arena, &side->timeline);
	for (uint32_t d = 0; d < side->n_devices; d++) {
		side->devices[d].clocks = clocks_of_device(runs, n, d);
		side->devices[d].metrics = metrics_of_device(runs, n, d, arena);
	}
	side->recording = recording_build(runs, n, side);
	side->quality = quality_build(runs, n, side, arena);
}
