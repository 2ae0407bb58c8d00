#include "analyse/run/steps.h"

#include "base/list.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* Two lanes (below) whose numbers of instances differ by no more than this are ranks that a capture cut at different
 * places. */
enum { NEAR_COUNT = 2, NEAR_SHARE = 20 /* one in so many */ };
enum { MIN_CLOSED = 3 }; /* steps that are left when the last ones are not counted */
enum { USES_DEVICE = 10 /* a thread uses a device that one in so many of its GPU nanoseconds are on */ };

/* Instances are numbered by their place in `order`: by process, thread, start. A lane is what makes one rank: the
 * instances of threads that use the same device. */
struct build {
	const struct trace *trace;
	const struct step_marks *marks;
	struct arena *arena, scratch;
	struct steps *out;
	uint32_t *order; /* place -> index into marks.instance */
	uint32_t *first; /* by step thread: its places are [first[i], first[i + 1]) */
	uint32_t *at;    /* by op: the place of its instance, or TRACE_NONE */
	uint32_t *lane;  /* by place */
	uint32_t n_lanes;
};

static struct instance *instance_at(const struct build *b, uint32_t place)
{
	return &b->marks->instance[b->order[place]];
}

/* ---- instances that were given by their ops ---- */

/* Whether the profile has a launch of every instance. */
static bool all_launched(struct build *b)
{
	const struct trace *t = b->trace;
	const struct step_marks *m = b->marks;
	uint8_t *has = ARENA_NEW(&b->scratch, m->n, uint8_t); /* 1: ops, 2: and a launch of one */
	for (size_t i = 0; i < t->ops.n; i++)
		if (m->of_op[i] != TRACE_NONE)
			has[m->of_op[i]] |= t->ops.launch[i] == TRACE_NONE ? 1 : 3;
	for (uint32_t k = 0; k < m->n; k++)
		if (has[k] == 1)
			return false;
	return true;
}

/* Their time on the host: from an instance's first launch to the next one's on that thread, the last one to its own
 * last launch's end. The host may be far ahead of the GPU: starts of ops and times of launches are never mixed. Where
 * an instance has no launch, as the capture began after it, the starts of all instances' ops stand for their launches.
 */
static void find_host_times(struct build *b)
{
	const struct trace *t = b->trace;
	const struct step_marks *m = b->marks;
	int64_t *last = ARENA_NEW(&b->scratch, m->n, int64_t);
	bool by_launch = all_launched(b);
	for (uint32_t k = 0; k < m->n; k++) {
		m->instance[k].start = INT64_MAX;
		last[k] = INT64_MIN;
	}
	for (size_t i = 0; i < t->ops.n; i++) {
		bool launched = t->ops.launch[i] != TRACE_NONE;
		if (m->of_op[i] == TRACE_NONE || (by_launch && !launched))
			continue;
		struct instance *x = &m->instance[m->of_op[i]];
		int64_t start = by_launch ? op_launch_start(t, i) : t->ops.start[i], end = start;
		if (by_launch)
			end = t->calls.end[t->ops.launch[i]];
		if (start < x->start)
			x->start = start;
		if (end > last[m->of_op[i]])
			last[m->of_op[i]] = end;
	}
	for (uint32_t k = 0; k < m->n; k++) {
		m->instance[k].end = last[k];
		if (m->instance[k].start > last[k]) /* no ops */
			m->instance[k].start = m->instance[k].end = 0;
	}
}

static void meet_on_host(struct build *b)
{
	for (uint32_t i = 0; i < b->out->n_threads; i++)
		for (uint32_t p = b->first[i]; p + 1 < b->first[i + 1]; p++)
			instance_at(b, p)->end = instance_at(b, p + 1)->start;
}

/* ---- threads ---- */

static int compare_instances(const void *a, const void *b, void *list)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct instance *x = (struct instance *)list + i, *y = (struct instance *)list + k;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int64_t length_of(const struct step_thread *t)
{
	int64_t ns = 0;
	for (uint32_t i = 0; i < t->n; i++)
		ns += t->end[i] - t->start[i];
	return ns;
}

