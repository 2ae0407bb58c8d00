/* What threads were executing: COMPOSITE_EVENTS says when a thread was looked at, SAMPLING_CALLCHAINS what was on its
 * stack then, a row a frame, the innermost at depth 0. Exports have both in the order of their ids, so stacks are
 * entered one at a time. Where a row says otherwise, all frames are held and sorted. */
#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "read/nsys.h"

#include <string.h>

/* ENUM_SAMPLING_THREAD_STATE. A thread that does not run is looked at when it stops, and not at even distances. */
enum { STATE_UNKNOWN = 0, STATE_RUNNING = 1 };

enum { DEPTH_MOST = 1024 }; /* frames: nsys records 127 of them at most */

/* What our own samples say of the interpreter's lock: rows of GAPLINE_GIL, a thread's in order of time. */
struct locks {
	size_t n, room;
	struct lock_row {
		struct build_gil row;
		int64_t sample; /* of the holder; 0: none */
	} * list;
	struct keymap samples; /* ids of samples of holders, by the index of … */
	size_t *of;            /* … their row */
};

/* Samples, in the order of their ids. */
struct pending {
	struct arena arena; /* of these lists */
	size_t n, room;
	struct looked {
		int64_t id, time, thread;
		uint32_t stack; /* innermost frame; 0: not known */
		bool no_sample; /* a note of the scheduler's: its frames are skipped */
	} * list;
	struct locks locks;
};

SORT_ORDER(compare_looked, struct looked,
           ASCENDING(x->id, y->id) ?: ASCENDING(x->time, y->time) ?: ASCENDING(x->thread, y->thread)
                   ?: x->no_sample - y->no_sample)

/* Of several with one id the first counts. */
static void order_times(struct nsys *r, struct pending *p)
{
	size_t kept = 0;
	for (size_t i = 1; i < p->n; i++)
		if (p->list[i].id <= p->list[i - 1].id) {
			SORT(p->list, p->n, compare_looked);
			break;
		}
	for (size_t i = 0; i < p->n; i++)
		if (kept && p->list[kept - 1].id == p->list[i].id)
			build_drop(&r->build, ROWS_SAMPLES, "has the id of another one");
		else
			p->list[kept++] = p->list[i];
	p->n = kept;
}

/* nsys also notes the stack with which the scheduler takes a thread off a processor or puts it on one, and then counts
 * no cycles. gapline counts none of its samples. */
static int read_times(struct nsys *r, struct pending *p)
{
	enum { ID, START, THREAD, STATE, CYCLES, N };
	static const char *const columns[] = {"id", "start", "globalTid", "threadState", "cpuCycles"};
	struct scan s;
	nsys_scan_numbers(r, &s, "COMPOSITE_EVENTS", columns, N, 0);
	while (scan_row(&s)) {
		struct looked one = {.id = scan_int(&s, ID), .time = scan_int(&s, START)};
		int64_t state = scan_int_or(&s, STATE, STATE_UNKNOWN);
		bool scheduled = scan_int_or(&s, CYCLES, 1) == 0 && !r->own_collector;
		one.thread = scan_int_or(&s, THREAD, 0);
		one.no_sample = scheduled || (state != STATE_UNKNOWN && state != STATE_RUNNING);
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && !one.no_sample)
			flaw = build_time_flaw(one.time, one.time, false);
		if (flaw) {
			build_drop(&r->build, ROWS_SAMPLES, flaw);
			continue;
		}
		LIST_ADD(&p->arena, p->list, p->n, p->room, one);
	}
	order_times(r, p);
	return scan_close(&s);
}

SORT_ORDER(compare_gil, struct lock_row,
           ASCENDING(x->row.time, y->row.time) ?: ASCENDING((int64_t)x->row.thread, (int64_t)y->row.thread)
                   ?: ASCENDING(x->sample, y->sample)
                   ?: ASCENDING((int64_t)x->row.switches, (int64_t)y->row.switches)
                   ?: ASCENDING((int64_t)x->row.holder.key, (int64_t)y->row.holder.key)
                   ?: x->row.waits - y->row.waits)

