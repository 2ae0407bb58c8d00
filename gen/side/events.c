#include "side/side_parts.h"

#include "base/list.h"
#include "charge/comm.h"
#include "charge/idle.h"

#include <string.h>

struct pieces {
	const struct run *run;
	struct arena *arena;
	struct device_events *out;
	size_t room;
};

static void add_piece(void *context, const struct doing *piece)
{
	struct pieces *p = context;
	int64_t start, end = piece->start;
	if (!run_next_measured(p->run, &end, piece->end, &start)) /* a pause begins and ends beside no gap */
		return;
	/* One cause may come in many pieces; where they touch they are one event. */
	struct idle_event *last = p->out->n_idle ? &p->out->idle[p->out->n_idle - 1] : NULL;
	if (last && last->end == start && last->cause == piece->cause && last->phase == piece->phase &&
	    last->call == piece->call) {
		last->end = end;
		return;
	}
	LIST_ADD(p->arena, p->out->idle, p->out->n_idle, p->room,
	         (struct idle_event){start, end, piece->cause, piece->phase, piece->call});
}

static void add_idle(struct run *run, const struct device_run *device, struct arena *arena, struct device_events *out)
{
	struct pieces pieces = {run, arena, out, 0};
	struct idle_walk walk = {.run = run, .gaps = device, .bubbles = device};
	struct gap gap;
	const struct bubble *bubble;
	while (idle_next(&walk, run->window.start, &gap, &bubble)) {
		struct doing piece = bubble ? bubble_piece(run, bubble) : (struct doing){0};
		if (bubble)
			add_piece(&pieces, &piece);
		else if (gap.start < run->window.end)
			gap_walk(run, device, &gap, run_sharing(run, device), add_piece, &pieces);
	}
}

static void add_phases(struct run *run, uint32_t thread, struct arena *arena, struct phase_events *out)
{
	const struct trace *t = run->trace;
	struct track *track = activity_phases(&run->charge->activity, thread);
	*out = (struct phase_events){.thread = thread, .list = ARENA_NEW(arena, track->n, struct phase_event)};
	for (uint32_t i = 0; i < track->n; i++) {
		int64_t start = track->start[i] > t->first_time ? track->start[i] : t->first_time;
		int64_t end =
			i + 1 < track->n && track->start[i + 1] < t->last_time ? track->start[i + 1] : t->last_time;
		if (track->value[i] && start < end)
			out->list[out->n++] = (struct phase_event){start, end, track->value[i]};
	}
}

const struct events *events_build(struct run *run, struct arena *arena)
{
	const struct steps *s = &run->steps;
	const struct trace *t = run->trace;
	struct events *out = ARENA_NEW(arena, 1, struct events);
	uint32_t *phase = ARENA_NEW(arena, t->ops.n, uint32_t);
	bool *measured = ARENA_NEW(arena, t->ops.n, bool);
	uint32_t *folded = ARENA_NEW(arena, run->fold.n, uint32_t);
	struct spans *host = ARENA_NEW(arena, t->n_processes, struct spans);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		const struct spans *of = &run->window.host[p];
		host[p] = (struct spans){arena_alloc(arena, of->n, sizeof *of->at), of->n};
		memcpy(host[p].at, of->at, of->n * sizeof *of->at);
	}
	for (size_t i = 0; i < t->ops.n; i++) {
		phase[i] = run->phases.names[run->phases.of_op[i]];
		measured[i] = run_measures_op(run, i);
	}
	for (uint32_t i = 0; i < run->fold.n; i++)
		folded[i] = run->fold.of[i];
	*out = (struct events){.trace = t,
	                       .window_start = run->window.start,
	                       .window_end = run->window.end,
	                       .op_phase = phase,
	                       .op_measured = measured,
	                       .host = host,
	                       .folded = folded,
	                       .devices = ARENA_NEW(arena, run->charge->n_devices, struct device_events),
	                       .n_devices = run->charge->n_devices};
	if (s->found) {
		int64_t *end = ARENA_NEW(arena, s->n, int64_t), *start = ARENA_NEW(arena, s->n, int64_t);
		memcpy(end, s->end, s->n * sizeof *end);
		for (uint32_t k = 1; k < s->n; k++)
			start[k] = end[k] - run->window.period[k - 1];
		out->step_name = s->name;
		out->step_end = end;
		out->step_start = start;
		out->n_steps = s->n;
	}
	if (s->found && !run->phases.by_work) {
		out->phases = ARENA_NEW(arena, s->n_threads, struct phase_events);
		for (uint32_t i = 0; i < s->n_threads; i++)
			add_phases(run, s->threads[i].thread, arena, &out->phases[out->n_phases++]);
	}
	for (uint32_t i = 0; i < run->charge->n_devices; i++) {
		out->devices[i] =
			(struct device_events){.device = run->charge->devices[i].device, .id = run->charge->place[i]};
		add_idle(run, &run->charge->devices[i], arena, &out->devices[i]);
	}
	return out;
}