/* Groups the instances by thread. `threads` of a process are in order of their number here. */
static void find_threads(struct build *b)
{
	struct steps *s = b->out;
	uint32_t n = b->marks->n;
	b->order = ARENA_NEW(&b->scratch, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		b->order[i] = i;
	if (n)
		qsort_r(b->order, n, sizeof *b->order, compare_instances, b->marks->instance);
	for (uint32_t p = 0; p < n; p++)
		s->n_threads += p == 0 || instance_at(b, p)->thread != instance_at(b, p - 1)->thread;
	s->threads = ARENA_NEW(b->arena, s->n_threads, struct step_thread);
	s->thread_at = ARENA_NEW(b->arena, b->trace->n_threads, uint32_t);
	s->first_of = ARENA_NEW(b->arena, b->trace->n_processes, uint32_t);
	b->first = ARENA_NEW(&b->scratch, (size_t)s->n_threads + 1, uint32_t);
	for (uint32_t p = 0, i = 0; p < n; i++) {
		const struct instance *x = instance_at(b, p);
		b->first[i] = p;
		s->threads[i] = (struct step_thread){.process = x->process, .thread = x->thread};
		while (p < n && instance_at(b, p)->thread == x->thread)
			p++;
		b->first[i + 1] = p;
		s->thread_at[x->thread] = i + 1;
	}
}

/* The columns of the threads; steps come later. */
static void fill_threads(struct build *b)
{
	struct steps *s = b->out;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		struct step_thread *t = &s->threads[i];
		t->n = b->first[i + 1] - b->first[i];
		t->start = ARENA_NEW(b->arena, t->n, int64_t);
		t->end = ARENA_NEW(b->arena, t->n, int64_t);
		t->until = ARENA_NEW(b->arena, t->n, int64_t);
		t->step = ARENA_NEW(b->arena, t->n, uint32_t);
		for (uint32_t k = 0; k < t->n; k++) {
			const struct instance *x = instance_at(b, b->first[i] + k);
			t->start[k] = x->start;
			t->end[k] = x->end;
			t->overlap = t->overlap || (k && x->start < t->until[k - 1]);
			t->until[k] = k && t->until[k - 1] > x->end ? t->until[k - 1] : x->end;
		}
	}
}

static int compare_threads(const void *a, const void *b)
{
	const struct step_thread *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	int64_t lx = length_of(x), ly = length_of(y);
	if (lx != ly)
		return lx > ly ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void order_threads(struct steps *s)
{
	qsort(s->threads, s->n_threads, sizeof *s->threads, compare_threads);
	for (uint32_t i = s->n_threads; i-- > 0;) {
		s->thread_at[s->threads[i].thread] = i + 1;
		s->first_of[s->threads[i].process] = i + 1;
	}
}

uint32_t steps_open_at(const struct step_thread *thread, int64_t t)
{
	uint32_t low = 0;
	SEARCH(low, thread->n, thread->start[low] <= t);
	for (; low && thread->until[low - 1] > t; low--)
		if (thread->end[low - 1] > t)
			return low - 1;
	return TRACE_NONE;
}

const struct step_thread *steps_of_process(const struct steps *s, uint32_t process)
{
	return s->first_of && s->first_of[process] ? &s->threads[s->first_of[process] - 1] : NULL;
}

/* ---- which instance an op belongs to ---- */

static uint32_t place_open(const struct build *b, uint32_t i, int64_t t)
{
	uint32_t k = steps_open_at(&b->out->threads[i], t);
	return k == TRACE_NONE ? TRACE_NONE : b->first[i] + k;
}

/* Whether instance k is open at `t` and no later one has begun: what steps_open_at finds. */
static bool is_open_at(const struct step_thread *s, uint32_t k, int64_t t)
{
	return k < s->n && s->start[k] <= t && t < s->end[k] && (k + 1 == s->n || t < s->start[k + 1]);
}

/* Ops that a thread with instances launched: the instance that is open on it. Returns whether other threads launched
 * any. */
static bool place_own_ops(struct build *b)
{
	const struct trace *t = b->trace;
	bool others = false;
	uint32_t k = 0; /* of the op before: ops of one instance follow each other */
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i];
		b->at[i] = TRACE_NONE;
		if (launch == TRACE_NONE)
			continue;
		uint32_t thread = b->out->thread_at[t->calls.thread[launch]];
		if (!thread) {
			others = true;
			continue;
		}
		const struct step_thread *s = &b->out->threads[thread - 1];
		if (!is_open_at(s, k, t->calls.start[launch]))
			k = steps_open_at(s, t->calls.start[launch]);
		if (k != TRACE_NONE)
			b->at[i] = b->first[thread - 1] + k;
	}
	return others;
}

