/* Stopwatch runs beside this one (capture/annotate.h). */
#include "read/nsys.h"

int nsys_read_stopwatch(struct nsys *r)
{
	enum { START, TIME, STEPS, PROCESS, UNUSED, STEP, LAUNCHES, N };
	static const char *const columns[] = {"start", "time", "steps", "process", "unused", "step", "launches"};
	struct scan s;
	if (nsys_scan(r, &s, "GAPLINE_STOPWATCH", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		size_t n;
		int64_t steps = scan_int(&s, STEPS), launches = scan_int_or(&s, LAUNCHES, 0);
		const struct trace_stopwatch run = {
			.start = scan_int(&s, START),
			.time = scan_int_or(&s, TIME, 0),
			.process = scan_int(&s, PROCESS),
			.steps = (uint32_t)steps,
			.unused = scan_text(&s, UNUSED, &n),
			.step = scan_text(&s, STEP, &n),
			.launches = (uint32_t)launches,
		};
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && (steps != run.steps || launches != run.launches))
			flaw = "has a number of steps or launches that makes no sense";
		build_stopwatch(&r->build, &run, flaw);
	}
	scan_close(&s);
	return more;
}
