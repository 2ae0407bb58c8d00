#include "steps/steps.h"

#include "base/list.h"
#include "base/sort.h"
#include "steps/steps_build.h"

#include <string.h>

/* Two lanes (below) whose numbers of instances differ by no more than this are ranks that a capture cut at different
 * places. */
enum { NEAR_COUNT = 2, NEAR_SHARE = 20 /* one in so many */ };

/* ---- instances that were given by their ops ---- */

/* Their time on the host: from an instance's first launch to the next one's on that thread, the last one to its own
 * last launch's end. The host may be far ahead of the GPU: starts of ops and times of launches are never mixed. Where
 * an instance has no launch, as the capture began after it, the starts of all instances' ops stand for their launches.
 */
static void find_host_times(struct steps_build *b)
{
	const struct step_marks *m = b->marks;
	bool by_launch = true;
	for (uint32_t k = 0; k < m->n; k++)
		by_launch = by_launch && m->ops[k].launched;
	for (uint32_t k = 0; k < m->n; k++) {
		m->instance[k].start = by_launch ? m->ops[k].first_call : m->ops[k].first_start;
		m->instance[k].end = by_launch ? m->ops[k].last_call : m->ops[k].last_start;
	}
}

static void meet_on_host(struct steps_build *b)
{
	for (uint32_t i = 0; i < b->out->n_threads; i++)
		for (uint32_t p = b->first[i]; p + 1 < b->first[i + 1]; p++)
			if (!steps_instance(b, p + 1)->opens)
				steps_instance(b, p)->end = steps_instance(b, p + 1)->start;
}

/* ---- threads ---- */

static int compare_instances(const void *a, const void *b, void *list)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct instance *x = (struct instance *)list + i, *y = (struct instance *)list + k;
	return ASCENDING(x->process, y->process) ?: ASCENDING(x->thread, y->thread)
		?: sort_nested(x->start, x->end, y->start, y->end) ?: ASCENDING(i, k);
}

static int64_t length_of(const struct step_thread *t)
{
	int64_t ns = 0;
	for (uint32_t i = 0; i < t->n; i++)
		ns += t->end[i] - t->start[i];
	return ns;
}

/* Groups the instances by thread. `threads` of a process are in order of their number here. */
static void find_threads(struct steps_build *b)
{
	struct steps *s = b->out;
	uint32_t n = b->marks->n;
	b->order = ARENA_TAKE(&b->scratch, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		b->order[i] = i;
	SORT_BY(b->order, n, compare_instances, b->marks->instance);
	for (uint32_t p = 0; p < n; p++)
		s->n_threads += p == 0 || steps_instance(b, p)->thread != steps_instance(b, p - 1)->thread;
	s->threads = ARENA_NEW(b->arena, s->n_threads, struct step_thread);
	s->thread_at = ARENA_NEW(b->arena, b->trace->n_threads, uint32_t);
	s->first_of = ARENA_NEW(b->arena, b->trace->n_processes, uint32_t);
	b->first = ARENA_NEW(&b->scratch, (size_t)s->n_threads + 1, uint32_t);
	for (uint32_t p = 0, i = 0; p < n; i++) {
		const struct instance *x = steps_instance(b, p);
		b->first[i] = p;
		s->threads[i] = (struct step_thread){.process = x->process, .thread = x->thread};
		while (p < n && steps_instance(b, p)->thread == x->thread)
			p++;
		b->first[i + 1] = p;
		s->thread_at[x->thread] = i + 1;
	}
}

/* The columns of the threads; steps come later. */
static void fill_threads(struct steps_build *b)
{
	struct steps *s = b->out;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		struct step_thread *t = &s->threads[i];
		t->n = b->first[i + 1] - b->first[i];
		t->start = ARENA_TAKE(b->arena, t->n, int64_t);
		t->end = ARENA_TAKE(b->arena, t->n, int64_t);
		t->until = t->end; /* as long as none overlap */
		for (uint32_t k = 0; k < t->n; k++) {
			const struct instance *x = steps_instance(b, b->first[i] + k);
			t->start[k] = x->start;
			t->end[k] = x->end;
			if (k && x->start < t->until[k - 1] && !t->overlap) {
				t->overlap = true;
				t->until = ARENA_TAKE(b->arena, t->n, int64_t);
				memcpy(t->until, t->end, k * sizeof *t->until);
			}
			t->until[k] = k && t->until[k - 1] > x->end ? t->until[k - 1] : x->end;
		}
	}
}