/* Ops that another thread of the process launched: of the instances that are open on threads that use the op's device,
 * the one that began last. */
static void place_helpers_ops(struct build *b, const uint32_t *lane_of_thread, const uint32_t *lane_of_device,
                              const uint32_t *first_of, const uint32_t *n_of)
{
	const struct trace *t = b->trace;
	const struct steps *s = b->out;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t launch = t->ops.launch[i], process = op_process(t, i);
		if (launch == TRACE_NONE || s->thread_at[t->calls.thread[launch]] || !n_of[process])
			continue;
		uint32_t lane = lane_of_device[t->ops.device[i]];
		for (uint32_t k = first_of[process]; k < first_of[process] + n_of[process]; k++) {
			if (lane != TRACE_NONE && lane_of_thread[k] != lane)
				continue;
			uint32_t place = place_open(b, k, t->calls.start[launch]);
			if (place != TRACE_NONE &&
			    (b->at[i] == TRACE_NONE || instance_at(b, place)->start > instance_at(b, b->at[i])->start))
				b->at[i] = place;
		}
	}
}

/* ---- lanes ---- */

/* Threads of one process are of one lane when they use the same device: a tenth of what they launched themselves, in
 * their instances, ran there. */
static void join_threads(const struct build *b, uint32_t first, uint32_t n, const double *time, uint32_t *lane)
{
	uint32_t n_devices = b->trace->n_devices;
	uint32_t *user = ARENA_NEW(&((struct build *)b)->scratch, n_devices, uint32_t); /* 1 + a thread that uses it */
	for (uint32_t k = first; k < first + n; k++) {
		const double *mine = time + (size_t)(k - first) * n_devices;
		double all = 0;
		lane[k] = k;
		for (uint32_t d = 0; d < n_devices; d++)
			all += mine[d];
		for (uint32_t d = 0; d < n_devices; d++) {
			if (mine[d] <= 0 || USES_DEVICE * mine[d] < all)
				continue;
			if (!user[d]) {
				user[d] = k + 1;
				continue;
			}
			uint32_t from = lane[k], to = lane[user[d] - 1];
			for (uint32_t j = first; j <= k; j++)
				if (lane[j] == from)
					lane[j] = to;
		}
	}
}

