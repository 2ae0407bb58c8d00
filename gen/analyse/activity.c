#include "analyse/activity.h"

#include "analyse/flatten.h"

/* Values of the `doing` track: cause + 1 in the low bits; for operating-system calls also their class and name; for
 * CUDA calls, in place of the class, whether they wait. */
enum { CAUSE_BITS = 5, CLASS_BITS = 3, NAME_SHIFT = CAUSE_BITS + CLASS_BITS };

static uint32_t pack(enum cause cause, uint32_t class, uint32_t name)
{
	if (name >> (32 - NAME_SHIFT))
		name = 0;
	return ((uint32_t)cause + 1) | (uint32_t) class << CAUSE_BITS | name << NAME_SHIFT;
}
static enum cause value_cause(uint32_t value)
{
	return value ? (enum cause)((value & ((1u << CAUSE_BITS) - 1)) - 1) : CAUSE_HOST_CODE;
}
static enum os_class value_class(uint32_t value)
{
	return (enum os_class)(value >> CAUSE_BITS & ((1u << CLASS_BITS) - 1));
}
static bool value_waits(uint32_t value)
{
	enum cause cause = value_cause(value);
	return cause == CAUSE_HOST_BLOCKED || cause == CAUSE_SYNC_RETURN ||
	       (cause == CAUSE_COPY_API && value_class(value));
}
static uint32_t value_name(uint32_t value)
{
	return value >> NAME_SHIFT;
}

static const struct {
	enum cause cause;
	int rank;
} call_meaning[] = {
	[CALL_MODULE] = {CAUSE_MODULE_LOAD, 1}, [CALL_ALLOC] = {CAUSE_ALLOC, 2},
	[CALL_SYNC] = {CAUSE_SYNC_RETURN, 3},   [CALL_COPY] = {CAUSE_COPY_API, 4},
	[CALL_LAUNCH] = {CAUSE_LAUNCH_API, 5},  [CALL_OTHER] = {CAUSE_OTHER_API, 6},
};
enum { OVERHEAD_RANK = 0, OS_RANK = 7 };

void activity_init(struct activity *a, const struct trace *trace, const struct fold *fold, const struct steps *steps,
                   struct arena *arena)
{
	*a = (struct activity){.trace = trace, .fold = fold, .steps = steps, .arena = arena};
	a->doing = ARENA_NEW(arena, trace->n_threads, struct track);
	a->phases = ARENA_NEW(arena, trace->n_threads, struct track);
	a->waits = ARENA_NEW(arena, trace->n_threads, struct track);
	a->launches = ARENA_NEW(arena, trace->n_threads, bool);
	for (size_t i = 0; i < trace->ops.n; i++)
		if (trace->ops.launch[i] != TRACE_NONE)
			a->launches[trace->calls.thread[trace->ops.launch[i]]] = true;

	/* count, sum up, fill; then the step thread moves to the front of its process */
	a->launchers = ARENA_NEW(arena, trace->n_threads, uint32_t);
	a->first_launcher = ARENA_NEW(arena, trace->n_processes + 2, uint32_t);
	uint32_t *at = a->first_launcher + 1;
	for (uint32_t u = 0; u < trace->n_threads; u++)
		if (a->launches[u])
			at[trace->threads[u].process + 1]++;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		at[p + 1] += at[p];
	for (uint32_t u = 0; u < trace->n_threads; u++)
		if (a->launches[u])
			a->launchers[at[trace->threads[u].process]++] = u;
	for (uint32_t m = 0; steps->found && m < steps->n_members; m++) {
		uint32_t first = a->first_launcher[steps->members[m].process];
		for (uint32_t i = first; i < a->first_launcher[steps->members[m].process + 1]; i++)
			if (a->launchers[i] == steps->members[m].thread) {
				for (; i > first; i--)
					a->launchers[i] = a->launchers[i - 1];
				a->launchers[first] = steps->members[m].thread;
				break;
			}
	}
}

/* ---- what a thread does ---- */

