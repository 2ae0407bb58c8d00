#include "side/side.h"

#include "base/sort.h"
#include "side/side_parts.h"

#include <math.h>
#include <string.h>

/* One contribution to an idle row: sorted and merged, they give the rows of a device, or of the mean over devices. */
struct share {
	uint32_t device;
	struct idle_fact fact;
};

static int compare_names(const struct names *names, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(names_text(names, a), names_text(names, b));
}

/* By device and key; cause and phase first, because rows are made of those. Names count by their text: sums of doubles
 * differ with the order in which they are made, and numbers of names with the order in which files were read. */
static int compare_shares(const void *a, const void *b, void *names)
{
	const struct share *x = a, *y = b;
	const struct cell_key *k = &x->fact.key, *l = &y->fact.key;
	return ASCENDING(x->device, y->device) ?: ASCENDING(k->cause, l->cause)
		?: compare_names(names, k->phase, l->phase) ?: compare_names(names, k->call, l->call)
		?: cell_compare(k, l);
}

static void sort_shares(struct share *list, size_t n, struct names *names)
{
	SORT_BY(list, n, compare_shares, names);
}

int budget_compare_idle(const void *a, const void *b, void *names)
{
	const struct idle_row *x = a, *y = b;
	return DESCENDING(x->per_step, y->per_step) ?: ASCENDING(x->cause, y->cause)
		?: strcmp(names_text(names, x->phase), names_text(names, y->phase));
}

double budget_busy(const struct budget *b)
{
	return b->compute + b->comm_exposed + b->copy_exposed;
}

static bool is_same(const struct share *a, const struct share *b)
{
	return a->device == b->device && cell_compare(&a->fact.key, &b->fact.key) == 0;
}

/* Merges equal keys of a sorted list in place; returns the new length. */
static size_t merge_shares(struct share *list, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept && is_same(&list[kept - 1], &list[i]))
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
	SORT_BY(out->rows, out->n_rows, budget_compare_idle, names);
}

/* What one device of one run contributes. */
static size_t add_device(const struct run *run, uint32_t at, double weight, struct side *side, struct side_facts *facts,
                         struct share *shares)
{
	const struct device_run *dr = &run->charge->devices[at];
	uint32_t d = run->charge->place[at];
	struct budget *b = &side->devices[d].budget;
	b->compute += (double)dr->compute * weight;
	b->comm_exposed += (double)dr->comm * weight;
	b->copy_exposed += (double)dr->copy * weight;
	b->idle += (double)dr->idle * weight;
	b->unlooked += (double)dr->unlooked * weight;
	b->period += (double)run->window.ns * weight;
	facts->copy_pageable += (double)dr->copy_pageable * weight / side->n_devices;
	facts->copy_managed += (double)dr->copy_managed * weight / side->n_devices;
	facts->memset += (double)dr->memset * weight / side->n_devices;
	facts->sync_gaps += dr->sync_gaps * weight / side->n_devices;
	for (uint32_t c = 0; c < dr->cells.n; c++) {
		shares[c] = (struct share){.device = d};
		shares[c].fact.key = dr->cells.cell[c].key;
		shares[c].fact.per_step = (double)dr->cells.cell[c].ns * weight;
		shares[c].fact.key.phase = run->phases.names[shares[c].fact.key.phase];
	}
	return dr->cells.n;
}

static void describe_device(const struct run *run, uint32_t at, struct device_result *out)
{
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->charge->devices[at].device];
	out->id = run->charge->place[at];
	out->rank = t->processes[device->process].rank;
	out->process = t->processes[device->process].pid;
	out->ordinal = device->ordinal;
	uint32_t gpu = run_gpu(run, at);
	if (gpu != TRACE_NONE) {
		out->name = t->gpus[gpu].name;
		out->clock_hz = t->gpus[gpu].clock_hz;
	}
	out->window_ns = run->window.ns;
	out->limit_ns = (double)run->charge->devices[at].limit;
}

