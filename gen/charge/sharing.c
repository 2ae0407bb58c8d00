#include "charge/sums.h"

#include "base/search.h"
#include "base/sort.h"

/* A process begins or stops to keep the GPU busy. */
struct event {
	int64_t time;
	uint32_t process;
	int32_t change; /* +1 or −1 */
};

SORT_ORDER(compare_events, struct event, ASCENDING(x->time, y->time))

/* The union of the ops of a device as events; returns how many. */
static size_t add_device(const struct trace *t, const struct trace_device *d, struct event *events)
{
	size_t n = 0;
	int64_t end = INT64_MIN;
	for (uint32_t i = d->first_op; i < d->first_op + d->n_ops; i++) {
		if (t->ops.end[i] <= t->ops.start[i])
			continue;
		if (end != INT64_MIN && t->ops.start[i] <= end) {
			end = t->ops.end[i] > end ? t->ops.end[i] : end;
			continue;
		}
		if (end != INT64_MIN)
			events[n++] = (struct event){end, d->process, -1};
		events[n++] = (struct event){t->ops.start[i], d->process, 1};
		end = t->ops.end[i];
	}
	if (end != INT64_MIN)
		events[n++] = (struct event){end, d->process, -1};
	return n;
}

/* What runs after an event. A process can have several devices on one GPU. */
struct running {
	uint32_t *depth; /* by process */
	uint64_t n, sum; /* processes that run, and the sum of their numbers: the only one's number */
};

static void apply(struct running *r, const struct event *e)
{
	bool before = r->depth[e->process] > 0;
	r->depth[e->process] += (uint32_t)e->change;
	bool after = r->depth[e->process] > 0;
	if (before == after)
		return;
	r->n += after ? 1 : (uint64_t)-1;
	r->sum += after ? e->process : -(uint64_t)e->process;
}

static void index_owners(const struct trace *t, struct arena *arena, struct sharing *s)
{
	s->before = ARENA_NEW(arena, s->n, int64_t);
	s->own = ARENA_NEW(arena, s->n, uint32_t);
	s->own_before = ARENA_NEW(arena, s->n, int64_t);
	uint32_t *first = ARENA_NEW(arena, t->n_processes + 2, uint32_t);
	int64_t *own = ARENA_NEW(arena, t->n_processes, int64_t), all = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->owner[i] != TRACE_NONE)
			first[s->owner[i] + 2]++;
	for (uint32_t p = 0; p < t->n_processes; p++)
		first[p + 2] += first[p + 1];
	for (size_t i = 0; i < s->n; i++) {
		s->before[i] = all;
		all += s->end[i] - s->start[i];
		if (s->owner[i] == TRACE_NONE)
			continue;
		uint32_t at = first[s->owner[i] + 1]++;
		s->own[at] = (uint32_t)i;
		s->own_before[at] = own[s->owner[i]];
		own[s->owner[i]] += s->end[i] - s->start[i];
	}
	s->first_own = first;
}

void sharing_build(const struct trace *t, uint32_t gpu, struct arena *arena, struct sharing *out)
{
	ARENA_LOCAL(scratch);
	size_t ops = 0, n = 0;
	uint32_t process = TRACE_NONE;
	bool several = false;
	*out = (struct sharing){0};
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].gpu == gpu) {
			several = several || (process != TRACE_NONE && process != t->devices[d].process);
			process = t->devices[d].process;
			ops += t->devices[d].n_ops;
		}
	if (!several)
		return;
	struct event *events = ARENA_NEW(&scratch, 2 * ops, struct event);
	struct running running = {.depth = ARENA_NEW(&scratch, t->n_processes, uint32_t)};
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].gpu == gpu)
			n += add_device(t, &t->devices[d], events + n);
	SORT(events, n, compare_events);
	out->start = ARENA_NEW(arena, n, int64_t);
	out->end = ARENA_NEW(arena, n, int64_t);
	out->owner = ARENA_NEW(arena, n, uint32_t);
	for (size_t i = 0; i < n;) {
		int64_t now = events[i].time;
		for (; i < n && events[i].time == now; i++)
			apply(&running, &events[i]);
		if (!running.n)
			continue;
		uint32_t owner = running.n == 1 ? (uint32_t)running.sum : TRACE_NONE;
		int64_t until = events[i].time; /* there is one: something runs */
		if (out->n && out->end[out->n - 1] == now && out->owner[out->n - 1] == owner) {
			out->end[out->n - 1] = until;
			continue;
		}
		out->start[out->n] = now;
		out->end[out->n] = until;
		out->owner[out->n++] = owner;
	}
	index_owners(t, arena, out);
}

