#include "side/side_parts.h"

#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "charge/comm.h"
#include "charge/idle.h"
#include "charge/parts_open.h"

#include <math.h>

enum {
	STEPS_SHOWN = 3,
	OPS_SHOWN = 200000 /* in all lanes: more tell nobody anything, and need more memory than the profile */
};

/* A device, and the part of the run in which its rows are (run/parts.h). */
struct shown {
	struct run *run;
	uint32_t at; /* index into its devices */
};

struct view {
	struct run *run;
	struct arena *arena, scratch;
	struct shown *shown; /* by run->devices, those that are shown */
	struct run **part;   /* by part, those that are open */
	int64_t start, end;  /* what is shown */
	uint32_t *order;     /* of run->devices: those that are shown come first */
	uint32_t process;    /* whose host is shown; TRACE_NONE: all */
};

/* Of n periods in order, the logs of those in which `shown` equal parts of the time have their middles: of steps of 1
 * ms and, in two thirds of the time, of 3 ms these are 1, 3 and 3 ms. */
static void spread_time(const double *sorted, uint32_t n, double *middle, uint32_t shown)
{
	double all = 0, before = 0;
	for (uint32_t i = 0; i < n; i++)
		all += sorted[i];
	for (uint32_t i = 0, k = 0; i < n && k < shown; i++) {
		before += sorted[i];
		for (; k < shown && (before >= all * (k + 0.5) / shown || i + 1 == n); k++)
			middle[k] = log(sorted[i]);
	}
}

/* The first of `shown` consecutive measured steps that stand for the run's time: in logs, and in order, closest to
 * where equal parts of it have their middles. A pause that comes every 15th step and takes most of the time is among
 * them. */
static uint32_t most_representative(const struct run *run, uint32_t shown)
{
	ARENA_LOCAL(scratch);
	uint32_t first = run->window.warmup - 1, n = run->window.n_periods - first, best = 0; /* measured periods */
	double *log_period = ARENA_NEW(&scratch, n, double), *sorted = ARENA_NEW(&scratch, n, double),
	       best_distance = INFINITY;
	double middle[STEPS_SHOWN], some[STEPS_SHOWN];
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = (double)run->window.period[first + i];
		log_period[i] = log(sorted[i]);
	}
	sort_doubles(sorted, n);
	spread_time(sorted, n, middle, shown);
	for (uint32_t i = 0; i + shown <= n; i++) {
		double distance = 0;
		memcpy(some, log_period + i, shown * sizeof *some);
		sort_doubles(some, shown);
		for (uint32_t k = 0; k < shown; k++)
			distance += fabs(some[k] - middle[k]);
		if (distance < best_distance) {
			best_distance = distance;
			best = i;
		}
	}
	return first + best;
}

static bool clip_to(const struct view *v, int64_t *start, int64_t *end)
{
	if (*start < v->start)
		*start = v->start;
	if (*end > v->end)
		*end = v->end;
	*start -= v->start;
	*end -= v->start;
	return *end > *start;
}

/* A part whose rows are looked at, its devices charged. */
static struct run *open_part(struct view *v, uint32_t part)
{
	if (!v->part[part])
		v->part[part] = parts_open_charged(v->run, part, &v->scratch);
	return v->part[part];
}

static void add_phases(struct view *v, struct timeline *out)
{
	const struct steps *s = &v->run->steps;
	if (!s->found || v->run->phases.by_work) /* what is launched next is no range that was open */
		return;
	const struct step_thread *host = v->process == TRACE_NONE ? &s->threads[0] : steps_of_process(s, v->process);
	if (!host)
		return;
	uint32_t part = parts_of_process(v->run, host->process);
	struct track *track = activity_phases(&open_part(v, part)->charge->activity,
	                                      host->thread - v->run->parts->list[part].first_thread);
	uint32_t first = track_find(track, v->start), n = 0;
	for (uint32_t i = first; i < track->n && track->start[i] < v->end; i++)
		n++;
	out->phases = ARENA_NEW(v->arena, n, struct span);
	for (uint32_t i = first; i < first + n; i++) {
		int64_t start = track->start[i], end = i + 1 < track->n ? track->start[i + 1] : v->end;
		if (track->value[i] && clip_to(v, &start, &end))
			out->phases[out->n_phases++] = (struct span){start, end, track->value[i]};
	}
}