/* Means over devices. `shares` are those of all devices, weighted. */
static struct budget mean_of(const struct side *of, struct share *shares, size_t *n, struct arena *arena,
                             struct names *names)
{
	struct budget mean = {0};
	double weight = 1 / (double)of->n_devices;
	for (uint32_t d = 0; d < of->n_devices; d++) {
		const struct budget *b = &of->devices[d].budget;
		mean.compute += b->compute * weight;
		mean.comm_exposed += b->comm_exposed * weight;
		mean.copy_exposed += b->copy_exposed * weight;
		mean.idle += b->idle * weight;
		mean.unlooked += b->unlooked * weight;
		mean.period += b->period * weight;
	}
	for (size_t i = 0; i < *n; i++) {
		shares[i].device = 0;
		shares[i].fact.per_step *= weight;
	}
	sort_shares(shares, *n, names);
	*n = merge_shares(shares, *n);
	make_rows(shares, *n, arena, names, &mean);
	return mean;
}

/* Idle facts from the merged shares of the mean. */
static void add_facts(struct share *shares, size_t n, bool by_work, struct names *names, struct arena *arena,
                      struct side_facts *out)
{
	ARENA_LOCAL(scratch);
	uint32_t *slot = ARENA_NEW(&scratch, names->n, uint32_t), n_phases = 0;
	if (by_work) { /* rules ask for the programs' own phases */
		for (size_t i = 0; i < n; i++)
			shares[i].fact.key.phase = 0;
		sort_shares(shares, n, names);
		n = merge_shares(shares, n);
	}
	struct idle_fact *list = ARENA_NEW(arena, n, struct idle_fact);
	for (size_t i = 0; i < n; i++) {
		uint32_t *phase = &slot[shares[i].fact.key.phase];
		if (!*phase)
			*phase = ++n_phases;
		list[i] = shares[i].fact;
		list[i].phase_slot = *phase - 1;
	}
	out->idle = list;
	out->n_idle = (uint32_t)n;
}

static struct comm_facts comm_of(const struct side *of, const bool *communicates)
{
	struct comm_facts out = {.communicates = communicates, .n = of->n_devices, .min = INFINITY};
	for (uint32_t d = 0; d < of->n_devices; d++) {
		if (!communicates[d])
			continue;
		out.min = fmin(out.min, of->devices[d].budget.comm_exposed);
		out.mean += of->devices[d].budget.comm_exposed;
		out.ranks++;
	}
	out.min = out.ranks ? out.min : 0;
	out.mean = out.ranks ? out.mean / out.ranks : 0;
	return out;
}

void budgets_build(struct run *runs, size_t n, struct arena *arena, struct side *side, struct side_facts *facts)
{
	ARENA_LOCAL(scratch);
	struct names *names = runs[0].trace->names;
	size_t n_shares = 0, room = 1;
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].charge->n_devices; d++)
			room += runs[r].charge->devices[d].cells.n;
	struct share *shares = ARENA_NEW(&scratch, room, struct share);
	side->devices = ARENA_NEW(arena, side->n_devices, struct device_result);
	bool *communicates = ARENA_NEW(arena, side->n_devices, bool);
	for (size_t r = 0; r < n; r++)
		for (uint32_t at = 0; at < runs[r].charge->n_devices; at++)
			side->devices[runs[r].charge->place[at]].n_runs++;
	for (uint32_t d = 0; d < side->n_devices; d++) {
		struct device_result *device = &side->devices[d];
		size_t first = n_shares;
		for (size_t r = 0; r < n; r++) {
			uint32_t at = runs[r].charge->device_at[d];
			if (at == TRACE_NONE)
				continue;
			double weight = 1 / ((double)device->n_runs * runs[r].window.n_steps);
			communicates[d] = communicates[d] || runs[r].charge->devices[at].communicates;
			n_shares += add_device(&runs[r], at, weight, side, facts, shares + n_shares);
			if (r == side->median_run || !device->window_ns)
				describe_device(&runs[r], at, device);
		}
		if (n_shares > first) {
			sort_shares(shares + first, n_shares - first, names);
			n_shares = first + merge_shares(shares + first, n_shares - first);
			make_rows(shares + first, n_shares - first, arena, names, &device->budget);
		}
		device->clocks = clocks_of_device(runs, n, d);
		device->metrics = metrics_of_device(runs, n, d, arena);
	}
	side->budget = mean_of(side, shares, &n_shares, arena, names);
	side->busy = budget_busy(&side->budget);
	add_facts(shares, n_shares, runs[0].phases.by_work, names, arena, facts);
	facts->comm = comm_of(side, communicates);
}
