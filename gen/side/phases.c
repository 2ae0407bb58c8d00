#include "side/side_rows.h"

#include "base/sort.h"

#include <string.h>

SORT_ORDER_BY(compare_phases, struct phase_result, names,
              DESCENDING(x->cost, y->cost) ?: strcmp(names_text(names, x->name), names_text(names, y->name)))

static struct phase_result *phase_of(struct phases *p, uint32_t name)
{
	struct side *side = p->side;
	if (!p->slot[name]) {
		p->slot[name] = ++side->n_phases;
		side->phases[side->n_phases - 1].name = name;
	}
	return &side->phases[p->slot[name] - 1];
}

/* Time and instances of the phases on the step threads, in the host's part of the window. */
static void add_host_phases(struct phases *p, struct run *run, double weight)
{
	const struct trace *t = run->trace;
	const struct steps *s = &run->steps;
	for (uint32_t m = 0; s->found && m < s->n_threads; m++) {
		const struct spans *parts = &run->window.host[s->threads[m].process];
		struct host_window host = run_host(run, s->threads[m].process);
		struct track *track = activity_phases(&run->charge->activity, s->threads[m].thread);
		for (size_t h = 0; h < parts->n; h++) {
			int64_t start = parts->at[h][0], end = parts->at[h][1];
			for (uint32_t i = track_find(track, start); i < track->n && track->start[i] < end; i++) {
				if (!track->value[i])
					continue;
				int64_t a = track->start[i] > start ? track->start[i] : start;
				int64_t z = i + 1 < track->n && track->start[i + 1] < end ? track->start[i + 1] : end;
				struct phase_result *phase = phase_of(p, track->value[i]);
				phase->host += (double)(z - a) * weight / s->n_ranks;
				int64_t most = held_most(t, s->threads[m].process, a, z);
				phase->memory = most > phase->memory ? most : phase->memory;
			}
		}
		uint32_t thread = s->threads[m].thread;
		ARENA_LOCAL(scratch);
		int64_t *until = ARENA_NEW(&scratch, run->phases.n, int64_t); /* the end of a phase's last range */
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
			int64_t begin = t->ranges.start[i];
			if (!host_window_has(&host, begin))
				continue;
			uint32_t k = track_find(track, begin), name = run->fold.of[t->ranges.name[i]];
			int64_t *last = &until[run_phase(run, name)];
			/* where ranges of one name touch, the track does not change between them */
			bool opens = track->value[k] == name && (track->start[k] == begin || *last == begin);
			if (opens)
				phase_of(p, name)->instances += weight / s->n_ranks;
			if (opens || t->ranges.end[i] > *last)
				*last = t->ranges.end[i];
		}
	}
}

/* Phases that nobody marked: how often each is launched, and the time of the calls that do it. */
static void add_launched_phases(struct phases *p, struct run *run, double weight)
{
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	bool *seen = ARENA_NEW(&scratch, t->calls.n + 1, bool);
	weight /= run->steps.n_ranks;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (!run_measures_op(run, i))
			continue;
		struct phase_result *phase = phase_of(p, run->phases.names[run->phases.of_op[i]]);
		uint32_t launch = t->ops.launch[i];
		phase->instances += weight;
		if (launch != TRACE_NONE && !seen[launch]) {
			phase->host += (double)(t->calls.end[launch] - t->calls.start[launch]) * weight;
			seen[launch] = true;
		}
	}
}

struct phases phases_begin(const struct run *runs, size_t n, struct arena *work, struct arena *arena, struct side *side)
{
	struct phases p = {.side = side, .n_runs = n};
	uint32_t room = 1;
	for (size_t r = 0; r < n; r++)
		room += runs[r].phases.n;
	side->phases_by_work = runs[0].phases.by_work;
	side->phases = ARENA_NEW(arena, room, struct phase_result);
	p.slot = ARENA_NEW(work, runs[0].trace->names->n, uint32_t);
	return p;
}

void phases_add(struct phases *p, struct run *run, struct run *part)
{
	double step = 1 / ((double)p->n_runs * run->window.n_steps);
	if (run->phases.by_work)
		add_launched_phases(p, part, step);
	else
		add_host_phases(p, part, step);
}

void phases_end(struct phases *p, const struct run *runs)
{
	struct side *side = p->side;
	const struct budget *mean = &side->budget;
	for (size_t r = 0; r < p->n_runs; r++) {
		const struct run *run = &runs[r];
		double weight = 1 / ((double)p->n_runs * run->window.n_steps) /
		                (run->charge->n_devices ? run->charge->n_devices : 1);
		for (uint32_t d = 0; d < run->charge->n_devices; d++)
			for (uint32_t k = 0; k < run->phases.n; k++) {
				const struct device_run *dr = &run->charge->devices[d];
				if (!dr->cost[k] && !dr->gpu[k])
					continue;
				struct phase_result *phase = phase_of(p, run->phases.names[k]);
				phase->cost += (double)dr->cost[k] * weight;
				phase->gpu += (double)dr->gpu[k] * weight;
			}
	}
	for (uint32_t i = 0; i < mean->n_rows; i++)
		phase_of(p, mean->rows[i].phase)->idle += mean->rows[i].per_step;
	SORT_BY(side->phases, side->n_phases, compare_phases, runs[0].trace->names);
	for (uint32_t i = 0; i < side->n_phases; i++) {
		struct phase_result *phase = &side->phases[i];
		phase->rank = i + 1;
		phase->memory = side->memory.n_steps > 0 ? phase->memory : 0;
		phase->cost_share = mean->period > 0 ? phase->cost / mean->period : 0;
	}
}
