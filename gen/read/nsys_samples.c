/* What threads were executing: COMPOSITE_EVENTS says when a thread was looked at, SAMPLING_CALLCHAINS what was on its
 * stack then, a row a frame, the innermost at depth 0. Both are in the order of their ids in every export; of a file in
 * which they are not, what is out of place is dropped and counted. */
#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "read/nsys.h"

#include <string.h>

/* ENUM_SAMPLING_THREAD_STATE. A thread that does not run is looked at when it stops, and not at even distances. */
enum { STATE_UNKNOWN = 0, STATE_RUNNING = 1 };

enum { DEPTH_MOST = 1024 }; /* frames: nsys records 127 of them at most */

/* What our own samples say of the interpreter's lock: rows of GAPLINE_GIL, a thread's in order of time. */
struct locks {
	size_t n, room;
	struct build_gil *row;
	struct keymap samples; /* ids of samples of holders, by the index of … */
	size_t *of, of_room;   /* … their row */
};

/* Samples whose stacks are still to come, by id. */
struct pending {
	struct arena arena; /* of these lists */
	size_t n, room;
	int64_t *id, *time, *thread;
	size_t next; /* the first that was not handed on */
	struct locks locks;
};

static void pending_add(struct pending *p, int64_t id, int64_t time, int64_t thread)
{
	if (p->n == p->room) {
		size_t room = list_more(p->room);
		p->id = arena_grow(&p->arena, p->id, p->room, room, sizeof *p->id);
		p->time = arena_grow(&p->arena, p->time, p->room, room, sizeof *p->time);
		p->thread = arena_grow(&p->arena, p->thread, p->room, room, sizeof *p->thread);
		p->room = room;
	}
	p->id[p->n] = id;
	p->time[p->n] = time;
	p->thread[p->n++] = thread;
}

static int read_times(struct nsys *r, struct pending *p)
{
	enum { ID, START, THREAD, STATE, N };
	static const char *const columns[] = {"id", "start", "globalTid", "threadState"};
	struct scan s;
	if (nsys_scan(r, &s, "COMPOSITE_EVENTS", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t id = scan_int(&s, ID), start = scan_int(&s, START), thread = scan_int_or(&s, THREAD, 0);
		int64_t state = scan_int_or(&s, STATE, STATE_UNKNOWN);
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && state != STATE_UNKNOWN && state != STATE_RUNNING)
			continue;
		if (!flaw)
			flaw = build_time_flaw(start, start, false);
		if (!flaw && p->n && id <= p->id[p->n - 1])
			flaw = "has an id that is out of order";
		if (flaw)
			build_drop(&r->build, ROWS_SAMPLES, flaw);
		else
			pending_add(p, id, start, thread);
	}
	scan_close(&s);
	return more;
}

