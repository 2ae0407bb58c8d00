#include "analyse/side/side_rows.h"

#include "base/sort.h"

#include <string.h>

SORT_ORDER_BY(compare_phases, struct phase_result, names,
              DESCENDING(x->cost, y->cost) ?: strcmp(names_text(names, x->name), names_text(names, y->name)))

static struct phase_result *phase_of(struct side_phases *out, uint32_t *slot, uint32_t name)
{
	if (!slot[name]) {
		slot[name] = ++out->n;
		out->list[out->n - 1].name = name;
	}
	return &out->list[slot[name] - 1];
}

/* Time and instances of the phases on the step threads, in the host's part of the window. */
static void add_host_phases(struct run *run, struct side_phases *out, uint32_t *slot, double weight)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	for (uint32_t m = 0; s->found && m < s->n_threads; m++) {
		const struct spans *parts = &run->host[s->threads[m].process];
		struct host_window host = run_host(run, s->threads[m].process);
		struct track *track = activity_phases(&run->activity, s->threads[m].thread);
		for (size_t h = 0; h < parts->n; h++) {
			int64_t start = parts->at[h][0], end = parts->at[h][1];
			for (uint32_t i = track_find(track, start); i < track->n && track->start[i] < end; i++) {
				if (!track->value[i])
					continue;
				int64_t a = track->start[i] > start ? track->start[i] : start;
				int64_t z = i + 1 < track->n && track->start[i + 1] < end ? track->start[i + 1] : end;
				struct phase_result *phase = phase_of(out, slot, track->value[i]);
				phase->host += (double)(z - a) * weight / s->n_ranks;
				int64_t most = held_most(t, s->threads[m].process, a, z);
				phase->memory = most > phase->memory ? most : phase->memory;
			}
		}
		uint32_t thread = s->threads[m].thread;
		ARENA_LOCAL(scratch);
		int64_t *until = ARENA_NEW(&scratch, run->n_phases, int64_t); /* the end of a phase's last range */
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
			int64_t begin = t->ranges.start[i];
			if (!host_window_has(&host, begin))
				continue;
			uint32_t k = track_find(track, begin), name = run->fold.of[t->ranges.name[i]];
			int64_t *last = &until[run_phase(run, name)];
			/* where ranges of one name touch, the track does not change between them */
			bool opens = track->value[k] == name && (track->start[k] == begin || *last == begin);
			if (opens)
				phase_of(out, slot, name)->instances += weight / s->n_ranks;
			if (opens || t->ranges.end[i] > *last)
				*last = t->ranges.end[i];
		}
	}
}

/* Phases that nobody marked: how often each is launched, and the time of the calls that do it. */
static void add_launched_phases(struct run *run, struct side_phases *out, uint32_t *slot, double weight)
{
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	bool *seen = ARENA_NEW(&scratch, t->calls.n + 1, bool);
	weight /= run->steps.n_ranks;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (!run_measures_op(run, i))
			continue;
		struct phase_result *phase = phase_of(out, slot, run->phases[run->op_phase[i]]);
		uint32_t launch = t->ops.launch[i];
		phase->instances += weight;
		if (launch != TRACE_NONE && !seen[launch]) {
			phase->host += (double)(t->calls.end[launch] - t->calls.start[launch]) * weight;
			seen[launch] = true;
		}
	}
}

struct phases phases_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena)
{
	struct phases p = {.out.by_work = runs[0].by_work, .n_runs = n};
	uint32_t room = 1;
	for (size_t r = 0; r < n; r++)
		room += runs[r].n_phases;
	p.out.list = ARENA_NEW(arena, room, struct phase_result);
	p.slot = ARENA_NEW(work, runs[0].trace->names->n, uint32_t);
	return p;
}

void phases_add(struct phases *p, struct run *run, struct run *part)
{
	double step = 1 / ((double)p->n_runs * run->n_steps);
	if (run->by_work)
		add_launched_phases(part, &p->out, p->slot, step);
	else
		add_host_phases(part, &p->out, p->slot, step);
}

struct side_phases phases_end(struct phases *p, const struct run *runs, const struct budget *mean, bool memory)
{
	struct side_phases *out = &p->out;
	for (size_t r = 0; r < p->n_runs; r++) {
		const struct run *run = &runs[r];
		double weight = 1 / ((double)p->n_runs * run->n_steps) / (run->n_devices ? run->n_devices : 1);
		for (uint32_t d = 0; d < run->n_devices; d++)
			for (uint32_t k = 0; k < run->n_phases; k++) {
				const struct device_run *dr = &run->devices[d];
				if (!dr->cost[k] && !dr->gpu[k])
					continue;
				struct phase_result *phase = phase_of(out, p->slot, run->phases[k]);
				phase->cost += (double)dr->cost[k] * weight;
				phase->gpu += (double)dr->gpu[k] * weight;
			}
	}
	for (uint32_t i = 0; i < mean->n_rows; i++)
		phase_of(out, p->slot, mean->rows[i].phase)->idle += mean->rows[i].per_step;
	SORT_BY(out->list, out->n, compare_phases, runs[0].trace->names);
	for (uint32_t i = 0; i < out->n; i++) {
		out->list[i].rank = i + 1;
		out->list[i].memory = memory ? out->list[i].memory : 0;
		out->list[i].cost_share = mean->period > 0 ? out->list[i].cost / mean->period : 0;
	}
	return *out;
}
