/* The ranges of a run beside this one in which nothing else was recorded (capture/annotate.h). */
#include "read/nsys.h"

int nsys_read_unprofiled(struct nsys *r)
{
	enum { START, END, THREAD, NAME, N };
	static const char *const columns[] = {"start", "end", "thread", "name"};
	struct scan s;
	if (nsys_scan(r, &s, "GAPLINE_UNPROFILED", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		size_t n;
		struct build_unprofiled range = {
			.start = scan_int(&s, START), .end = scan_int(&s, END), .thread = scan_int_or(&s, THREAD, 0)};
		const char *text = scan_text(&s, NAME, &n);
		range.flaw = nsys_value_flaw(&s);
		range.name = text ? build_text(&r->build, text, n) : build_text(&r->build, "", 0);
		build_unprofiled(&r->build, &range);
	}
	scan_close(&s);
	return more;
}
