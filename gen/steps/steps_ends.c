#include "steps/steps_build.h"

#include "base/keymap.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

enum { MIN_CLOSED = 3 };                /* steps left without the last ones */
static const double CUT_MISSING = 0.01; /* of those that ran */

/* The launches of the threads that belong to a step thread, its own, and where no other thread of the process has
 * instances, all others. */
struct launched {
	int64_t *missing; /* start of those without an op, … */
	size_t n, room;
	int64_t *ran; /* … and with one */
	size_t n_ran, room_ran;
	int64_t last; /* of all calls that have one: when the latest began */
};

/* Adds those with an op, or without one. */
static void add_launches(struct steps_build *b, uint32_t i, bool ran, struct launched *to)
{
	const struct trace *t = b->trace;
	const struct step_thread *s = &b->out->threads[i];
	bool alone =
		(i == 0 || s[-1].process != s->process) && (i + 1 == b->out->n_threads || s[1].process != s->process);
	for (uint32_t u = 0; u < t->n_threads; u++) {
		if (u != s->thread && (!alone || t->threads[u].process != s->process))
			continue;
		for (uint32_t c = t->first_call[u]; c < t->first_call[u + 1]; c++) {
			const int64_t start = t->calls.start[c];
			to->last = t->calls.queues[c] && start > to->last ? start : to->last;
			if (t->calls.class[c] != CALL_LAUNCH || (t->calls.queues[c] != QUEUES_NONE) != ran)
				continue;
			if (ran)
				LIST_ADD(&b->scratch, to->ran, to->n_ran, to->room_ran, start);
			else
				LIST_ADD(&b->scratch, to->missing, to->n, to->room, start);
		}
	}
}

static size_t count_in(const int64_t *start, size_t n, int64_t from, int64_t to)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += start[i] >= from && start[i] < to;
	return count;
}

/* Whether the capture ended before the ops of an instance did: they are missing behind all that ran, or many are. A row
 * that was lost amid the others is no end. */
static bool is_cut(const struct launched *l, const struct instance *x)
{
	const size_t missing = count_in(l->missing, l->n, x->start, x->end);
	return missing && (count_in(l->missing, l->n, x->start > l->last ? x->start : l->last, x->end) ||
	                   (double)missing > CUT_MISSING * (double)count_in(l->ran, l->n_ran, x->start, x->end));
}

void steps_find_cut(struct steps_build *b)
{
	for (uint32_t i = 0; i < b->out->n_threads; i++) {
		const struct step_thread *s = &b->out->threads[i];
		struct launched l = {.last = INT64_MIN};
		add_launches(b, i, false, &l);
		if (l.n)
			add_launches(b, i, true, &l);
		uint32_t first = s->n / 2 < MIN_CLOSED ? s->n / 2 : MIN_CLOSED;
		/* that may be cut: of the second half, or behind all that ran */
		while (first < s->n / 2 && s->end[first] <= l.last)
			first++;
		/* where some are missing before, too, that says nothing */
		bool tells = l.n && !count_in(l.missing, l.n, s->start[0], s->start[first]);
		for (uint32_t k = s->n; k-- > first;) {
			struct instance *x = steps_instance(b, b->first[i] + k);
			x->cut = x->cut || (tells && is_cut(&l, x));
			if (!x->cut)
				break;
			b->out->n_cut++;
		}
	}
}

/* When a device has worked off what was launched before a PyTorch trace, whose launches nobody recorded: it runs at the
 * first launch of the process that was (`first_launch`), and on its stream in front of all ops with launches.
 * INT64_MIN: there is none, or launches are missing elsewhere, too, and say nothing. */
static int64_t queued_until(const struct trace *t, const struct trace_device *device, int64_t first_launch)
{
	ARENA_LOCAL(scratch);
	struct keymap streams; /* with launches … */
	int64_t *first = NULL; /* … and when the first such op of each starts */
	size_t n = 0, room = 0, queued = 0, others = 0, end = device->first_op + device->n_ops;
	int64_t until = INT64_MIN;
	keymap_init(&streams, &scratch);
	for (size_t i = device->first_op; i < end; i++) {
		if (t->ops.launch[i] == TRACE_NONE || keymap_add(&streams, t->ops.stream[i]) < n)
			continue;
		LIST_ADD(&scratch, first, n, room, t->ops.start[i]);
	}
	for (size_t i = device->first_op; i < end; i++) {
		if (t->ops.launch[i] != TRACE_NONE || t->ops.flags[i] & OPF_MANAGED)
			continue;
		uint32_t stream = keymap_find(&streams, t->ops.stream[i]);
		if (stream == UINT32_MAX || t->ops.start[i] >= first[stream] ||
		    (!queued && t->ops.start[i] >= first_launch)) {
			others++;
			continue;
		}
		queued++;
		until = t->ops.end[i] > until ? t->ops.end[i] : until;
	}
	return queued > others ? until : INT64_MIN;
}