/* Merges the thread's overhead, calls and OS calls, each sorted by start, into one sorted list of layers. */
static struct track *doing_of(struct activity *a, uint32_t thread)
{
	struct track *track = &a->doing[thread];
	if (track->n)
		return track;
	const struct trace *t = a->trace;
	uint32_t o = t->first_overhead[thread], o_end = t->first_overhead[thread + 1];
	uint32_t c = t->first_call[thread], c_end = t->first_call[thread + 1];
	uint32_t s = t->first_os_call[thread], s_end = t->first_os_call[thread + 1];
	struct arena scratch = {0};
	size_t n = 0;
	struct layer *layers = ARENA_NEW(&scratch, (o_end - o) + (c_end - c) + (s_end - s) + 1, struct layer);
	while (o < o_end || c < c_end || s < s_end) {
		int64_t overhead = o < o_end ? t->overheads.start[o] : INT64_MAX;
		int64_t call = c < c_end ? t->calls.start[c] : INT64_MAX;
		int64_t os = s < s_end ? t->os_calls.start[s] : INT64_MAX;
		if (overhead <= call && overhead <= os) {
			enum cause cause =
				t->overheads.class[o] == OVERHEAD_MODULE_LOAD ? CAUSE_MODULE_LOAD : CAUSE_PROFILER;
			layers[n++] = (struct layer){overhead, t->overheads.end[o], OVERHEAD_RANK, pack(cause, 0, 0)};
			o++;
		} else if (call <= os) {
			enum call_class class = t->calls.class[c];
			layers[n++] = (struct layer){call, t->calls.end[c], call_meaning[class].rank,
			                             pack(call_meaning[class].cause, t->calls.waits[c], 0)};
			c++;
		} else {
			layers[n++] =
				(struct layer){os, t->os_calls.end[s], OS_RANK,
			                       pack(CAUSE_HOST_BLOCKED, t->os_calls.class[s], t -> os_calls.name[s])};
			s++;
		}
	}
	track->n = flatten(layers, n, a->arena, &track->start, &track->value);
	arena_release(&scratch);
	return track;
}

uint32_t track_find(struct track *track, int64_t t)
{
	uint32_t low = track->hint, high = track->hint; /* start[low] <= t, and t < start[high] where high < n */
	if (track->start[low] > t) {
		low = 0;
	} else {
		uint32_t step = 1;
		for (; step < track->n - low && track->start[low + step] <= t; step *= 2)
			low += step;
		high = step < track->n - low ? low + step : track->n;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (track->start[middle] <= t)
			low = middle;
		else
			high = middle;
	}
	return track->hint = low;
}

enum wait activity_wait_at(struct activity *a, uint32_t thread, int64_t t)
{
	struct track *track = &a->waits[thread];
	if (!track->n) {
		const struct trace_calls *calls = &a->trace->calls;
		uint32_t first = a->trace->first_call[thread], last = a->trace->first_call[thread + 1];
		struct arena scratch = {0};
		size_t n = 0;
		for (uint32_t c = first; c < last; c++)
			n += calls->waits[c];
		struct layer *layers = ARENA_NEW(&scratch, n, struct layer);
		n = 0;
		for (uint32_t c = first; c < last; c++)
			if (calls->waits[c]) {
				enum wait wait = calls->class[c] == CALL_SYNC ? WAIT_SYNC : WAIT_COPY;
				layers[n++] = (struct layer){calls->start[c], calls->end[c], wait == WAIT_COPY, wait};
			}
		track->n = flatten(layers, n, a->arena, &track->start, &track->value);
		arena_release(&scratch);
	}
	return (enum wait)track->value[track_find(track, t)];
}

/* ---- phases ---- */

/* Ranges of the step thread that can be phases: in a step, those that opened inside it, until it ends; outside of
 * steps, those that contain no step. A range that was open before a step began is silent while the step runs. */
static size_t member_layers(const struct activity *a, const struct step_member *m, struct layer *layers)
{
	const struct trace_ranges *r = &a->trace->ranges;
	size_t n = 0;
	uint32_t step = 0; /* the first step that ends after the range begins */
	for (uint32_t i = a->trace->first_range[m->thread]; i < a->trace->first_range[m->thread + 1]; i++) {
		int64_t start = r->start[i], end = r->end[i];
		while (step < m->n && m->end[step] <= start)
			step++;
		if (r->domain[i] != a->steps->domain || (step < m->n && m->range[step] == i))
			continue;
		bool inside = step < m->n && m->start[step] <= start && i > m->range[step];
		uint32_t next = inside ? step + 1 : step; /* the first step that begins while the range is open */
		bool contains = false;
		for (uint32_t k = next; k < m->n && m->start[k] < end && !contains; k++)
			contains = m->end[k] <= end;
		if (contains && !inside)
			continue;
		if (contains && end > m->end[step])
			end = m->end[step];
		if (next < m->n && end > m->start[next])
			end = m->start[next];
		layers[n++] = (struct layer){start, end, i, a->fold->of[r->name[i]]};
	}
	return n;
}

/* Ranges of a thread that is no step thread: all, or those in the domain of the steps. */
static size_t thread_layers(const struct activity *a, uint32_t thread, struct layer *layers)
{
	const struct trace_ranges *r = &a->trace->ranges;
	size_t n = 0;
	for (uint32_t i = a->trace->first_range[thread]; i < a->trace->first_range[thread + 1]; i++)
		if (!a->steps->found || r->domain[i] == a->steps->domain)
			layers[n++] = (struct layer){r->start[i], r->end[i], i, a->fold->of[r->name[i]]};
	return n;
}