/* Lanes of instances that have their time on the host; places all ops. */
static void find_lanes(struct build *b)
{
	const struct trace *t = b->trace;
	const struct steps *s = b->out;
	uint32_t *lane = ARENA_NEW(&b->scratch, s->n_threads, uint32_t);
	uint32_t *of_device = ARENA_NEW(&b->scratch, t->n_devices, uint32_t);
	uint32_t *first = ARENA_NEW(&b->scratch, t->n_processes, uint32_t);
	uint32_t *n = ARENA_NEW(&b->scratch, t->n_processes, uint32_t);
	bool helped = place_own_ops(b);
	for (uint32_t d = 0; d < t->n_devices; d++)
		of_device[d] = TRACE_NONE;
	for (uint32_t k = s->n_threads; k-- > 0;) {
		lane[k] = k;
		first[s->threads[k].process] = k;
		n[s->threads[k].process]++;
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		if (n[p] < 2)
			continue;
		double *time = ARENA_NEW(&b->scratch, (size_t)n[p] * t->n_devices, double);
		for (size_t i = 0; i < t->ops.n; i++) {
			if (b->at[i] == TRACE_NONE || op_process(t, i) != p)
				continue;
			uint32_t k = s->thread_at[instance_at(b, b->at[i])->thread] - 1;
			time[(size_t)(k - first[p]) * t->n_devices + t->ops.device[i]] +=
				(double)(t->ops.end[i] - t->ops.start[i]);
		}
		join_threads(b, first[p], n[p], time, lane);
		for (uint32_t k = first[p]; k < first[p] + n[p]; k++)
			for (uint32_t d = 0; d < t->n_devices; d++)
				if (time[(size_t)(k - first[p]) * t->n_devices + d] > 0 && of_device[d] == TRACE_NONE)
					of_device[d] = lane[k];
	}
	if (helped)
		place_helpers_ops(b, lane, of_device, first, n);
	uint32_t *number = ARENA_NEW(&b->scratch, (size_t)s->n_threads + 1, uint32_t);
	for (uint32_t k = 0; k < s->n_threads; k++) {
		if (!number[lane[k]])
			number[lane[k]] = ++b->n_lanes;
		for (uint32_t p = b->first[k]; p < b->first[k + 1]; p++)
			b->lane[p] = number[lane[k]] - 1;
	}
}

static uint32_t root_of(uint32_t *parent, uint32_t d)
{
	while (parent[d] != d)
		d = parent[d] = parent[parent[d]];
	return d;
}

/* Lanes of instances that were given by their ops: the device, or all those that instances have ops on together. */
static void find_lanes_of_ops(struct build *b)
{
	const struct trace *t = b->trace;
	uint32_t *place = ARENA_NEW(&b->scratch, b->marks->n, uint32_t);
	uint32_t *number = ARENA_NEW(&b->scratch, t->n_devices, uint32_t);
	uint32_t *parent = ARENA_NEW(&b->scratch, t->n_devices, uint32_t);
	uint32_t *device = ARENA_NEW(&b->scratch, b->marks->n, uint32_t); /* by place: 1 + that of its first op */
	for (uint32_t p = 0; p < b->marks->n; p++)
		place[b->order[p]] = p;
	for (uint32_t d = 0; d < t->n_devices; d++)
		parent[d] = d;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t k = b->marks->of_op[i];
		b->at[i] = k == TRACE_NONE ? TRACE_NONE : place[k];
		if (k == TRACE_NONE)
			continue;
		uint32_t *first = &device[place[k]];
		if (!*first)
			*first = t->ops.device[i] + 1;
		parent[root_of(parent, t->ops.device[i])] = root_of(parent, *first - 1);
	}
	for (uint32_t p = 0; p < b->marks->n; p++) {
		if (!device[p])
			continue;
		uint32_t *lane = &number[root_of(parent, device[p] - 1)];
		if (!*lane)
			*lane = ++b->n_lanes;
		b->lane[p] = *lane - 1;
	}
	if (!b->n_lanes)
		b->n_lanes = 1;
}

/* ---- what the end of the capture cuts ---- */

/* Launches without an op, in order of their start, of the threads that belong to step thread i: its own, and where no
 * other thread of the process has instances, those of all others. */
static int64_t *missing_of(struct build *b, uint32_t i, const uint8_t *launched, size_t *n)
{
	const struct trace *t = b->trace;
	const struct step_thread *s = &b->out->threads[i];
	bool alone =
		(i == 0 || s[-1].process != s->process) && (i + 1 == b->out->n_threads || s[1].process != s->process);
	int64_t *start = NULL;
	size_t room = 0;
	*n = 0;
	for (uint32_t u = 0; u < t->n_threads; u++) {
		if (u != s->thread && (!alone || t->threads[u].process != s->process))
			continue;
		for (uint32_t c = t->first_call[u]; c < t->first_call[u + 1]; c++) {
			if (t->calls.class[c] != CALL_LAUNCH || launched[c])
				continue;
			LIST_GROW(&b->scratch, start, *n, room);
			start[(*n)++] = t->calls.start[c];
		}
	}
	return start;
}