static int compare_threads(const void *a, const void *b)
{
	const struct step_thread *x = a, *y = b;
	int64_t lx = length_of(x), ly = length_of(y);
	return ASCENDING(x->process, y->process) ?: DESCENDING(lx, ly) ?: ASCENDING(x->thread, y->thread);
}

static void order_threads(struct steps *s)
{
	SORT(s->threads, s->n_threads, compare_threads);
	for (uint32_t i = s->n_threads; i-- > 0;) {
		s->thread_at[s->threads[i].thread] = i + 1;
		s->first_of[s->threads[i].process] = i + 1;
	}
}

const struct step_thread *steps_of_process(const struct steps *s, uint32_t process)
{
	return s->first_of && s->first_of[process] ? &s->threads[s->first_of[process] - 1] : NULL;
}

/* ---- steps ---- */

/* By process, when its last whole instance ends; INT64_MAX: it has none. */
static int64_t *last_ends(struct steps_build *b)
{
	int64_t *last = ARENA_TAKE(&b->scratch, b->trace->n_processes, int64_t);
	for (uint32_t p = 0; p < b->trace->n_processes; p++)
		last[p] = INT64_MAX;
	for (uint32_t p = 0; p < b->marks->n; p++) {
		const struct instance *x = steps_instance(b, p);
		if (!x->cut && (last[x->process] == INT64_MAX || x->end > last[x->process]))
			last[x->process] = x->end;
	}
	return last;
}

/* What the ops say of places and lanes. */
static void ask_ops(struct steps_build *b)
{
	const struct trace *t = b->trace;
	struct arena *arena = &b->scratch;
	b->own_start = ARENA_TAKE(arena, b->marks->n, int64_t);
	b->own_end = ARENA_TAKE(arena, b->marks->n, int64_t);
	b->own_time = ARENA_NEW(arena, b->marks->n, double);
	b->own_work = ARENA_NEW(arena, b->marks->n, struct step_work);
	b->communicates = ARENA_NEW(arena, b->n_lanes, bool);
	for (uint32_t p = 0; p < b->marks->n; p++) {
		b->own_start[p] = INT64_MAX;
		b->own_end[p] = INT64_MIN;
	}
	b->begin = steps_find_begin(b);
	const int64_t *last = last_ends(b);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t p = b->at[i];
		double length = (double)(t->ops.end[i] - t->ops.start[i]);
		b->all_time += length;
		if (p == TRACE_NONE || steps_instance(b, p)->cut)
			b->after += op_launch_start(t, i) > last[op_process(t, i)] ? length : 0;
		if (p == TRACE_NONE)
			continue;
		b->own_time[p] += length;
		step_work_add_op(&b->own_work[p], t, i);
		b->own_start[p] = t->ops.start[i] < b->own_start[p] ? t->ops.start[i] : b->own_start[p];
		b->own_end[p] = t->ops.end[i] > b->own_end[p] ? t->ops.end[i] : b->own_end[p];
		if (t->ops.kind[i] == OP_COMM)
			b->communicates[b->lane[p]] = true;
	}
}

static uint32_t count_communicating(const struct steps_build *b)
{
	uint32_t n = 0;
	for (uint32_t l = 0; l < b->n_lanes; l++)
		n += b->communicates[l];
	return n;
}

static int compare_places(const void *a, const void *b, void *context)
{
	const struct steps_build *build = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct instance *x = steps_instance(build, i), *y = steps_instance(build, k);
	return ASCENDING(build->lane[i], build->lane[k]) ?: ASCENDING(x->start, y->start) ?: ASCENDING(i, k);
}

/* The instances of each lane that count, how many of them each has, and whether lanes are ranks. */
struct numbered {
	uint32_t *place, *count, n, least, most;
	bool ranks;
};