int64_t steps_find_begin(const struct steps_build *b)
{
	const struct trace *t = b->trace;
	ARENA_LOCAL(scratch);
	int64_t *first = ARENA_NEW(&scratch, t->n_processes, int64_t), begin = INT64_MAX;
	int64_t *from = ARENA_NEW(&scratch, t->n_processes, int64_t);
	int64_t *first_launch = ARENA_NEW(&scratch, t->n_processes, int64_t);
	for (uint32_t p = 0; p < t->n_processes; p++)
		first[p] = first_launch[p] = INT64_MAX;
	for (uint32_t p = 0; p < b->marks->n; p++) {
		const struct instance *x = steps_instance(b, p);
		first[x->process] = x->start < first[x->process] ? x->start : first[x->process];
	}
	memcpy(from, first, t->n_processes * sizeof *from);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t process = op_process(t, i);
		if (t->ops.launch[i] != TRACE_NONE && op_launch_start(t, i) < first_launch[process])
			first_launch[process] = op_launch_start(t, i);
		if (b->at[i] != TRACE_NONE) /* launched in an instance, and not before the first */
			continue;
		if (t->ops.end[i] > from[process] && op_launch_start(t, i) < first[process])
			from[process] = t->ops.end[i];
	}
	for (uint32_t d = 0; d < t->n_devices && t->source.kind == SOURCE_KINETO; d++) {
		uint32_t process = t->devices[d].process;
		int64_t until = queued_until(t, &t->devices[d], first_launch[process]);
		if (first[process] != INT64_MAX && until > from[process])
			from[process] = until;
	}
	for (uint32_t p = 0; p < t->n_processes; p++)
		begin = from[p] < begin ? from[p] : begin;
	return begin;
}

uint32_t steps_extend_ends(int64_t *own, uint32_t n)
{
	int64_t latest = INT64_MIN, next = INT64_MIN;
	bool outlived = false;
	while (n && own[n - 1] == INT64_MIN)
		n--;
	for (uint32_t k = 0; k < n; k++) {
		if (own[k] > latest) {
			latest = own[k];
		} else if (own[k] != INT64_MIN) {
			own[k] = latest;
			outlived = true;
		}
	}
	for (uint32_t k = n; k-- > 0; next = own[k])
		if (own[k] == INT64_MIN)
			own[k] = next;
	uint32_t closed = n;
	while (closed && own[closed - 1] == latest)
		closed--;
	return outlived && closed >= MIN_CLOSED ? closed : n;
}

uint32_t steps_divide_ends(struct steps *s, const int64_t *end, uint32_t n)
{
	uint32_t merged = 0;
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && end[to] == end[from];)
			to++;
		if (from == 0 && !s->opened) {
			merged = to - 1;
			s->end[s->n++] = end[0];
			continue;
		}
		int64_t before = from ? end[from - 1] : s->end[0], all = end[from] - before;
		for (uint32_t k = 1; k <= to - from; k++) {
			s->shared[s->n] = to - from > 1;
			s->end[s->n++] = before + (int64_t)((__int128)all * k / (to - from));
		}
	}
	return merged;
}

void steps_measure_requests(struct steps_build *b)
{
	struct steps *s = b->out;
	int64_t *start = ARENA_NEW(b->arena, s->n, int64_t), *end = ARENA_NEW(&b->scratch, s->n, int64_t), until = 0;
	if (s->n_ranks > 1 && !b->marks->requests)
		return;
	s->request = ARENA_NEW(b->arena, s->n, int64_t);
	s->request_start = start;
	for (uint32_t p = 0; p < b->marks->n; p++) {
		const struct instance *x = steps_instance(b, p);
		if (x->step == TRACE_NONE)
			continue;
		const int64_t done = b->own_end[p] > x->end ? b->own_end[p] : x->end;
		const bool begun = s->request[x->step] > 0; /* by another rank */
		const int64_t over = begun ? start[x->step] + s->request[x->step] : done;
		start[x->step] = begun && start[x->step] < x->start ? start[x->step] : x->start;
		end[x->step] = begun && end[x->step] > x->end ? end[x->step] : x->end;
		s->request[x->step] = (over > done ? over : done) - start[x->step];
	}
	for (uint32_t k = 1; k < s->n; k++) {
		s->overlap = s->overlap || (k > 1 && start[k] < until);
		until = k == 1 || end[k] > until ? end[k] : until;
	}
}