/* The first stretch that ends after `t`. */
static size_t first_after(const struct sharing *s, int64_t t)
{
	size_t i = 0;
	SEARCH(i, s->n, s->end[i] <= t);
	return i;
}

/* How much of the time before `t` anybody ran. */
static int64_t all_before(const struct sharing *s, int64_t t)
{
	size_t i = first_after(s, t);
	if (i == s->n)
		return s->n ? s->before[s->n - 1] + s->end[s->n - 1] - s->start[s->n - 1] : 0;
	return s->before[i] + (t > s->start[i] ? t - s->start[i] : 0);
}

/* How much of it only `process` ran. */
static int64_t own_before(const struct sharing *s, uint32_t process, int64_t t)
{
	uint32_t first = s->first_own[process], next = first; /* the first of its stretches that starts at or after t */
	SEARCH(next, s->first_own[process + 1], s->start[s->own[next]] < t);
	if (next == first)
		return 0;
	uint32_t i = s->own[next - 1];
	return s->own_before[next - 1] + (t < s->end[i] ? t : s->end[i]) - s->start[i];
}

int64_t sharing_time(const struct sharing *s, uint32_t process, int64_t start, int64_t end)
{
	if (!s->n)
		return 0;
	return all_before(s, end) - all_before(s, start) - own_before(s, process, end) + own_before(s, process, start);
}

bool sharing_next(const struct sharing *s, uint32_t process, int64_t t, int64_t *start, int64_t *end)
{
	size_t i = first_after(s, t);
	while (i < s->n && s->owner[i] == process)
		i++;
	if (i >= s->n)
		return false;
	*start = s->start[i];
	*end = s->end[i];
	while (++i < s->n && s->start[i] == *end && s->owner[i] != process)
		*end = s->end[i];
	return true;
}

/* When the device runs ops of the two kinds. */
static struct stretches find_busy(const struct trace *t, const struct trace_device *device, enum op_kind kind,
                                  enum op_kind or_kind, struct arena *scratch)
{
	struct stretches found = {.list = ARENA_TAKE(scratch, device->n_ops, struct stretch)};
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		struct stretch *last = found.n ? &found.list[found.n - 1] : NULL;
		if (t->ops.kind[i] != kind && t->ops.kind[i] != or_kind)
			continue;
		if (!last || t->ops.start[i] > last->end)
			found.list[found.n++] = (struct stretch){t->ops.start[i], t->ops.end[i]};
		else if (t->ops.end[i] > last->end)
			last->end = t->ops.end[i];
	}
	return found;
}

/* What is common to both, at most as many stretches as both have. */
static struct stretches common(const struct stretches *a, const struct stretches *b, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct stretch *list = ARENA_TAKE(&scratch, a->n + b->n, struct stretch);
	size_t n = 0;
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct stretch *x = &a->list[i], *y = &b->list[k];
		struct stretch both = {x->start > y->start ? x->start : y->start, x->end < y->end ? x->end : y->end};
		list[n] = both;
		n += both.start < both.end;
		i += x->end <= y->end;
		k += y->end < x->end;
	}
	return (struct stretches){arena_keep(arena, list, n, sizeof *list), n};
}

void beside_find(const struct trace *t, uint32_t d, struct arena *arena, struct comm_beside *out)
{
	const struct trace_device *device = &t->devices[d];
	ARENA_LOCAL(scratch);
	struct stretches comm = find_busy(t, device, OP_COMM, OP_COMM, &scratch);
	*out = (struct comm_beside){0};
	if (comm.n) {
		struct stretches compute = find_busy(t, device, OP_KERNEL, OP_GRAPH, &scratch);
		struct stretches copies = find_busy(t, device, OP_COPY, OP_MEMSET, &scratch);
		out->compute = common(&compute, &comm, arena);
		out->copies = common(&copies, &comm, arena);
	}
}
