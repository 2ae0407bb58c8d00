#include "charge/doing.h"

#include "base/search.h"
#include "trace/classify.h"

#include <string.h>

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
	return cause == CAUSE_HOST_BLOCKED || cause == CAUSE_GIL || cause == CAUSE_SYNC_RETURN ||
	       (cause == CAUSE_COPY_API && value_class(value));
}
static uint32_t value_name(uint32_t value)
{
	return value >> NAME_SHIFT;
}

/* Which of several open calls counts: the least. */
static const uint32_t call_rank[] = {
	[CALL_MODULE] = 1, [CALL_ALLOC] = 2, [CALL_SYNC] = 3, [CALL_COPY] = 4, [CALL_LAUNCH] = 5, [CALL_OTHER] = 6,
};
/* A call that waits for another thread is the very call that waits for the interpreter's lock. */
enum { OVERHEAD_RANK = 0, PEER_RANK = 7, OS_RANK = 8, GIL_RANK = 9, OS_WAIT_RANK = 10, OFF_RANK = 11 };

/* What no user named: a ProfilerStep, gapline's own step, which reaches from one step's end to the next, whatever is
 * the step. */
static bool *find_no_phases(const struct names *names, struct arena *arena)
{
	bool *none = ARENA_NEW(arena, names->n, bool);
	for (uint32_t i = 0; i < names->n; i++) {
		const char *text = names_text(names, i);
		none[i] = strncmp(text, "ProfilerStep", strlen("ProfilerStep")) == 0 || strcmp(text, STEP_ADDED) == 0 ||
		          strcmp(text, "Python functions") == 0 || strcmp(text, "PyTorch operators") == 0;
	}
	return none;
}

void activity_init(struct activity *a, const struct trace *trace, const struct fold *fold, const struct steps *steps,
                   struct arena *arena)
{
	*a = (struct activity){.trace = trace, .fold = fold, .steps = steps, .arena = arena};
	a->no_phase = find_no_phases(trace->names, arena);
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
	for (uint32_t p = 0; steps->found && p < trace->n_processes; p++) {
		const struct step_thread *m = steps_of_process(steps, p);
		uint32_t first = a->first_launcher[p];
		for (uint32_t i = first; m && i < a->first_launcher[p + 1]; i++)
			if (a->launchers[i] == m->thread) {
				for (; i > first; i--)
					a->launchers[i] = a->launchers[i - 1];
				a->launchers[first] = m->thread;
				break;
			}
	}
}

/* ---- what a thread does ---- */

/* The thread's overhead, calls, OS calls, its waiting for the interpreter's lock and the time between its slices on a
 * processor, each sorted by start, merged into one sequence of layers. */
struct doings {
	const struct trace *trace;
	uint32_t overhead, overhead_end, call, call_end, os, os_end, gil, gil_end;
	bool waits_for_gil;    /* it ever does */
	uint32_t off, off_end; /* slices that another one follows: between them the thread was off */
};

static int64_t earliest(int64_t a, int64_t b, int64_t c)
{
	return a < b ? (a < c ? a : c) : b < c ? b : c;
}

static bool next_call(void *context, struct layer *out)
{
	struct doings *d = context;
	const struct trace_calls *calls = &d->trace->calls;
	if (d->call == d->call_end)
		return false;
	uint32_t i = d->call++;
	enum call_class class = calls->class[i];
	*out = (struct layer){calls->start[i], calls->end[i], call_rank[class],
	                      pack(cause_of_call[class], calls->waits[i], 0)};
	return true;
}

static struct layer next_os_call(struct doings *d)
{
	const struct trace_os_calls *calls = &d->trace->os_calls;
	const uint32_t i = d->os++, name = calls->name[i];
	const enum os_class class = calls->class[i];
	bool asks_for_gil = d->waits_for_gil && (class == OS_WAIT || class == OS_MUTEX);
	uint32_t rank = class == OS_PEER ? PEER_RANK : asks_for_gil ? OS_WAIT_RANK : OS_RANK;
	return (struct layer){calls->start[i], calls->end[i], rank, pack(CAUSE_HOST_BLOCKED, class, name)};
}