/* Samples of holders say what was waited for, and are none of a thread that waited. */
static int read_locks(struct nsys *r, struct pending *p)
{
	enum { START, THREAD, WAITS, HOLDER, SAMPLE, SWITCHES, N };
	static const char *const columns[] = {"start", "globalTid", "waits", "holder", "sampleId", "switches"};
	struct locks *l = &p->locks;
	struct scan s;
	keymap_init(&l->samples, &p->arena);
	if (nsys_scan(r, &s, "GAPLINE_GIL", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		struct build_gil row = {.time = scan_int(&s, START), .thread = (uint64_t)scan_int(&s, THREAD)};
		int64_t holder = scan_int_or(&s, HOLDER, 0), sample = scan_int_or(&s, SAMPLE, 0);
		row.waits = scan_int(&s, WAITS) != 0;
		row.switches = (uint64_t)scan_int_or(&s, SWITCHES, 0);
		row.flaw = nsys_value_flaw(&s);
		if (holder)
			row.holder = nsys_thread(holder);
		if (sample && !row.flaw) {
			uint32_t known = l->samples.n, i = keymap_add(&l->samples, (uint64_t)sample);
			if (i == known) {
				LIST_GROW(&p->arena, l->of, i, l->of_room);
				l->of[i] = l->n;
			}
		}
		LIST_GROW(&p->arena, l->row, l->n, l->room);
		l->row[l->n++] = row;
	}
	scan_close(&s);
	return more;
}

/* Hands on the sample at `at`, and those before it, of which there are no stacks. */
static void hand_on(struct nsys *r, struct pending *p, size_t at, const struct build_frame *frames, size_t n)
{
	for (; p->next <= at && p->next < p->n; p->next++) {
		struct build_host_sample sample = {.time = p->time[p->next], .thread = (uint64_t)p->thread[p->next]};
		uint32_t holder = !p->locks.n ? UINT32_MAX : keymap_find(&p->locks.samples, (uint64_t)p->id[p->next]);
		if (holder != UINT32_MAX) {
			struct build_gil *row = &p->locks.row[p->locks.of[holder]];
			row->stack = p->next == at ? build_stack(&r->build, frames, n) : 0;
			continue;
		}
		if (p->next == at) {
			sample.frames = frames;
			sample.n_frames = n;
		}
		build_host_sample(&r->build, &sample);
	}
}

/* The stack at hand. */
struct stack {
	int64_t id;
	size_t at;                            /* its sample */
	size_t n;                             /* depth of the deepest frame, plus one */
	struct build_frame frame[DEPTH_MOST]; /* by depth: the innermost first */
	bool has[DEPTH_MOST];
};

static void hand_on_stack(struct nsys *r, struct pending *p, struct stack *s)
{
	struct build_frame outermost_first[DEPTH_MOST];
	size_t n = 0;
	for (size_t depth = s->n; depth-- > 0;)
		if (s->has[depth])
			outermost_first[n++] = s->frame[depth];
	if (n)
		hand_on(r, p, s->at, outermost_first, n);
	memset(s->has, 0, s->n * sizeof *s->has);
	s->n = 0;
}

/* Where the sample of a frame is; why there is none, or NULL. */
static const char *find_sample(const struct pending *p, int64_t id, size_t *at)
{
	size_t i = p->next;
	if (i < p->n && p->id[i] != id)
		SEARCH(i, p->n, p->id[i] < id);
	*at = i;
	if (i < p->n && p->id[i] == id)
		return NULL;
	return p->next && id <= p->id[p->next - 1] ? "stands apart from its stack" : "is of no sample";
}

/* Puts a frame into the stack at hand, or drops it. */
static void take_frame(struct nsys *r, struct pending *p, struct stack *s, int64_t id, int64_t depth,
                       const struct build_frame *frame, const char *flaw)
{
	if (!flaw && (!s->n || id != s->id)) {
		hand_on_stack(r, p, s);
		s->id = id;
		flaw = find_sample(p, id, &s->at);
	}
	if (!flaw && (depth < 0 || depth >= DEPTH_MOST))
		flaw = "is deeper than any stack";
	if (!flaw && s->has[depth])
		flaw = "is there twice";
	if (flaw) {
		build_drop(&r->build, ROWS_SAMPLES, flaw);
		return;
	}
	s->frame[depth] = *frame;
	s->has[depth] = true;
	s->n = (size_t)depth >= s->n ? (size_t)depth + 1 : s->n;
}

static int read_stacks(struct nsys *r, struct pending *p)
{
	enum { ID, SYMBOL, MODULE, UNRESOLVED, DEPTH, N };
	static const char *const columns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};
	struct scan s;
	if (nsys_scan(r, &s, "SAMPLING_CALLCHAINS", columns, N) != 0)
		return -1;
	struct stack *stack = ARENA_NEW(&p->arena, 1, struct stack);
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t id = scan_int(&s, ID), depth = scan_int(&s, DEPTH);
		struct build_frame frame = {.name = build_number(scan_int_or(&s, SYMBOL, -1)),
		                            .module = build_number(scan_int_or(&s, MODULE, -1)),
		                            .unresolved = scan_int_or(&s, UNRESOLVED, 0) != 0};
		take_frame(r, p, stack, id, depth, &frame, nsys_value_flaw(&s));
	}
	scan_close(&s);
	if (more == 0)
		hand_on_stack(r, p, stack);
	return more;
}

int nsys_read_samples(struct nsys *r)
{
	struct pending pending = {0};
	int result = read_locks(r, &pending);
	if (result == 0)
		result = read_times(r, &pending);
	if (result == 0 && pending.n)
		result = read_stacks(r, &pending);
	if (result == 0 && pending.n)
		hand_on(r, &pending, pending.n - 1, NULL, 0);
	build_from(&r->build, "GAPLINE_GIL");
	for (size_t i = 0; i < pending.locks.n && result == 0; i++)
		build_gil(&r->build, &pending.locks.row[i]);
	arena_release(&pending.arena);
	return result;
}