static bool is_missing_in(const int64_t *start, size_t n, int64_t from, int64_t to)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] >= from && start[i] < to)
			return true;
	return false;
}

/* Whether the capture ended in the last instances of a thread: they were open when it did, or launched what never ran,
 * while nothing of the kind is true of the first half. */
static void find_cut(struct build *b)
{
	const struct trace *t = b->trace;
	uint8_t *launched = ARENA_NEW(&b->scratch, t->calls.n + 1, uint8_t);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE)
			launched[t->ops.launch[i]] = 1;
	for (uint32_t i = 0; i < b->out->n_threads; i++) {
		const struct step_thread *s = &b->out->threads[i];
		size_t n;
		int64_t *missing = b->marks->of_op ? NULL : missing_of(b, i, launched, &n);
		if (!missing || is_missing_in(missing, n, s->start[0], s->start[s->n / 2]))
			n = 0;
		for (uint32_t k = s->n; k-- > s->n / 2;) {
			struct instance *x = instance_at(b, b->first[i] + k);
			x->cut = x->cut || is_missing_in(missing, n, x->start, x->end);
			if (!x->cut)
				break;
			b->out->n_cut++;
		}
	}
}

/* ---- steps ---- */

static bool communicates_everywhere(const struct build *b)
{
	const struct trace *t = b->trace;
	bool *communicates = ARENA_NEW(&((struct build *)b)->scratch, b->n_lanes, bool);
	uint32_t n = 0;
	for (size_t i = 0; i < t->ops.n && n < b->n_lanes; i++) {
		if (b->at[i] == TRACE_NONE || t->ops.kind[i] != OP_COMM || communicates[b->lane[b->at[i]]])
			continue;
		communicates[b->lane[b->at[i]]] = true;
		n++;
	}
	return n == b->n_lanes;
}

static int compare_places(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct instance *x = instance_at(build, i), *y = instance_at(build, k);
	if (build->lane[i] != build->lane[k])
		return build->lane[i] < build->lane[k] ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Numbers the instances of each lane in order of their start, those that are cut left out; where the lanes are no
 * ranks, of all of them together. Returns how many steps that makes. */
static uint32_t number_steps(struct build *b)
{
	struct steps *s = b->out;
	uint32_t n = 0, *place = ARENA_NEW(&b->scratch, b->marks->n, uint32_t);
	uint32_t *count = ARENA_NEW(&b->scratch, b->n_lanes, uint32_t);
	for (uint32_t p = 0; p < b->marks->n; p++) {
		instance_at(b, p)->step = TRACE_NONE;
		if (instance_at(b, p)->cut)
			continue;
		place[n++] = p;
		count[b->lane[p]]++;
	}
	uint32_t least = UINT32_MAX, most = 0;
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		least = count[l] < least ? count[l] : least;
		most = count[l] > most ? count[l] : most;
	}
	bool near = most - least <= NEAR_COUNT || (uint64_t)NEAR_SHARE * (most - least) <= most;
	bool ranks = b->n_lanes == 1 || near || communicates_everywhere(b);
	if (!ranks)
		memset(b->lane, 0, b->marks->n * sizeof *b->lane);
	if (n)
		qsort_r(place, n, sizeof *place, compare_places, b);
	s->n_ranks = ranks ? b->n_lanes : 1;
	s->uneven = ranks && least != most;
	for (uint32_t i = 0, k = 0; i < n; i++, k++) {
		if (i && b->lane[place[i]] != b->lane[place[i - 1]])
			k = 0;
		instance_at(b, place[i])->step = !ranks || k < least ? k : TRACE_NONE;
	}
	return ranks ? least : n;
}