static bool next_doing(void *context, struct layer *out)
{
	struct doings *d = context;
	const struct trace *t = d->trace;
	bool has_overhead = d->overhead < d->overhead_end, has_call = d->call < d->call_end, has_os = d->os < d->os_end,
	     has_gil = d->gil < d->gil_end, has_off = d->off < d->off_end;
	if (!has_overhead && !has_call && !has_os && !has_gil && !has_off)
		return false;
	int64_t overhead = has_overhead ? t->overheads.start[d->overhead] : INT64_MAX;
	int64_t call = has_call ? t->calls.start[d->call] : INT64_MAX;
	int64_t os = has_os ? t->os_calls.start[d->os] : INT64_MAX;
	int64_t gil = has_gil ? t->gil.start[d->gil] : INT64_MAX;
	int64_t off = has_off ? t->slices.end[d->off] : INT64_MAX;
	if (overhead <= earliest(call, os, off < gil ? off : gil)) {
		uint32_t i = d->overhead++;
		enum cause cause = t->overheads.class[i] == OVERHEAD_MODULE_LOAD ? CAUSE_MODULE_LOAD : CAUSE_PROFILER;
		*out = (struct layer){overhead, t->overheads.end[i], OVERHEAD_RANK, pack(cause, 0, 0)};
	} else if (call <= earliest(os, off, gil)) {
		return next_call(d, out);
	} else if (os <= earliest(off, gil, INT64_MAX)) {
		*out = next_os_call(d);
	} else if (gil <= off) {
		uint32_t i = d->gil++;
		*out = (struct layer){gil, t->gil.end[i], GIL_RANK, pack(CAUSE_GIL, 0, 0)};
	} else {
		uint32_t i = d->off++;
		*out = (struct layer){off, t->slices.start[i + 1], OFF_RANK, pack(CAUSE_OFF_CPU, 0, 0)};
	}
	return true;
}

/* Tracks are made when they are asked for first, and asked for with every gap and op: making one stands apart, so that
 * asking needs no room on the stack. */
#define MAKES_TRACK __attribute__((noinline)) static void

MAKES_TRACK make_doing(struct activity *a, uint32_t thread, struct track *track)
{
	const struct trace *t = a->trace;
	uint32_t off = t->first_slice[thread], off_end = t->first_slice[thread + 1];
	struct doings d = {t,
	                   t->first_overhead[thread],
	                   t->first_overhead[thread + 1],
	                   t->first_call[thread],
	                   t->first_call[thread + 1],
	                   t->first_os_call[thread],
	                   t->first_os_call[thread + 1],
	                   t->first_gil[thread],
	                   t->first_gil[thread + 1],
	                   t->first_gil[thread]<t->first_gil[thread + 1], off, off_end> off ? off_end - 1 : off};
	size_t calls = t->first_call[thread + 1] - t->first_call[thread];
	bool all = d.overhead < d.overhead_end || d.os < d.os_end || d.gil < d.gil_end || d.off < d.off_end;
	track->n = flatten(all ? next_doing : next_call, &d, calls, a->arena, &track->start, &track->value);
}

static struct track *doing_of(struct activity *a, uint32_t thread)
{
	struct track *track = &a->doing[thread];
	if (!track->n)
		make_doing(a, thread, track);
	return track;
}

uint32_t track_find(struct track *track, int64_t t)
{
	track->hint = search_after(track->start, track->n, track->hint, t);
	return track->hint - 1; /* the first piece begins before all times */
}

struct rows { /* of one thread that are still to come */
	const struct activity *activity;
	uint32_t next, end;
};

static bool next_wait(void *context, struct layer *out)
{
	struct rows *rows = context;
	const struct trace_calls *calls = &rows->activity->trace->calls;
	while (rows->next < rows->end && !calls->waits[rows->next])
		rows->next++;
	if (rows->next == rows->end)
		return false;
	uint32_t i = rows->next++;
	enum wait wait = calls->class[i] == CALL_SYNC ? WAIT_SYNC : WAIT_COPY;
	*out = (struct layer){calls->start[i], calls->end[i], wait == WAIT_COPY, wait};
	return true;
}

MAKES_TRACK make_waits(struct activity *a, uint32_t thread, struct track *track)
{
	struct rows rows = {a, a->trace->first_call[thread], a->trace->first_call[thread + 1]};
	track->n = flatten(next_wait, &rows, 0, a->arena, &track->start, &track->value);
}

