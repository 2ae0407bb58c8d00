/* Stopwatch runs beside this one (capture/annotate.h). */
#include "read/nsys.h"

int nsys_read_stopwatch(struct nsys *r)
{
	enum { START, TIME, STEPS, PROCESS, UNUSED, N };
	static const char *const columns[] = {"start", "time", "steps", "process", "unused"};
	struct scan s;
	if (nsys_scan(r, &s, "GAPLINE_STOPWATCH", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		size_t n;
		int64_t steps = scan_int(&s, STEPS);
		const struct trace_stopwatch run = {
			.start = scan_int(&s, START),
			.time = scan_int_or(&s, TIME, 0),
			.process = scan_int(&s, PROCESS),
			.steps = (uint32_t)steps,
			.unused = scan_text(&s, UNUSED, &n),
		};
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && steps != run.steps)
			flaw = "has a number of steps that makes no sense";
		build_stopwatch(&r->build, &run, flaw);
	}
	scan_close(&s);
	return more;
}