struct track *activity_phases(struct activity *a, uint32_t thread)
{
	struct track *track = &a->phases[thread];
	if (track->n)
		return track;
	const struct trace *t = a->trace;
	const struct step_member *m = a->steps->found ? steps_member(a->steps, t->threads[thread].process) : NULL;
	struct arena scratch = {0};
	struct layer *layers =
		ARENA_NEW(&scratch, t->first_range[thread + 1] - t->first_range[thread] + 1, struct layer);
	size_t n = m && m->thread == thread ? member_layers(a, m, layers) : thread_layers(a, thread, layers);
	track->n = flatten(layers, n, a->arena, &track->start, &track->value);
	arena_release(&scratch);
	return track;
}

static uint32_t phase_at(struct track *track, int64_t t)
{
	return track->value[track_find(track, t)];
}

static struct track *step_phases(struct activity *a, uint32_t thread)
{
	if (!a->steps->found)
		return NULL;
	const struct step_member *m = steps_member(a->steps, a->trace->threads[thread].process);
	return m && m->thread != thread ? activity_phases(a, m->thread) : NULL;
}

uint32_t activity_phase(struct activity *a, uint32_t thread, int64_t t)
{
	struct track *inherited = step_phases(a, thread);
	uint32_t phase = inherited ? phase_at(inherited, t) : 0;
	return phase ? phase : phase_at(activity_phases(a, thread), t);
}

/* ---- walking ---- */

struct walk {
	struct activity *a;
	uint32_t thread; /* the thread whose time is explained */
	void (*visit)(void *context, const struct doing *stretch);
	void *context;
};

static int64_t track_end(const struct track *track, uint32_t i, int64_t end)
{
	return i + 1 < track->n && track->start[i + 1] < end ? track->start[i + 1] : end;
}

/* Visits [start, end), in which one cause holds, split where the phase changes. */
static void visit_phases(struct walk *w, int64_t start, int64_t end, uint32_t value, enum cause cause)
{
	struct track *own = activity_phases(w->a, w->thread), *inherited = step_phases(w->a, w->thread);
	while (start < end) {
		int64_t until = end;
		uint32_t phase = 0;
		if (inherited) {
			uint32_t i = track_find(inherited, start);
			phase = inherited->value[i];
			until = track_end(inherited, i, until);
		}
		if (!phase) {
			uint32_t i = track_find(own, start);
			phase = own->value[i];
			until = track_end(own, i, until);
		}
		struct doing stretch = {
			.start = start, .end = until, .cause = cause, .phase = phase, .waits = value_waits(value)};
		if (cause == CAUSE_HOST_BLOCKED) {
			stretch.call = value_name(value);
			stretch.mutex = value_class(value) == OS_MUTEX;
		}
		w->visit(w->context, &stretch);
		start = until;
	}
}

enum { MAX_LOOKED_AT = 16 }; /* a thread that waits for more than so many waiting threads is a hand-over */

/* The `rank`-th other launching thread of the process, the step thread first; TRACE_NONE when there are no more. */
static uint32_t other_launcher(const struct activity *a, uint32_t thread, uint32_t rank)
{
	uint32_t process = a->trace->threads[thread].process;
	for (uint32_t i = a->first_launcher[process]; i < a->first_launcher[process + 1] && rank < MAX_LOOKED_AT; i++)
		if (a->launchers[i] != thread && rank-- == 0)
			return a->launchers[i];
	return TRACE_NONE;
}

/* What `thread`, the rank-th thread looked at, does in [start, end); where it waits for another one, the next in line
 * is asked. */
static void walk_thread(struct walk *w, uint32_t thread, uint32_t rank, int64_t start, int64_t end)
{
	struct track *track = doing_of(w->a, thread);
	for (uint32_t i = track_find(track, start); start < end; i++) {
		int64_t until = track_end(track, i, end);
		uint32_t v = track->value[i];
		enum cause cause = value_cause(v);
		if (cause == CAUSE_HOST_BLOCKED && value_class(v) == OS_WAIT) {
			uint32_t other = other_launcher(w->a, w->thread, rank);
			if (other != TRACE_NONE)
				walk_thread(w, other, rank + 1, start, until);
			else
				visit_phases(w, start, until, v, rank ? CAUSE_HANDOVER : CAUSE_HOST_BLOCKED);
		} else {
			visit_phases(w, start, until, v, cause);
		}
		start = until;
	}
}

void activity_walk(struct activity *a, uint32_t thread, int64_t start, int64_t end,
                   void (*visit)(void *context, const struct doing *stretch), void *context)
{
	struct walk w = {a, thread, visit, context};
	walk_thread(&w, thread, 0, start, end);
}