static struct numbered count_instances(struct steps_build *b)
{
	struct numbered c = {.place = ARENA_TAKE(&b->scratch, b->marks->n, uint32_t),
	                     .count = ARENA_NEW(&b->scratch, b->n_lanes, uint32_t),
	                     .least = UINT32_MAX};
	for (uint32_t p = 0; p < b->marks->n; p++) {
		steps_instance(b, p)->step = TRACE_NONE;
		if (steps_instance(b, p)->cut || steps_instance(b, p)->other_start)
			continue;
		c.place[c.n++] = p;
		c.count[b->lane[p]]++;
	}
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		c.least = c.count[l] < c.least ? c.count[l] : c.least;
		c.most = c.count[l] > c.most ? c.count[l] : c.most;
	}
	bool near = c.most - c.least <= NEAR_COUNT || (uint64_t)NEAR_SHARE * (c.most - c.least) <= c.most;
	const uint32_t communicating = count_communicating(b);
	if (b->marks->requests && !communicating)
		near = false; /* servers of a GPU each */
	c.ranks = b->n_lanes == 1 || near || communicating == b->n_lanes;
	return c;
}

/* Numbers the instances of each lane in order of their start, those that are cut left out; where the lanes are no
 * ranks, of all of them together. Returns how many steps that makes. */
static uint32_t number_steps(struct steps_build *b)
{
	struct steps *s = b->out;
	struct numbered c = count_instances(b);
	if (c.ranks && b->n_lanes > 1 && steps_leave_restarts(b))
		c = count_instances(b);
	uint32_t n = c.n, *place = c.place;
	if (!c.ranks)
		memset(b->lane, 0, b->marks->n * sizeof *b->lane);
	SORT_BY(place, n, compare_places, b);
	s->n_ranks = c.ranks ? b->n_lanes : 1;
	s->uneven = c.ranks && c.least != c.most;
	for (uint32_t i = 0; i < n; i++)
		steps_instance(b, place[i])->step = c.ranks ? TRACE_NONE : i;
	if (!c.ranks)
		return n;
	const struct steps_shared shared = steps_align(b, place, c.count);
	for (uint32_t l = 0; l < b->n_lanes; l++) /* a rank's steps before these tell when they began */
		if (shared.first[l])
			b->begin = INT64_MIN;
	s->by_time = shared.by_time;
	s->unaligned = !shared.known;
	for (uint32_t i = 0, k = 0; i < n; i++, k++) {
		uint32_t l = b->lane[place[i]];
		if (i && l != b->lane[place[i - 1]])
			k = 0;
		if (k >= shared.first[l] && k - shared.first[l] < shared.n)
			steps_instance(b, place[i])->step = k - shared.first[l];
	}
	return shared.n;
}

/* Returns how many steps have become one with the first. */
static uint32_t end_steps(struct steps_build *b, uint32_t n)
{
	struct steps *s = b->out;
	int64_t *own = ARENA_TAKE(&b->scratch, n, int64_t);
	double inside = 0;
	for (uint32_t k = 0; k < n; k++)
		own[k] = INT64_MIN;
	for (uint32_t p = 0; p < b->marks->n; p++) {
		uint32_t k = steps_instance(b, p)->step;
		if (k != TRACE_NONE && b->own_end[p] > own[k])
			own[k] = b->own_end[p];
	}
	s->end = ARENA_NEW(b->arena, (size_t)n + 1, int64_t);
	s->shared = ARENA_NEW(b->arena, (size_t)n + 1, bool);
	bool few = n <= STEPS_FEW;
	n = steps_extend_ends(own, n);
	s->opened = few && n > 0 && !b->marks->ops && b->begin != INT64_MIN && b->begin < own[0];
	if (s->opened)
		s->end[s->n++] = b->begin;
	uint32_t merged = steps_divide_ends(s, own, n);
	for (uint32_t p = 0; p < b->marks->n; p++) {
		uint32_t *step = &steps_instance(b, p)->step;
		if (*step != TRACE_NONE)
			*step = *step < merged ? 0 : *step - merged + s->opened;
		if (*step >= s->n)
			*step = TRACE_NONE;
	}
	steps_find_grids(b);
	for (uint32_t p = 0; p < b->marks->n; p++)
		if (steps_instance(b, p)->step != TRACE_NONE || steps_instance(b, p)->unmeasured)
			inside += b->own_time[p];
	s->coverage = b->all_time > 0 ? inside / b->all_time : 0;
	steps_fill_threads(b);
	return merged;
}