enum wait activity_wait_at(struct activity *a, uint32_t thread, int64_t t)
{
	struct track *track = &a->waits[thread];
	if (!track->n)
		make_waits(a, thread, track);
	return (enum wait)track->value[track_find(track, t)];
}

/* ---- phases ---- */

/* Ranges of a thread with instances that can be phases: in an instance, those that opened inside it, until it ends;
 * outside of them, those that contain none. A range that was open before an instance began is silent while that runs.
 */
struct member_rows {
	struct rows rows;
	const struct step_thread *member;
	uint32_t step; /* the first instance that ends after the range begins */
};

/* Whether the range is the k-th instance itself. */
static bool is_instance(const struct activity *a, const struct step_thread *m, uint32_t k, uint32_t range)
{
	const struct trace_ranges *r = &a->trace->ranges;
	return k < m->n && r->start[range] == m->start[k] && r->end[range] == m->end[k] &&
	       a->fold->of[r->name[range]] == a->steps->name;
}

static bool next_of_member(void *context, struct layer *out)
{
	struct member_rows *rows = context;
	const struct activity *a = rows->rows.activity;
	const struct trace_ranges *r = &a->trace->ranges;
	const struct step_thread *m = rows->member;
	while (rows->rows.next < rows->rows.end) {
		uint32_t i = rows->rows.next++;
		int64_t start = r->start[i], end = r->end[i];
		while (rows->step < m->n && m->end[rows->step] <= start)
			rows->step++;
		uint32_t step = rows->step;
		if (r->domain[i] != a->steps->domain || a->no_phase[r->name[i]] || is_instance(a, m, step, i))
			continue;
		bool inside =
			step < m->n && (m->start[step] < start || (m->start[step] == start && end <= m->end[step]));
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
		*out = (struct layer){start, end, i, a->fold->of[r->name[i]]};
		return true;
	}
	return false;
}

/* The first instance of a thread that begins at or after `t`. */
static uint32_t instance_from(const struct step_thread *m, int64_t t)
{
	uint32_t low = 0;
	SEARCH(low, m->n, m->start[low] < t);
	return low;
}

/* How many whole instances a range holds, about: no more than begin in it. */
static uint32_t instances_in(const struct step_thread *m, int64_t start, int64_t end)
{
	uint32_t n = 0;
	for (uint32_t k = instance_from(m, start); k < m->n && m->start[k] < end && n < 2; k++)
		n += m->end[k] <= end;
	return n;
}

/* Where no range is a step, any may be a phase, but for what no user named: Python's functions and operators of a
 * PyTorch trace, and a ProfilerStep. */
static bool is_no_phase(const struct activity *a, uint32_t range)
{
	const struct trace_ranges *r = &a->trace->ranges;
	return a->no_phase[r->domain[range]] || a->no_phase[r->name[range]];
}

/* The same of a thread whose instances overlap, so that a range may be opened in several: those that hold none. Where
 * instances are known by their ops, their times on the host are about right, and a range may hold one. */
static bool next_of_loop(void *context, struct layer *out)
{
	struct member_rows *rows = context;
	const struct activity *a = rows->rows.activity;
	const struct trace_ranges *r = &a->trace->ranges;
	while (rows->rows.next < rows->rows.end) {
		uint32_t i = rows->rows.next++;
		if (a->steps->by_op ? is_no_phase(a, i) : r->domain[i] != a->steps->domain)
			continue;
		if (instances_in(rows->member, r->start[i], r->end[i]) > a->steps->by_op)
			continue;
		*out = (struct layer){r->start[i], r->end[i], i, a->fold->of[r->name[i]]};
		return true;
	}
	return false;
}

/* Ranges of a thread without instances: all, or those in the domain of the steps. */
static bool next_range(void *context, struct layer *out)
{
	struct rows *rows = context;
	const struct activity *a = rows->activity;
	const struct trace_ranges *r = &a->trace->ranges;
	bool any = !a->steps->found || a->steps->by_op;
	while (rows->next < rows->end && (any ? is_no_phase(a, rows->next) : r->domain[rows->next] != a->steps->domain))
		rows->next++;
	if (rows->next == rows->end)
		return false;
	uint32_t i = rows->next++;
	*out = (struct layer){r->start[i], r->end[i], i, a->fold->of[r->name[i]]};
	return true;
}