uint32_t steps_part_stretches(struct steps_build *b, uint32_t n, int64_t *begins)
{
	bool *opens = ARENA_NEW(&b->scratch, n + 1, bool);
	uint32_t *left = ARENA_NEW(&b->scratch, n + 1, uint32_t); /* by step: those that are left before it */
	uint32_t longest = 0, stretches = 0, from = 0;
	for (uint32_t k = 0; k < n; k++)
		begins[k] = INT64_MIN;
	for (uint32_t p = 0; p < b->marks->n; p++)
		if (steps_instance(b, p)->step != TRACE_NONE && steps_instance(b, p)->opens)
			opens[steps_instance(b, p)->step] = true;
	opens[n] = true;
	opens[0] = false;
	for (uint32_t k = 0; k < n; k++) {
		left[k + 1] = left[k] + !opens[k];
		if (!opens[k + 1])
			continue;
		stretches++;
		longest = k + 1 - from > longest ? k + 1 - from : longest;
		from = k + 1;
	}
	if (stretches < 2 || longest < b->marks->least_stretch)
		return n;
	b->out->n_stretches = stretches;
	b->out->unmeasured = n - left[n];
	for (uint32_t p = 0; p < b->marks->n; p++) {
		struct instance *x = steps_instance(b, p);
		uint32_t k = x->step;
		if (k == TRACE_NONE)
			continue;
		x->unmeasured = opens[k];
		x->step = opens[k] ? TRACE_NONE : left[k];
		if (opens[k] && b->own_end[p] > begins[left[k]])
			begins[left[k]] = b->own_end[p];
	}
	return left[n];
}

void steps_find_pauses(struct steps *s, const int64_t *begins, uint32_t before, struct arena *arena)
{
	s->pauses.at = arena_alloc(arena, s->n_stretches, sizeof *s->pauses.at);
	for (uint32_t k = 1; s->n_stretches && k < s->n; k++) {
		int64_t end = begins[k + before];
		if (end > s->end[k - 1] && end < s->end[k]) {
			s->pauses.at[s->pauses.n][0] = s->end[k - 1];
			s->pauses.at[s->pauses.n++][1] = end;
		}
	}
}

void steps_find_grids(struct steps_build *b)
{
	struct steps *s = b->out;
	struct step_work *of = ARENA_NEW(&b->scratch, s->n, struct step_work);
	for (uint32_t p = 0; p < b->marks->n; p++)
		if (steps_instance(b, p)->step != TRACE_NONE)
			step_work_add(&of[steps_instance(b, p)->step], &b->own_work[p]);
	s->grid = ARENA_NEW(b->arena, s->n, int64_t);
	for (uint32_t k = 0; k < s->n; k++)
		s->grid[k] = of[k].kernels > 0 ? llround((double)of[k].blocks / (double)of[k].kernels) : 0;
}

/* By instance of a thread, its step. `all`: 0, 1, 2 … */
static uint32_t *steps_of_thread(const struct steps_build *b, uint32_t i, uint32_t *all)
{
	const uint32_t n = b->out->threads[i].n, from = steps_instance(b, b->first[i])->step;
	bool in_turn = true;
	for (uint32_t k = 0; k < n; k++)
		in_turn = in_turn && from != TRACE_NONE && steps_instance(b, b->first[i] + k)->step == from + k;
	if (in_turn)
		return all + from;
	uint32_t *own = ARENA_TAKE(b->arena, n, uint32_t);
	for (uint32_t k = 0; k < n; k++)
		own[k] = steps_instance(b, b->first[i] + k)->step;
	return own;
}

void steps_fill_threads(struct steps_build *b)
{
	struct steps *s = b->out;
	uint32_t *all = ARENA_TAKE(b->arena, s->n, uint32_t); /* most threads have one after the other */
	for (uint32_t k = 0; k < s->n; k++)
		all[k] = k;
	for (uint32_t i = 0; i < s->n_threads; i++)
		s->threads[i].step = steps_of_thread(b, i, all);
}