/* Of a run, or of one part of it. */
static void add_calls_of(struct view *v, const struct run *run, uint32_t process, struct timeline *out)
{
	const struct trace *t = run->trace;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		if (!run->charge->activity.launches[thread] ||
		    (process != TRACE_NONE && t->threads[thread].process != process))
			continue;
		uint32_t first = t->first_call[thread], last = t->first_call[thread + 1], n = 0;
		for (uint32_t i = first; i < last && t->calls.start[i] < v->end; i++)
			n += t->calls.end[i] > v->start;
		if (!n)
			continue;
		struct call_lane *lane = &out->calls[out->n_calls++];
		*lane = (struct call_lane){.thread_name = t->threads[thread].name,
		                           .tid = t->threads[thread].tid,
		                           .step_thread =
		                                   run->steps.found && steps_on_thread(&run->steps, thread) != NULL,
		                           .calls = ARENA_NEW(v->arena, n, struct call_span)};
		for (uint32_t i = first; i < last && t->calls.start[i] < v->end; i++) {
			int64_t start = t->calls.start[i], end = t->calls.end[i];
			if (end > v->start && clip_to(v, &start, &end))
				lane->calls[lane->n_calls++] = (struct call_span){start, end, t->calls.name[i],
				                                                  (enum call_class)t->calls.class[i]};
		}
	}
}

static void add_calls(struct view *v, struct timeline *out)
{
	const struct trace *t = v->run->trace;
	out->calls = ARENA_NEW(v->arena, t->n_threads, struct call_lane);
	const struct run_parts *parts = v->run->parts;
	for (uint32_t i = 0; i < parts->n; i++)
		if (v->process == TRACE_NONE)
			add_calls_of(v, open_part(v, i), TRACE_NONE, out);
		else if (i == parts_of_process(v->run, v->process))
			add_calls_of(v, open_part(v, i), v->process - parts->list[i].first_process, out);
}

/* The first op of a device that starts at or after `time`. */
static uint32_t op_from(const struct trace *t, const struct trace_device *d, int64_t time)
{
	uint32_t i = d->first_op;
	SEARCH(i, d->first_op + d->n_ops, t->ops.start[i] < time);
	return i;
}

SORT_ORDER(compare_streams, struct stream_lane, ASCENDING(x->stream, y->stream))

static struct op_span op_span_of(const struct view *v, const struct run *run, uint32_t op, int64_t start, int64_t end)
{
	const struct trace *t = run->trace;
	struct op_span span = {.start = start,
	                       .end = end,
	                       .name = t->ops.name[op],
	                       .phase = run->phases.names[run->phases.of_op[op]],
	                       .kind = (enum op_kind)t->ops.kind[op],
	                       .copy = (enum copy_kind)t->ops.copy[op],
	                       .launch_start = -1,
	                       .launch_end = -1};
	uint32_t launch = t->ops.launch[op];
	if (launch != TRACE_NONE && t->calls.start[launch] >= v->start) {
		span.launch_start = t->calls.start[launch] - v->start;
		span.launch_end = t->calls.end[launch] - v->start;
	}
	return span;
}

/* Streams of a device that ran something in the view. Two passes over its ops: count, then fill. */
static void add_streams(struct view *v, const struct shown *of, struct device_lanes *out)
{
	const struct trace *t = of->run->trace;
	uint32_t device = of->run->charge->devices[of->at].device;
	uint32_t first = t->devices[device].first_op, last = op_from(t, &t->devices[device], v->end);
	uint32_t n_shown = 0;
	ARENA_LOCAL(scratch);
	struct keymap streams;
	keymap_init(&streams, &scratch);
	while (first < last && t->ops.end[first] <= v->start)
		first++;
	uint32_t *lane_of_op = ARENA_NEW(&scratch, last - first, uint32_t);
	for (uint32_t i = first; i < last; i++) {
		int64_t start = t->ops.start[i], end = t->ops.end[i];
		if (!clip_to(v, &start, &end))
			continue;
		uint32_t lane = KEYMAP_ADD(v->arena, &streams, t->ops.stream[i], out->streams);
		lane_of_op[i - first] = lane;
		out->streams[lane].stream = t->ops.stream[i];
		out->streams[lane].n_ops++;
		n_shown++;
	}
	out->n_streams = streams.n;
	for (uint32_t i = 0; i < streams.n; i++) {
		out->streams[i].ops = ARENA_NEW(v->arena, out->streams[i].n_ops, struct op_span);
		out->streams[i].n_ops = 0;
	}
	for (uint32_t i = first; n_shown && i < last; i++) {
		int64_t start = t->ops.start[i], end = t->ops.end[i];
		if (!clip_to(v, &start, &end))
			continue;
		struct stream_lane *lane = &out->streams[lane_of_op[i - first]];
		lane->ops[lane->n_ops++] = op_span_of(v, of->run, i, start, end);
	}
	SORT(out->streams, out->n_streams, compare_streams);
}