/* `own` holds the end of each step's own ops, INT64_MIN where it has none; it becomes the end of the step: the latest
 * so far, for a step without ops the next one's. Returns how many steps there are: up to the last with ops, or, where
 * ops outlive later steps, up to the last but one end. */
static uint32_t extend_ends(int64_t *own, uint32_t n)
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

/* Steps with one end divide the time since the end before into equal parts; those with the first end become one.
 * Returns how many less they are. */
static uint32_t divide_ends(struct steps *s, const int64_t *end, uint32_t n)
{
	uint32_t merged = 0;
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && end[to] == end[from];)
			to++;
		if (from == 0) {
			merged = to - 1;
			s->end[s->n++] = end[0];
			continue;
		}
		int64_t before = end[from - 1], all = end[from] - before;
		for (uint32_t k = 1; k <= to - from; k++) {
			s->shared[s->n] = to - from > 1;
			s->end[s->n++] = before + (int64_t)((__int128)all * k / (to - from));
		}
	}
	return merged;
}

static void end_steps(struct build *b, uint32_t n)
{
	const struct trace *t = b->trace;
	struct steps *s = b->out;
	int64_t *own = ARENA_NEW(&b->scratch, n, int64_t);
	double all = 0, inside = 0;
	for (uint32_t k = 0; k < n; k++)
		own[k] = INT64_MIN;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t k = b->at[i] == TRACE_NONE ? TRACE_NONE : instance_at(b, b->at[i])->step;
		if (k != TRACE_NONE && t->ops.end[i] > own[k])
			own[k] = t->ops.end[i];
	}
	s->end = ARENA_NEW(b->arena, n, int64_t);
	s->shared = ARENA_NEW(b->arena, n, bool);
	uint32_t merged = divide_ends(s, own, extend_ends(own, n));
	for (uint32_t p = 0; p < b->marks->n; p++) {
		uint32_t *step = &instance_at(b, p)->step;
		if (*step != TRACE_NONE)
			*step = *step < merged ? 0 : *step - merged;
		if (*step >= s->n)
			*step = TRACE_NONE;
	}
	s->op_step = ARENA_NEW(b->arena, t->ops.n, uint32_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		double length = (double)(t->ops.end[i] - t->ops.start[i]);
		s->op_step[i] = b->at[i] == TRACE_NONE ? TRACE_NONE : instance_at(b, b->at[i])->step;
		all += length;
		inside += s->op_step[i] == TRACE_NONE ? 0 : length;
	}
	s->coverage = all > 0 ? inside / all : 0;
	for (uint32_t i = 0; i < s->n_threads; i++)
		for (uint32_t k = 0; k < s->threads[i].n; k++)
			s->threads[i].step[k] = instance_at(b, b->first[i] + k)->step;
}

void steps_from_instances(const struct trace *trace, const struct step_marks *marks, struct arena *arena,
                          struct steps *out)
{
	struct build b = {.trace = trace, .marks = marks, .arena = arena, .out = out};
	*out = (struct steps){.origin = marks->origin,
	                      .name = marks->name,
	                      .domain = marks->domain,
	                      .written = marks->written,
	                      .by_op = marks->of_op != NULL,
	                      .n_instances = marks->n};
	b.at = ARENA_NEW(&b.scratch, trace->ops.n, uint32_t);
	b.lane = ARENA_NEW(&b.scratch, marks->n, uint32_t);
	if (marks->of_op)
		find_host_times(&b);
	find_threads(&b);
	if (marks->of_op)
		meet_on_host(&b);
	fill_threads(&b);
	if (marks->of_op)
		find_lanes_of_ops(&b);
	else
		find_lanes(&b);
	find_cut(&b);
	end_steps(&b, number_steps(&b));
	order_threads(out);
	out->found = out->n >= 2;
	arena_release(&b.scratch);
}