/* By time; and samples of holders find their row: of several the first. */
static void order_locks(struct pending *p)
{
	struct locks *l = &p->locks;
	SORT(l->list, l->n, compare_gil);
	l->of = ARENA_NEW(&p->arena, l->n, size_t);
	for (size_t i = 0; i < l->n; i++) {
		const struct lock_row *one = &l->list[i];
		uint32_t known = l->samples.n;
		if (one->sample && !one->row.flaw && keymap_add(&l->samples, (uint64_t)one->sample) == known)
			l->of[known] = i;
	}
}

/* Samples of holders say what was waited for, and are none of a thread that waited. */
static int read_locks(struct nsys *r, struct pending *p)
{
	enum { START, THREAD, WAITS, HOLDER, SAMPLE, SWITCHES, N };
	static const char *const columns[] = {"start", "globalTid", "waits", "holder", "sampleId", "switches"};
	struct locks *l = &p->locks;
	struct scan s;
	keymap_init(&l->samples, &p->arena);
	nsys_scan_numbers(r, &s, "GAPLINE_GIL", columns, N, 0);
	while (scan_row(&s)) {
		struct build_gil row = {.time = scan_int(&s, START), .thread = (uint64_t)scan_int(&s, THREAD)};
		int64_t holder = scan_int_or(&s, HOLDER, 0), sample = scan_int_or(&s, SAMPLE, 0);
		row.waits = scan_int(&s, WAITS) != 0;
		row.switches = (uint64_t)scan_int_or(&s, SWITCHES, 0);
		row.flaw = nsys_value_flaw(&s);
		if (holder)
			row.holder = nsys_thread(holder);
		LIST_ADD(&p->arena, l->list, l->n, l->room, (struct lock_row){row, sample});
	}
	order_locks(p);
	return scan_close(&s);
}

/* Hands on all samples with their stacks. */
static void hand_on(struct nsys *r, const struct pending *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct looked *one = &p->list[i];
		uint32_t holder = !p->locks.n ? UINT32_MAX : keymap_find(&p->locks.samples, (uint64_t)one->id);
		if (one->no_sample)
			continue;
		if (holder != UINT32_MAX)
			p->locks.list[p->locks.of[holder]].row.stack = one->stack;
		else
			build_host_sample(&r->build, &(struct build_host_sample){.time = one->time,
			                                                         .thread = (uint64_t)one->thread,
			                                                         .stack = one->stack});
	}
}

/* ---- stacks ---- */

/* A row of SAMPLING_CALLCHAINS. */
struct frame {
	int64_t id, depth;
	struct build_frame of;
	const char *flaw;
};

/* The stack at hand. */
struct stack {
	int64_t id;
	struct looked *sample;                /* NULL: none is at hand */
	size_t n;                             /* depth of the deepest frame, plus one */
	struct build_frame frame[DEPTH_MOST]; /* by depth: the innermost first */
	bool has[DEPTH_MOST];
};

static int compare_names(const struct build_frame *x, const struct build_frame *y)
{
	return ASCENDING((int64_t)x->name, (int64_t)y->name) ?: ASCENDING((int64_t)x->module, (int64_t)y->module)
		?: x->unresolved - y->unresolved;
}

SORT_ORDER(compare_frames, struct frame,
           ASCENDING(x->id, y->id) ?: ASCENDING(x->depth, y->depth) ?: compare_names(&x->of, &y->of))

static void end_stack(struct nsys *r, struct stack *s)
{
	struct build_frame outermost_first[DEPTH_MOST];
	size_t n = 0;
	for (size_t depth = s->n; depth-- > 0;)
		if (s->has[depth])
			outermost_first[n++] = s->frame[depth];
	if (n && !s->sample->no_sample)
		s->sample->stack = build_stack(&r->build, outermost_first, n);
	memset(s->has, 0, s->n * sizeof *s->has);
	s->n = 0;
}

static struct looked *find_sample(const struct pending *p, const struct looked *after, int64_t id)
{
	size_t i = after ? (size_t)(after - p->list) + 1 : 0;
	if (i >= p->n || p->list[i].id != id) {
		i = 0;
		SEARCH(i, p->n, p->list[i].id < id);
	}
	return i < p->n && p->list[i].id == id ? &p->list[i] : NULL;
}