struct piece_list {
	const struct view *view;
	struct device_lanes *out;
	uint32_t room;
};

static void add_piece(void *context, const struct doing *piece)
{
	struct piece_list *list = context;
	struct device_lanes *out = list->out;
	int64_t start = piece->start, end = piece->end;
	if (!clip_to(list->view, &start, &end))
		return;
	LIST_ADD(list->view->arena, out->pieces, out->n_pieces, list->room,
	         (struct gap_piece){start, end, piece->cause, piece->phase, piece->call});
}

/* Gaps, and bubbles between them: device `at` of the run. */
static void add_gaps(struct view *v, uint32_t at, struct device_lanes *out)
{
	const struct shown *of = &v->shown[at];
	struct run *run = of->run;
	struct piece_list list = {v, out, 0};
	struct idle_walk walk = {
		.run = run, .gaps = &run->charge->devices[of->at], .bubbles = &v->run->charge->devices[at]};
	struct gap whole;
	const struct bubble *bubble;
	uint32_t room = 0;
	while (idle_next(&walk, v->start, &whole, &bubble)) {
		int64_t start = bubble ? bubble->start : whole.start, end = bubble ? bubble->end : whole.end;
		if (start >= v->end)
			break;
		if (!clip_to(v, &start, &end))
			continue;
		LIST_GROW(v->arena, out->gaps, out->n_gaps, room);
		struct gap_span *gap = &out->gaps[out->n_gaps++];
		*gap = (struct gap_span){.start = start, .end = end, .first_piece = out->n_pieces};
		if (bubble) {
			struct doing piece = bubble_piece(v->run, bubble);
			gap->opened = OPENED_WAITING;
			add_piece(&list, &piece);
		} else {
			gap->opened = gap_walk(run, walk.gaps, &whole, run_sharing(run, walk.gaps), add_piece, &list);
		}
		gap->n_pieces = out->n_pieces - gap->first_piece;
	}
}

static int64_t ops_between(const struct view *v, int64_t start, int64_t end)
{
	const struct run *run = v->run;
	int64_t n = 0;
	for (uint32_t i = 0; i < run->charge->n_devices && i < TIMELINE_DEVICES; i++) {
		const struct shown *of = &v->shown[v->order[i]];
		const struct trace *t = of->run->trace;
		const struct trace_device *d = &t->devices[of->run->charge->devices[of->at].device];
		n += op_from(t, d, end) - op_from(t, d, start);
	}
	return n;
}

/* Of more devices than can be shown the slowest, the median and the fastest rank come first, and then the next slowest;
 * else all are in their order. */
static void choose_devices(struct view *v, const struct ranks_result *ranks)
{
	const struct run *run = v->run;
	uint32_t n = 0;
	bool *taken = ARENA_NEW(v->arena, run->charge->n_devices, bool);
	v->order = ARENA_NEW(v->arena, run->charge->n_devices, uint32_t);
	const uint32_t first[] = {0, ranks->n / 2, ranks->n ? ranks->n - 1 : 0};
	for (uint32_t i = 0; ranks->n && run->charge->n_devices > TIMELINE_DEVICES && i < 3 + ranks->n; i++) {
		uint32_t at = run->charge->device_at[ranks->list[i < 3 ? first[i] : i - 3].device];
		if (at == TRACE_NONE || taken[at])
			continue;
		taken[at] = true;
		v->order[n++] = at;
	}
	for (uint32_t at = 0; at < run->charge->n_devices; at++)
		if (!taken[at])
			v->order[n++] = at;
}