/* Of instances that were given by their ops: a lane is the device. */
static void place_instances(struct steps_build *b)
{
	const struct step_marks *m = b->marks;
	uint32_t *number = ARENA_NEW(&b->scratch, b->trace->n_devices, uint32_t);
	find_host_times(b);
	find_threads(b);
	meet_on_host(b);
	fill_threads(b);
	b->lane = ARENA_NEW(&b->scratch, m->n, uint32_t);
	b->own_start = ARENA_NEW(&b->scratch, m->n, int64_t);
	b->own_end = ARENA_NEW(&b->scratch, m->n, int64_t);
	b->own_time = ARENA_NEW(&b->scratch, m->n, double);
	b->own_work = ARENA_NEW(&b->scratch, m->n, struct step_work);
	b->communicates = ARENA_NEW(&b->scratch, b->trace->n_devices, bool);
	b->all_time = m->all_time;
	for (uint32_t p = 0; p < m->n; p++) {
		const struct step_ops *ops = &m->ops[b->order[p]];
		if (!number[ops->device])
			number[ops->device] = ++b->n_lanes;
		b->lane[p] = number[ops->device] - 1;
		b->own_start[p] = ops->first_start;
		b->own_end[p] = ops->end;
		b->own_time[p] = ops->time;
		b->own_work[p] = ops->work;
		b->communicates[b->lane[p]] = b->communicates[b->lane[p]] || ops->communicates;
	}
}

static struct steps steps_proposed(const struct step_marks *marks)
{
	return (struct steps){.origin = marks->origin,
	                      .name = marks->name,
	                      .domain = marks->domain,
	                      .written = marks->written,
	                      .by_op = marks->ops != NULL,
	                      .n_instances = marks->n};
}

void steps_from_ops(const struct trace *trace, const struct step_marks *marks, struct arena *arena, struct steps *out)
{
	struct steps_build b = {.trace = trace, .marks = marks, .arena = arena, .out = out};
	*out = steps_proposed(marks);
	place_instances(&b);
	uint32_t n = number_steps(&b);
	int64_t *begins = ARENA_NEW(&b.scratch, (size_t)n + 1, int64_t);
	if (n && marks->least_stretch && b.n_lanes == 1)
		n = steps_part_stretches(&b, n, begins);
	uint32_t merged = end_steps(&b, n);
	steps_find_pauses(out, begins, merged, arena);
	order_threads(out);
	out->found = out->n >= 2;
	arena_release(&b.scratch);
}

/* ---- part by part ---- */

void steps_of_part(const struct trace *trace, const struct step_marks *marks, struct arena *arena, bool at,
                   struct steps_part *out)
{
	struct steps proposed = steps_proposed(marks);
	ARENA_LOCAL(threads);
	struct steps_build b = {.trace = trace, .marks = marks, .arena = &threads, .out = &proposed};
	find_threads(&b);
	fill_threads(&b);
	b.at = ARENA_TAKE(at ? arena : &b.scratch, trace->ops.n, uint32_t);
	b.lane = ARENA_TAKE(&b.scratch, marks->n, uint32_t);
	steps_find_lanes(&b);
	steps_find_cut(&b);
	ask_ops(&b);
	*out = (struct steps_part){.n_cut = proposed.n_cut,
	                           .n_lanes = b.n_lanes,
	                           .all_time = b.all_time,
	                           .after = b.after,
	                           .communicates = arena_keep(arena, b.communicates, b.n_lanes, sizeof(bool)),
	                           .begin = b.begin,
	                           .at = at ? b.at : NULL};
	instances_pack(&b, arena, out);
	arena_release(&b.scratch);
}

/* Room for what is said of n instances. */
static void make_room(struct steps_build *b, struct step_marks *marks, uint32_t n)
{
	marks->n = n;
	marks->instance = ARENA_TAKE(&b->scratch, n, struct instance);
	b->marks = marks;
	b->lane = ARENA_TAKE(&b->scratch, n, uint32_t);
	b->own_start = ARENA_TAKE(&b->scratch, n, int64_t);
	b->own_end = ARENA_TAKE(&b->scratch, n, int64_t);
	b->own_time = ARENA_TAKE(&b->scratch, n, double);
	b->own_work = ARENA_TAKE(&b->scratch, n, struct step_work);
}

struct instance *steps_of_one(const struct steps_part *part, struct arena *arena)
{
	struct steps_build b = {0};
	struct step_marks marks = {0};
	make_room(&b, &marks, part->n);
	instances_unpack(part, 0, 0, &b);
	arena_adopt(arena, &b.scratch);
	return marks.instance;
}