MAKES_TRACK make_phases(struct activity *a, uint32_t thread, struct track *track)
{
	const struct trace *t = a->trace;
	const struct step_thread *m = a->steps->found ? steps_on_thread(a->steps, thread) : NULL;
	struct member_rows rows = {{a, t->first_range[thread], t->first_range[thread + 1]}, m, 0};
	const size_t n = rows.rows.end - rows.rows.next;
	if (m)
		track->n = flatten(a->steps->by_op || m->overlap ? next_of_loop : next_of_member, &rows, n, a->arena,
		                   &track->start, &track->value);
	else
		track->n = flatten(next_range, &rows.rows, n, a->arena, &track->start, &track->value);
}

struct track *activity_phases(struct activity *a, uint32_t thread)
{
	struct track *track = &a->phases[thread];
	if (!track->n)
		make_phases(a, thread, track);
	return track;
}

static uint32_t phase_at(struct track *track, int64_t t)
{
	return track->value[track_find(track, t)];
}

static struct track *step_phases(struct activity *a, uint32_t thread)
{
	if (a->by_work || !a->steps->found || steps_on_thread(a->steps, thread))
		return NULL;
	const struct step_thread *m = steps_of_process(a->steps, a->trace->threads[thread].process);
	return m ? activity_phases(a, m->thread) : NULL;
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
	uint32_t thread;               /* the thread whose time is explained */
	struct track *own, *inherited; /* its phases and, if it is no step thread, those of the step thread */
	uint32_t phase;                /* of the time that was visited last, and until when it holds */
	int64_t until;
	void (*visit)(void *context, const struct doing *stretch);
	void *context;
	struct doing stretch; /* what is visited: the rest of it stays 0 */
};

static int64_t track_end(const struct track *track, uint32_t i, int64_t end)
{
	return i + 1 < track->n && track->start[i + 1] < end ? track->start[i + 1] : end;
}

static void find_phase(struct walk *w, int64_t t)
{
	w->phase = 0;
	w->until = INT64_MAX;
	if (w->inherited) {
		uint32_t i = track_find(w->inherited, t);
		w->phase = w->inherited->value[i];
		w->until = track_end(w->inherited, i, w->until);
	}
	if (!w->phase) {
		uint32_t i = track_find(w->own, t);
		w->phase = w->own->value[i];
		w->until = track_end(w->own, i, w->until);
	}
}

/* Visits [start, end), in which one cause holds, split where the phase changes. A walk goes forward in time. */
static void visit_phases(struct walk *w, uint32_t thread, int64_t start, int64_t end, uint32_t value, enum cause cause)
{
	struct doing *stretch = &w->stretch;
	bool blocked = cause == CAUSE_HOST_BLOCKED;
	stretch->cause = cause;
	stretch->waits = value_waits(value);
	stretch->thread = thread;
	stretch->call = blocked ? value_name(value) : 0;
	stretch->of_call = blocked ? value_class(value) : OS_OTHER;
	while (start < end) {
		if (start >= w->until)
			find_phase(w, start);
		stretch->start = start;
		start = w->until < end ? w->until : end;
		stretch->end = start;
		stretch->phase = w->phase;
		w->visit(w->context, stretch);
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
				visit_phases(w, thread, start, until, v, rank ? CAUSE_HANDOVER : CAUSE_HOST_BLOCKED);
		} else {
			visit_phases(w, thread, start, until, v, cause);
		}
		start = until;
	}
}

void activity_walk_whole(struct activity *a, uint32_t thread, int64_t start, int64_t end,
                         void (*visit)(void *context, const struct doing *stretch), void *context)
{
	struct walk w = {.a = a, .thread = thread, .until = INT64_MAX, .visit = visit, .context = context};
	walk_thread(&w, thread, 0, start, end);
}

void activity_walk(struct activity *a, uint32_t thread, int64_t start, int64_t end,
                   void (*visit)(void *context, const struct doing *stretch), void *context)
{
	struct walk w = {.a = a,
	                 .thread = thread,
	                 .own = activity_phases(a, thread),
	                 .inherited = step_phases(a, thread),
	                 .until = INT64_MIN,
	                 .visit = visit,
	                 .context = context};
	walk_thread(&w, thread, 0, start, end);
}