/* Where the rows of the devices are that are shown. */
static void find_shown(struct view *v)
{
	struct run *run = v->run;
	v->shown = ARENA_NEW(&v->scratch, run->charge->n_devices, struct shown);
	for (uint32_t i = 0; i < run->charge->n_devices && i < TIMELINE_DEVICES; i++) {
		uint32_t at = v->order[i], first = at;
		uint32_t part = parts_of_device(run, at);
		while (first && parts_of_device(run, first - 1) == part)
			first--;
		v->shown[at] = (struct shown){open_part(v, part), at - first};
	}
}

/* Of more than two ranks the host of the slowest one is shown. */
static void choose_host(struct view *v, const struct ranks_result *ranks, struct timeline *out)
{
	enum { FEW = 2 };
	const struct run *run = v->run;
	bool several = false;
	v->process = out->host = TRACE_NONE;
	uint32_t at = ranks->n > FEW ? run->charge->device_at[ranks->list[0].device] : TRACE_NONE;
	if (at == TRACE_NONE)
		return;
	uint32_t process = run->trace->devices[run->charge->devices[at].device].process;
	for (uint32_t d = 0; d < run->charge->n_devices; d++)
		several = several || run->trace->devices[run->charge->devices[d].device].process != process;
	if (!several)
		return;
	v->process = process;
	out->host = ranks->list[0].device;
}

/* Ends the view where it has so many ops as can be shown. */
static void cut(struct view *v, struct timeline *out)
{
	int64_t all = ops_between(v, v->start, v->end), end = v->start + 2;
	if (all <= OPS_SHOWN)
		return;
	SEARCH(end, v->end, ops_between(v, v->start, end) <= OPS_SHOWN); /* the first end with more than that */
	v->end = end - 1;
	out->left_out = all - ops_between(v, v->start, v->end);
	out->boundary[out->n_boundaries - 1] = v->end - v->start;
}

struct timeline timeline_build(struct run *run, const struct ranks_result *ranks, struct arena *arena)
{
	struct timeline timeline = {0}, *out = &timeline;
	const struct steps *s = &run->steps;
	struct view v = {.run = run, .arena = arena, .start = run->window.start, .end = run->window.end};
	uint32_t shown = run->window.n_steps < STEPS_SHOWN ? run->window.n_steps : STEPS_SHOWN;
	v.part = ARENA_NEW(&v.scratch, run->parts->n, struct run *);
	choose_devices(&v, ranks);
	find_shown(&v);
	choose_host(&v, ranks, out);
	out->boundary = ARENA_NEW(arena, STEPS_SHOWN + 1, int64_t);
	if (s->found) {
		uint32_t first =
			most_representative(run, shown); /* period i lies between the ends of steps i and i + 1 */
		for (; shown > 1 && ops_between(&v, s->end[first], s->end[first + shown]) > OPS_SHOWN;
		     first = most_representative(run, shown))
			shown--;
		v.start = s->end[first];
		v.end = s->end[first + shown];
		out->first_step = first + 1;
		for (uint32_t k = 0; k <= shown; k++)
			out->boundary[out->n_boundaries++] = s->end[first + k] - v.start;
	} else {
		out->boundary[1] = v.end - v.start;
		out->n_boundaries = 2;
	}
	cut(&v, out);
	out->length = v.end - v.start;
	add_phases(&v, out);
	add_calls(&v, out);
	out->devices = ARENA_NEW(arena, run->charge->n_devices, struct device_lanes);
	out->n_devices = run->charge->n_devices;
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		uint32_t at = v.order[d];
		out->devices[d].device = run->charge->place[at];
		if (d >= TIMELINE_DEVICES)
			continue;
		add_streams(&v, &v.shown[at], &out->devices[d]);
		add_gaps(&v, at, &out->devices[d]);
		metrics_lanes(run, v.start, v.end, at, arena, &out->devices[d]);
	}
	arena_release(&v.scratch);
	return timeline;
}