void steps_join(const struct trace *trace, const struct step_marks *like, struct steps_part *parts, size_t n,
                struct arena *arena, struct steps *out)
{
	struct step_marks all = {.origin = like->origin,
	                         .name = like->name,
	                         .domain = like->domain,
	                         .written = like->written,
	                         .requests = like->requests};
	struct steps_build b = {.trace = trace, .arena = arena, .out = out, .begin = INT64_MAX};
	uint32_t n_instances = 0, at = 0, lanes = 0;
	for (size_t i = 0; i < n; i++) {
		b.begin = parts[i].begin < b.begin ? parts[i].begin : b.begin;
		n_instances += parts[i].n;
		b.n_lanes += parts[i].n_lanes;
	}
	make_room(&b, &all, n_instances);
	b.communicates = ARENA_TAKE(&b.scratch, b.n_lanes, bool);
	*out = steps_proposed(&all);
	for (size_t i = 0; i < n; at += parts[i].n, lanes += parts[i].n_lanes, i++) {
		instances_unpack(&parts[i], at, lanes, &b);
		memcpy(b.communicates + lanes, parts[i].communicates, parts[i].n_lanes * sizeof *b.communicates);
		b.all_time += parts[i].all_time;
		out->n_cut += parts[i].n_cut;
	}
	find_threads(&b);
	fill_threads(&b);
	end_steps(&b, number_steps(&b));
	steps_measure_requests(&b);
	order_threads(out);
	out->found = out->n >= 2;
	at = 0;
	for (size_t i = 0; i < n; at += parts[i].n, i++) {
		parts[i].step = parts[i].at ? ARENA_TAKE(arena, parts[i].n, uint32_t) : NULL;
		for (uint32_t p = 0; p < parts[i].n && parts[i].step; p++)
			parts[i].step[p] = all.instance[at + p].step;
	}
	arena_release(&b.scratch);
}

uint32_t *steps_of_ops(const struct steps_part *part, size_t n_ops, struct arena *arena)
{
	uint32_t *step = ARENA_TAKE(arena, n_ops, uint32_t);
	for (size_t i = 0; i < n_ops; i++)
		step[i] = part->at[i] == TRACE_NONE ? TRACE_NONE : part->step[part->at[i]];
	return step;
}

/* A part's threads with instances, in the order of their numbers. */
static void take_threads(const struct trace *t, const struct steps *whole, uint32_t first_process,
                         uint32_t first_thread, struct arena *arena, struct steps *out)
{
	*out = *whole;
	out->threads = ARENA_NEW(arena, t->n_threads, struct step_thread);
	out->n_threads = 0;
	out->thread_at = ARENA_NEW(arena, t->n_threads, uint32_t);
	out->first_of = ARENA_NEW(arena, t->n_processes, uint32_t);
	for (uint32_t i = 0; i < t->n_threads; i++) {
		uint32_t at = whole->thread_at[first_thread + i];
		if (!at)
			continue;
		struct step_thread *thread = &out->threads[out->n_threads++];
		*thread = whole->threads[at - 1];
		thread->process -= first_process;
		thread->thread = i;
		out->thread_at[i] = out->n_threads;
	}
}

void steps_take_part(const struct trace *trace, const struct steps *whole, uint32_t first_process,
                     uint32_t first_thread, struct arena *arena, struct steps *out)
{
	struct steps_build b = {.trace = trace, .out = out};
	take_threads(trace, whole, first_process, first_thread, arena, out);
	if (!whole->by_op) {
		b.first = ARENA_NEW(&b.scratch, (size_t)out->n_threads + 1, uint32_t);
		for (uint32_t i = 0; i < out->n_threads; i++)
			b.first[i + 1] = b.first[i] + out->threads[i].n;
		uint32_t n = b.first[out->n_threads], *step = ARENA_TAKE(&b.scratch, n, uint32_t);
		for (uint32_t i = 0; i < out->n_threads; i++)
			memcpy(step + b.first[i], out->threads[i].step, out->threads[i].n * sizeof *step);
		b.lane = ARENA_TAKE(&b.scratch, n, uint32_t);
		out->op_step = b.at = ARENA_TAKE(arena, trace->ops.n, uint32_t);
		steps_find_lanes(&b);
		for (size_t i = 0; i < trace->ops.n; i++)
			out->op_step[i] = b.at[i] == TRACE_NONE ? TRACE_NONE : step[b.at[i]];
	}
	order_threads(out);
	arena_release(&b.scratch);
}