/* Puts a frame into the stack at hand, or drops it. */
static void take_frame(struct nsys *r, const struct pending *p, struct stack *s, const struct frame *f)
{
	const char *flaw = f->flaw;
	if (!flaw && (!s->sample || f->id != s->id)) {
		struct looked *before = s->sample;
		end_stack(r, s);
		s->id = f->id;
		s->sample = find_sample(p, before, f->id);
	}
	if (!flaw && !s->sample)
		flaw = "is of no sample";
	if (!flaw && (f->depth < 0 || f->depth >= DEPTH_MOST))
		flaw = "is deeper than any stack";
	if (flaw || s->has[f->depth])
		build_drop(&r->build, ROWS_SAMPLES, flaw ? flaw : "is there twice");
	if (flaw || (s->has[f->depth] && compare_names(&s->frame[f->depth], &f->of) <= 0))
		return;
	s->frame[f->depth] = f->of;
	s->has[f->depth] = true;
	s->n = (size_t)f->depth >= s->n ? (size_t)f->depth + 1 : s->n;
}

static int scan_frames(struct nsys *r, struct scan *s)
{
	static const char *const columns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};
	return nsys_scan_numbers(r, s, "SAMPLING_CALLCHAINS", columns, sizeof columns / sizeof *columns, 0);
}

static bool next_frame(struct scan *s, struct frame *f)
{
	enum { ID, SYMBOL, MODULE, UNRESOLVED, DEPTH };
	if (!scan_row(s))
		return false;
	*f = (struct frame){.id = scan_int(s, ID), .depth = scan_int(s, DEPTH)};
	f->of = (struct build_frame){.name = build_number(scan_int_or(s, SYMBOL, -1)),
	                             .module = build_number(scan_int_or(s, MODULE, -1)),
	                             .unresolved = scan_int_or(s, UNRESOLVED, 0) != 0};
	f->flaw = nsys_value_flaw(s);
	return true;
}

/* Whether all frames of a stack stand together, and stacks in the order of their ids. */
static int is_in_order(struct nsys *r, bool *in_order)
{
	static const char *const columns[] = {"id"};
	struct scan s;
	int64_t last = INT64_MIN;
	nsys_scan_numbers(r, &s, "SAMPLING_CALLCHAINS", columns, 1, 0);
	*in_order = true;
	while (*in_order && scan_row(&s)) {
		int64_t id = scan_int(&s, 0);
		*in_order = s.flaws || id >= last;
		last = s.flaws ? last : id;
	}
	return scan_close(&s);
}

static int read_stacks(struct nsys *r, const struct pending *p)
{
	ARENA_LOCAL(scratch);
	struct frame f, *held = NULL;
	size_t n = 0, room = 0;
	struct stack *stack = ARENA_NEW(&scratch, 1, struct stack);
	bool in_order;
	struct scan s;
	if (is_in_order(r, &in_order) < 0)
		return -1;
	scan_frames(r, &s);
	while (next_frame(&s, &f)) {
		if (in_order) {
			take_frame(r, p, stack, &f);
			continue;
		}
		LIST_ADD(&scratch, held, n, room, f);
	}
	SORT(held, n, compare_frames);
	for (size_t i = 0; i < n; i++)
		take_frame(r, p, stack, &held[i]);
	end_stack(r, stack);
	return scan_close(&s);
}

int nsys_read_samples(struct nsys *r)
{
	struct pending pending = {0};
	int result = read_locks(r, &pending);
	if (result == 0)
		result = read_times(r, &pending);
	if (result == 0 && pending.n)
		result = read_stacks(r, &pending);
	if (result == 0) {
		build_from(&r->build, "COMPOSITE_EVENTS");
		hand_on(r, &pending);
		build_from(&r->build, "GAPLINE_GIL");
		for (size_t i = 0; i < pending.locks.n; i++)
			build_gil(&r->build, &pending.locks.list[i].row);
	}
	arena_release(&pending.arena);
	return result;
}
