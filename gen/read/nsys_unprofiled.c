/* The ranges of a run beside this one in which nothing else was recorded (capture/annotate.h). */
#include "read/nsys.h"

static void resize(struct nsys *r, nsys_resize *to, size_t old, size_t n)
{
	struct trace_unprofiled *u = &r->trace->unprofiled;
	u->start = to(r->arena, u->start, old, n, sizeof *u->start);
	u->end = to(r->arena, u->end, old, n, sizeof *u->end);
	u->name = to(r->arena, u->name, old, n, sizeof *u->name);
	u->thread = to(r->arena, u->thread, old, n, sizeof *u->thread);
}

int nsys_read_unprofiled(struct nsys *r)
{
	enum { START, END, THREAD, NAME, N };
	static const char *const columns[] = {"start", "end", "thread", "name"};
	struct trace_unprofiled *u = &r->trace->unprofiled;
	struct scan s;
	if (scan_open(&s, &r->db, "GAPLINE_UNPROFILED", columns, N) != 0)
		return -1;
	size_t room = 0;
	int more;
	while ((more = scan_next(&s)) > 0) {
		size_t n;
		int64_t start = scan_int(&s, START), end = scan_int(&s, END), thread = scan_int_or(&s, THREAD, 0);
		const char *text = scan_text(&s, NAME, &n), *flaw = nsys_value_flaw(&s);
		flaw = flaw ? flaw : nsys_time_flaw(start, end, true);
		if (!flaw && u->n &&
		    (thread < u->thread[u->n - 1] || (thread == u->thread[u->n - 1] && start < u->start[u->n - 1])))
			flaw = "is out of order";
		if (flaw) {
			nsys_drop(r, &s, ROWS_UNPROFILED, flaw);
			continue;
		}
		size_t old = room;
		if (nsys_room(&room, u->n + 1))
			resize(r, arena_grow, old, room);
		u->start[u->n] = start;
		u->end[u->n] = end;
		u->thread[u->n] = thread;
		u->name[u->n++] = text ? names_add(r->names, text, n) : 0;
	}
	scan_close(&s);
	nsys_keep(r, ROWS_UNPROFILED, u->n);
	resize(r, arena_trim, room, u->n);
	return more;
}
